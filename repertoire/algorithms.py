"""The table of named algorithms: each is an archive and emitters put together, without logic of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from repertoire.archives import Archive, GridArchive
from repertoire.configuration import Configuration
from repertoire.emitters import Emitter, EvolutionStrategyEmitter
from repertoire.problems import Problem
from repertoire.state import select
from repertoire.strategies import SepCMAES
from robots.errors import UnknownNameError


@dataclass(frozen=True)
class Search:
    """An algorithm under way.

    Attributes:
        soft: the archive with thresholds that guides the emitters.
        result: the best solution of each cell, which is what is kept.
        emitters: where solutions come from, in the order they are asked and told.
    """

    soft: Archive
    result: Archive
    emitters: tuple[Emitter, ...]

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must hold besides the result archive's elites; see `restore`."""
        state = {f"soft/{name}": value for name, value in self.soft.state().items()}
        for number, emitter in enumerate(self.emitters):
            state |= {f"emitter_{number}/{name}": value for name, value in emitter.state().items()}
        return state

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take up a state; the result archive is the caller's to fill."""
        self.soft.restore(select(state, "soft/"))
        for number, emitter in enumerate(self.emitters):
            emitter.restore(select(state, f"emitter_{number}/"))


@dataclass(frozen=True)
class Algorithm:
    """An entry of the table.

    Attributes:
        name: as on the command line.
        summary: what it is, in a line.
        start: puts it together for a configuration, a problem and a seed.
    """

    name: str
    summary: str
    start: Callable[[Configuration, Problem, np.random.SeedSequence], Search]


def _sep_cma_mae(configuration: Configuration, problem: Problem, seed: np.random.SeedSequence) -> Search:
    """Strategies with a diagonal covariance matrix, all started from one random solution."""
    first, *others = seed.spawn(1 + configuration.emitters)
    initial = problem.initial(np.random.default_rng(first))
    strategies = [
        SepCMAES(
            initial,
            sigma0=configuration.sigma0,
            batch_size=configuration.batch_size,
            rng=np.random.Generator(np.random.SFC64(child)),
        )
        for child in others
    ]
    return Search(
        soft=_soft_archive(configuration, problem),
        result=_result_archive(configuration, problem),
        emitters=tuple(EvolutionStrategyEmitter(strategy) for strategy in strategies),
    )


def _soft_archive(configuration: Configuration, problem: Problem) -> Archive:
    """The archive with a configuration's thresholds."""
    return GridArchive(
        solution_dim=problem.solution_dim,
        shape=configuration.archive,
        ranges=problem.measure_ranges,
        learning_rate=configuration.learning_rate,
        min_objective=configuration.min_objective,
        rule=configuration.rule,
    )


def _result_archive(configuration: Configuration, problem: Problem) -> Archive:
    """The archive of the best solution of each cell."""
    return GridArchive(
        solution_dim=problem.solution_dim, shape=configuration.archive, ranges=problem.measure_ranges
    )


ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            "sep-cma-mae",
            "CMA-MAE with a diagonal covariance matrix (Tjanaka et al. 2023): linear time and memory",
            _sep_cma_mae,
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
