"""An emitter that follows an evolution strategy towards improvement."""

from collections.abc import Callable, Mapping

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.emitters.emitter import Emitter, Telemetry, check_complete, check_improvements
from repertoire.emitters.outcomes import Outcomes
from repertoire.emitters.ranking import by_improvement
from repertoire.state import select
from repertoire.strategies.strategy import Strategy


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
        self._restarts = 0
        self._improvements = 0
        self._stop: str | None = None

    @property
    def telemetry(self) -> Telemetry:
        """See `Emitter.telemetry`."""
        return Telemetry(
            sigma=self.strategy.sigma,
            condition_number=self.strategy.condition_number,
            improvements=self._improvements,
            restarts=self._restarts,
            stop=self._stop,
        )

    def tasks(self, solutions: np.ndarray, archive: Archive) -> list[Callable[[], None]]:
        """Sample the strategy; the archive is of no interest."""
        return self.strategy.tasks(solutions)

    def tell(self, outcomes: Outcomes, archive: Archive) -> None:
        """Tell the strategy the improvement ranking, and restart it if that was its last."""
        improvements = check_improvements(outcomes, self.batch_size)
        ranking = by_improvement(outcomes)
        self.strategy.tell(ranking)
        self._improvements = int(np.count_nonzero(improvements > 0))
        self._stop = self.strategy.converged(improvements[ranking])
        if self._stop is not None:
            elites = archive.sample_elites(1, self.strategy.rng)
            self.strategy.restart(elites[0] if len(elites) else self.strategy.initial)
            self._restarts += 1

    def state(self) -> dict[str, np.ndarray]:
        """Return the strategy's state, generator included, and the number of restarts."""
        strategy = {f"strategy/{name}": value for name, value in self.strategy.state().items()}
        return {**strategy, "restarts": np.array(self._restarts)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Restore the strategy and the number of restarts."""
        check_complete(state, {"restarts"})
        self.strategy.restore(select(state, "strategy/"))
        self._restarts = int(state["restarts"])
