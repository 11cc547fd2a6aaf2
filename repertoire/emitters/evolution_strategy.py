"""An emitter that follows an evolution strategy towards improvement."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.emitters.emitter import Emitter
from repertoire.state import select
from repertoire.strategies.strategy import Strategy
from robots.errors import InvalidValueError


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
        self._restarts: Counter[str] = Counter()

    @property
    def restarts(self) -> dict[str, int]:
        """How often the strategy was restarted, by reason."""
        return dict(self._restarts)

    def ask(self) -> np.ndarray:
        """Sample the strategy."""
        return self.strategy.ask()

    def tell(self, improvements: np.ndarray, archive: Archive) -> None:
        """Tell the strategy the improvement ranking, and restart it if that was its last."""
        improvements = np.asarray(improvements, np.float64)
        if improvements.shape != (self.strategy.batch_size,):
            raise InvalidValueError(
                f"improvements must have shape ({self.strategy.batch_size},), got {improvements.shape}"
            )
        ranking = np.argsort(-improvements, kind="stable")
        self.strategy.tell(ranking)
        reason = self.strategy.converged(improvements[ranking])
        if reason is not None:
            elite = archive.sample_elite(self.strategy.rng)
            self.strategy.restart(self.strategy.initial if elite is None else elite)
            self._restarts[reason] += 1

    def state(self) -> dict[str, np.ndarray]:
        """Return the strategy's state, generator included, and the restart counts."""
        counts = {f"restarts/{reason}": np.array(count) for reason, count in self._restarts.items()}
        return {**counts, **{f"strategy/{name}": value for name, value in self.strategy.state().items()}}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Restore the strategy and the restart counts."""
        self.strategy.restore(select(state, "strategy/"))
        self._restarts = Counter({reason: int(n) for reason, n in select(state, "restarts/").items()})
