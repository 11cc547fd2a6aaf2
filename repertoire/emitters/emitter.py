"""What every emitter promises: ask, tell, state."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np

from repertoire.archives.archive import Archive


class Emitter(ABC):
    """A source of solutions that may learn from how they improved an archive: `ask`, then `tell`, in turn."""

    @abstractmethod
    def ask(self) -> np.ndarray:
        """Return the solutions to evaluate next, (batch_size, solution_dim) float32, the caller's to keep.

        Raises:
            RuntimeError: if the previous ones were not told.
        """

    @abstractmethod
    def tell(self, improvements: np.ndarray, archive: Archive) -> None:
        """Learn what became of the solutions of the last `ask`.

        Args:
            improvements: (batch_size,), what `archive.add` returned for them.
            archive: the archive that guides the search, with them added.

        Raises:
            InvalidValueError: if the improvements have the wrong shape.
            RuntimeError: if there was no `ask`, or it was told already.
        """

    @property
    @abstractmethod
    def restarts(self) -> dict[str, int]:
        """How often it started afresh, by reason; empty for an emitter that never does."""

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Return what a checkpoint must hold; every value is an array, and "/" in a key parts groups.

        Raises:
            RuntimeError: between ask and tell.
        """

    @abstractmethod
    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Become the emitter that `state` was taken from, constructed with the same arguments.

        Raises:
            InvalidValueError: if something is missing or has the wrong shape.
        """
