"""PGA-ME's batches: noise at first, then variation, climbers of the critic and its actor."""

import numpy as np
import pytest
from scipy import stats
from search_tools import Strolling, batch, generator, grid, improved

from repertoire.archives.archive import Archive
from repertoire.emitters.pga_me import PGAMEEmitter, PGAMESettings
from repertoire.emitters.variation import VariationEmitter, VariationSettings
from repertoire.strategies.noise import Noise

PROBLEM = Strolling()


def make(seed: int = 1, **settings) -> PGAMEEmitter:
    given = {"batch_size": 21, "critic_updates": 20, "buffer_size": 1000, **settings}
    return PGAMESettings(**given).make(PROBLEM, np.full(12, 0.5, np.float32), generator(seed))


def empty() -> Archive:
    return grid(20, 20, dim=12, ranges=PROBLEM.measure_ranges)


def test_the_first_batch_is_noise_around_the_initial_solution():
    solutions = make(batch_size=2000).ask(empty())
    np.testing.assert_allclose(solutions.mean(axis=0), 0.5, atol=0.003)
    assert solutions[:1000].std() == pytest.approx(0.005, rel=0.05)
    assert solutions[1000:].std() == pytest.approx(0.02, rel=0.05)


def test_half_of_a_batch_is_the_variation_of_map_elites_line():
    emitter, archive = make(), empty()
    settings = VariationSettings(batch_size=10, sigma0=0.005, line_sigma=0.05)
    twin = VariationEmitter(settings, np.full(12, 0.5, np.float32), generator(1))
    for _ in range(2):
        twin._rng.bit_generator.state = emitter._rng.bit_generator.state
        expected = twin.ask(archive)
        solutions, outcomes = batch(PROBLEM, emitter, archive)
        np.testing.assert_array_equal(solutions[:10], expected)
        twin.tell(outcomes.part(slice(0, 10)), archive)


def test_the_others_are_elites_that_climbed_the_critic_and_the_actor_itself():
    emitter, archive = make(gradient_steps=30), empty()
    batch(PROBLEM, emitter, archive)
    learner, elites = emitter._learner, archive.elites().solutions
    assert learner.state()["critics/steps"] == 20
    solutions = emitter.ask(archive)
    np.testing.assert_array_equal(solutions[-1], learner.actor)
    transitions = learner.state()["transitions"]
    assert len(transitions) == 3 * 21

    def worth(solution: np.ndarray) -> float:
        seen, critic = transitions[:, :2], learner.state()["critics/parameters"][0]
        actions = learner._policy.forward(solution, seen)[-1]
        pairs = np.concatenate([seen, actions], axis=1)
        return float(learner._critic.forward(critic.astype(np.float32), pairs)[-1].mean())

    for climber in solutions[10:-1]:
        distances = np.linalg.norm(elites - climber, axis=1)
        parent = elites[distances.argmin()]
        assert 0.01 < distances.min() < 30 * 0.001 * 12**0.5 * 1.1  # steps of Adam are at most its rate
        assert worth(climber) > worth(parent)
    assert worth(solutions[-1]) != worth(solutions[-2])


# The variation emitter: the published formula, where parents come from, and resuming.


N = 300
BATCH = 40
ISO, LINE = 0.01, 0.2
INITIAL = np.linspace(-1, 1, N).astype(np.float32)


def varying(seed: int = 1, **settings) -> VariationEmitter:
    chosen = VariationSettings(**{"sigma0": ISO, "line_sigma": LINE, "batch_size": BATCH, **settings})
    return VariationEmitter(chosen, INITIAL, generator(seed))


def archive_of(elites: int) -> Archive:
    """Elites with widely different solutions, in cells of their own."""
    archive = grid(max(elites, 1), dim=N, ranges=[(0, 1)])
    solutions = np.random.default_rng(0).normal(size=(elites, N)).astype(np.float32)
    archive.add(solutions, np.zeros(elites), (np.arange(elites)[:, None] + 0.5) / max(elites, 1))
    return archive


def step(emitter: VariationEmitter, archive: Archive) -> np.ndarray:
    solutions = emitter.ask(archive)
    emitter.tell(improved(np.zeros(emitter.batch_size)), archive)
    return solutions


@pytest.mark.parametrize("batch_size", [2, 7, 40])
@pytest.mark.parametrize("line_sigma", [0.0, LINE])
def test_solutions_are_those_of_the_published_formula(batch_size, line_sigma):
    archive, rng = archive_of(20), generator(5)
    emitter = varying(seed=5, batch_size=batch_size, line_sigma=line_sigma)
    noise = Noise(rng)
    for _ in range(3):
        draw, half = noise.next_draw(), batch_size // 2
        isotropic = np.empty((batch_size, N), np.float32)
        along = np.empty(batch_size, np.float32)
        noise.fill(isotropic[:half], draw=draw, stream=0)
        noise.fill(isotropic[half:], draw=draw, stream=half)
        noise.fill(along, draw=draw, stream=batch_size)
        p1 = archive.sample_elites(batch_size, rng).astype(np.float64)
        p2 = archive.sample_elites(batch_size, rng).astype(np.float64) if line_sigma else p1
        expected = p1 + ISO * isotropic + line_sigma * along[:, None] * (p2 - p1)
        np.testing.assert_allclose(step(emitter, archive), expected, rtol=1e-5, atol=1e-6)


def test_lines_between_elites_that_are_far_apart_end_at_a_bound():
    archive = grid(2, dim=N, ranges=[(0, 1)])
    ends = np.outer((-1e20, 1e20), np.ones(N)).astype(np.float32)
    archive.add(ends, np.zeros(2), np.array([[0.0], [1.0]]))
    assert np.abs(step(varying(), archive)).max() == np.float32(1e20)


def test_the_first_batch_varies_the_initial_solution():
    emitter = varying()
    solutions = step(emitter, archive_of(0))
    assert (solutions.dtype, solutions.shape) == (np.float32, (BATCH, N))
    assert stats.kstest(((solutions - INITIAL) / ISO).ravel(), "norm").pvalue > 1e-3
    assert len(np.unique(solutions, axis=0)) == BATCH
