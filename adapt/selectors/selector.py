"""`Selector`: what every way of choosing the next trial promises."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from robots.errors import InvalidValueError


@dataclass(frozen=True, eq=False)
class Prior:
    """What a repertoire says of its controllers before the first trial.

    Attributes:
        objectives: (k,), on the intact robot, in units of the objective.
        measures: (k, m), on the intact robot.
        min_objective: the worst objective that counts, the zero of shares such as "90% of the best".

    Raises:
        InvalidValueError: there is no controller, a shape is wrong or a value is not finite.
    """

    objectives: np.ndarray
    measures: np.ndarray
    min_objective: float

    def __post_init__(self) -> None:
        k = np.size(self.objectives)
        if k == 0:
            raise InvalidValueError("there is no controller to choose from: the repertoire is empty")
        if np.shape(self.objectives) != (k,):
            raise InvalidValueError(f"objectives must have shape (k,), not {np.shape(self.objectives)}")
        if np.ndim(self.measures) != 2 or len(self.measures) != k:
            raise InvalidValueError(f"measures must have shape ({k}, m), not {np.shape(self.measures)}")
        for name in ("objectives", "measures", "min_objective"):
            if not np.isfinite(getattr(self, name)).all():
                raise InvalidValueError(f"{name} must be finite")

    def __len__(self) -> int:
        return len(self.objectives)


class Selector(ABC):
    """Chooses which of k controllers to try next: `next`, then `tell`, until `done` gives a reason to stop.

    A controller that was told of is not proposed again. A selector that draws random numbers takes a seed.

    Args:
        prior: what is known before the first trial.
        trials: how many trials there may be, at least 1.

    Attributes:
        rows: tried so far, in order.
        objectives: what each of these trials measured.

    Raises:
        InvalidValueError: `trials` is less than 1.
    """

    def __init__(self, prior: Prior, *, trials: int) -> None:
        if trials < 1:
            raise InvalidValueError(f"trials must be at least 1, not {trials}")
        self.prior = prior
        self.trials = trials
        self.rows: list[int] = []
        self.objectives: list[float] = []

    @property
    @abstractmethod
    def predicted(self) -> np.ndarray:
        """Expected objective of every controller on the damaged robot, (k,), in units of the objective."""

    def next(self) -> int:
        """Row of the controller to try next; the same until `tell` is called.

        Raises:
            RuntimeError: every controller was tried.
        """
        untried = np.ones(len(self.prior), np.bool_)
        untried[self.rows] = False
        if not untried.any():
            raise RuntimeError("next was called after every controller was tried: ask done first")
        return self._choose(untried)

    def tell(self, row: int, objective: float) -> None:
        """Learn what a controller achieved on the damaged robot, whoever proposed it.

        Raises:
            InvalidValueError: there is no such row, or the objective is not finite.
        """
        if not 0 <= row < len(self.prior):
            raise InvalidValueError(f"row must be from 0 to {len(self.prior) - 1}, not {row}")
        if not np.isfinite(objective):
            raise InvalidValueError(f"the objective of a trial must be finite, not {objective}")
        self.rows.append(int(row))
        self.objectives.append(float(objective))
        self._learn(int(row), float(objective))

    def means(self) -> dict[int, float]:
        """Mean objective of each row that was tried."""
        told: dict[int, list[float]] = {}
        for row, objective in zip(self.rows, self.objectives, strict=True):
            told.setdefault(row, []).append(objective)
        return {row: float(np.mean(objectives)) for row, objectives in told.items()}

    def leader(self) -> int:
        """Row with the highest mean of those that were tried, the first of equals."""
        means = self.means()
        return max(means, key=lambda row: means[row])

    def done(self) -> str | None:
        """Why to stop, in words, or None to go on."""
        if self.rows and (reason := self._satisfied()):
            return reason
        if len(self.rows) >= self.trials:
            return f"all {self.trials} trials are used up"
        return "every controller was tried" if len(set(self.rows)) == len(self.prior) else None

    @abstractmethod
    def _choose(self, untried: np.ndarray) -> int:
        """Return a row for which `untried`, (k,) bool and somewhere true, is true; ties go to the first."""

    @abstractmethod
    def _learn(self, row: int, objective: float) -> None:
        """Take in the trial told last, which is already in `rows` and `objectives`."""

    @abstractmethod
    def _satisfied(self) -> str | None:
        """Return why no better controller is to be expected, or None; at least one trial was told."""


class SelectorFactory(Protocol):
    """Starts a selector: a class of selectors, or a partial application of one."""

    def __call__(self, prior: Prior, *, trials: int) -> Selector:
        """See `Selector`."""
        ...
