"""`Surprises`: which falls and alarms belong to the damage that is believed, and which want another trial."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from adapt.mission.states import Outcome

_FRESH = 2  # stretches without a surprise since a diagnosis, up to which one is about the same damage
_WARY = 3  # stretches after a surprise that it walked on from, in which another one may be looked into
_SURE = 3  # surprises on end that it walks on from after a second trial that said the same; 1 otherwise
_LONG = 10  # stretches without a surprise, after which another one is no longer about the same
_STUMBLE = 0.5  # probability that a stumble adds to a gait's next fall
_UNPROVEN = 0.3  # probability that is added to falls of gaits that a damaged robot has not walked with yet


class Surprises:
    """Counts what surprised the robot since its last diagnosis, and knows with which gaits it walked since.

    A damaged robot stumbles. It walks on from a single surprise, and looks into several on end, or into an
    early fall after a diagnosis.
    """

    def __init__(self) -> None:
        self._since = 0  # stretches since the last diagnosis
        self._falls: Counter[int] = Counter()  # of gaits, since the last diagnosis
        self._proven = set[int]()  # gaits that walked without a surprise since then
        self._wary = 0  # stretches in which a surprise is one of several on end
        self._on_end = 0  # surprises that it walked on from
        self._most = 1  # surprises on end that it may walk on from
        self._quiet = 0  # stretches on end without a surprise
        # how the last trial ended, until it is long ago: puzzled if all seems whole, but the robot fell again
        self._trial = Outcome.EXPLAINED

    @property
    def untried(self) -> bool:
        """Whether no stretch went as expected since the last diagnosis."""
        return not self._since

    @property
    def cleared(self) -> bool:
        """Whether the last trial, not long ago, did not say what is wrong."""
        return self._trial is not Outcome.EXPLAINED

    def about_the_same(self, *, again: bool, damaged: bool) -> bool:
        """Whether a trial is further evidence about the same damage, and not about another one.

        It may be one that is made `again`, after one that went as expected.
        """
        if damaged:
            return again or self._since <= _FRESH
        return again and self._trial is Outcome.PUZZLED

    def pass_stretch(self, row: int) -> None:
        """A stretch of a gait went as expected."""
        self._proven.add(row)
        self._since, self._wary = self._since + 1, max(0, self._wary - 1)
        self._quiet += 1
        if self._quiet >= _LONG:
            self._trial = Outcome.EXPLAINED

    def walks_on(self, row: int, *, down: bool, damaged: bool) -> bool:
        """Whether a surprise by a gait, with the robot down or not, belongs to what is believed."""
        self._quiet = 0
        self._falls[row] += down
        self._on_end = self._on_end if self._wary else 0
        early = down and self._since <= _FRESH and self._most == 1
        if not damaged or early or self._on_end >= self._most:
            return False
        self._wary, self._on_end = _WARY, self._on_end + 1
        return True

    def clear(self, row: int) -> None:
        """A trial of a gait went as expected: a further surprise would be the first again."""
        self._proven.add(row)
        self._wary, self._trial = 0, Outcome.USUAL

    def diagnose(self, *, again: bool, unexplained: bool = False, sure: bool = False) -> None:
        """There is a new diagnosis, or the same `again`, or one that leaves open why the robot fell again.

        A robot is `sure` of what its motors tell: it looks into several surprises on end alone.
        """
        self._since, self._wary = 0, 0
        self._trial = Outcome.PUZZLED if unexplained else Outcome.EXPLAINED
        self._falls.clear()
        if not again:
            self._proven.clear()
        self._most = _SURE if again or sure else 1

    def risk(self, rows: Sequence[int], *, damaged: bool) -> np.ndarray:
        """By how much what happened since the last diagnosis makes falls of gaits more probable, (n,)."""
        fallen = _STUMBLE * np.array([self._falls[row] for row in rows], np.float64)
        unproven = np.array([row not in self._proven for row in rows])
        return fallen + _UNPROVEN * unproven if damaged else fallen
