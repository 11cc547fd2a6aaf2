"""The table of named algorithms: each is archives and emitters put together, without logic of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.archives.grid import GridArchive
from repertoire.compositions import Emitters, arborescences, climbers, strategies, variation
from repertoire.emitters.ranking import by_discovery, by_improvement
from repertoire.problems.problem import Problem
from repertoire.search import Search
from repertoire.strategies.table import find_strategy
from repertoire.training.settings import Settings
from robots.errors import InvalidValueError, UnknownNameError

Archives = Callable[[Settings, Problem], tuple[Archive, Archive]]


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
        emitters = self.emitters(settings, problem, initial, generators)
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


_NO_GRADIENTS = {"gradient_samples": 0, "gradient_sigma": 0.0}
_NO_LINE = {"line_sigma": 0.0}
_STRATEGY_ALONE = {**_NO_LINE, **_NO_GRADIENTS}
_NO_STRATEGY = {"strategy": None, "vectors": None}
_ELITIST = {**_NO_STRATEGY, "learning_rate": 1.0}
_CLIMBING = {**_ELITIST, **_NO_LINE, **_NO_GRADIENTS}
_PAIRS = {"emitters": 1, "batch_size": 200}  # 100 pairs of mirrored samples, as in Tjanaka et al. 2023

ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            "cma-mae",
            "a full covariance matrix (Fontaine & Nikolaidis 2023): quadratic time and memory",
            _annealed,
            strategies,
            fixed={"strategy": "cma-es", "vectors": None, **_STRATEGY_ALONE},
        ),
        Algorithm(
            "lm-ma-mae",
            "CMA-MAE with a limited-memory covariance matrix (Tjanaka et al. 2023): linear time and memory",
            _annealed,
            strategies,
            fixed={"strategy": "lm-ma-es", **_STRATEGY_ALONE},
        ),
        Algorithm(
            "sep-cma-mae",
            "CMA-MAE with a diagonal covariance matrix (Tjanaka et al. 2023): linear time and memory",
            _annealed,
            strategies,
            fixed={"strategy": "sep-cma-es", "vectors": None, **_STRATEGY_ALONE},
        ),
        Algorithm(
            "openai-mae",
            "CMA-MAE with a Gaussian of constant width (Tjanaka et al. 2023): linear time and memory",
            _annealed,
            strategies,
            fixed={"strategy": "openai-es", "vectors": None, **_STRATEGY_ALONE},
        ),
        Algorithm(
            "cma-me",
            "CMA-MAE with learning rate 1: every threshold is the elite's objective; any strategy",
            _annealed,
            strategies,
            fixed={"learning_rate": 1.0, **_STRATEGY_ALONE},
            defaults={"strategy": "cma-es"},
        ),
        Algorithm(
            "cma-es",
            "CMA-MAE with learning rate 0: only the objective counts; any strategy",
            _annealed,
            strategies,
            fixed={"learning_rate": 0.0, **_STRATEGY_ALONE},
            defaults={"strategy": "cma-es"},
        ),
        Algorithm(
            "map-elites",
            "elites varied by Gaussian noise (Mouret & Clune 2015)",
            _elitist,
            variation,
            fixed={**_ELITIST, **_NO_LINE, **_NO_GRADIENTS},
            defaults={"emitters": 1, "batch_size": 100},
        ),
        Algorithm(
            "map-elites-line",
            "elites varied by noise and by steps along lines between them (Vassiliades & Mouret 2018)",
            _elitist,
            variation,
            fixed={**_ELITIST, **_NO_GRADIENTS},
            defaults={"emitters": 1, "batch_size": 100, "sigma0": 0.01, "line_sigma": 0.2},
        ),
        Algorithm(
            "me-es",
            "steps of OpenAI-ES from elites, by turns towards objective and novelty (Colas et al. 2020)",
            _elitist,
            partial(climbers, mode="explore-exploit"),
            fixed=_CLIMBING,
            defaults=_PAIRS,
        ),
        Algorithm(
            "me-es-exploit",
            "ME-ES towards the objective alone, from elites that have much of it",
            _elitist,
            partial(climbers, mode="exploit"),
            fixed=_CLIMBING,
            defaults=_PAIRS,
        ),
        Algorithm(
            "me-es-explore",
            "ME-ES towards novelty alone, from elites that are novel",
            _elitist,
            partial(climbers, mode="explore"),
            fixed=_CLIMBING,
            defaults=_PAIRS,
        ),
        Algorithm(
            "cma-mega",
            "branches along gradients, which sphere-N and arm-N know (Fontaine & Nikolaidis 2021)",
            _elitist,
            partial(arborescences, sampled=False, ranking=by_discovery, restart_unchanged=True),
            fixed={**_ELITIST, **_NO_LINE, **_NO_GRADIENTS},
            # the authors' for the linear projection, which is sphere-N: with θ, a batch of 36
            defaults={"emitters": 1, "batch_size": 35, "sigma0": 10.0},
        ),
        Algorithm(
            "cma-maega",
            "CMA-MEGA by improvement over rising thresholds, as in CMA-MAE (Fontaine & Nikolaidis 2023)",
            _annealed,
            partial(arborescences, sampled=False, ranking=by_improvement, restart_unchanged=False),
            fixed={**_NO_STRATEGY, **_NO_LINE, **_NO_GRADIENTS},
            defaults={"emitters": 15, "batch_size": 35, "sigma0": 10.0},
        ),
        Algorithm(
            "cma-mega-es",
            "CMA-MEGA along gradients that mirrored samples estimate (Tjanaka et al. 2022)",
            _elitist,
            partial(arborescences, sampled=True, ranking=by_discovery, restart_unchanged=True),
            fixed={**_ELITIST, **_NO_LINE},
            defaults={
                "emitters": 1,
                "batch_size": 99,
                "sigma0": 1.0,
                "gradient_samples": 100,
                "gradient_sigma": 0.02,
            },
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
