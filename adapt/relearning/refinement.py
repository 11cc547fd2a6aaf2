"""`EvolutionRefiner`: an evolution strategy from gaits that are known, on models of the damaged robot."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adapt.objective import RecoveryObjective
from adapt.relearning.refiner import Refinement, Refiner, RefinerSettings
from repertoire.repertoire import Repertoire
from repertoire.strategies.strategy import Strategy
from repertoire.strategies.table import STRATEGIES
from robots.arrays import real_number, whole_number
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import Backend, ModelBatch
from robots.simulation.episodes import Episodes
from robots.simulation.threads import ALL_CORES

_START, _GENERATION, _FRESH = range(3)  # what episodes are for, each with seeds of its own
_SEARCH_OF_SMALL = 4_000  # episodes, in which the Hexapod's searches come near their end


@dataclass(frozen=True)
class RefinementSettings(RefinerSettings):
    """How long and how widely an evolution strategy searches, see `EvolutionRefiner`.

    Attributes:
        batch_size: samples of a generation; None for 16 of gaits with few parameters and 40 of others.
        sigma0: initial step size, in units of the gaits' parameters; None for one that follows from them.
        strategy: name of the evolution strategy; None for CMA-ES of gaits with few parameters, and LM-MA-ES
            of others.
        small: parameters up to which these are few: a full covariance matrix is learned.
        short: share of an episode's length that all runs have at first: whoever walks there learns to last
            later.
        shortest: the least length of these [s]: in less, a robot hardly gets going.
        short_until: share of the budget, and episodes at most, after which episodes have their whole length.
        lenient_until: likewise, after which a fall costs what the objective says: a longer search in short
            episodes learns to walk fast and fall later.
        tried: short episodes of each gait that the search may start from.
        finals: episodes of each gait that may be where the search starts, and of what it ends with.
        models: on which each sample runs, if there are so many, so that it is not made for one alone.
        scale: step size as a share of the spread of the parameters of the gait.
        sigma_range: between which that is kept.
        starts: gaits that searches start from, of which the better half goes on, twice.
        race: share of the budget after which one of them is left.

    Raises:
        InvalidValueError: a number is out of range.
        UnknownNameError: there is no such strategy.
    """

    episodes: int = 2_000
    batch_size: int | None = None
    sigma0: float | None = None
    strategy: str | None = None
    small: int = 100
    short: float = 0.4
    shortest: float = 2.0
    short_until: tuple[float, int] = (0.6, 1_200)
    lenient_until: tuple[float, int] = (0.8, 1_600)
    tried: int = 2
    finals: int = 8
    models: int = 2
    scale: float = 0.16
    sigma_range: tuple[float, float] = (0.005, 0.05)
    starts: int = 4
    race: float = 0.2

    @classmethod
    def of(cls, repertoire: Repertoire, episodes: int | None = None) -> "RefinementSettings":
        """Those of a recovery, by default with 4,000 episodes for gaits of up to 100 parameters."""
        small = repertoire.gaits.solutions.shape[1] <= cls.small
        return cls(episodes or (_SEARCH_OF_SMALL if small else cls.episodes))

    def __post_init__(self) -> None:
        whole_number("episodes", self.episodes, 1)
        if self.batch_size is not None:
            whole_number("batch_size", self.batch_size, 2)
        if self.sigma0 is not None:
            real_number("sigma0", self.sigma0, 0, above=True)
        if self.strategy is not None:
            STRATEGIES.find(self.strategy)

    def make(self, robots: Sequence[Robot], **arguments: Any) -> Refiner:
        """See `RefinerSettings`."""
        return EvolutionRefiner(self, robots, **arguments)


class EvolutionRefiner(Refiner):
    """Searches by an evolution strategy for a gait that does better on average over some models.

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

    Arguments are those of `RefinementSettings.make`; `hurried` is asked after each generation.

    Attributes:
        whole, short: control steps of whole episodes, and of those at first.
        steps: of an episode now.
        spent: control steps that ran so far.
    """

    def __init__(
        self,
        settings: RefinementSettings,
        robots: Sequence[Robot],
        *,
        objective: RecoveryObjective,
        seed: int,
        number: int = 0,
        backend: Backend = ALL_CORES,
        on_progress: Callable[[float], None] | None = None,
        hurried: Callable[[], bool] = lambda: False,
    ) -> None:
        self._robots, self._objective, self._settings = robots, objective, settings
        self._seed, self._number, self._backend, self._generation = seed, number, backend, 0
        self._on_progress, self._hurried = on_progress, hurried
        self.whole = robots[0].description.episode_steps
        shortest = round(settings.shortest / robots[0].control_step)
        self.short = min(self.whole, max(round(settings.short * self.whole), shortest))
        self.steps, self.spent, self._budget = self.whole, 0, settings.episodes * self.whole
        self._batch = ModelBatch(*robots)
        key = (int(SeedFamily.REFINEMENT), number)
        self._rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))

    def refine(self, solutions: np.ndarray) -> Refinement:
        """See `Refiner`."""
        start, mean = self._search(solutions)
        finalists = np.stack([solutions[0], solutions[start], mean])
        values, fell = self._finals(finalists)
        known = 0 if values[0].mean() >= values[1].mean() else 1
        gain, best, finals = values[2] - values[known], 2, self._settings.finals
        if gain.mean() <= gain.std(ddof=1) / np.sqrt(finals):
            best = known
        return Refinement(
            solution=finalists[best],
            start=0 if best == 0 else start,
            score=float(values[best].mean()),
            before=float(values[known].mean()),
            episodes=-(-self.spent // self.whole),
            fall=float((fell[best].sum() + 0.5) / (finals + 1)),
        )

    def _search(self, solutions: np.ndarray) -> tuple[int, np.ndarray]:
        """The whole search: row of the gait where it started, and its mean in the end, (n,) float32."""
        self._last(self.short)
        running = [(row, self._strategy(solutions[row])) for row in self._starts(solutions)]
        rounds = max(1, math.ceil(math.log2(len(running))))
        while len(running) > 1:
            share = self._settings.race * self._budget / (rounds * len(running))
            for _, strategy in running:
                self._advance(strategy, self.spent + share)
            means = np.stack([strategy.mean.astype(np.float32) for _, strategy in running])
            reached = self._objective.lenient(self.steps).of(self._run(means, self._settings.finals, _START))
            order = np.argsort(-_means(reached, len(running)), kind="stable")
            running = [running[index] for index in order[: (len(running) + 1) // 2]]
        ((start, strategy),) = running
        self._advance(strategy, self._budget)
        return start, strategy.mean.astype(np.float32)

    def _finals(self, solutions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Objectives and falls of k gaits in fresh whole episodes, the same for all, (k, f) each."""
        self._last(self.whole)
        finals = self._settings.finals
        episodes = self._run(solutions, finals, _FRESH)
        values, shape = self._objective.of(episodes), (len(solutions), finals)
        return values.reshape(shape), episodes.fell.reshape(shape)

    def _last(self, steps: int) -> None:
        """Have episodes last so many control steps from now on."""
        if steps != self.steps:
            robots = [robot.with_episode_steps(steps) for robot in self._robots]
            self.steps, self._batch = steps, ModelBatch(*robots)

    def _starts(self, solutions: np.ndarray) -> list[int]:
        """Rows of the most promising gait and of those that get furthest, by a few episodes of all."""
        settings = self._settings
        rows = np.argsort(-self._distances(solutions, settings.tried), kind="stable")[: settings.finals]
        furthest = rows[np.argsort(-self._distances(solutions[rows], settings.finals), kind="stable")]
        return list(dict.fromkeys([*furthest[: settings.starts - 1].tolist(), 0]))

    def _strategy(self, solution: np.ndarray) -> Strategy:
        """A search from a gait."""
        settings = self._settings
        sigma = settings.sigma0 or float(np.clip(settings.scale * solution.std(), *settings.sigma_range))
        kind, size = ("cma-es", 16) if len(solution) <= settings.small else ("lm-ma-es", 40)
        (mean,) = self._robots[0].controller.bounded(solution[None]).astype(np.float64)
        strategy = STRATEGIES[settings.strategy or kind]
        return strategy(batch_size=settings.batch_size or size, sigma0=sigma).make(mean, self._rng)

    def _advance(self, strategy: Strategy, until: float) -> None:
        """Go on with a search until so many control steps ran, or nothing is left to learn."""
        while self.spent < until and not self._hurried():
            if self.steps == self.short and self.spent >= self._until(self._settings.short_until):
                self._last(self.whole)
            values = self._values(
                strategy.ask(), lenient=self.spent < self._until(self._settings.lenient_until)
            )
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
        models = min(self._settings.models, len(self._robots))
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
