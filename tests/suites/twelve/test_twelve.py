"""The study of few trials: whole recoveries and rivals without any, and its tables."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from adapt.damage.text import parse_damage
from adapt.recovery import fresh_episodes
from repertoire.evaluation.evaluator import Evaluator
from repertoire.problems.locomotion import walking_record
from robots.description import Randomization
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.randomization import randomised
from robots.robot import load_robot
from robots.simulation.threads import ALL_CORES
from suites.requests import FEW_TRIALS
from suites.study import Study, run_trial
from suites.twelve import suite as module
from suites.twelve.report import TwelveRecord, runs_table
from suites.twelve.suite import BEST, PREPARED, TwelveSuite, listed_damages
from tests.adapt.self_model.small_minds import short_gaits
from tests.suites.paper.made_results import row

GAITS = short_gaits(12)
DAMAGES = tuple(parse_damage(text, GAITS.robot) for text in ("right_rear:lost", "left_front:dead"))
WITHOUT = "self-model-without-refinement"


def suite(*rivals: str, **settings) -> TwelveSuite:
    request = FEW_TRIALS.model_copy(update={"think_episodes": 40, "refine": 20})
    known = {"repertoire": GAITS, "damages": DAMAGES, "request": request, "seeds": 1, "backend": ALL_CORES}
    return TwelveSuite(**{**known, "rivals": rivals, **settings})


@pytest.mark.parametrize("name", ["ant", "hexapod"])
def test_twelve_damages_are_listed_of_which_two_are_of_pairs_of_legs(name: str) -> None:
    damages = listed_damages(load_robot(name))
    assert len({str(one) for one in damages}) == 12
    assert sum(len(one.singles) == 2 for one in damages) == 2


@pytest.mark.parametrize("gap", [None, Randomization(mass=(0.5, 0.8))])
def test_recoveries_and_rivals_without_trials_are_measured_alike(
    tmp_path: Path, gap: Randomization | None
) -> None:
    problem = walking_record(GAITS.robot.with_episode_steps(20))  # of another task
    prepared = replace(GAITS, problem=problem, elites=GAITS.elites.take(np.array([3])))
    study = Study(suite("best-first", WITHOUT, BEST, PREPARED, prepared=prepared, gap=gap), tmp_path)
    assert len(study.trials) == 8
    for trial in study.trials:
        run_trial(study.suite, tmp_path, trial, lambda _: None)
    found = {(one.damage, one.method): one for one in study.all_results()}
    for damage in map(str, DAMAGES):
        rivals = [found[damage, method] for method in ("best-first", WITHOUT, BEST, PREPARED)]
        assert len({(one.intact, one.old, one.seed) for one in rivals}) == 1
        assert [one.trials for one in rivals[2:]] == [0, 0]
        assert all(1 <= one.trials <= 5 for one in rivals[:2])
        whole = randomised(GAITS.robot, rivals[0].seed, gap) if gap else GAITS.robot
        broken = parse_damage(damage, whole).apply(whole)
        evaluator = Evaluator(GAITS, {"any": broken}, backend=ALL_CORES)
        every = (fresh_episodes(evaluator, gait, rivals[0].seed).distances for gait in range(len(GAITS)))
        walked = [float(distances.mean()) for distances in every]
        assert rivals[0].old in [pytest.approx(one) for one in walked]
        own = randomised(prepared.robot, rivals[0].seed, gap) if gap else prepared.robot
        evaluator = Evaluator(prepared, {"any": parse_damage(damage, own).apply(own)}, backend=ALL_CORES)
        expected = fresh_episodes(evaluator, 0, rivals[0].seed).distances.mean()
        assert rivals[3].made == pytest.approx(expected) != pytest.approx(walked[3])
        assert rivals[2].made in [pytest.approx(one) for one in walked]
        assert rivals[2].made >= rivals[0].old
    assert any(one.cause for one in found.values() if one.method == WITHOUT)
    assert not any(one.cause for one in found.values() if one.method == "best-first")
    csv, report = study.report(study.all_results())
    assert len(csv.read_text().splitlines()) == 9
    assert "| left_front:dead |" in report.read_text()
    moved = suite("best-first", damages=DAMAGES[::-1])
    with pytest.raises(InvalidFileError, match="not of"):
        moved.read(study.path_of(study.all_results()[0]))


def record(damage: str, method: str, made: float, **others) -> TwelveRecord:
    case = f"damage-{int('+' in damage):02d}"
    known = {"case": case, "number": 0, "seed": 1, "intact": 4.0, "old": 1.0, "falls_after": 0.5}
    return TwelveRecord(**{**known, "damage": damage, "method": method, "made": made, **others})


def test_shares_are_of_the_intact_progress_and_pairs_stand_apart(tmp_path: Path) -> None:
    results = [
        record("left_front:dead", "one", 3.0, seconds=10.0, better_after=4.0),
        record("left_front:dead+right_rear:dead", "one", 2.0, seconds=30.0),
    ]
    assert runs_table(results)["share"].tolist() == [75, 50]
    _, report = suite("one").report(results, tmp_path)
    cells = row(report.read_text(), "one")
    assert cells[0].startswith(("62 [", "63 ["))
    assert (cells[1][:2], cells[2][:2]) == ("75", "50")
    assert [cells[5], *cells[7:]] == ["50", "4", "20", "30"]
    assert row(report.read_text(), "old gait")[0].startswith("25")


def test_the_first_better_gait_is_another_one_that_walked_a_tenth_farther(monkeypatch) -> None:
    walked = [
        (0, 1.0, False),
        (1, 1.3, False),
        (2, 3.0, True),
        (0, 3.0, False),
        (3, 1.5, False),
        (4, 9.0, False),
    ]

    def recovered(*_, on_trial, **__) -> Mock:
        trials = [Mock(row=row, distance=distance, fell=fell) for row, distance, fell in walked]
        for number, one in enumerate(trials):
            monkeypatch.setattr(module.time, "perf_counter", lambda number=number: number + 1.0)
            on_trial(one)
        after = Mock(distance=2.0)
        return Mock(
            trials=trials,
            healthy=Mock(distance=4.0),
            incumbent=0,
            recovered=after,
            broken=after,
            row=0,
            refined=(),
            diagnosis={},
            falls=1,
        )

    monkeypatch.setattr(module, "recover", recovered)
    monkeypatch.setattr(module.time, "perf_counter", lambda: 0.0)
    one = suite("random")
    assert one.run(one.plan()[0], Path(), lambda _: None).better_after == 5.0


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="trained on damaged robots"):
        suite(PREPARED).check()
    with pytest.raises(UnknownNameError, match="magic"):
        suite("magic").check()
    with pytest.raises(InvalidValueError, match="no damage"):
        suite("random", damages=()).check()
    with pytest.raises(InvalidValueError, match=r"no damages are listed for the walker.*ant, hexapod"):
        listed_damages(load_robot("walker"))
