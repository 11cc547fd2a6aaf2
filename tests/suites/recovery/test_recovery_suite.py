"""Recoveries that are simulated: planned, seeded, scored, kept and resumed; and `surefoot suite recovery`."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from adapt.damage import HEALTHY
from adapt.damage.text import parse_damage
from adapt.objective import TrainingReward
from adapt.records import RefinedGait
from adapt.selectors import self_model
from adapt.self_model.relearner import Relearner
from repertoire.evaluation.evaluator import Evaluator
from repertoire.storage.repertoires import write_repertoire
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.randomization import GAP
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.threads import Threads
from suites.recovery import trial as trial_module
from suites.recovery.results import ORACLE, OracleResult, recovery_tables
from suites.recovery.suite import RecoverySuite
from suites.recovery.tracks import find_tracks
from suites.recovery.trial import DamagedRobot
from suites.requests import RECOVERIES
from suites.study import Study, keep_identity, run_trial
from suites.suite import fault_seed
from tests.adapt.rehearsal.small import save_rehearsal, small_repertoire

LIBRARY = ("healthy", "front_left:lost", "back_left:dead", "all:weak@0.5")
BROKEN = ("front_left:lost", "all:weak@0.5", "front_right:lost")


@pytest.fixture(scope="module")
def repertoire():
    return small_repertoire(8)


@pytest.fixture(scope="module")
def library(repertoire, tmp_path_factory):
    path = tmp_path_factory.mktemp("library") / "library.h5"
    return save_rehearsal(path, repertoire, LIBRARY, episodes=1)


@pytest.fixture
def binding(monkeypatch):
    """Every fault takes another gait."""
    monkeypatch.setattr(OracleResult, "binding", property(lambda _: True))


def make_suite(repertoire, library, *tracks: str, **changes) -> RecoverySuite:
    damages = tuple(parse_damage(text, repertoire.robot) for text in BROKEN)
    asked = {name: changes.pop(name) for name in ("trials", "objective") if name in changes}
    request = RECOVERIES.model_copy(update={"trials": 2, "think_episodes": 30, **asked})
    few = {"seeds": 1, "selectors": ("random", "rehearsed"), "damages": damages, "request": request}
    return RecoverySuite(repertoire=repertoire, library=library, tracks=find_tracks(tracks), **few | changes)


def run_all(suite: RecoverySuite, folder) -> Study:
    """Run every trial in this process."""
    study = Study(suite, folder)
    keep_identity(folder, suite.identity())
    for trial in study.trials:
        run_trial(suite, folder, trial, lambda _: None)
    return study


def test_tracks_share_oracles_and_recoveries_that_need_no_library(repertoire, library):
    plan = make_suite(repertoire, library, "T0", "T3", "T1", seeds=2).plan()
    keys = [trial.key for trial in plan]
    assert len(set(keys)) == len(keys)
    assert keys[:6] == [(f"{world}-00{n}", ORACLE, 0) for world in ("listed", "listed-gap") for n in range(3)]
    assert keys[6:9] == [("listed-000", "random", 0), ("T0-000", "rehearsed", 0), ("T3-000", "rehearsed", 0)]
    assert len(keys) == 6 + 2 * 3 * (3 + 2)
    assert [track.name for track in plan[6].tracks] == ["T0", "T3"]


def test_no_fault_shares_its_seed_with_another_fault_or_study(repertoire, library):
    seeds = [fault_seed(seed, fault) for seed in (4, 5, 6) for fault in range(60)]
    assert len(set(seeds)) == len(seeds)
    suite = make_suite(repertoire, library, "T0")
    every = [suite.trial_seed((f"listed-{fault:03d}", "random", n)) for fault in range(9) for n in range(9)]
    assert len(set(every) | set(seeds)) == len(every) + len(seeds)


def test_the_luck_of_a_recovery_is_the_same_for_all_selectors_and_tracks(repertoire, library):
    suite = make_suite(repertoire, library, "T0")
    assert suite.trial_seed(("listed-002", "random", 1)) == suite.trial_seed(("T3-002", "rehearsed", 1))
    robot = make_damaged(repertoire)
    outcome = replace_objective(robot, 10.0)
    noisy = [robot._measured(3, outcome, trial).objective for trial in (0, 0, 1)]
    assert noisy[0] == noisy[1] != noisy[2]


def make_damaged(repertoire, track: str = "T0", noise=(0.05, 0.02)) -> DamagedRobot:
    (found,) = find_tracks([track])
    known = {"seed": fault_seed(5, 0), "noise": noise, "backend": Threads(1)}
    known["gap"] = GAP if found.gap else None
    known |= {"damage": parse_damage(BROKEN[0], repertoire.robot)}
    aim = TrainingReward(repertoire.settings.min_objective)
    return DamagedRobot(repertoire=repertoire, aim=aim, **known)


def replace_objective(robot: DamagedRobot, objective: float):
    outcome, _ = trial_module.run_trial(robot._start(robot._damaged), 0, np.array([1]), traced=True)
    return replace(outcome, objective=objective)


def test_noise_is_a_share_and_an_amount_and_across_the_gap_of_the_sensors_too(repertoire):
    robot, gap = make_damaged(repertoire), make_damaged(repertoire, "T1", noise=(0.0, 0.5))
    outcome = replace_objective(robot, 10.0)
    values = [robot._measured(seed, outcome, 0).objective - 10 for seed in range(400)]
    assert np.std(values) == pytest.approx(math.hypot(0.5, 0.02), rel=0.1)
    noisy = gap._measured(1, outcome, 0)
    commands = repertoire.robot.action_dim
    np.testing.assert_array_equal(noisy.trace[:, :commands], outcome.trace[:, :commands])
    assert 0.005 < np.std(noisy.trace[:, commands:] - outcome.trace[:, commands:]) < 0.02
    np.testing.assert_array_equal(robot._measured(1, outcome, 0).trace, outcome.trace)


def test_fresh_episodes_tell_the_oracle_among_the_best_and_the_incumbent(repertoire, monkeypatch):
    asked: list[list[int]] = []

    def made_up(evaluator, rows, seeds):
        asked.append(rows.tolist())
        first = len(asked) == 1  # an episode of each, in which 4 is lucky
        objectives = np.where(rows == (4 if first else 3), 1.0, 0.1)
        return np.tile(objectives[:, None], len(seeds)), np.zeros((len(rows), len(seeds)), bool)

    monkeypatch.setattr(trial_module, "FINALISTS", 3)
    monkeypatch.setattr(trial_module, "objectives_and_falls", made_up)
    monkeypatch.setattr(type(repertoire), "best", lambda _: 3)
    assert make_damaged(repertoire).oracle()["gait"] == 3
    assert asked[:2] == [list(range(8)), [0, 1, 3, 4]]


@pytest.mark.parametrize("track", ["T3-pairs", "T4-gap"])
def test_a_study_is_resumed_and_reported(repertoire, library, tmp_path, binding, track: str):
    selectors = ("self-model",) if track.startswith("T4") else ("random", "rehearsed")
    suite = make_suite(repertoire, library, track, faults=1, selectors=selectors)
    study = run_all(suite, tmp_path)
    assert not study.remaining()
    recovery = next(one for one in study.results() if one.selector == selectors[-1])
    assert (len(recovery.scores), recovery.stop) == (2, recovery.stop)
    assert (recovery.seconds > 0) == (selectors == ("self-model",))
    path = study.path_of(study.trials[-1])
    path.unlink()
    again = run_all(make_suite(repertoire, library, track, faults=1, selectors=selectors), tmp_path)
    found = suite.read(path).model_dump()
    changing = {"took", "seconds"}
    assert {k: v for k, v in found.items() if k not in changing} == {
        k: v for k, v in recovery.model_dump().items() if k not in changing
    }
    written = again.report(again.all_results())
    assert (tmp_path / "report.md") in written
    assert f"{track}, " in (tmp_path / "report.md").read_text()
    with pytest.raises(InvalidValueError, match="holds another study"):
        Study(make_suite(repertoire, library, track, trials=3), tmp_path)


def test_refined_gaits_are_scored_but_are_no_oracle(repertoire, library, tmp_path, binding, monkeypatch):
    monkeypatch.setattr(self_model, "TRUSTED", -1.0)  # of an untrained robot, fits explain nothing
    monkeypatch.setattr(self_model, "GOOD", np.inf)  # however well a known gait does
    found = RefinedGait(np.zeros_like(repertoire.gaits.solutions[0]), 8, 0, 1.0, 0.0, 1, ("all:weak@0.5",))

    def refine(self, causes, rows):
        self.searches += 1
        return replace(found, row=self._twin.add(found.solution))

    monkeypatch.setattr(Relearner, "refine", refine)
    monkeypatch.setattr(self_model.Fitted, "recommendation", lambda self: 8)
    names = ("self-model", "self-model-without-refinement")
    suite = make_suite(repertoire, library, "T0", faults=1, selectors=names[:1], objective="progress")
    study = run_all(suite, tmp_path)
    oracle, recovery = study.results()
    assert (recovery.gait, recovery.refined) == (8, True)
    evaluator = Evaluator(
        repertoire, {"damaged": suite.damages[0].apply(repertoire.robot)}, backend=Threads(1)
    )
    evaluator.add(found.solution[None])
    seeds = derive_seeds(fault_seed(suite.seed, 0), SeedFamily.CONFIRMATION, 0, 10)
    episodes = evaluator.run(np.full(10, 8), seeds)
    assert recovery.score == pytest.approx(float(suite._aim.of(episodes).mean()))
    assert recovery.fallen == episodes.fell.mean()
    told = [oracle, recovery.model_copy(update={"final": 99.0})]
    results = recovery_tables(repertoire.robot.name, suite.tracks, study.trials, told)
    assert results.faults["oracle"].tolist() == [oracle.score]
    monkeypatch.setattr(Relearner, "refine", None)  # of which the other selector makes no use
    trial = replace(study.trials[-1], selector=names[1])
    monkeypatch.undo()
    monkeypatch.setattr(OracleResult, "binding", property(lambda _: True))
    assert not suite.run(trial, tmp_path, lambda _: None).refined
    with pytest.raises(UnknownNameError, match="random-without-refinement"):
        make_suite(repertoire, library, "T0", selectors=("random-without-refinement",)).check()


def test_nobody_recovers_from_what_is_not_binding(repertoire, library, tmp_path, monkeypatch):
    monkeypatch.setattr(OracleResult, "binding", property(lambda _: False))
    study = run_all(make_suite(repertoire, library, "T0"), tmp_path)
    assert all(not one.scores for one in study.results() if one.selector != ORACLE)


def test_a_recovery_finds_the_oracle_if_nobody_has(repertoire, library, tmp_path, binding):
    suite = make_suite(repertoire, library, "T0", faults=1)
    study = Study(suite, tmp_path)
    run_trial(suite, tmp_path, study.trials[-1], lambda _: None)
    assert {one.selector for one in study.results()} == {ORACLE, "rehearsed"}


def test_what_the_library_lacks_for_a_track_is_rehearsed(repertoire, library, tmp_path):
    for track, conditions in (("T3", (HEALTHY, *LIBRARY[2:])), ("T2", (*LIBRARY, BROKEN[2]))):
        suite = make_suite(repertoire, library, track, selectors=("rehearsed",))
        assert suite._given(suite.plan()[-1], tmp_path).conditions == conditions
    assert [path.name for path in (tmp_path / "rehearsals").iterdir()] == ["T2-002.h5"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "it is not valid JSON"),
        ("3", "it is not a table"),
        ("{}", "missing key 'case'"),
        ({"score": 9.0}, "the last score that of the gait"),
        ({"falls": [True]}, "of the same trials"),
        ({"scores": [0.1, math.nan]}, "scores.1"),
        ({"stop": 0}, "stop must be a trial"),
        ({"damage": "back_left:lost"}, "is of back_left:lost, not of front_left:lost"),
        ({"number": 1}, "holds another trial: remove it"),
    ],
)
def test_a_damaged_result_is_refused(repertoire, library, tmp_path, text, message):
    suite = make_suite(repertoire, library, "T0", faults=1, selectors=("random",))
    study = Study(suite, tmp_path)
    path, key = study.path_of(study.trials[-1]), study.trials[-1].key
    case, selector, number = key
    sound = {"case": case, "selector": selector, "number": number, "seed": suite.trial_seed(key)}
    sound |= {"damage": BROKEN[0], "gait": 1, "final": 1.0, "score": 0.5, "took": 1.0}
    sound |= {"scores": [0.2, 0.5], "falls": [False, False], "stop": 2}
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(sound))
    suite.write(path, suite.read(path))
    assert len(study.results()) == 1
    path.write_text(text if isinstance(text, str) else json.dumps(sound | text))
    with pytest.raises(InvalidFileError, match=message):
        study.results()


def test_the_command_plans_a_study(run, repertoire, library, tmp_path) -> None:
    study, gaits = tmp_path / "study", tmp_path / "ant.h5"
    write_repertoire(gaits, repertoire)
    save_rehearsal(tmp_path / "ant-rehearsal.h5", repertoire, LIBRARY, episodes=1)
    (tmp_path / "broken.yaml").write_text("".join(f"- {text}\n" for text in BROKEN))
    few = "--seeds 1 --trials 2 --threads 1 --tracks T0,T3 --selectors random,rehearsed"
    line = f"suite recovery {gaits} --damages {tmp_path}/broken.yaml {few} --out {study}"
    code, out, err = run(f"{line} --dry-run")
    assert (code, err, study.exists()) == (0, "", False)
    assert "the study has 12 trials, 12 of them not finished" in out
