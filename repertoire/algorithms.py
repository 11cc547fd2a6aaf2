"""The table of named algorithms: each is archives and emitters put together, without logic of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from repertoire.archives import Archive, GridArchive
from repertoire.configuration import Settings
from repertoire.emitters import Emitter, EvolutionStrategyEmitter, VariationEmitter
from repertoire.problems import Problem
from repertoire.search import Search
from repertoire.strategies.table import find_strategy
from robots.errors import InvalidValueError, UnknownNameError

Archives = Callable[[Settings, Problem], tuple[Archive, Archive]]
Emitters = Callable[[Settings, np.ndarray, list[np.random.Generator]], list[Emitter]]


@dataclass(frozen=True)
class Algorithm:
    """An entry of the table.

    Attributes:
        name: as on the command line.
        summary: what it is, in a line.
        archives: makes the archive that guides the search, and the one that is kept.
        emitters: makes where solutions come from, given a solution to start from and a generator for each.
        fixed: settings that are part of what the name means.
        defaults: settings whose defaults are not those of `Settings`.
    """

    name: str
    summary: str
    archives: Archives
    emitters: Emitters
    fixed: Mapping[str, object]
    defaults: Mapping[str, object] = field(default_factory=dict)

    def complete(self, settings: Mapping[str, object]) -> dict[str, object]:
        """Add what the algorithm prescribes to what the user said.

        Raises:
            InvalidValueError: the user said something else than it prescribes.
        """
        for name, value in self.fixed.items():
            if settings.get(name, value) != value:
                raise InvalidValueError(
                    f"{self.name} has no choice of {name}: leave it out, or choose another algorithm"
                )
        return {**self.defaults, **settings, **self.fixed}

    @property
    def ingredients(self) -> str:
        """The settings that make it what it is, in words."""
        made = {**self.defaults, **self.fixed}
        words = [
            f"{name} {value}"
            for name, value in made.items()
            if value not in (None, 0.0) or name == "learning_rate"
        ]
        return ", ".join(words)

    def remarks(self, settings: Settings, n: int) -> list[str]:
        """What a user should know of these settings for solutions of n parameters."""
        if settings.strategy is None:
            return []
        remark = find_strategy(settings.strategy).remark(settings, n)
        return [remark] if remark else []

    def start(
        self, settings: Settings, problem: Problem, seed: np.random.SeedSequence, *, threads: int = 1
    ) -> Search:
        """Put it together; all emitters start from one random solution.

        Args:
            settings: of the search.
            problem: to be solved.
            seed: from which all its random numbers derive.
            threads: to work with; the result does not depend on it.

        Raises:
            UnknownNameError: there is no such strategy.
            InvalidValueError: a setting does not suit the algorithm or the problem.
        """
        first, *others = seed.spawn(1 + settings.emitters)
        initial = problem.initial(np.random.default_rng(first))
        generators = [np.random.Generator(np.random.SFC64(child)) for child in others]
        emitters = self.emitters(settings, initial, generators)
        soft, result = self.archives(settings, problem)
        return Search(soft=soft, result=result, emitters=emitters, threads=threads)


def _annealed(settings: Settings, problem: Problem) -> tuple[Archive, Archive]:
    """An archive whose thresholds rise, and one of the best solution of each cell."""
    soft = GridArchive(
        solution_dim=problem.solution_dim,
        shape=settings.archive,
        ranges=problem.measure_ranges,
        learning_rate=settings.learning_rate,
        min_objective=settings.min_objective,
        rule=settings.rule,
    )
    result, _ = _elitist(settings, problem)
    return soft, result


def _elitist(settings: Settings, problem: Problem) -> tuple[Archive, Archive]:
    """One archive of the best solution of each cell, for both purposes."""
    archive = GridArchive(
        solution_dim=problem.solution_dim, shape=settings.archive, ranges=problem.measure_ranges
    )
    return archive, archive


def _strategies(
    settings: Settings, initial: np.ndarray, generators: list[np.random.Generator]
) -> list[Emitter]:
    """Emitters that follow evolution strategies."""
    kind = find_strategy(settings.strategy or "")
    if settings.vectors is not None and kind.name != "lm-ma-es":
        raise InvalidValueError(f"vectors are those of lm-ma-es, and {kind.name} has none: leave them out")
    kind.check_memory(initial.size, settings.emitters)
    return [EvolutionStrategyEmitter(kind.make(initial, settings, rng)) for rng in generators]


def _variation(
    settings: Settings, initial: np.ndarray, generators: list[np.random.Generator]
) -> list[Emitter]:
    """Emitters that vary elites."""
    return [
        VariationEmitter(
            initial,
            iso_sigma=settings.sigma0,
            line_sigma=settings.line_sigma,
            batch_size=settings.batch_size,
            rng=rng,
        )
        for rng in generators
    ]


_NO_LINE = {"line_sigma": 0.0}
_NO_STRATEGY = {"strategy": None, "vectors": None, "learning_rate": 1.0}

ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            "cma-mae",
            "a full covariance matrix (Fontaine & Nikolaidis 2023): quadratic time and memory",
            _annealed,
            _strategies,
            fixed={"strategy": "cma-es", "vectors": None, **_NO_LINE},
        ),
        Algorithm(
            "lm-ma-mae",
            "CMA-MAE with a limited-memory covariance matrix (Tjanaka et al. 2023): linear time and memory",
            _annealed,
            _strategies,
            fixed={"strategy": "lm-ma-es", **_NO_LINE},
        ),
        Algorithm(
            "sep-cma-mae",
            "CMA-MAE with a diagonal covariance matrix (Tjanaka et al. 2023): linear time and memory",
            _annealed,
            _strategies,
            fixed={"strategy": "sep-cma-es", "vectors": None, **_NO_LINE},
        ),
        Algorithm(
            "openai-mae",
            "CMA-MAE with a Gaussian of constant width (Tjanaka et al. 2023): linear time and memory",
            _annealed,
            _strategies,
            fixed={"strategy": "openai-es", "vectors": None, **_NO_LINE},
        ),
        Algorithm(
            "cma-me",
            "CMA-MAE with learning rate 1: every threshold is the elite's objective; any strategy",
            _annealed,
            _strategies,
            fixed={"learning_rate": 1.0, **_NO_LINE},
            defaults={"strategy": "cma-es"},
        ),
        Algorithm(
            "cma-es",
            "CMA-MAE with learning rate 0: only the objective counts; any strategy",
            _annealed,
            _strategies,
            fixed={"learning_rate": 0.0, **_NO_LINE},
            defaults={"strategy": "cma-es"},
        ),
        Algorithm(
            "map-elites",
            "elites varied by Gaussian noise (Mouret & Clune 2015)",
            _elitist,
            _variation,
            fixed={**_NO_STRATEGY, **_NO_LINE},
            defaults={"emitters": 1, "batch_size": 100},
        ),
        Algorithm(
            "map-elites-line",
            "elites varied by noise and by steps along lines between them (Vassiliades & Mouret 2018)",
            _elitist,
            _variation,
            fixed=_NO_STRATEGY,
            defaults={"emitters": 1, "batch_size": 100, "sigma0": 0.01, "line_sigma": 0.2},
        ),
    )
}


def find_algorithm(name: str) -> Algorithm:
    """Look an algorithm up.

    Raises:
        UnknownNameError: there is none of that name.
    """
    if name not in ALGORITHMS:
        raise UnknownNameError("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]
