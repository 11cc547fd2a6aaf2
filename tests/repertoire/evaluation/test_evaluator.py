"""Every elite runs the same episodes under every condition, and interruptions change nothing."""

from dataclasses import replace

import numpy as np
import pytest

from repertoire.evaluation.evaluator import Evaluation, Evaluator, objectives_and_falls
from repertoire.execution.running import software_versions
from robots.errors import InvalidFileError, InvalidValueError
from robots.robot import Robot, load_robot
from robots.seeds import SeedFamily
from robots.simulation.backend import Backend, ModelBatch
from robots.simulation.episodes import Episodes
from robots.simulation.threads import Threads, backend_of
from tests.adapt.rehearsal.small import STEPS, small_repertoire

N = 3


def on_the_moon(robot: Robot) -> Robot:
    return robot.modified("on the moon", lambda spec: setattr(spec.option, "gravity", (0, 0, -1.6)))


@pytest.fixture(scope="module")
def repertoire():
    return small_repertoire()


@pytest.fixture(scope="module")
def conditions(repertoire) -> dict[str, Robot]:
    return {"earth": repertoire.robot, "moon": on_the_moon(repertoire.robot)}


@pytest.fixture(scope="module")
def start(repertoire, conditions):
    """Starts evaluations."""

    def make(other=repertoire, among=conditions, threads=1, **changes):
        settings = {"episodes": N, "seed": 5, "family": SeedFamily.ORACLE} | changes
        return Evaluation(Evaluator(other, among, backend=backend_of(threads)), **settings)

    return make


@pytest.fixture(scope="module")
def expected(start) -> Episodes:
    """What an uninterrupted evaluation on one thread finds."""
    evaluation = start()
    evaluation.run()
    return evaluation.results()


def same(a: Episodes, b: Episodes) -> bool:
    return a.columns.keys() == b.columns.keys() and all(
        np.array_equal(column, b.columns[name], equal_nan=True) for name, column in a.columns.items()
    )


def test_the_results_are_those_of_the_simulation_on_common_seeds(start, repertoire, conditions, expected):
    seeds = start()._seeds
    assert len(set(seeds)) == N
    for number, robot in enumerate(conditions.values()):
        found = Threads(1).run(
            ModelBatch(robot.with_episode_steps(STEPS)),
            np.repeat(repertoire.elites.solutions, N, axis=0),
            np.tile(seeds, 5),
        )
        part = slice(15 * number, 15 * (number + 1))
        assert np.array_equal(found.objectives, expected.objectives[part])
        assert np.array_equal(found.measures, expected.measures[part])
        assert np.array_equal(found.distances, expected.distances[part])


@pytest.mark.parametrize(("threads", "block", "stop_after"), [(1, 1, 1), (2, 4, 6), (3, 7, 0), (2, 40, 1)])
def test_neither_threads_nor_blocks_nor_a_stop_change_anything(
    start, expected, tmp_path, threads: int, block: int, stop_after: int
) -> None:
    unfinished, steps = tmp_path / "unfinished.h5", iter(range(10**6))
    evaluation = start(threads=threads, block=block)
    evaluation.run(unfinished, stop=lambda: next(steps) >= stop_after)
    done = evaluation.done
    assert done == min(stop_after * block, evaluation.total)
    again = start()
    again.step()  # what was done before is replaced by what was saved
    again.restore(unfinished)
    assert again.done == done
    again.run(unfinished)
    assert same(again.results(), expected)


class MadeUp(Backend):
    """A backend that gives what the first parameter says, and diverges where it is negative."""

    threads = 1

    def __init__(self) -> None:
        self.seeds: list[np.ndarray] = []

    def _run(self, work) -> Episodes:
        parameters, seeds, models = work.solutions, work.seeds, work.models
        self.seeds.append(np.array(seeds))
        diverged = parameters[:, 0] < 0
        objectives = np.where(diverged, np.nan, parameters[:, 0] + models)
        found = Episodes.unknown(len(seeds), load_robot("ant"))
        fell = np.array(seeds) % 2 == 0
        return replace(found, objectives=objectives, diverged=diverged, fell=fell)


def scored(repertoire, *scores: float):
    """Elites whose first parameters are these scores."""
    elites = repertoire.elites.take(np.arange(len(scores)))
    solutions = np.zeros_like(elites.solutions)
    solutions[:, 0] = scores
    return replace(repertoire, elites=replace(elites, solutions=solutions))


def test_elites_that_are_compared_run_the_same_episodes(repertoire, conditions) -> None:
    made_up = MadeUp()
    evaluator = Evaluator(scored(repertoire, -1, 5, 7, 7), conditions, backend=made_up)
    objectives, fell = objectives_and_falls(evaluator, np.array([1, 3, 0]), np.array([3, 4]))
    assert made_up.seeds[0].tolist() == [3, 4] * 3
    assert objectives.tolist() == [[5, 5], [7, 7], [-300, -300]]
    assert fell.tolist() == [[False, True]] * 3


def test_diverged_episodes_come_back_from_the_file(repertoire, conditions, tmp_path) -> None:
    evaluator = Evaluator(scored(repertoire, -1, 5), conditions, backend=MadeUp())
    evaluation, again = (
        Evaluation(evaluator, episodes=2, seed=5, family=SeedFamily.ORACLE, block=3) for _ in range(2)
    )
    evaluation.run(tmp_path / "unfinished.h5")
    again.restore(tmp_path / "unfinished.h5")
    assert again.results().diverged.tolist() == [True, True, False, False] * 2
    assert same(again.results(), evaluation.results())
    assert again.results().objectives[2:4].tolist() == [5, 5]
    assert again.results().objectives[6:].tolist() == [6, 6]


def test_an_unfinished_file_of_something_else_is_refused(start, conditions, tmp_path, monkeypatch) -> None:
    unfinished = tmp_path / "unfinished.h5"
    start().save(unfinished)
    earth, moon = conditions.values()
    for changes, difference in (
        ({"episodes": 2}, "episodes 3, not 2"),
        ({"seed": 6}, "seed 5, not 6"),
        ({"episodes": 2, "seed": 6}, "episodes 3, not 2; seed 5, not 6"),
        ({"family": SeedFamily.INCUMBENT}, "family of seeds oracle, not incumbent"),
        ({"among": {"earth": earth}}, "library 2 conditions [0-9a-f]{8}, not 1 conditions [0-9a-f]{8}"),
        ({"among": {"earth": moon, "moon": moon}}, "robot as trained, not on the moon"),
        ({"other": small_repertoire(seed=1)}, "repertoire [0-9a-f]{64}, not [0-9a-f]{64}"),
    ):
        evaluation = start(**changes)
        with pytest.raises(InvalidFileError, match=rf"unfinished\.h5: .*another evaluation \({difference}\)"):
            evaluation.restore(unfinished)
        assert evaluation.done == 0
    monkeypatch.setattr(
        "repertoire.evaluation.evaluator.software_versions", lambda: software_versions() | {"mujoco": "0.1"}
    )
    with pytest.raises(InvalidFileError, match=r"another evaluation \(mujoco .*, not 0\.1\)"):
        start().restore(unfinished)


def test_an_empty_repertoire_is_refused(repertoire, conditions) -> None:
    empty = replace(repertoire, elites=repertoire.elites.take(np.zeros(0, int)))
    with pytest.raises(InvalidValueError, match="the repertoire is empty: there is nothing to evaluate"):
        Evaluator(empty, conditions)
