"""What every emitter promises: settings, ask, tell, state; and how it may rank its solutions."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.networks.td3 import TD3Settings
from repertoire.problems.problem import Problem
from repertoire.state import check_shape
from robots.evaluations import OBJECTIVES_AND_MEASURES, Evaluations, Request, TransitionColumns
from robots.files.records import Kind

EVERYTHING = slice(None)


@dataclass(frozen=True)
class Status:
    """The state of an emitter in numbers."""

    sigma: float  # the step size, in units of the parameters
    condition_number: float  # of the covariance matrix; nan where it is not known
    improvements: int  # solutions of the last batch that improved the archive, see `accepted`
    restarts: int  # how often it started afresh so far
    # why it did so after the last batch, see `repertoire.strategies.strategy.STOPS`; None if not
    stop: str | None


class EmitterSettings(Kind, ABC):
    """Settings of an emitter.

    Attributes:
        summary: what it is, in a line.
        needs_transitions: whether it works on problems only that have `policy_layers`.
        memory_hint: what to choose where it needs more memory than there is, other than fewer emitters.
    """

    summary: ClassVar[str]
    needs_transitions: ClassVar[bool] = False
    memory_hint: ClassVar[str] = "other emitters"

    @abstractmethod
    def make(self, problem: Problem, initial: np.ndarray, rng: np.random.Generator) -> "Emitter":
        """Make an emitter.

        Args:
            problem: to be solved.
            initial: (n,) float32, finite, the solution to start from.
            rng: its only source of randomness; driven by `numpy.random.SFC64`.

        Raises:
            InvalidValueError: a setting does not suit the emitter or the problem, or the problem lacks a
                capability that the emitter needs.
        """

    def member(self, number: int) -> "EmitterSettings":
        """Settings of the emitter of a number in a search, from 0; the same for all by default."""
        return self

    def memory(self, problem: Problem) -> int:
        """Return the bytes that it takes in addition to a few batches."""
        return 0


class LearningSettings(TD3Settings, EmitterSettings):
    """Settings of an emitter that learns from transitions."""

    needs_transitions = True
    memory_hint = "a smaller buffer size"

    def memory(self, problem: Problem) -> int:
        inputs, *_, outputs = problem.policy_layers
        return 4 * self.buffer_size * TransitionColumns(inputs, outputs).count


class Emitter(ABC):
    """A source of solutions that may learn from how they improved an archive: `ask`, then `tell`, in turn.

    `Scheduler` keeps to that order, and refuses misuse of it.

    The attributes describe the next batch, and once that was asked for this batch: they change only with
    `tell` and `restore`.

    Attributes:
        batch_size: solutions of the batch.
        request: what it needs to know of these solutions in addition to objectives and measures.
        offered: which of them compete for the archives, (batch_size,) bool or a slice; the others are
            evaluated only for what they tell, and their improvement is -inf.
    """

    batch_size: int
    request: Request = OBJECTIVES_AND_MEASURES
    offered: np.ndarray | slice = EVERYTHING
    _improved = 0  # solutions of the last batch that were accepted
    _restarts = 0
    _stop: str | None = None  # why it restarted after the last batch

    def ask(self, archive: Archive, out: np.ndarray | None = None) -> np.ndarray:
        """Return the solutions to evaluate next, (batch_size, solution_dim) float32, in `out` if it is given.

        The archive is that which guides the search.
        """
        solutions = np.empty((self.batch_size, archive.solution_dim), np.float32) if out is None else out
        self._fill(solutions, archive)
        return solutions

    def tell(self, evaluations: Evaluations, archive: Archive) -> None:
        """Learn what became of the solutions of the last `ask`.

        Args:
            evaluations: of these solutions.
            archive: the archive that guides the search, with those that were offered added.

        Raises:
            InvalidValueError: if there is not one outcome for each, or something requested is missing.
        """
        check_shape("improvements", evaluations.improvements, (self.batch_size,))
        self._improved = int(np.count_nonzero(accepted(evaluations)))
        self._learn(evaluations, archive)

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Return what a checkpoint must hold; every value is an array, and "/" in a name separates groups.

        It is asked for before `ask` or after `tell`, not between them.
        """

    @abstractmethod
    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Become the emitter that `state` was taken from, constructed with the same arguments."""

    @property
    def status(self) -> Status:
        """Its state in numbers, after the last `tell`."""
        return Status(*self._width(), self._improved, self._restarts, self._stop)

    @abstractmethod
    def _width(self) -> tuple[float, float]:
        """Return the step size and the condition number of `Status`."""

    @abstractmethod
    def _fill(self, solutions: np.ndarray, archive: Archive) -> None:
        """Fill (batch_size, solution_dim) float32."""

    @abstractmethod
    def _learn(self, evaluations: Evaluations, archive: Archive) -> None:
        """`tell` after its checks."""


def by_improvement(evaluations: Evaluations) -> tuple[np.ndarray, np.ndarray]:
    """Rank by falling improvement, as in CMA-MAE (Fontaine & Nikolaidis 2023).

    Returns the indices (n,) of solutions, the best first, and values (n,) by which they are ranked, in that
    order.
    """
    order = np.argsort(-evaluations.improvements, kind="stable")
    return order, evaluations.improvements[order]


def by_discovery(evaluations: Evaluations) -> tuple[np.ndarray, np.ndarray]:
    """Rank in the three stages of CMA-ME (Fontaine et al. 2020), by improvement in each.

    What opened a cell comes first, then what improved on an elite, then the rest. Values of another stage
    than that of the last solution are infinite: where stages differ, solutions are not alike.
    """
    stages = np.where(evaluations.opened, 2, evaluations.improvements > 0)
    order = np.lexsort((-evaluations.improvements, -stages))
    return order, np.where(stages == stages[order[-1]], evaluations.improvements, np.inf)[order]


def accepted(evaluations: Evaluations) -> np.ndarray:
    """Return which solutions opened a cell or exceeded its threshold, (n,) bool."""
    return evaluations.opened | (evaluations.improvements > 0)
