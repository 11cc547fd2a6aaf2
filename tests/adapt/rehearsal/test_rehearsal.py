"""Elites run the same episodes under all conditions, and interruptions change nothing."""

from dataclasses import replace

import numpy as np
import pytest

from adapt.damage.text import parse_damage
from adapt.evidence import evidence_of
from adapt.rehearsal import Rehearsal, Table
from adapt.rehearsal.samples import Samples, write_samples
from repertoire.archives.archive import Elites
from repertoire.repertoire import Repertoire
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.robot import Robot
from robots.simulation.simulation import Simulation
from tests.adapt.rehearsal.small import CONDITIONS, STEPS, small_repertoire

EPISODES = 3
PLAN = {"episodes": EPISODES, "seed": 5, "threads": 1}


@pytest.fixture(scope="module")
def repertoire() -> Repertoire:
    return small_repertoire()


@pytest.fixture(scope="module")
def expected(repertoire: Repertoire, tmp_path_factory) -> Table:
    """What an uninterrupted rehearsal on one thread finds."""
    with Rehearsal(repertoire, CONDITIONS, **PLAN) as rehearsal:
        rehearsal.run(tmp_path_factory.mktemp("whole") / "unfinished.h5")
    return rehearsal.table()


def on_the_moon(robot: Robot) -> Robot:
    return robot.modified("on the moon", lambda spec: setattr(spec.option, "gravity", (0, 0, -1.6)))


def same(a: Table, b: Table) -> bool:
    return all(np.array_equal(value, getattr(b, name)) for name, value in vars(a).items())


def test_the_table_says_what_the_simulation_does(repertoire, expected, monkeypatch, tmp_path) -> None:
    seeds: list[np.ndarray] = []
    evaluate = Simulation.evaluate

    def watch(self, parameters, chosen, **options):
        seeds.append(chosen)
        return evaluate(self, parameters, chosen, **options)

    monkeypatch.setattr(Simulation, "evaluate", watch)
    with Rehearsal(repertoire, CONDITIONS, **PLAN, block=4) as rehearsal:
        rehearsal.run(tmp_path / "unfinished.h5")
    common = np.concatenate(seeds).reshape(-1, EPISODES)
    assert (common == common[0]).all()
    assert len(set(common[0])) == EPISODES

    assert expected.conditions == CONDITIONS
    assert expected.episodes == EPISODES
    k = len(repertoire)
    for number, condition in enumerate(CONDITIONS):
        robot = repertoire.robot.with_episode_steps(STEPS)
        if number:
            robot = parse_damage(condition, robot).apply(robot)
        with Simulation(robot, threads=1) as simulation:
            solutions = np.repeat(repertoire.elites.solutions, EPISODES, axis=0)
            found = evaluate(simulation, solutions, np.tile(common[0], k))
        objectives = found.objectives.reshape(k, EPISODES)
        evidence = evidence_of(found, robot).reshape(k, EPISODES, -1)
        assert expected.objectives[number] == pytest.approx(objectives.mean(axis=1), rel=1e-5)
        assert expected.noise[number] == pytest.approx(objectives.std(axis=1, ddof=1), rel=1e-3)
        assert expected.falls[number] == pytest.approx(found.fell.reshape(k, EPISODES).mean(axis=1))
        assert expected.evidence[number] == pytest.approx(evidence.mean(axis=1), rel=1e-4, abs=1e-6)
        assert expected.evidence_std[number] == pytest.approx(
            evidence.std(axis=1, ddof=1), rel=1e-5, abs=1e-5
        )
    assert expected.evidence.shape == (len(CONDITIONS), k, len(expected.evidence_names))
    assert not np.array_equal(expected.objectives[0], expected.objectives[1])


@pytest.mark.parametrize(("threads", "block", "stop_after"), [(1, 1, 1), (2, 4, 6), (3, 7, 0), (2, 40, 1)])
def test_neither_threads_nor_blocks_nor_a_stop_change_anything(
    repertoire, expected, tmp_path, threads: int, block: int, stop_after: int
) -> None:
    unfinished, steps = tmp_path / "unfinished.h5", iter(range(10**6))
    with Rehearsal(repertoire, CONDITIONS, **PLAN | {"threads": threads}, block=block) as rehearsal:
        rehearsal.run(unfinished, stop=lambda: next(steps) >= stop_after)
        done = rehearsal.done
        assert 0 < done < rehearsal.total or not stop_after
        with pytest.raises(RuntimeError, match=rf"{done} of 45 episodes are finished"):
            rehearsal.table()
    with Rehearsal(repertoire, CONDITIONS, **PLAN) as rehearsal:
        rehearsal.step()  # what was done before gives way to what was saved
        rehearsal.restore(unfinished)
        assert rehearsal.done == done
        rehearsal.run(unfinished)
    assert same(rehearsal.table(), expected)


def test_progress_counts_up_over_all_conditions(repertoire, tmp_path) -> None:
    seen: list[int] = []
    with Rehearsal(repertoire, CONDITIONS, **PLAN, block=4) as rehearsal:
        rehearsal.run(tmp_path / "unfinished.h5", on_progress=seen.append)
    assert seen == list(range(1, rehearsal.total + 1))


def test_the_time_left_is_estimated_without_a_trace(repertoire, expected, tmp_path) -> None:
    with Rehearsal(repertoire, CONDITIONS, **PLAN, block=20) as rehearsal:
        rehearsal.step()
        first = rehearsal.seconds_left()
        assert first > 0
        assert rehearsal.done == 20
        rehearsal.run(tmp_path / "unfinished.h5")
        assert rehearsal.seconds_left() == 0
    assert same(rehearsal.table(), expected)


def test_seed_episodes_and_robot_matter(repertoire, expected, tmp_path) -> None:
    moon = on_the_moon(repertoire.robot)
    for changes in ({"seed": 6}, {"episodes": 2}, {"robot": moon}):
        with Rehearsal(repertoire, CONDITIONS, **PLAN | changes) as rehearsal:
            rehearsal.run(tmp_path / "unfinished.h5")
        assert not np.allclose(rehearsal.table().objectives, expected.objectives, rtol=1e-3)


def test_what_diverged_is_a_fall_with_the_minimum_objective(repertoire, tmp_path, monkeypatch) -> None:
    evaluate = Simulation.evaluate

    def one_fails(self, parameters, seeds, **options):
        found = evaluate(self, parameters, seeds, **options)
        found.diverged[1], found.fell[1], found.objectives[1], found.measures[1] = True, False, np.nan, np.nan
        return found

    monkeypatch.setattr(Simulation, "evaluate", one_fails)
    with Rehearsal(repertoire, CONDITIONS[:1], **PLAN | {"episodes": 1}) as rehearsal:
        rehearsal.run(tmp_path / "unfinished.h5")
    table = rehearsal.table()
    assert table.objectives[0, 1] == -300
    assert table.falls[0, 1] == 1
    assert not table.evidence[0, 1].any()
    assert table.evidence[0, 0].any()
    assert not table.noise.any()


def test_conditions_are_read_and_checked_at_once(repertoire) -> None:
    def conditions(*texts):
        with Rehearsal(repertoire, texts, **PLAN) as rehearsal:
            return rehearsal.conditions

    assert conditions() == ("healthy",)
    assert conditions(" front_left : lost", "healthy") == ("healthy", "front_left:lost")
    with pytest.raises(InvalidValueError, match="'front_left:lost' is named twice"):
        conditions("front_left:lost", "front_left: lost")
    with pytest.raises(UnknownNameError, match="'tail'"):
        conditions("back_left:dead", "tail:lost")


def test_an_unfinished_file_of_something_else_is_refused(repertoire, tmp_path) -> None:
    unfinished = tmp_path / "unfinished.h5"
    with Rehearsal(repertoire, CONDITIONS, **PLAN) as rehearsal:
        rehearsal.run(unfinished, stop=lambda: True)
    moon = on_the_moon(repertoire.robot)
    for other, conditions, changes, difference in (
        (repertoire, CONDITIONS, {"episodes": 2}, "episodes 3, not 2"),
        (repertoire, CONDITIONS, {"seed": 6}, "seed 5, not 6"),
        (repertoire, CONDITIONS[:2], {}, "library 3 conditions [0-9a-f]{8}, not 2 conditions"),
        (repertoire, CONDITIONS, {"robot": moon}, "robot as trained, not on the moon"),
        (small_repertoire(seed=1), CONDITIONS, {}, "repertoire [0-9a-f]+, not [0-9a-f]+"),
    ):
        with Rehearsal(other, conditions, **PLAN | changes) as rehearsal:
            with pytest.raises(InvalidFileError, match=rf"another evaluation \({difference}"):
                rehearsal.restore(unfinished)
            assert rehearsal.done == 0


def test_an_unfinished_file_that_is_unsound_is_refused(repertoire, tmp_path) -> None:
    unfinished = tmp_path / "unfinished.h5"
    with Rehearsal(repertoire, CONDITIONS, **PLAN, block=4) as rehearsal:
        rehearsal.step()
        rehearsal.save(unfinished)
        whole = unfinished.read_bytes()
        unfinished.write_bytes(whole[:-9])
        with pytest.raises(InvalidFileError, match="is damaged or incomplete"):
            rehearsal.restore(unfinished)
        good = rehearsal._samples[:4]
        many = Samples(*(np.zeros((100, *column.shape[1:]), column.dtype) for column in vars(good).values()))
        for samples, message in (
            (replace(good, objectives=good.objectives.astype(float)), "'objectives' must be float32"),
            (replace(good, objectives=good.objectives + np.inf), "'objectives' must be finite"),
            (replace(good, evidence=good.evidence[:, :3]), "'evidence' must be float32"),
            (replace(good, fell=good.fell + np.uint8(2)), "'fell' must be 0 or 1"),
            (many, r"'objectives' must be float32 \(45,\), not float32 \(100,\)"),
        ):
            write_samples(unfinished, samples, rehearsal.identity)
            with pytest.raises(InvalidFileError, match=message):
                rehearsal.restore(unfinished)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episodes": 0}, "episodes must be at least 1 and at most 10000, not 0"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"threads": 0}, "threads must be at least 1"),
    ],
)
def test_wrong_numbers_are_refused(repertoire, changes: dict, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Rehearsal(repertoire, CONDITIONS, **PLAN | changes)


def test_an_empty_repertoire_is_refused(repertoire) -> None:
    empty = replace(repertoire, elites=Elites(*(column[:0] for column in vars(repertoire.elites).values())))
    with pytest.raises(InvalidValueError, match="the repertoire is empty: there is nothing to evaluate"):
        Rehearsal(empty, CONDITIONS, **PLAN)
