"""`Selector`: what every way of choosing the next trial promises."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adapt.records import Outcome, RefinedGait, Thought
from adapt.rehearsal.table import Table
from adapt.self_model.twin import Thinking
from robots.errors import InvalidValueError


@dataclass(frozen=True, eq=False)
class Prior:
    """What a repertoire says of its controllers before the first trial."""

    objectives: np.ndarray  # (k,), on the intact robot, in units of the objective
    # (k, m), on the intact robot, or other features by which similar controllers are near
    measures: np.ndarray
    min_objective: float  # the worst objective that counts, the zero of shares such as "90% of the best"

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


@dataclass(frozen=True, eq=False)
class Context:
    """What a selector knows when it starts."""

    prior: Prior  # what the repertoire says of its k controllers
    trials: int  # how many trials there may be, at least 1
    seed: int = 0  # of the selector's random choices, at least 0; not every selector makes any
    max_falls: int | None = None  # how many trials may end in a fall, at least 1; any number by default
    table: Table | None = None  # the rehearsal of the repertoire, for selectors that need one
    thinking: Thinking | None = None  # what the robot may do between two trials, for selectors that simulate
    on_thinking: Callable[[float], None] | None = None  # called with the share of its limit that is used up
    on_refining: Callable[[float], None] | None = None  # called with the share of a refinement that is done

    def __post_init__(self) -> None:
        if self.trials < 1:
            raise InvalidValueError(f"trials must be at least 1, not {self.trials}")
        if self.max_falls is not None and self.max_falls < 1:
            raise InvalidValueError(f"max_falls must be at least 1, not {self.max_falls}")


class Selector(ABC):
    """Chooses which of k controllers to try next: `ask`, then `tell`, until `done` gives a reason to stop.

    A selector of one's own says what it expects, `predicted`, and what trials are worth; `_learn` and
    `_satisfied` may be overridden.

    Attributes:
        prior, trials, max_falls: of the context.
        rows: tried so far, in order.
        objectives: what each of these trials measured.
        falls: how many of them ended in a fall.
    """

    def __init__(self, context: Context) -> None:
        self.prior = context.prior
        self.trials = context.trials
        self.max_falls = context.max_falls
        self.rows: list[int] = []
        self.objectives: list[float] = []
        self.falls = 0
        self._told: dict[int, list[float]] = {}  # objectives by row

    @property
    @abstractmethod
    def predicted(self) -> np.ndarray:
        """Expected objective of every controller on the damaged robot, (k,), in units of the objective."""

    @property
    @abstractmethod
    def worth(self) -> np.ndarray:
        """What a trial of every controller is worth, (k,), in any units; the first of equals comes first."""

    def ask(self) -> int:
        """Row of the untried controller to try next; the same until `tell` is called."""
        if len(self._told) == len(self.prior):
            raise RuntimeError("ask was called after every controller was tried: check done first")
        return int(np.argmax(np.where(self._untried, self.worth, -np.inf)))

    def tell(self, row: int, outcome: Outcome) -> None:
        """Learn what a controller did on the damaged robot, whoever proposed it."""
        if not 0 <= row < len(self.prior):
            raise InvalidValueError(f"row must be from 0 to {len(self.prior) - 1}, not {row}")
        self._learn(int(row), outcome)
        self.rows.append(int(row))
        self.objectives.append(float(outcome.objective))
        self.falls += bool(outcome.fell)
        self._told.setdefault(int(row), []).append(float(outcome.objective))

    def means(self) -> dict[int, float]:
        """Mean objective of each row that was tried."""
        return {row: sum(objectives) / len(objectives) for row, objectives in self._told.items()}

    @property
    def fall_probability(self) -> np.ndarray | None:
        """Probability of a fall of every controller, (k,); None of a selector that does not predict falls."""
        return None

    def recommendation(self) -> int:
        """Row to walk with from now on, of those that were tried: the one of which most is expected."""
        predicted = self.predicted
        return max(self._told, key=lambda row: predicted[row])

    def diagnosis(self) -> list[tuple[str, float]]:
        """What may be wrong with the robot and how probable that is, the most probable first.

        Texts of damages or "unknown"; by default nothing, as of a selector that does not ask what is wrong.
        """
        return []

    def reported_diagnosis(self) -> list[tuple[str, float]]:
        """The diagnosis that a report shows, with probabilities that are calibrated if the selector can."""
        return self.diagnosis()

    @property
    def refined(self) -> tuple[RefinedGait, ...]:
        """Gaits that were found since the first trial: their rows follow those of the k controllers."""
        return ()

    def thought(self) -> Thought | None:
        """What was simulated after the last trial that was told; None if nothing was."""
        return None

    def done(self) -> str | None:
        """Why to stop, in words, or None to go on."""
        if self.rows and (reason := self._satisfied()):
            return reason
        if reason := self.spent():
            return reason
        return "every controller was tried" if len(self._told) == len(self.prior) else None

    def spent(self) -> str | None:
        """Why no more trials are allowed, in words, or None where some are left."""
        if self.max_falls is not None and self.falls >= self.max_falls:
            return f"the robot fell {self.falls} times, and more is not allowed"
        return f"all {self.trials} trials are used up" if len(self.rows) >= self.trials else None

    @property
    def _untried(self) -> np.ndarray:
        """Which controllers were not tried yet, (k,) bool."""
        untried = np.ones(len(self.prior), np.bool_)
        untried[self.rows] = False
        return untried

    def _learn(self, row: int, outcome: Outcome) -> None:  # noqa: B027 (what was told is kept by `tell`)
        """Take in a trial, which is not yet in `rows` and `objectives`."""

    def _satisfied(self) -> str | None:
        """Return why no better controller is to be expected, or None; at least one trial was told."""
        return None
