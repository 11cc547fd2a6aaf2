"""Recovery: the trial loop on a small repertoire, simulated, and on numbers made up."""

import dataclasses
import json
from typing import ClassVar

import numpy as np
import pytest

from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.motors import Dead
from adapt.evidence import evidence_names
from adapt.oracle import EPISODES as ORACLE_EPISODES
from adapt.oracle import FINAL_EPISODES
from adapt.records import Trial
from adapt.recovery import PERFORMANCE_EPISODES
from adapt.recovery import recover as run_recovery
from adapt.rehearsal.table import tabulate
from adapt.requests import RecoveryRequest
from adapt.selectors import catalogue
from adapt.selectors.catalogue import SelectorEntry
from adapt.selectors.selector import Selector
from adapt.self_model.twin import Thinking
from repertoire.algorithms.catalogue import ALGORITHMS
from repertoire.archives.archive import Archive, Elites
from repertoire.archives.grid import GridSpec
from repertoire.problems.locomotion import walking_record
from repertoire.repertoire import Repertoire
from robots.deployment.deployment import deploy
from robots.errors import InvalidValueError, UnknownNameError
from robots.files.records import validate
from robots.robot import load_robot
from robots.simulation.backend import Backend, ModelBatch
from robots.simulation.episodes import Episodes
from robots.simulation.threads import ALL_CORES, backend_of

STEPS = 60
OTHERS = ("table", "thinking", "backend", "on_trial", "interrupted")  # than fields of a request
SETTINGS = ALGORITHMS.find("sep-cma-mae").settings(
    {"evaluations": 60, "seed": 0, "archive": "6,6,6,6", "min_objective": -300.0}
)


def recover(repertoire, damage, **settings):
    others = {name: settings.pop(name) for name in OTHERS if name in settings}
    return run_recovery(repertoire, damage, validate(RecoveryRequest, settings), **others)


@pytest.fixture(scope="module")
def repertoire():
    """Random controllers, evaluated in short episodes."""
    robot = load_robot("ant")
    short = dataclasses.replace(
        robot, description=robot.description.model_copy(update={"episode_steps": STEPS})
    )
    backend, batch = ALL_CORES, ModelBatch(short)
    rng = np.random.default_rng(0)
    solutions = np.stack([short.controller.initial(rng) for _ in range(60)])
    episodes = backend.run(batch, solutions, np.arange(60))
    archive = Archive(GridSpec((6, 6, 6, 6)), solution_dim=solutions.shape[1], ranges=[(0, 1)] * 4)
    archive.add(solutions, episodes.objectives, episodes.measures)
    assert len(archive) >= 8
    return Repertoire(walking_record(short), SETTINGS, archive.elites(), archive.thresholds)


class InOrder(Selector):
    """Tries the rows from the last to the first, and remembers what it was told."""

    outcomes: ClassVar[list] = []

    @property
    def predicted(self):
        return 10.0 * np.arange(len(self.prior))

    def _choose(self, untried):
        return int(np.flatnonzero(untried)[-1])

    def recommendation(self):
        return self.leader()

    def diagnosis(self):
        return [("worn out", 0.7), ("tired", 0.291), ("bewitched", 0.009)]

    def _learn(self, row, outcome):
        self.outcomes.append(outcome)


class Fake(Backend):
    """Controller i scores what its first parameter says, plus noise of the seed, minus 5 on a damaged robot.

    Controller 0 diverges when damaged.
    """

    threads = 1

    def __init__(self):
        self.seeds = []

    def run(self, batch, parameters, seeds, *, models=None, request=None, on_finished=None):
        (robot,) = batch.robots
        damaged = bool(robot.modifications)
        assert robot.description.episode_steps == STEPS
        self.seeds.append((damaged, np.array(seeds)))
        noise = np.array([np.random.default_rng(seed).normal() for seed in seeds])
        objectives = parameters[:, 0] + noise - 5.0 * damaged
        diverged = damaged & (parameters[:, 0] == 0)
        objectives[diverged] = np.nan
        n = len(seeds)
        return dataclasses.replace(
            Episodes.unknown(n, load_robot("ant")),
            objectives=objectives,
            steps=np.full(n, 7),
            fell=(parameters[:, 0] == 3) | diverged,
            midway=np.full(n, 0.2),
            distances=np.full(n, 0.5),
            diverged=diverged,
        )


@pytest.fixture
def made_up(repertoire, monkeypatch):
    """A repertoire whose elites i = 0 to 4 score i, with a trap: row 2 says it is the best."""
    monkeypatch.setattr(InOrder, "outcomes", [])
    monkeypatch.setitem(
        catalogue._SELECTORS, "in-order", SelectorEntry("in-order", "from the last to the first", InOrder)
    )
    solutions = np.repeat(
        np.arange(5, dtype=np.float32)[:, None], repertoire.elites.solutions.shape[1], axis=1
    )
    elites = Elites(np.arange(5), solutions, np.array([0.0, 1, 99, 3, 4]), repertoire.elites.measures[:5])
    return dataclasses.replace(repertoire, elites=elites)


@pytest.fixture
def fake() -> Fake:
    return Fake()


@pytest.fixture
def go(made_up, fake):
    """Recovers the made-up repertoire from a lost leg, with the selector that goes from last to first."""

    def recovered(**settings):
        usual = {"seed": 3, "selector": "in-order", "objective": "reward", "backend": fake}
        return recover(made_up, Lost("front_left"), **usual | settings)

    return recovered


def test_a_recovery_from_start_to_end(repertoire):
    told = []
    settings = {
        "trials": 6,
        "selector": "best-first",
        "confirmations": 0,
        "oracle": True,
        "objective": "reward",
    }
    recovery = recover(repertoire, Lost("front_left"), seed=1, on_trial=told.append, **settings)
    damaged = Lost("front_left").apply(repertoire.robot)
    assert (recovery.robot, recovery.damage, recovery.seed) == ("ant", "front_left:lost", 1)
    assert tuple(told) == recovery.trials
    assert 1 <= len(told) <= 6
    assert recovery.trials[0].row == recovery.incumbent
    assert recovery.trials[0].predicted == pytest.approx(repertoire.elites.objectives[recovery.incumbent])
    assert recovery.trials[1].row != recovery.incumbent
    for number, trial in enumerate(recovery.trials, start=1):
        assert trial.number == number
        assert trial.cell == repertoire.cell(trial.row)
        again = deploy(
            damaged,
            repertoire.elites.solutions[trial.row],
            seconds=STEPS * damaged.control_step,
            seed=trial.seed,
        )
        assert trial.measured == pytest.approx(again.rewards.sum(), rel=1e-12)
        assert trial.steps == len(again)
    assert recovery.row == max(told, key=lambda trial: trial.measured).row
    assert recovery.cell == repertoire.cell(recovery.row)
    assert (
        recovery.oracle.objective >= recovery.recovered.objective
    )  # the seed is one where luck does not decide


def test_threads_do_not_matter_but_the_seed_does(repertoire):
    runs = [
        recover(
            repertoire, Dead("back_left"), seed=seed, selector="map-bo", trials=3, backend=backend_of(threads)
        )
        for seed, threads in ((1, 1), (1, 2), (2, 2))
    ]
    assert runs[0] == runs[1]
    assert {trial.seed for trial in runs[1].trials}.isdisjoint(trial.seed for trial in runs[2].trials)


def test_json(repertoire):
    recovery = recover(repertoire, Lost("back_right"), seed=0, selector="map-bo", trials=2)
    record = json.loads(json.dumps(recovery.to_json(), allow_nan=False))
    assert list(record)[:2] == ["format", "version"]
    assert (record["format"], record["version"]) == ("surefoot-recovery", 10)
    assert record["oracle"] is None
    assert record["healthy"]["objective"] == recovery.healthy.objective
    assert [tuple(trial["cell"]) for trial in record["trials"]] == [trial.cell for trial in recovery.trials]
    assert set(record["trials"][0]) == {field.name for field in dataclasses.fields(Trial)}


def test_the_loop_tells_the_selector_what_was_measured(made_up, go):
    recovery = go(trials=9, confirmations=0)
    assert [trial.row for trial in recovery.trials] == [4, 3, 2, 1, 0]
    assert [trial.predicted for trial in recovery.trials] == [40, 30, 20, 10, 0]
    for trial in recovery.trials[:-1]:
        assert trial.measured == pytest.approx(trial.row - 5 + np.random.default_rng(trial.seed).normal())
        assert (trial.steps, trial.distance) == (7, 0.5)
    assert recovery.trials[-1].measured == SETTINGS.min_objective  # it diverged
    outcomes = InOrder.outcomes
    assert [outcome.fell for outcome in outcomes] == [False, True, False, False, True]  # the last diverged
    assert [trial.fell for trial in recovery.trials] == [outcome.fell for outcome in outcomes]
    assert recovery.falls == 2
    midway = evidence_names(made_up.robot).index("midway [m]")
    assert [outcome.evidence[midway] for outcome in outcomes] == [0.2, 0.2, 0.2, 0.2, 0.0]
    assert recovery.stop == "every controller was tried"
    assert go(trials=2, confirmations=0).stop == "all 2 trials are used up"


def test_levels_are_means_on_common_seeds_that_no_trial_saw(go, fake):
    recovery = go(trials=5, confirmations=0, oracle=True)
    trials = {trial.seed for trial in recovery.trials}
    (_, incumbents), (_, healthy), (_, every), *others = fake.seeds
    levels = [
        (False, healthy),
        *((damaged, seeds) for damaged, seeds in others if len(seeds) == len(healthy)),
    ]
    comparisons = [incumbents, every, *(seeds for _, seeds in others if len(seeds) > len(healthy))]
    assert [len(seeds) for seeds in comparisons] == [
        5 * PERFORMANCE_EPISODES,  # which is the incumbent
        5 * ORACLE_EPISODES,  # which are the finalists
        5 * FINAL_EPISODES,  # and which of them is best
    ]
    assert len(healthy) == PERFORMANCE_EPISODES
    compared = {int(seed) for seeds in comparisons for seed in seeds}
    assert sorted(damaged for damaged, _ in levels) == [False, True, True, True]
    for _, seeds in levels:
        np.testing.assert_array_equal(seeds, levels[0][1])
    used = {int(seed) for seed in levels[0][1]}
    assert len(used) == PERFORMANCE_EPISODES
    assert len(trials) == 5
    assert trials.isdisjoint(used)
    assert len(compared) == 2 * PERFORMANCE_EPISODES + ORACLE_EPISODES
    assert compared.isdisjoint(used | trials)
    noise = [np.random.default_rng(seed).normal() for seed in levels[0][1]]
    assert recovery.incumbent == 4, "the best by the record is not the best by experience"
    assert recovery.healthy.objective == pytest.approx(4 + np.mean(noise))
    assert recovery.broken.objective == pytest.approx(4 - 5 + np.mean(noise))
    assert recovery.recovered.objective == pytest.approx(recovery.row - 5 + np.mean(noise))
    assert recovery.recovered.standard_error == pytest.approx(
        np.std(noise, ddof=1) / np.sqrt(PERFORMANCE_EPISODES)
    )
    assert recovery.recovered.distance == 0.5
    assert recovery.oracle_row == 4
    assert recovery.oracle.objective == pytest.approx(4 - 5 + np.mean(noise))


def test_the_gait_found_must_beat_the_incumbent_in_trials_that_are_in_the_record(go):
    recovery = go(trials=20)
    rows = [trial.row for trial in recovery.trials]
    assert rows[:5] == [4, 3, 2, 1, 0]
    assert not any(trial.confirms for trial in recovery.trials[:5])
    assert all(trial.confirms for trial in recovery.trials[5:])
    assert recovery.row == recovery.incumbent == 4
    unsearched = go(trials=20, confirmations=0)
    assert (unsearched.confirmation, len(unsearched.trials)) == (None, 5)


def test_too_few_trials_confirm_nothing(go):
    recovery = go(trials=3, selector="best-first")
    assert [trial.row for trial in recovery.trials] == [4, 2, 3]
    assert recovery.row == recovery.incumbent
    once = go(trials=1, selector="self-model")
    assert [trial.row for trial in once.trials] == [once.row] == [once.incumbent]
    assert once.broken == once.recovered


def made_up_table(repertoire):
    """A rehearsal of `made_up`: healthy its elites score i; with a leg lost 4 fails and 1 is good."""
    names = evidence_names(repertoire.robot)
    conditions = {
        "healthy": [0, 1, 2, 3, 4],
        "front_left:lost": [0, 3, 1, 1, -4],
        "all:weak@0.5": [2, 1, 1, 1, 1],
    }
    objectives = np.repeat(np.array(list(conditions.values()), np.float32)[..., None], 2, axis=2)  # (3, 5, 2)
    shown = np.array([0.2, 0.9, 0.5], np.float32).reshape(3, 1, 1, 1)
    evidence = shown * np.ones((*objectives.shape, len(names)), np.float32)
    fell = np.zeros(objectives.shape, bool)
    return tabulate(objectives, fell, evidence, conditions=tuple(conditions), evidence_names=names)


def test_a_rehearsal_is_used_if_there_is_one(made_up, go):
    table = made_up_table(made_up)
    recovery = go(trials=4, selector="rehearsed", table=table)
    rows = [trial.row for trial in recovery.trials]
    assert len(set(rows)) == len(rows), "a selector that weighs noise repeats no trial"
    for trial in recovery.trials:
        assert set(trial.diagnosis) <= {*table.conditions, "all:weak@0.5+front_left:lost", "unknown"}
        assert list(trial.diagnosis.values()) == sorted(trial.diagnosis.values(), reverse=True)
        assert all(p >= 0.01 for p in trial.diagnosis.values())
    assert recovery.diagnosis == recovery.trials[-1].diagnosis


def test_the_record_tells_what_was_thought_to_be_wrong(go):
    recovery = go(trials=2)
    assert recovery.diagnosis == {"worn out": 0.7, "tired": 0.291}
    record = json.loads(json.dumps(recovery.to_json()))
    assert record["selector"] == "in-order"
    assert [trial["fell"] for trial in record["trials"]] == [False, True]
    assert [list(trial["diagnosis"]) for trial in record["trials"]] == [["worn out", "tired"]] * 2


def test_no_trial_follows_the_last_fall_that_is_allowed(go):
    for allowed, rows in ((1, [4, 3]), (2, [4, 3, 2, 1, 0]), (3, [4, 3, 2, 1, 0])):
        recovery = go(trials=9, max_falls=allowed, confirmations=0)
        assert [trial.row for trial in recovery.trials] == rows
    again = go(trials=9, max_falls=1, confirmations=3)
    assert [trial.row for trial in again.trials] == [4, 3]
    assert again.stop == "the robot fell 1 times, and more is not allowed"


def test_who_interrupts_before_the_first_trial_keeps_the_old_gait(go):
    for name in ("in-order", "random", "map-bo"):
        recovery = go(trials=5, selector=name, interrupted=lambda: True)
        assert [trial.row for trial in recovery.trials] == [recovery.incumbent]
        assert recovery.row == recovery.incumbent
        assert recovery.stop == "it was interrupted"


def test_thoughts_are_hurried_by_whoever_asks_first(go, made_up):
    contexts, asked = [], []

    def build(context):
        contexts.append(context)
        return InOrder(context)

    thinks = SelectorEntry("thinker", "notes what it is told", build, thinks=True)
    go(selector=thinks, trials=1, interrupted=lambda: "stop" in asked)
    go(selector=thinks, trials=1, thinking=Thinking(made_up, hurried=lambda: "hurry" in asked))
    interrupted, hurried = (context.thinking.hurried for context in contexts)
    assert (interrupted(), hurried()) == (False, False)
    asked += ["stop"]
    assert (interrupted(), hurried()) == (True, False)
    asked += ["hurry"]
    assert hurried()


def test_the_oracle_is_told_the_truth(go):
    recovery = go(trials=5, selector="oracle", oracle=True)
    assert recovery.row == recovery.oracle_row
    assert recovery.stop == "it knew the best gait from the start"


def test_selectors_and_tables_that_do_not_go_together(made_up, go):
    table = made_up_table(made_up)
    wrong = [
        ({"selector": "magic"}, UnknownNameError, "unknown selector 'magic'; available: best-first"),
        ({"selector": "rehearsed"}, InvalidValueError, "the rehearsed selector needs a rehearsal"),
        (
            {"selector": "map-bo", "table": table},
            InvalidValueError,
            "map-bo selector makes no use of a rehears",
        ),
        (
            {
                "selector": "rehearsed",
                "table": dataclasses.replace(table, objectives=table.objectives[:, :3]),
            },
            InvalidValueError,
            "5 contr",
        ),
    ]
    for arguments, error, message in wrong:
        with pytest.raises(error, match=message):
            go(**arguments)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"trials": 0}, "trials: input should be greater than or equal to 1, not 0"),
        ({"trials": 2.5}, "trials: .*, not 2.5"),
        ({"trials": True}, "trials: .*, not True"),
        ({"max_falls": 0}, "max_falls: input should be greater than or equal to 1, not 0"),
        ({"confirmations": -1}, "confirmations: input should be greater than or equal to 0, not -1"),
        ({"seed": -1}, "seed: input should be greater than or equal to 0, not -1"),
    ],
)
def test_wrong_arguments(repertoire, wrong, message):
    with pytest.raises(InvalidValueError, match=message):
        recover(repertoire, Lost("front_left"), **{"seed": 0} | wrong)


def test_wrong_repertoires(repertoire):
    nothing = Elites(*(column[:0] for column in vars(repertoire.elites).values()))
    with pytest.raises(InvalidValueError, match="the repertoire is empty"):
        recover(dataclasses.replace(repertoire, elites=nothing), Lost("front_left"), seed=0)
    other = dataclasses.replace(
        repertoire, problem=dataclasses.replace(repertoire.problem, controller="mlp-28-8-8")
    )
    with pytest.raises(
        InvalidValueError, match="mlp-28-8-8 controllers do not fit the ant, which has mlp-28-128-128-8"
    ):
        recover(other, Lost("front_left"), seed=0)
    with pytest.raises(UnknownNameError, match="leg of the ant 'tail'"):
        recover(repertoire, Lost("tail"), seed=0)
