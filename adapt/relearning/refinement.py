"""`refine`: an evolution strategy that starts from gaits that are known, on models of the damaged robot."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from adapt.objective import RecoveryObjective
from adapt.self_model.twin import RefinementSettings
from repertoire.execution.executor import start_executor
from repertoire.strategies.cma_es import CMAESSettings
from repertoire.strategies.lm_ma_es import LMMAESSettings
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.episodes import Episodes

_SHORT = 0.4  # of an episode's length that all runs have at first: whoever walks there learns to last later
_SHORTEST = 2.0  # seconds: in less, a robot hardly gets going
_AT_FIRST = 0.6  # share of the budget after which episodes have their whole length
_LENIENT = 0.8  # share of the budget after which a fall costs what the objective says
_SMALL = 100  # parameters up to which a full covariance matrix pays; above it, a few direction vectors
_TRIED = 2  # short episodes of each gait that the search may start from
_FINALS = 8  # episodes of each gait that may be where the search starts, and of what it ends with
_MODELS = 2  # on which each sample runs, if there are so many, so that it is not made for one alone
_SCALE = 0.16  # step size as a share of the spread of the parameters of the gait
_MOST_SIGMA = 0.05
_LEAST_SIGMA = 0.005
_START, _GENERATION, _FRESH = range(3)  # what episodes are for, each with seeds of its own


@dataclass(frozen=True, eq=False)
class Refinement:
    """What a search found.

    Attributes:
        solution: parameters of the gait, (n,) float32.
        start: row of the gait that the search started from, of those that were given.
        score: mean recovery objective of the gait in fresh episodes on the models.
        before: that of the most promising gait, or of that where it started, if that is better, in the same
            episodes.
        episodes: that the search took, as control steps in units of a whole episode.
    """

    solution: np.ndarray
    start: int
    score: float
    before: float
    episodes: int


def refine(
    robots: Sequence[Robot],
    solutions: np.ndarray,
    *,
    objective: RecoveryObjective,
    settings: RefinementSettings,
    seed: int,
    number: int = 0,
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
    hurried: Callable[[], bool] = lambda: False,
) -> Refinement:
    """Search by an evolution strategy for a gait that does better on average over some models.

    It starts from the gait that gets furthest in two fifths of an episode (in two seconds at least), whether
    it falls later or not: what walks and then falls is a better start than what stands. Three fifths of the
    search have episodes of that length, and until its last fifth falls cost less than by the objective. Gaits
    of up to 100 parameters are searched by CMA-ES (Hansen 2016), others by LM-MA-ES (Loshchilov et al. 2019).
    All samples of a generation run on the same models, from the same seeds: what sets them apart is not that
    one started more luckily. In each generation these are others, so that nothing is learned by heart. The
    mean of the search distribution is the result if in fresh episodes of the whole length it does better than
    the known gaits by more than the standard error.

    Args:
        robots: the models, at least one.
        solutions: of the gaits that it may start from, (k, n) float32, the most promising one first; rows
            are counted from 0.
        objective: what to maximise.
        settings: see there.
        seed: from which all random numbers derive.
        number: of the search, which has others than the next.
        threads: of the simulation; all cores by default. The result does not depend on it.
        on_progress: called with the share that is done.
        hurried: asked after each generation whether to end with what was found so far.
    """
    whole = robots[0].description.episode_steps
    search = _Search(robots, objective, whole, seed, number, threads)
    try:
        short = min(whole, max(round(_SHORT * whole), round(_SHORTEST / robots[0].control_step)))
        search.last(short)
        start = search.start(solutions)
        sigma = settings.sigma0 or float(np.clip(_SCALE * solutions[start].std(), _LEAST_SIGMA, _MOST_SIGMA))
        kind = CMAESSettings if solutions.shape[1] <= _SMALL else LMMAESSettings
        strategy = kind(batch_size=settings.batch_size, sigma0=sigma).make(
            solutions[start].astype(np.float64), search.rng
        )
        budget = settings.episodes * whole
        while search.spent < budget and not hurried():
            if search.steps == short and search.spent >= _AT_FIRST * budget:
                search.last(whole)
            samples = strategy.ask()
            values = search.values(samples, lenient=search.spent < _LENIENT * budget)
            order = np.argsort(-values, kind="stable")
            strategy.tell(order)
            if on_progress:
                on_progress(min(1.0, search.spent / budget))
            if strategy.converged(values[order]):
                break
        search.last(whole)
        mean = strategy.mean.astype(np.float32)
        *known, found = search.finals(np.stack([solutions[0], solutions[start], mean]))
    finally:
        search.close()
    row, before = (0, known[0]) if known[0].mean() >= known[1].mean() else (start, known[1])
    gain, episodes = found - before, -(-search.spent // whole)
    if gain.mean() <= gain.std(ddof=1) / np.sqrt(_FINALS):
        found, mean = before, solutions[row].copy()
    return Refinement(mean, start, float(found.mean()), float(before.mean()), episodes)


class _Search:
    """Runs gaits on models, in episodes of a length that can change.

    Attributes:
        rng: of the strategy.
        steps: control steps of an episode.
        spent: control steps that ran so far.
    """

    def __init__(
        self,
        robots: Sequence[Robot],
        objective: RecoveryObjective,
        whole: int,
        seed: int,
        number: int,
        threads: int | None,
    ) -> None:
        self._robots, self._objective, self._whole, self._threads = robots, objective, whole, threads
        self._seed, self._number, self._generation = seed, number, 0
        self.steps, self.spent = whole, 0
        self._executor = start_executor(*robots, threads=threads)
        key = (int(SeedFamily.REFINEMENT), number)
        self.rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))

    def last(self, steps: int) -> None:
        """Have episodes last so many control steps from now on."""
        if steps != self.steps:
            self.close()
            robots = [robot.with_episode_steps(steps) for robot in self._robots]
            self.steps, self._executor = steps, start_executor(*robots, threads=self._threads)

    def close(self) -> None:
        """Let the workers go."""
        self._executor.close()

    def start(self, solutions: np.ndarray) -> int:
        """Row of the gait that gets furthest, by a few episodes of all and more of those that got far."""
        rows = np.argsort(-self._distances(solutions, _TRIED), kind="stable")[:_FINALS]
        return int(rows[np.argmax(self._distances(solutions[rows], _FINALS))])

    def values(self, samples: np.ndarray, *, lenient: bool) -> np.ndarray:
        """Mean objectives of the samples of a generation, (n,)."""
        models = min(_MODELS, len(self._robots))
        self._generation += 1
        episodes = self._run(samples, models, _GENERATION, (self._generation - 1) * models)
        objective = self._objective.lenient(self.steps) if lenient else self._objective
        return _means(objective.of(episodes), len(samples))

    def finals(self, solutions: np.ndarray) -> np.ndarray:
        """Objectives of k gaits in fresh episodes, the same for all, (k, 8)."""
        return self._objective.of(self._run(solutions, _FINALS, _FRESH)).reshape(len(solutions), _FINALS)

    def _distances(self, solutions: np.ndarray, count: int) -> np.ndarray:
        """Mean distances of k gaits [m], (k,)."""
        episodes = self._run(solutions, count, _START)
        return _means(np.where(episodes.diverged, 0, episodes.distances), len(solutions))

    def _run(self, solutions: np.ndarray, count: int, use: int, first: int = 0) -> Episodes:
        """Run k gaits, each in the same episodes on the models in turn."""
        seeds = derive_seeds(self._seed, SeedFamily.REFINEMENT, first, count, self._number, use)
        models, k = (first + np.arange(count)) % len(self._robots), len(solutions)
        episodes = self._executor.evaluate(
            np.repeat(solutions, count, axis=0), np.tile(seeds, k), variants=np.tile(models, k)
        )
        self.spent += int(episodes.steps.sum())
        return episodes


def _means(values: np.ndarray, k: int) -> np.ndarray:
    """Means of the episodes of each of k gaits, (k,)."""
    return np.asarray(values.reshape(k, -1).mean(axis=1))
