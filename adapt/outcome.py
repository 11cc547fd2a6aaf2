"""`Outcome`: what one trial on the damaged robot measured."""

from dataclasses import dataclass, field

import numpy as np

from robots.errors import InvalidValueError


def _nothing() -> np.ndarray:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one trial measured.

    Attributes:
        objective: in its own units.
        fell: whether the trial ended in a fall.
        evidence: what else there was to see, (e,), as `adapt.evidence` lists it; empty if nothing was looked
            at.

    Raises:
        InvalidValueError: a number is not finite, or the evidence is not one row of numbers.
    """

    objective: float
    fell: bool = False
    evidence: np.ndarray = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        if not np.isfinite(self.objective):
            raise InvalidValueError(f"the objective of a trial must be finite, not {self.objective}")
        if np.ndim(self.evidence) != 1 or not np.isfinite(self.evidence).all():
            raise InvalidValueError(f"the evidence of a trial must be finite numbers, not {self.evidence}")
