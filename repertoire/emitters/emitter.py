"""What every emitter promises: ask, tell, state."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.emitters.outcomes import Outcomes
from repertoire.problems.problem import OBJECTIVES_AND_MEASURES, Request
from robots.errors import InvalidValueError

EVERYTHING = slice(None)


@dataclass(frozen=True)
class Telemetry:
    """How an emitter is doing.

    Attributes:
        sigma: the step size, in units of the parameters.
        condition_number: of the covariance matrix; nan where it is not known.
        improvements: solutions of the last batch that improved the archive.
        restarts: how often it started afresh so far.
        stop: why it did so after the last batch, one of `repertoire.strategies.STOPS`; None if it did not.
    """

    sigma: float
    condition_number: float
    improvements: int
    restarts: int
    stop: str | None


class Emitter(ABC):
    """A source of solutions that may learn from how they improved an archive: `ask`, then `tell`, in turn.

    What is said of a batch here changes only with `tell` and `restore`: it holds for the next `ask`, and once
    that was called for the solutions asked.

    Attributes:
        batch_size: solutions of the batch.
        request: what it needs to know of these solutions in addition to objectives and measures.
        offered: which of them are to compete for the archives, (batch_size,) bool or a slice; the others are
            evaluated for what they tell, and their improvement is -inf.
    """

    batch_size: int
    request: Request = OBJECTIVES_AND_MEASURES
    offered: np.ndarray | slice = EVERYTHING

    def ask(self, archive: Archive) -> np.ndarray:
        """Return the solutions to evaluate next, (batch_size, solution_dim) float32, the caller's to keep.

        Args:
            archive: the archive that guides the search.

        Raises:
            RuntimeError: if the previous ones were not told.
        """
        solutions = np.empty((self.batch_size, archive.solution_dim), np.float32)
        for task in self.tasks(solutions, archive):
            task()
        return solutions

    @abstractmethod
    def tasks(self, solutions: np.ndarray, archive: Archive) -> list[Callable[[], None]]:
        """Ask in pieces, for a caller with several threads; what is filled in does not depend on them.

        Args:
            solutions: (batch_size, solution_dim) float32, contiguous, to be filled.
            archive: the archive that guides the search.

        Returns:
            What is to be called, in any order and by any threads, before `tell`.

        Raises:
            RuntimeError: if the previous solutions were not told.
        """

    @abstractmethod
    def tell(self, outcomes: Outcomes, archive: Archive) -> None:
        """Learn what became of the solutions of the last `ask`.

        Args:
            outcomes: of these solutions.
            archive: the archive that guides the search, with those that were offered added.

        Raises:
            InvalidValueError: if there is not one outcome for each, or something wanted is missing.
            RuntimeError: if there was no `ask`, or it was told already.
        """

    @property
    @abstractmethod
    def telemetry(self) -> Telemetry:
        """How it is doing, after the last `tell`."""

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


def check_improvements(outcomes: Outcomes, batch_size: int) -> np.ndarray:
    """Return the improvements of outcomes as (batch_size,) float64.

    Raises:
        InvalidValueError: if they have another shape.
    """
    improvements = np.asarray(outcomes.improvements, np.float64)
    if improvements.shape != (batch_size,):
        raise InvalidValueError(f"improvements must have shape ({batch_size},), got {improvements.shape}")
    return improvements


def check_complete(state: Mapping[str, np.ndarray], names: set[str]) -> None:
    """Refuse a state that lacks something.

    Raises:
        InvalidValueError: if a name is missing.
    """
    missing = names - state.keys()
    if missing:
        raise InvalidValueError(f"the emitter state lacks {', '.join(sorted(missing))}")
