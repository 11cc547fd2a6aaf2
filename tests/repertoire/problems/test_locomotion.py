"""Walking as a problem: what it passes on of the simulation, and normalised observations end to end."""

import numpy as np
import pytest

from adapt.damage.text import damaged_robots
from repertoire.problems.locomotion import Locomotion
from robots.description import Randomization
from robots.evaluations import Request
from robots.randomization import draw_models
from robots.robot import load_robot
from robots.simulation.backend import ModelBatch
from robots.simulation.threads import Threads


@pytest.fixture(scope="module")
def ant():
    return Locomotion(load_robot("ant").with_episode_steps(30), backend=Threads(1))


@pytest.fixture(scope="module")
def solutions(ant) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.stack([ant.initial(rng) for _ in range(4)])


def test_a_search_whose_legs_start_alike_begins_with_the_best_of_many_gaits():
    robot = load_robot("quadruped").with_episode_steps(40)
    problem = Locomotion(robot, backend=Threads(1))
    chosen, rng = problem.initial(np.random.default_rng(5)), np.random.default_rng(5)
    drawn = np.stack([robot.controller.initial(rng) for _ in range(robot.controller.tries)])
    objectives = problem.evaluate(drawn, rng.integers(2**31, size=len(drawn))).objectives
    assert len(drawn) > 10
    np.testing.assert_array_equal(chosen, drawn[np.nanargmax(objectives)])
    assert np.nanmax(objectives) > np.nanmedian(objectives)


def test_unfolded_and_folded_again_a_controller_walks_as_before(ant, solutions):
    observed = np.ones(4, bool)
    before = ant.evaluate(solutions, np.arange(4), request=Request(observed=observed))
    statistics = before.moments.mean, before.moments.std
    unfolded = ant.normaliser.unfold(solutions, *statistics)
    assert abs(unfolded - solutions).max() > 0.01
    after = ant.evaluate(ant.normaliser.fold(unfolded, *statistics), np.arange(4))
    np.testing.assert_allclose(after.objectives, before.objectives, rtol=1e-3)


def test_a_share_of_the_episodes_runs_on_damaged_robots(ant, solutions):
    robot = ant.record.robot
    damaged = damaged_robots(robot)
    assert list(damaged) == [f"{leg}:{kind}" for kind in ("lost", "dead") for leg in robot.description.legs]
    seeds = np.arange(120)
    same = np.repeat(solutions[:1], len(seeds), axis=0)
    problem = Locomotion(robot, backend=Threads(2), damage_share=0.3, breaker=damaged_robots)
    batch = ModelBatch(robot, *damaged.values())
    found = problem.evaluate(same, seeds).objectives
    by_robot = [
        Threads(1).run(batch, same, seeds, models=np.full(120, i)).objectives for i in range(1 + len(damaged))
    ]
    later = problem.evaluate(same[:50], seeds[60:110]).objectives
    chosen = [np.flatnonzero(one == value) for one, value in zip(np.transpose(by_robot), found, strict=True)]
    counts = np.bincount([robots[0] for robots in chosen], minlength=1 + len(damaged))
    assert 0.6 < counts[0] / 120 < 0.8
    assert (counts[1:] > 0).all()
    np.testing.assert_array_equal(later, found[60:110])  # whatever else is in the batch
    assert (problem.record.damage_share, problem.record.damages) == (0.3, tuple(damaged))


def test_episodes_run_on_the_models_of_a_randomization(ant, solutions):
    robot, seeds = ant.record.robot, np.arange(100)
    randomization = Randomization(mass=(0.5, 1.5), models=3)
    same = np.repeat(solutions[:1], 100, axis=0)
    options = {"backend": Threads(2), "randomization": randomization}
    models = draw_models(robot, randomization)
    problem = Locomotion(robot, **options)
    found = problem.evaluate(same, seeds).objectives
    damaged = Locomotion(robot, damage_share=0.5, breaker=damaged_robots, **options)
    mixed = damaged.evaluate(same, seeds).objectives
    batch = ModelBatch(*models)
    by_model = np.array(
        [Threads(1).run(batch, same, seeds, models=np.full(100, i)).objectives for i in range(3)]
    )
    ran = by_model == found
    assert ran.any(axis=0).all()
    assert (ran.sum(axis=1) > 20).all()
    whole = (by_model == mixed).any(axis=0).mean()
    assert 0.35 < whole < 0.65
    assert problem.record.randomization == randomization
    assert "3 models: mass 0.5 to 1.5" in problem.record.facts()["training"]
