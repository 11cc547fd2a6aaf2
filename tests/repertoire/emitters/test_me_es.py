"""ME-ES: batches, steps against a transcription, what is remembered, normalisation, failures, resuming."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from search_tools import add_offered, generator
from search_tools import grid as make_grid

from repertoire.archives.archive import Archive
from repertoire.emitters.me_es import STEPS, MEESEmitter, MEESSettings
from repertoire.problems.problem import Normaliser
from repertoire.strategies.openai_es import OpenAIESSettings
from robots.evaluations import Evaluations, ObservationMoments, Request

N = 6
SAMPLES = 8
SIGMA = 0.1
INITIAL = np.linspace(0.2, 0.7, N)


def make(mode: str = "explore-exploit", *, seed: int = 1, **settings: Any) -> MEESEmitter:
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


class Transcription:
    """ME-ES's steps from one parent, straight from the publications: Colas et al. 2020; Kingma & Ba 2015."""

    def __init__(self, parent: np.ndarray) -> None:
        self.theta = np.array(parent, np.float64)
        self.m, self.v, self.t = np.zeros(N), np.zeros(N), 0

    def step(self, noise: np.ndarray, fitness: list[float]) -> None:
        """Rows 2i and 2i + 1 of the fitness are those of theta + sigma noise_i and theta - sigma noise_i."""
        order = sorted(range(len(fitness)), key=lambda i: fitness[i])
        r = {i: rank / (len(fitness) - 1) - 0.5 for rank, i in enumerate(order)}
        g = np.mean([(r[2 * i] - r[2 * i + 1]) * e for i, e in enumerate(noise.astype(np.float64))], axis=0)
        descent = -g + 0.005 * self.theta
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * descent
        self.v = 0.999 * self.v + 0.001 * descent**2
        m_hat, v_hat = self.m / (1 - 0.9**self.t), self.v / (1 - 0.999**self.t)
        self.theta = self.theta - 0.01 * m_hat / (np.sqrt(v_hat) + 1e-8)


def fitness_of(goal: str, outcomes: Evaluations, means: list[np.ndarray]) -> list[float]:
    if goal == "exploit":
        return outcomes.objectives[-SAMPLES:].tolist()
    distances = [[math.dist(one, past) for past in means] for one in outcomes.measures[-SAMPLES:]]
    return [float(np.mean(sorted(row)[:10])) for row in distances]


@pytest.mark.parametrize("mode", ["explore", "exploit", "explore-exploit"])
def test_steps_are_the_published_ones(mode):
    emitter, archive, means, transcription = make(mode), grid(), [], None
    for _ in range(4 * (STEPS + 1)):
        begins = emitter.batch_size == SAMPLES
        if begins:
            transcription = Transcription(emitter.strategy.mean)
            parents = archive.elites().solutions.astype(np.float64)
            assert (parents == transcription.theta).all(axis=1).any()
        goal, noise = emitter.goal, emitter.strategy._noise
        solutions = emitter.ask(archive)
        outcomes = outcomes_of(emitter, archive, solutions)
        if len(solutions) != SAMPLES:
            means.append(outcomes.measures[0])
        if len(solutions) != 1:
            signed = np.stack([noise, -noise], axis=1).reshape(SAMPLES, N)
            expected = transcription.theta + SIGMA * signed
            np.testing.assert_allclose(solutions[-SAMPLES:], expected, rtol=1e-6, atol=1e-6)
            transcription.step(noise, fitness_of(goal, outcomes, means))
        emitter.tell(outcomes, archive)
        if len(solutions) != 1:
            np.testing.assert_allclose(emitter.strategy.mean, transcription.theta, rtol=1e-10, atol=1e-12)


def test_only_cells_that_a_mean_won_count_as_updated():
    emitter, empty, full = make(), grid(), grid(cells=2)
    corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    full.add(np.zeros((4, N)), np.full(4, 1.0), corners)
    advance(emitter, full, 1 + STEPS)
    assert emitter.state()["parents/updated"].tolist() == []
    assert len(emitter.state()["parents/seen"]) == STEPS
    advance(emitter, empty)
    assert emitter.state()["parents/updated"].tolist() == empty.elites().cells.tolist()


def scaled(controllers: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    return controllers / std - mean


def unscaled(solutions: np.ndarray, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    return (solutions + mean) * std


SEES = Normaliser(N, scaled, unscaled)
# of mean 1 and standard deviation 2
MOMENTS = ObservationMoments(4, np.full(N, 4.0), np.full(N, 20.0))


def with_moments(outcomes: Evaluations) -> Evaluations:
    return replace(outcomes, moments=MOMENTS)


def test_solutions_take_up_the_statistics_of_what_was_seen_before():
    emitter, archive = make("exploit", normaliser=SEES), grid()
    advance(emitter, archive)
    solutions, noise = emitter.ask(archive), emitter.strategy._noise
    np.testing.assert_allclose(solutions[::2], INITIAL + SIGMA * noise, rtol=1e-5, atol=1e-6)
    emitter.tell(with_moments(outcomes_of(emitter, archive, solutions)), archive)
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
