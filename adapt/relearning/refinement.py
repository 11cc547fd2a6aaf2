"""`refine`: an evolution strategy that starts from gaits that are known, on models of the damaged robot."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from adapt.objective import RecoveryObjective
from adapt.self_model.twin import SMALL, RefinementSettings
from repertoire.strategies.strategy import Strategy
from repertoire.strategies.table import STRATEGIES
from robots.backend import Backend, ModelBatch
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.episodes import Episodes
from robots.simulation.threads import ALL_CORES

_SHORT = 0.4  # of an episode's length that all runs have at first: whoever walks there learns to last later
_SHORTEST = 2.0  # seconds: in less, a robot hardly gets going
# Share of the budget, and episodes at most, after which episodes have their whole length, and after which a
# fall costs what the objective says: a longer search in short episodes learns to walk fast and fall later.
_AT_FIRST = 0.6, 1_200
_LENIENT = 0.8, 1_600
_TRIED = 2  # short episodes of each gait that the search may start from
_FINALS = 8  # episodes of each gait that may be where the search starts, and of what it ends with
_MODELS = 2  # on which each sample runs, if there are so many, so that it is not made for one alone
_SCALE = 0.16  # step size as a share of the spread of the parameters of the gait
_MOST_SIGMA = 0.05
_LEAST_SIGMA = 0.005
_STARTS = 4  # gaits that searches start from, of which the better half goes on, twice
_RACE = 0.2  # share of the budget after which one of them is left
_BATCHES = 16, 40  # samples of a generation, of gaits with few parameters and with many
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
        fall: how probable a fall of the gait is by the fresh episodes, between 0 and 1.
    """

    solution: np.ndarray
    start: int
    score: float
    before: float
    episodes: int
    fall: float = 0.5


def refine(
    robots: Sequence[Robot],
    solutions: np.ndarray,
    *,
    objective: RecoveryObjective,
    settings: RefinementSettings,
    seed: int,
    number: int = 0,
    backend: Backend = ALL_CORES,
    on_progress: Callable[[float], None] | None = None,
    hurried: Callable[[], bool] = lambda: False,
) -> Refinement:
    """Search by an evolution strategy for a gait that does better on average over some models.

    It starts from the most promising gait and from the three that get furthest in two fifths of an episode
    (in two seconds at least), whether they fall later or not: what walks and then falls is a better start
    than what stands. After a tenth of the budget the better two of these searches go on, and after a fifth
    one of them (successive halving). For three fifths of the budget, 1,200 episodes at most, episodes have
    that length, and for four fifths, 1,600 at most, falls cost less than by the objective. Gaits of up to
    100 parameters are searched by CMA-ES (Hansen 2016) with generations of 16, others by LM-MA-ES
    (Loshchilov et al. 2019) with generations of 40.

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
        backend: what runs the episodes. The result does not depend on it.
        on_progress: called with the share that is done.
        hurried: asked after each generation whether to end with what was found so far.
    """
    search = _Search(robots, objective, settings, seed, number, backend, on_progress, hurried)
    start, mean = search.run(solutions)
    finalists = np.stack([solutions[0], solutions[start], mean])
    values, fell = search.finals(finalists)
    known = 0 if values[0].mean() >= values[1].mean() else 1
    gain, best = values[2] - values[known], 2
    if gain.mean() <= gain.std(ddof=1) / np.sqrt(_FINALS):
        best = known
    return Refinement(
        solution=finalists[best],
        start=0 if best == 0 else start,
        score=float(values[best].mean()),
        before=float(values[known].mean()),
        episodes=-(-search.spent // search.whole),
        fall=float((fell[best].sum() + 0.5) / (_FINALS + 1)),
    )


class _Search:
    """Runs gaits on models, in episodes of a length that can change; arguments are those of `refine`.

    Attributes:
        whole, short: control steps of whole episodes, and of those at first.
        steps: of an episode now.
        spent: control steps that ran so far.
    """

    def __init__(
        self,
        robots: Sequence[Robot],
        objective: RecoveryObjective,
        settings: RefinementSettings,
        seed: int,
        number: int,
        backend: Backend,
        on_progress: Callable[[float], None] | None,
        hurried: Callable[[], bool],
    ) -> None:
        self._robots, self._objective, self._settings = robots, objective, settings
        self._seed, self._number, self._backend, self._generation = seed, number, backend, 0
        self._on_progress, self._hurried = on_progress, hurried
        self.whole = robots[0].description.episode_steps
        shortest = round(_SHORTEST / robots[0].control_step)
        self.short = min(self.whole, max(round(_SHORT * self.whole), shortest))
        self.steps, self.spent, self._budget = self.whole, 0, settings.episodes * self.whole
        self._batch = ModelBatch(*robots)
        key = (int(SeedFamily.REFINEMENT), number)
        self._rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))

    def run(self, solutions: np.ndarray) -> tuple[int, np.ndarray]:
        """The whole search: row of the gait where it started, and its mean in the end, (n,) float32."""
        self._last(self.short)
        running = [(row, self._strategy(solutions[row])) for row in self._starts(solutions)]
        rounds = max(1, math.ceil(math.log2(len(running))))
        while len(running) > 1:
            share = _RACE * self._budget / (rounds * len(running))
            for _, strategy in running:
                self._advance(strategy, self.spent + share)
            means = np.stack([strategy.mean.astype(np.float32) for _, strategy in running])
            reached = self._objective.lenient(self.steps).of(self._run(means, _FINALS, _START))
            order = np.argsort(-_means(reached, len(running)), kind="stable")
            running = [running[index] for index in order[: (len(running) + 1) // 2]]
        ((start, strategy),) = running
        self._advance(strategy, self._budget)
        return start, strategy.mean.astype(np.float32)

    def finals(self, solutions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Objectives and falls of k gaits in fresh whole episodes, the same for all, (k, 8) each."""
        self._last(self.whole)
        episodes = self._run(solutions, _FINALS, _FRESH)
        values, shape = self._objective.of(episodes), (len(solutions), _FINALS)
        return values.reshape(shape), episodes.fell.reshape(shape)

    def _last(self, steps: int) -> None:
        """Have episodes last so many control steps from now on."""
        if steps != self.steps:
            robots = [robot.with_episode_steps(steps) for robot in self._robots]
            self.steps, self._batch = steps, ModelBatch(*robots)

    def _starts(self, solutions: np.ndarray) -> list[int]:
        """Rows of the most promising gait and of those that get furthest, by a few episodes of all."""
        rows = np.argsort(-self._distances(solutions, _TRIED), kind="stable")[:_FINALS]
        furthest = rows[np.argsort(-self._distances(solutions[rows], _FINALS), kind="stable")]
        return list(dict.fromkeys([*furthest[: _STARTS - 1].tolist(), 0]))

    def _strategy(self, solution: np.ndarray) -> Strategy:
        """A search from a gait."""
        settings, small = self._settings, len(solution) <= SMALL
        sigma = settings.sigma0 or float(np.clip(_SCALE * solution.std(), _LEAST_SIGMA, _MOST_SIGMA))
        kind, size = ("cma-es", _BATCHES[0]) if small else ("lm-ma-es", _BATCHES[1])
        (mean,) = self._robots[0].controller.bounded(solution[None]).astype(np.float64)
        strategy = STRATEGIES[settings.strategy or kind]
        return strategy(batch_size=settings.batch_size or size, sigma0=sigma).make(mean, self._rng)

    def _advance(self, strategy: Strategy, until: float) -> None:
        """Go on with a search until so many control steps ran, or nothing is left to learn."""
        while self.spent < until and not self._hurried():
            if self.steps == self.short and self.spent >= self._until(_AT_FIRST):
                self._last(self.whole)
            values = self._values(strategy.ask(), lenient=self.spent < self._until(_LENIENT))
            order = np.argsort(-values, kind="stable")
            strategy.tell(order)
            if self._on_progress:
                self._on_progress(min(1.0, self.spent / self._budget))
            if strategy.converged(values[order]):
                break

    def _until(self, limit: tuple[float, int]) -> float:
        """Control steps after which a phase ends."""
        share, episodes = limit
        return min(share * self._budget, episodes * self.whole)

    def _values(self, samples: np.ndarray, *, lenient: bool) -> np.ndarray:
        """Mean objectives of the samples of a generation, (n,)."""
        models = min(_MODELS, len(self._robots))
        self._generation += 1
        episodes = self._run(samples, models, _GENERATION, (self._generation - 1) * models)
        objective = self._objective.lenient(self.steps) if lenient else self._objective
        return _means(objective.of(episodes), len(samples))

    def _distances(self, solutions: np.ndarray, count: int) -> np.ndarray:
        """Mean distances of k gaits [m], (k,)."""
        episodes = self._run(solutions, count, _START)
        return _means(np.where(episodes.diverged, 0, episodes.distances), len(solutions))

    def _run(self, solutions: np.ndarray, count: int, use: int, first: int = 0) -> Episodes:
        """Run k gaits, each in the same episodes on the models in turn."""
        seeds = derive_seeds(self._seed, SeedFamily.REFINEMENT, first, count, self._number, use)
        models, k = (first + np.arange(count)) % len(self._robots), len(solutions)
        episodes = self._backend.run(
            self._batch, np.repeat(solutions, count, axis=0), np.tile(seeds, k), models=np.tile(models, k)
        )
        self.spent += int(episodes.steps.sum())
        return episodes


def _means(values: np.ndarray, k: int) -> np.ndarray:
    """Means of the episodes of each of k gaits, (k,)."""
    return np.asarray(values.reshape(k, -1).mean(axis=1))
