"""`refine`: an evolution strategy that starts from gaits that are known, on models of the damaged robot."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from adapt.objective import RecoveryObjective
from adapt.self_model.twin import RefinementSettings
from repertoire.execution.executor import Executor, start_executor
from repertoire.strategies.sep_cma_es import SepCMAESSettings
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds

_FINALS = 8  # episodes of each gait that may be where the search starts, and of what it ends with
_MODELS = 2  # on which each sample runs, if there are so many, so that it is not made for one alone
_SCALE = 0.1  # step size as a share of the spread of the parameters of the gait
_MOST_SIGMA = 0.1
_LEAST_SIGMA = 0.005


@dataclass(frozen=True, eq=False)
class Refinement:
    """What a search found.

    Attributes:
        solution: parameters of the gait, (n,) float32.
        start: row of the gait that the search started from, of those that were given.
        score: mean recovery objective of the gait in fresh episodes on the models.
        before: that of the gait that it started from, in the same episodes.
        episodes: that the search took.
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
) -> Refinement:
    """Search by sep-CMA-ES (Ros & Hansen 2008) for a gait that does better on average over some models.

    It starts from whichever of some gaits does best on them. All samples of a generation run on the same
    models, from the same seeds: what sets them apart is not that one started more luckily. In each generation
    these are others, so that nothing is learned by heart. The mean of the search distribution is the result,
    unless the gait that it started from does as well in fresh episodes.

    Args:
        robots: the models, at least one.
        solutions: of the gaits that it may start from, (k, n) float32; rows are counted from 0.
        objective: what to maximise.
        settings: see there.
        seed: from which all random numbers derive.
        number: of the search, which has others than the next.
        threads: of the simulation; all cores by default. The result does not depend on it.
        on_progress: called with the share that is done.
    """
    executor = start_executor(*robots, threads=threads)
    try:
        search = _Search(executor, len(robots), objective, seed, number)
        scores = search.finals(solutions)
        start = int(np.argmax(scores))
        sigma = settings.sigma0 or float(np.clip(_SCALE * solutions[start].std(), _LEAST_SIGMA, _MOST_SIGMA))
        strategy = SepCMAESSettings(batch_size=settings.batch_size, sigma0=sigma).make(
            solutions[start].astype(np.float64), search.rng
        )
        spent = solutions.shape[0] * _FINALS
        while spent < settings.episodes:
            samples = strategy.ask()
            values = search.values(samples)
            order = np.argsort(-values, kind="stable")
            strategy.tell(order)
            spent += len(samples) * search.models
            if on_progress:
                on_progress(min(1.0, spent / settings.episodes))
            if strategy.converged(values[order]):
                break
        mean = strategy.mean.astype(np.float32)
        before, after = search.finals(np.stack([solutions[start], mean]), fresh=True)
    finally:
        executor.close()
    solution, score = (mean, after) if after > before else (solutions[start].copy(), before)
    return Refinement(solution, start, float(score), float(before), spent)


class _Search:
    """Runs samples on models, generation by generation."""

    def __init__(
        self, executor: Executor, count: int, objective: RecoveryObjective, seed: int, number: int
    ) -> None:
        self._executor, self._count, self._objective = executor, count, objective
        self._seed, self._number, self._generation = seed, number, 0
        self.models = min(_MODELS, count)
        key = (int(SeedFamily.REFINEMENT), number)
        self.rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))

    def values(self, samples: np.ndarray) -> np.ndarray:
        """Mean objectives of the samples of a generation, (n,)."""
        seeds = derive_seeds(
            self._seed, SeedFamily.REFINEMENT, self._generation * self.models, self.models, self._number, 0
        )
        start = self._generation * self.models
        self._generation += 1
        return self._means(samples, seeds, (start + np.arange(self.models)) % self._count)

    def finals(self, solutions: np.ndarray, *, fresh: bool = False) -> np.ndarray:
        """Mean objectives of some gaits over all models in turn, (k,)."""
        seeds = derive_seeds(self._seed, SeedFamily.REFINEMENT, 0, _FINALS, self._number, 1 + fresh)
        return self._means(solutions, seeds, np.arange(_FINALS) % self._count)

    def _means(self, solutions: np.ndarray, seeds: np.ndarray, models: np.ndarray) -> np.ndarray:
        """Mean objectives of k gaits, each in the same episodes, (k,)."""
        k = len(solutions)
        episodes = self._executor.evaluate(
            np.repeat(solutions, len(seeds), axis=0), np.tile(seeds, k), variants=np.tile(models, k)
        )
        return np.asarray(self._objective.of(episodes).reshape(k, -1).mean(axis=1))
