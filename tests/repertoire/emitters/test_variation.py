"""The variation emitter: the published formula, where parents come from, and resuming."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from search_tools import generator, grid, improved

from repertoire.archives.archive import Archive
from repertoire.emitters.variation import VariationEmitter, VariationSettings
from repertoire.strategies.noise import Noise

N = 300
BATCH = 40
ISO, LINE = 0.01, 0.2
INITIAL = np.linspace(-1, 1, N).astype(np.float32)


def make(seed: int = 1, **settings: Any) -> VariationEmitter:
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
    emitter = make(seed=5, batch_size=batch_size, line_sigma=line_sigma)
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
    assert np.abs(step(make(), archive)).max() == np.float32(1e20)


def test_the_first_batch_varies_the_initial_solution():
    emitter = make()
    solutions = step(emitter, archive_of(0))
    assert (solutions.dtype, solutions.shape) == (np.float32, (BATCH, N))
    assert stats.kstest(((solutions - INITIAL) / ISO).ravel(), "norm").pvalue > 1e-3
    assert len(np.unique(solutions, axis=0)) == BATCH
