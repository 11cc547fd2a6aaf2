"""`Refiner`: a way to search for better gaits on models of a damaged robot; here an evolution strategy."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adapt.objective import RecoveryObjective, first_part
from adapt.records import RefinedGait
from repertoire.archives.archive import Elites, checked_ranges
from repertoire.repertoire import Repertoire, Specialists, joined
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
_KEEPING = 10  # episodes of a gait that joins the repertoire


@dataclass(frozen=True, eq=False)
class Refinement:
    """What a search found; scores are mean recovery objectives in the same fresh episodes on the models."""

    solution: np.ndarray  # parameters of the gait, (n,) float32
    start: int  # row of the gait that the search started from, of those that were given
    score: float
    before: float  # of the most promising gait, or of that where it started, if that is better
    episodes: int  # that the search took, as control steps in units of a whole episode
    fall: float = 0.5  # probability of a fall by the fresh episodes
    # where the search stands, from which a next part of it goes on: a mean (n,) float32 and a step size
    reached: tuple[np.ndarray, float] | None = None


@dataclass(frozen=True)
class Refiner(ABC):
    """A way to search for a better gait: a frozen dataclass of its settings.

    Attributes:
        episodes: at most, as control steps in units of a whole episode: an early fall takes less.
    """

    episodes: int

    @abstractmethod
    def refine(
        self,
        robots: Sequence[Robot],
        solutions: np.ndarray,
        *,
        objective: RecoveryObjective,
        seed: int,
        number: int = 0,
        backend: Backend = ALL_CORES,
        on_progress: Callable[[float], None] | None = None,
        hurried: Callable[[], bool] = lambda: False,
    ) -> Refinement:
        """Search once, on models of the robot, for what maximises the objective.

        The search may start from gaits, (k, n) float32, the most promising one first. Seed and number decide
        all random numbers; the backend changes nothing. `hurried` is asked again and again whether to end
        with what was found so far.
        """

    def part(self, number: int, parts: int, sigma: float = 0.0) -> "Refiner":
        """That of a part of a search, counted from 0; a step size of 0 is that of a new search."""
        return replace(self, episodes=math.ceil(self.episodes / parts))


@dataclass(frozen=True)
class RefinementSettings(Refiner):
    """Searches by an evolution strategy for a gait that does better on average over some models.

    CMA-ES (Hansen 2016) searches gaits with few parameters, and LM-MA-ES (Loshchilov et al. 2019) others.
    Several searches start, from the most promising gait and from those that get furthest in short episodes;
    the better half goes on, twice. `docs/explanations/relearning.md` gives the rules and their reasons.
    """

    episodes: int = 1_200
    batch_size: int | None = None  # samples of a generation; 16 of gaits with few parameters, 40 of others
    sigma0: float | None = None  # initial step size, in units of the parameters; follows from these
    strategy: str | None = None  # name; that which fits the number of parameters
    small: int = 100  # parameters up to which these are few: a full covariance matrix is learned
    short: float = 0.4  # length of all episodes at first, as a share of a whole one
    shortest: float = 2.0  # the least length of these [s]: in less, a robot hardly gets going
    # share of the budget, and episodes at most, after which episodes have their whole length
    short_until: tuple[float, int] = (0.6, 1_200)
    # the same, after which a fall costs what the objective says: a longer search in short episodes learns to
    # walk fast and fall later
    lenient_until: tuple[float, int] = (0.8, 1_600)
    tried: int = 2  # short episodes of each gait that the search may start from
    finals: int = 8  # episodes of each gait that may be where the search starts, and of what it ends with
    models: int = 2  # on which each sample runs, if there are so many, so that it is not made for one alone
    scale: float = 0.16  # step size as a share of the spread of the parameters of the gait
    starts: int = 4  # gaits that searches start from
    race: float = 0.2  # share of the budget after which one of them is left

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

    def part(self, number: int, parts: int, sigma: float = 0.0) -> "RefinementSettings":
        """See `Refiner`; what happens after a share of the budget does so after that of all parts."""
        episodes, limits = math.ceil(self.episodes / parts), (self.short_until, self.lenient_until)
        short, lenient = (
            (1.0, max(0, math.ceil(min(share * self.episodes, most)) - number * episodes))
            for share, most in limits
        )
        return replace(
            self, episodes=episodes, short_until=short, lenient_until=lenient, sigma0=sigma or self.sigma0
        )

    def refine(self, robots: Sequence[Robot], solutions: np.ndarray, **search: Any) -> Refinement:
        """See `Refiner`; `hurried` is asked after each generation."""
        return _Search(self, robots, **search).run(solutions)


@dataclass(eq=False)
class _Search:
    """A search as `RefinementSettings` says.

    Attributes:
        whole, short: control steps of whole episodes, and of those at first.
        steps: of an episode now.
        spent: control steps that ran so far.
    """

    settings: RefinementSettings
    robots: Sequence[Robot]
    objective: RecoveryObjective
    seed: int
    number: int = 0
    backend: Backend = ALL_CORES
    on_progress: Callable[[float], None] | None = None
    hurried: Callable[[], bool] = lambda: False

    def __post_init__(self) -> None:
        source = np.random.SeedSequence(self.seed, spawn_key=(int(SeedFamily.REFINEMENT), self.number))
        self._rng, self._generation = np.random.Generator(np.random.SFC64(source)), 0
        self.objective = self.objective.lasting(self.robots[0])
        self.whole = self.robots[0].description.episode_steps
        self.short = first_part(self.robots[0], self.settings.short, self.settings.shortest)
        self.steps, self.spent, self._budget = self.whole, 0, self.settings.episodes * self.whole
        self._batch = ModelBatch(*self.robots)

    def run(self, solutions: np.ndarray) -> Refinement:
        """Search from some gaits, (k, n)."""
        start, strategy = self._search(solutions)
        mean = strategy.mean.astype(np.float32)
        finalists = np.stack([solutions[0], solutions[start], mean])
        values, fell = self._finals(finalists)
        known = 0 if values[0].mean() >= values[1].mean() else 1
        gain, best, finals = values[2] - values[known], 2, self.settings.finals
        if gain.mean() <= gain.std(ddof=1) / np.sqrt(finals):
            best = known
        return Refinement(
            solution=finalists[best],
            start=0 if best == 0 else start,
            score=float(values[best].mean()),
            before=float(values[known].mean()),
            episodes=-(-self.spent // self.whole),
            fall=float((fell[best].sum() + 0.5) / (finals + 1)),
            reached=(mean, strategy.sigma),
        )

    def _search(self, solutions: np.ndarray) -> tuple[int, Strategy]:
        """The whole search: row of the gait where it started, and its strategy in the end."""
        self._last(self.short)
        running = [(row, self._strategy(solutions[row])) for row in self._starts(solutions)]
        rounds = max(1, math.ceil(math.log2(len(running))))
        while len(running) > 1:
            share = self.settings.race * self._budget / (rounds * len(running))
            for _, strategy in running:
                self._advance(strategy, self.spent + share)
            means = np.stack([strategy.mean.astype(np.float32) for _, strategy in running])
            reached = self.objective.lenient(self.steps).of(self._run(means, self.settings.finals, _START))
            order = np.argsort(-_means(reached, len(running)), kind="stable")
            running = [running[index] for index in order[: (len(running) + 1) // 2]]
        ((start, strategy),) = running
        self._advance(strategy, self._budget)
        return start, strategy

    def _finals(self, solutions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Objectives and falls of k gaits in fresh whole episodes, the same for all, (k, f) each."""
        self._last(self.whole)
        finals = self.settings.finals
        episodes = self._run(solutions, finals, _FRESH)
        values, shape = self.objective.of(episodes), (len(solutions), finals)
        return values.reshape(shape), episodes.fell.reshape(shape)

    def _last(self, steps: int) -> None:
        if steps != self.steps:
            robots = [robot.with_episode_steps(steps) for robot in self.robots]
            self.steps, self._batch = steps, ModelBatch(*robots)

    def _starts(self, solutions: np.ndarray) -> list[int]:
        """Rows of the most promising gait and of those that get furthest, by a few episodes of all."""
        settings = self.settings
        rows = np.argsort(-self._distances(solutions, settings.tried), kind="stable")[: settings.finals]
        furthest = rows[np.argsort(-self._distances(solutions[rows], settings.finals), kind="stable")]
        return list(dict.fromkeys([*furthest[: settings.starts - 1].tolist(), 0]))

    def _strategy(self, solution: np.ndarray) -> Strategy:
        settings, controller = self.settings, self.robots[0].controller
        sizes = controller.step_sizes or (controller.sigma0, controller.sigma0)
        sigma = settings.sigma0 or float(np.clip(settings.scale * solution.std(), *sizes))
        kind, size = ("cma-es", 16) if len(solution) <= settings.small else ("lm-ma-es", 40)
        (mean,) = controller.bounded(solution[None]).astype(np.float64)
        strategy = STRATEGIES[settings.strategy or kind]
        return strategy(batch_size=settings.batch_size or size, sigma0=sigma).make(mean, self._rng)

    def _advance(self, strategy: Strategy, until: float) -> None:
        """Go on with a search until so many control steps ran, or nothing is left to learn."""
        while self.spent < until and not self.hurried():
            if self.steps == self.short and self.spent >= self._until(self.settings.short_until):
                self._last(self.whole)
            values = self._values(
                strategy.ask(), lenient=self.spent < self._until(self.settings.lenient_until)
            )
            order = np.argsort(-values, kind="stable")
            strategy.tell(order)
            if self.on_progress:
                self.on_progress(min(1.0, self.spent / self._budget))
            if strategy.converged(values[order]):
                break

    def _until(self, limit: tuple[float, int]) -> float:
        share, episodes = limit
        return min(share * self._budget, episodes * self.whole)

    def _values(self, samples: np.ndarray, *, lenient: bool) -> np.ndarray:
        """Mean objectives of the samples of a generation, (n,)."""
        models = min(self.settings.models, len(self.robots))
        self._generation += 1
        episodes = self._run(samples, models, _GENERATION, (self._generation - 1) * models)
        objective = self.objective.lenient(self.steps) if lenient else self.objective
        return _means(objective.of(episodes), len(samples))

    def _distances(self, solutions: np.ndarray, count: int) -> np.ndarray:
        """Mean distances of k gaits [m], (k,)."""
        episodes = self._run(solutions, count, _START)
        return _means(np.where(episodes.diverged, 0, episodes.distances), len(solutions))

    def _run(self, solutions: np.ndarray, count: int, use: int, first: int = 0) -> Episodes:
        """Run k gaits, each in the same episodes on the models in turn."""
        seeds = derive_seeds(self.seed, SeedFamily.REFINEMENT, first, count, self.number, use)
        models, k = (first + np.arange(count)) % len(self.robots), len(solutions)
        episodes = self.backend.run(
            self._batch, np.repeat(solutions, count, axis=0), np.tile(seeds, k), models=np.tile(models, k)
        )
        self.spent += int(episodes.steps.sum())
        return episodes


def _means(values: np.ndarray, k: int) -> np.ndarray:
    """Means of the episodes of each of k gaits, (k,)."""
    return np.asarray(values.reshape(k, -1).mean(axis=1))


def keep_gaits(
    repertoire: Repertoire, gaits: Sequence[RefinedGait], *, seed: int, backend: Backend = ALL_CORES
) -> Repertoire:
    """Add gaits to a repertoire as specialists, after those that it has.

    Objectives, those of the training, and measures are means over ten fresh episodes on the intact robot. The
    gaits are in the order in which they were found: a parent is a row of the repertoire or of a gait before.
    """
    if not gaits:
        return repertoire
    found = _on_the_intact_robot(repertoire, np.stack([gait.solution for gait in gaits]), seed, backend)
    origins = repertoire.origins.tolist()
    for gait in gaits:
        origins.append(origins[gait.parent])
    episodes = [gait.episodes for gait in gaits]
    damages = tuple(gait.believed for gait in gaits)
    if (known := repertoire.specialists) is not None:
        found = joined(known.gaits, found)
        episodes, damages = [*known.episodes, *episodes], known.damages + damages
    parents = np.array(origins[len(repertoire.elites) :], np.int64)
    specialists = Specialists(found, parents, np.array(episodes, np.int64), damages)
    return replace(repertoire, specialists=specialists)


def _on_the_intact_robot(
    repertoire: Repertoire, solutions: np.ndarray, seed: int, backend: Backend
) -> Elites:
    k, problem = len(solutions), repertoire.problem
    seeds = derive_seeds(seed, SeedFamily.EVALUATION, 0, _KEEPING)
    assert problem.robot is not None
    episodes = backend.run(
        ModelBatch(problem.robot), np.repeat(solutions, _KEEPING, axis=0), np.tile(seeds, k)
    )
    least = repertoire.settings.min_objective
    objectives = np.where(episodes.diverged, least, episodes.objectives).reshape(k, -1).mean(axis=1)
    measures = np.nan_to_num(episodes.measures).reshape(k, _KEEPING, -1).mean(axis=1)
    locate = repertoire.settings.archive.divide(checked_ranges(problem.measure_ranges))
    return Elites(np.asarray(locate(measures), np.int64), solutions, objectives, measures)
