"""ME-ES: batches, steps against a transcription, what is remembered, normalisation, failures, resuming."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from published import SalimansES
from search_tools import add_offered, generator
from search_tools import grid as make_grid

from repertoire.archives.archive import Archive
from repertoire.emitters.me_es import STEPS, MEESEmitter, MEESSettings, Parents, novelty
from repertoire.problems.problem import Normaliser
from repertoire.strategies.openai_es import OpenAIESSettings
from robots.evaluations import Evaluations, ObservationMoments, Request

N = 6
SAMPLES = 8
SIGMA = 0.1
INITIAL = np.linspace(0.2, 0.7, N)


def make(mode: str = "explore-exploit", *, seed: int = 1, **settings) -> MEESEmitter:
    problem = SimpleNamespace(measure_ranges=[(-2, 2)] * 2, normaliser=settings.pop("normaliser", None))
    strategy = OpenAIESSettings(**{"sigma0": SIGMA, "batch_size": SAMPLES, **settings})
    return MEESSettings(mode=mode, strategy=strategy).make(problem, INITIAL, generator(seed))


def grid(cells: int = 20) -> Archive:
    return make_grid(cells, cells, dim=N, ranges=[(-2, 2)] * 2)


def outcomes_of(emitter: MEESEmitter, archive: Archive, solutions: np.ndarray, failed=()) -> Evaluations:
    """Maximise -sum (x - 1)², with the first two parameters as the measures."""
    x = solutions.astype(np.float64)
    bad = np.isin(np.arange(len(x)), failed)
    objectives, measures = np.where(bad, np.nan, -np.sum((x - 1) ** 2, axis=1)), x[:, :2].copy()
    measures[bad] = np.nan
    found = Evaluations(objectives, measures, bad, np.ones(len(x), int))
    return add_offered(emitter, archive, solutions, found)


def advance(emitter: MEESEmitter, archive: Archive, batches: int = 1, failed=()) -> list[np.ndarray]:
    asked = []
    for _ in range(batches):
        asked.append(emitter.ask(archive))
        emitter.tell(outcomes_of(emitter, archive, asked[-1], failed), archive)
    return asked


def test_the_first_solution_is_the_initial_one_and_only_means_enter_the_archive():
    emitter, archive, means = make("exploit"), grid(), []
    for solutions in advance(emitter, archive, 40):
        if len(solutions) != SAMPLES:
            means.append(solutions[0])
    np.testing.assert_array_equal(means[0], INITIAL.astype(np.float32))
    assert {tuple(row) for row in archive.elites().solutions} <= {tuple(row) for row in means}


def brute_force(measures: np.ndarray, seen: np.ndarray) -> list[float]:
    result = []
    for row in measures:
        distances = sorted(np.sqrt(sum((a - b) ** 2 for a, b in zip(row, one, strict=True))) for one in seen)
        result.append(np.mean(distances[:10]))
    return result


@pytest.mark.parametrize("mode", ["explore", "exploit", "explore-exploit"])
def test_steps_are_the_published_ones(mode):
    emitter, archive, means, transcription = make(mode), grid(), [], None
    for _ in range(4 * (STEPS + 1)):
        begins = emitter.batch_size == SAMPLES
        if begins:
            transcription = SalimansES(emitter.strategy.mean, SIGMA, 0.01, 0.005 / SIGMA)
            parents = archive.elites().solutions.astype(np.float64)
            assert (parents == transcription.theta).all(axis=1).any()
        goal, noise = emitter.goal, emitter.strategy._noise
        solutions = emitter.ask(archive)
        outcomes = outcomes_of(emitter, archive, solutions)
        if len(solutions) != SAMPLES:
            means.append(outcomes.measures[0])
        if len(solutions) != 1:
            expected = transcription.samples(noise)
            np.testing.assert_allclose(solutions[-SAMPLES:], expected, rtol=1e-6, atol=1e-6)
            measures = outcomes.measures[-SAMPLES:]
            fitness = outcomes.objectives[-SAMPLES:] if goal == "exploit" else brute_force(measures, means)
            transcription.update(np.argsort(-np.array(fitness), kind="stable"))
        emitter.tell(outcomes, archive)
        if len(solutions) != 1:
            np.testing.assert_allclose(emitter.strategy.mean, transcription.theta, rtol=0, atol=1e-5)


def test_only_cells_that_a_mean_won_count_as_updated():
    emitter, empty, full = make(), grid(), grid(cells=2)
    corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    full.add(np.zeros((4, N)), np.full(4, 1.0), corners)
    advance(emitter, full, 1 + STEPS)
    assert emitter.state()["parents/updated"].tolist() == []
    assert len(emitter.state()["parents/seen"]) == STEPS
    advance(emitter, empty)
    assert emitter.state()["parents/updated"].tolist() == empty.elites().cells.tolist()


SEES = Normaliser(N, lambda x, mean, std: x / std - mean, lambda x, mean, std: (x + mean) * std)
# of mean 1 and standard deviation 2
MOMENTS = ObservationMoments(4, np.full(N, 4.0), np.full(N, 20.0))


def test_solutions_take_up_the_statistics_of_what_was_seen_before():
    emitter, archive = make("exploit", normaliser=SEES), grid()
    advance(emitter, archive)
    solutions, noise = emitter.ask(archive), emitter.strategy._noise
    np.testing.assert_allclose(solutions[::2], INITIAL + SIGMA * noise, rtol=1e-5, atol=1e-6)
    emitter.tell(replace(outcomes_of(emitter, archive, solutions), moments=MOMENTS), archive)
    mean, solutions = emitter.strategy.mean, emitter.ask(archive)
    np.testing.assert_allclose(solutions[0], mean / 2 - 1, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(solutions[1::2], (mean + SIGMA * noise) / 2 - 1, rtol=1e-5, atol=1e-6)


def test_observations_of_two_of_200_samples_are_requested_and_of_no_mean():
    emitter, archive = make(batch_size=200, normaliser=SEES), grid()
    observed = []
    for _ in range(1 + STEPS + 1):
        observed.append(np.flatnonzero(emitter.request.observed).tolist())
        assert emitter.request.observed.shape == (emitter.batch_size,)
        advance(emitter, archive)
    assert observed == [[], [0, 100], *([[1, 101]] * (STEPS - 1)), []]
    assert make().request == Request()


# Which elites ME-ES starts from: the laws of the choice, what it remembers, and novelty.


CELLS = 20
DRAWS = 4000


def archive_of(elites: int) -> Archive:
    """In each of so many cells an elite whose parameter is its cell; objectives are highest in the middle."""
    archive = make_grid(CELLS, dim=1, ranges=[(0, CELLS)])
    cells = np.arange(elites, dtype=np.float64)
    archive.add(cells[:, None], -np.abs(cells - 6.1), cells[:, None] + 0.5)
    return archive


def shares(parents: Parents, goal: str, archive: Archive) -> dict[int, float]:
    """How often each cell is chosen."""
    rng = np.random.default_rng(0)
    chosen = Counter(int(parents.choose(goal, archive, rng)[0]) for _ in range(DRAWS))
    return {cell: count / DRAWS for cell, count in chosen.items()}


def about(value: float):
    return pytest.approx(value, abs=4 * np.sqrt(0.25 / DRAWS))


def test_exploiting_starts_from_the_two_best_of_all_or_of_the_five_updated_last():
    parents = Parents(1)
    for cell in (6, 7, 18, 15, 12, 14, 11, 12):
        parents.remember(np.array([cell + 0.5]), cell)
    assert shares(parents, "exploit", archive_of(20)) == dict.fromkeys((6, 7, 11, 12), about(0.25))


def test_exploring_starts_from_the_five_most_novel():
    parents, archive = Parents(1), archive_of(20)
    for place in np.random.default_rng(1).uniform(0, 20, 40):
        parents.remember(np.array([place]), None)
    values = novelty(archive.elites().measures, parents.seen)
    assert shares(parents, "explore", archive) == {int(cell): about(0.2) for cell in np.argsort(values)[-5:]}
