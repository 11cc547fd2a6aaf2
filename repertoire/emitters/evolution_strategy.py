"""An emitter that follows an evolution strategy towards improvement."""

from collections.abc import Mapping

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.emitters.emitter import Emitter, EmitterSettings, Outcomes, by_improvement
from repertoire.problems.problem import Problem
from repertoire.state import nested, read_count, select
from repertoire.strategies.strategy import Strategy
from repertoire.strategies.table import AnyStrategy


class EvolutionStrategySettings(EmitterSettings):
    """Settings of `EvolutionStrategyEmitter`.

    Attributes:
        strategy: to follow.
    """

    kind = "evolution-strategy"
    summary = "follows an evolution strategy towards improvement, and restarts it from elites"
    strategy: AnyStrategy

    def make(
        self, problem: Problem, initial: np.ndarray, rng: np.random.Generator
    ) -> "EvolutionStrategyEmitter":
        """See `EmitterSettings.make`."""
        return EvolutionStrategyEmitter(self.strategy.make(initial, rng))

    def memory(self, n: int) -> int:
        """See `EmitterSettings.memory`."""
        return self.strategy.memory(n)

    def remark(self, n: int) -> str | None:
        """See `EmitterSettings.remark`."""
        return self.strategy.remark(n)


class EvolutionStrategyEmitter(Emitter):
    """Ranks solutions by improvement, and restarts a converged strategy from an elite.

    The largest improvement ranks first, and of equal ones the solution that was asked first. A converged
    strategy restarts at a uniformly random elite of the archive that it is told with, or, if that is empty,
    at the mean that the strategy was constructed with.

    Args:
        strategy: the strategy to follow; from here on the emitter's own.
    """

    def __init__(self, strategy: Strategy) -> None:
        self.strategy = strategy
        self.batch_size = strategy.batch_size

    def _width(self) -> tuple[float, float]:
        return self.strategy.sigma, self.strategy.condition_number

    def _fill(self, solutions: np.ndarray, archive: Archive) -> None:
        self.strategy.ask(out=solutions)

    def _learn(self, outcomes: Outcomes, archive: Archive) -> None:
        ranking = by_improvement(outcomes)
        self.strategy.tell(ranking)
        self._stop = self.strategy.converged(outcomes.improvements[ranking])
        if self._stop is not None:
            elites = archive.sample_elites(1, self.strategy.rng)
            self.strategy.restart(elites[0] if len(elites) else self.strategy.initial)
            self._restarts += 1

    def _current_state(self) -> dict[str, np.ndarray]:
        return {**nested(strategy=self.strategy.state()), "restarts": np.array(self._restarts)}

    def _restore(self, state: Mapping[str, np.ndarray]) -> None:
        restarts = read_count(state, "restarts")
        self.strategy.restore(select(state, "strategy/"))
        self._restarts = restarts
