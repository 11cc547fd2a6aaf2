"""What every problem promises: `Problem`."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from repertoire.problems.record import ProblemRecord
from robots.errors import InvalidValueError
from robots.evaluations import OBJECTIVES_AND_MEASURES, Evaluations, Request

Fold = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Normaliser:
    """How solutions take up a normalisation of observations, given their mean and standard deviation, (o,).

    Attributes:
        observation_dim: numbers in an observation, o.
        fold: makes solutions that do with observations what the given ones, (n, d), do with normalised ones.
        unfold: undoes it.
    """

    observation_dim: int
    fold: Fold
    unfold: Fold


class Problem(ABC):
    """An objective and measures of solutions.

    Attributes:
        record: the facts of the problem, which a repertoire keeps.
        archive: default number of cells along each measure.
        min_objective: floor of every threshold and offset of the QD score.
        learning_rate: the archive learning rate α with which Tjanaka et al. 2023 ran the problem.
        sigma0: default initial step size of a search, in units of the parameters.
        stochastic: whether the result of a solution depends on its seed.
        differentiable: whether gradients can be requested.
        normaliser: how solutions take up statistics of what their controllers observe; None for a problem
            without observations, of which none can be requested.
        policy_layers: units of each layer of the networks that the solutions are, see `Controller.layers`,
            where transitions can be requested; empty for other problems.
    """

    record: ProblemRecord
    archive: tuple[int, ...]
    min_objective: float
    learning_rate: float
    sigma0: float = 0.02
    stochastic: bool = True
    differentiable: bool = False
    normaliser: Normaliser | None = None
    policy_layers: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Name of the problem."""
        return self.record.name

    @property
    def solution_dim(self) -> int:
        """Length of a solution."""
        return self.record.solution_dim

    @property
    def measure_ranges(self) -> tuple[tuple[float, float], ...]:
        """Lowest and highest value of each of the m measures."""
        return self.record.measure_ranges

    def shortened(self) -> "Problem":
        """A problem that compiles what this one does, but costs less to evaluate; this one by default."""
        return self

    @property
    def differences(self) -> dict[str, str]:
        """What to note about results, see `Backend.differences`."""
        return {}

    def close(self) -> None:  # noqa: B027 (most problems hold nothing to be released)
        """Release what it holds, if anything."""

    @abstractmethod
    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """A solution to start a search from, (solution_dim,) float32."""

    @abstractmethod
    def evaluate(
        self,
        solutions: np.ndarray,
        seeds: np.ndarray,
        *,
        request: Request = OBJECTIVES_AND_MEASURES,
        on_finished: Callable[[int], None] | None = None,
    ) -> Evaluations:
        """Evaluate solutions; the result of one is a pure function of it and its seed.

        Args:
            solutions: (n, solution_dim), finite, taken as float32.
            seeds: (n,) non-negative integers.
            request: what to find out in addition to objectives and measures.
            on_finished: called, from any thread, with the number of evaluations finished so far.

        Raises:
            InvalidValueError: the shapes are wrong, a value is not finite, or the problem lacks a capability
                that the request needs.
        """

    def _check_request(self, request: Request) -> None:
        """Refuse a request that this problem cannot answer.

        Raises:
            InvalidValueError: the problem lacks the capability that the request needs.
        """
        if request.gradients and not self.differentiable:
            raise InvalidValueError(f"gradients were requested, but {self.name} does not know its gradients")
        if request.observed is not None and self.normaliser is None:
            raise InvalidValueError(f"observations were requested, but {self.name} has no observations")
        if request.transitions and not self.policy_layers:
            raise InvalidValueError(f"transitions were requested, but {self.name} has no transitions")
