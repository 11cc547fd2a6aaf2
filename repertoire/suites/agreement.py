"""`Agreement`: whether a mean that the paper prints is one that our trials could have given."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

DEFINITION = (
    "A printed mean agrees if some number that rounds to it lies between the smallest and the largest of "
    "our trials, ends included. The paper prints no spread, so that its means cannot be tested: agreement "
    "only says that such a value is nothing unusual here, and is harder to reach the fewer the trials and "
    "the smaller their spread. Otherwise the deviation of our mean is given in percent of the paper's."
)


@dataclass(frozen=True)
class Agreement:
    """How trials compare with a mean that was printed elsewhere.

    Attributes:
        agrees: as in `DEFINITION`.
        deviation: (our mean - printed mean) / printed mean.
    """

    agrees: bool
    deviation: float

    def __str__(self) -> str:
        percent = 100 * self.deviation
        return "agrees" if self.agrees else f"{percent:+.0f}%" if abs(percent) >= 10 else f"{percent:+#.2g}%"


def agreement(values: Sequence[float] | np.ndarray, printed: float, *, decimals: int) -> Agreement:
    """Hold trials against a printed mean.

    Args:
        values: at least one, in the unit of the printed mean.
        printed: not zero.
        decimals: that were printed.
    """
    rounding = 0.5 * 10**-decimals
    agrees = min(values) <= printed + rounding and printed - rounding <= max(values)
    return Agreement(bool(agrees), float(np.mean(values) / printed - 1))
