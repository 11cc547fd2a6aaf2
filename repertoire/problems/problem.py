"""What every problem promises: `Problem`; and `Custom`, which its user evaluates between `ask` and `tell`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from repertoire.archives.archive import checked_ranges
from repertoire.problems.record import ProblemRecord
from repertoire.state import checked_floats
from robots.arrays import whole_number
from robots.errors import InvalidValueError
from robots.evaluations import OBJECTIVES_AND_MEASURES, Evaluations, Request

_MOST_DIM = 100_000_000  # of which a batch of 200 solutions takes 80 GB

Fold = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
OnFinished = Callable[[int], None] | None


@dataclass(frozen=True)
class Normaliser:
    """How solutions take up a normalisation of observations by their mean and standard deviation, (o,)."""

    observation_dim: int  # numbers in an observation, o
    # makes solutions that do with observations what the given ones, (n, d), do with normalised ones
    fold: Fold
    unfold: Fold  # undoes it


class Problem(ABC):
    """An objective and measures of solutions.

    Attributes:
        record: the facts of the problem, which a repertoire keeps.
        archive: default number of cells along each measure.
        min_objective: floor of every threshold and offset of the QD score.
        learning_rate: the archive learning rate α with which Tjanaka et al. 2023 ran the problem.
        sigma0: default initial step size of a search, in units of the parameters.
        stochastic: whether the result of a solution depends on its seed.
        normaliser: how solutions take up statistics of what their controllers observe; None for a problem
            without observations, of which none can be requested.
        known: a solution that repertoires keep whatever else is found, (1, solution_dim); None without one.
        policy_layers: units of each layer of the networks that the solutions are, see `Controller.layers`,
            where transitions can be requested; empty for other problems.
    """

    record: ProblemRecord
    archive: tuple[int, ...]
    min_objective: float
    learning_rate: float
    sigma0: float = 0.02
    stochastic: bool = True
    normaliser: Normaliser | None = None
    known: np.ndarray | None = None
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

    @property
    def differences(self) -> dict[str, str]:
        """What to note about results, see `Backend.differences`."""
        return {}

    @abstractmethod
    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """A solution to start a search from, (solution_dim,) float32."""

    def evaluate(
        self,
        solutions: np.ndarray,
        seeds: np.ndarray,
        *,
        request: Request = OBJECTIVES_AND_MEASURES,
        on_finished: OnFinished = None,
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
        if request.observed is not None and self.normaliser is None:
            raise InvalidValueError(f"observations were requested, but {self.name} has no observations")
        if request.transitions and not self.policy_layers:
            raise InvalidValueError(f"transitions were requested, but {self.name} has no transitions")
        return self._run(solutions, seeds, request, on_finished)

    @abstractmethod
    def _run(
        self, solutions: np.ndarray, seeds: np.ndarray, request: Request, on_finished: OnFinished
    ) -> Evaluations:
        """Evaluate solutions, by a request that this problem can answer."""


class Custom(Problem):
    """Solutions of a known length with known ranges of their measures; for its arguments see `Search`."""

    learning_rate = 0.001
    stochastic = False

    def __init__(
        self,
        solution_dim: int,
        measure_ranges: Sequence[tuple[float, float]],
        *,
        min_objective: float,
        name: str = "custom",
        measure_names: Sequence[str] = (),
        initial: np.ndarray | None = None,
    ) -> None:
        solution_dim = whole_number("solution_dim", solution_dim, 1, _MOST_DIM)
        ranges = tuple((low, high) for low, high in checked_ranges(measure_ranges).tolist())
        self.record = ProblemRecord(str(name), solution_dim, ranges, tuple(map(str, measure_names)))
        self.archive = (20,) * len(ranges)
        self.min_objective = float(checked_floats("min_objective", min_objective, ()))
        start = np.zeros(self.solution_dim) if initial is None else initial
        self._initial = checked_floats("initial", start, (self.solution_dim,)).astype(np.float32)

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        return self._initial.copy()

    def _run(self, *_: object) -> Evaluations:
        raise InvalidValueError(f"{self.name} is evaluated by its user: call ask and tell")
