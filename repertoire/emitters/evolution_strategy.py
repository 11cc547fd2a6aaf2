"""Emitters that follow an evolution strategy towards improvement: that of CMA-MAE and that of CMA-ME.

Sources: M. C. Fontaine, S. Nikolaidis, "Covariance Matrix Adaptation MAP-Annealing", GECCO 2023,
    arXiv:2205.10752; M. C. Fontaine, J. Togelius, S. Nikolaidis, A. K. Hoover, "Covariance Matrix Adaptation
    for the Rapid Illumination of Behavior Space", GECCO 2020, arXiv:1912.02400 (Fontaine below).
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.emitters.emitter import Emitter, EmitterSettings, by_discovery, by_improvement
from repertoire.problems.problem import Problem
from repertoire.state import nested, select
from repertoire.strategies.strategy import Strategy
from repertoire.strategies.table import AnyStrategy
from robots.errors import InvalidValueError
from robots.evaluations import Evaluations


class EvolutionStrategySettings(EmitterSettings):
    """Settings of `EvolutionStrategyEmitter`.

    Attributes:
        strategy: to follow.
    """

    kind = "evolution-strategy"
    summary = "follows an evolution strategy towards improvement, and restarts it from elites"
    memory_hint = "a strategy whose memory is linear (sep-cma-es or lm-ma-es, or sep-cma-mae or lm-ma-mae)"
    selective: ClassVar[bool] = False
    strategy: AnyStrategy

    def make(
        self, problem: Problem, initial: np.ndarray, rng: np.random.Generator
    ) -> "EvolutionStrategyEmitter":
        return EvolutionStrategyEmitter(self.strategy.make(initial, rng), selective=self.selective)

    def memory(self, problem: Problem) -> int:
        return self.strategy.memory(problem.solution_dim)


class ImprovementSettings(EvolutionStrategySettings):
    """Settings of `EvolutionStrategyEmitter` as the improvement emitter of CMA-ME; see there."""

    kind = "improvement"
    summary = "follows an evolution strategy whose parents are what the archive accepted"
    selective = True


class EvolutionStrategyEmitter(Emitter):
    """Ranks solutions by improvement, and restarts a converged strategy from an elite.

    The largest improvement ranks first, and of equal ones the solution that was asked first. A converged
    strategy restarts at a uniformly random elite of the archive that it is told with, or, if that is empty,
    at the mean that the strategy was constructed with.

    A selective emitter is the improvement emitter of Fontaine 2020, Algorithm 2: what opened a cell ranks
    before what improved on an elite, only these solutions are parents, and when there are none it restarts.

    Args:
        strategy: the strategy to follow; from here on the emitter's own.
        selective: see above; the strategy must have parents.
    """

    def __init__(self, strategy: Strategy, *, selective: bool = False) -> None:
        if selective and not strategy.selective:
            raise InvalidValueError(
                "an improvement emitter chooses the parents of its strategy, but this strategy has none"
            )
        self.strategy = strategy
        self.selective = selective
        self.batch_size = strategy.batch_size

    def _width(self) -> tuple[float, float]:
        return self.strategy.sigma, self.strategy.condition_number

    def _fill(self, solutions: np.ndarray, archive: Archive) -> None:
        self.strategy.ask(out=solutions)

    def _learn(self, evaluations: Evaluations, archive: Archive) -> None:
        (ranking, values), parents = by_improvement(evaluations), None
        if self.selective:
            ranking, values = by_discovery(evaluations)
            parents = self._improved
        if parents == 0:
            self._stop = "archive unchanged"
        else:
            self.strategy.tell(ranking, parents=parents)
            self._stop = self.strategy.converged(values)
        if self._stop is not None:
            elites = archive.sample_elites(1, self.strategy.rng)
            self.strategy.restart(elites[0] if len(elites) else self.strategy.initial)
            self._restarts += 1

    def state(self) -> dict[str, np.ndarray]:
        return {**nested(strategy=self.strategy.state()), "restarts": np.array(self._restarts)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        self.strategy.restore(select(state, "strategy/"))
        self._restarts = int(state["restarts"])
