"""Walking as a problem: what it passes on of the simulation, and normalised observations end to end."""

import numpy as np
import pytest

from repertoire.algorithms import find_algorithm
from repertoire.problems.locomotion import Locomotion
from repertoire.problems.problem import Request
from robots.robot import load_robot


@pytest.fixture(scope="module")
def ant():
    problem = Locomotion(load_robot("ant").with_episode_steps(30), threads=1)
    yield problem
    problem.simulation.close()


@pytest.fixture(scope="module")
def solutions(ant) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.stack([ant.initial(rng) for _ in range(4)])


def test_the_moments_of_those_requested_are_passed_on(ant, solutions):
    observed = np.array([False, True, True, False])
    evaluations = ant.evaluate(solutions, np.arange(4), request=Request(observed=observed))
    assert evaluations.moments.count == evaluations.steps[observed].sum() == 60
    assert ant.evaluate(solutions, np.arange(4)).moments is None


def test_unfolded_and_folded_again_a_controller_walks_as_before(ant, solutions):
    observed = np.ones(4, bool)
    before = ant.evaluate(solutions, np.arange(4), request=Request(observed=observed))
    statistics = before.moments.mean, before.moments.std
    unfolded = ant.normaliser.unfold(solutions, *statistics)
    assert abs(unfolded - solutions).max() > 0.01
    after = ant.evaluate(ant.normaliser.fold(unfolded, *statistics), np.arange(4))
    np.testing.assert_allclose(after.objectives, before.objectives, rtol=1e-3)


def test_me_es_normalises_what_the_ant_sees(ant):
    """The second parent is the first elite, seen through statistics that it was not made with."""
    said = {"evaluations": 1, "seed": 1, "archive": ant.archive, "min_objective": ant.min_objective}
    algorithm = find_algorithm("me-es-exploit")
    settings = algorithm.settings({"batch_size": 4, **said})
    search = algorithm.start(settings, ant, np.random.SeedSequence(1))
    for _ in range(12):
        asked = search.ask()
        search.tell(ant.evaluate(asked, np.arange(len(asked)), request=search.request))
    count = search.state()["emitter_0/normalisation/count"]
    assert count == 10 * 30
    samples = search.ask().astype(np.float64)
    parent = (samples[0] + samples[1]) / 2
    elites = search.result.elites().solutions
    assert abs(elites - parent).max(axis=1).min() < 1e-4
    mean = search.emitters[0].strategy.mean
    assert abs(elites - mean).max(axis=1).min() > 0.1
