"""`TwelveRecord`: what a robot walks after a recovery of a few trials."""

from robots.files.records import Finite
from suites.records import TrialRecord, Whole


class TwelveRecord(TrialRecord):
    """How a recovery went.

    Attributes:
        damage: text of what broke.
        intact: progress of the intact robot with its best gait, a mean over fresh episodes [m].
        old: the same of that gait on the damaged robot [m].
        made: the same of the gait in the end [m].
        falls_after: share of these episodes in which the robot falls.
        trials: that were made, and how many of them ended in a fall.
        better_after: seconds until a trial of another gait had walked a tenth of the intact progress farther
            than the first trial of the old one, walking not included; None if none did [s].
        seconds: of the whole recovery, walking not included [s].
        processor: seconds of all processors that it took [s].
        cause: what the selector holds to be the most probable damage in the end, and how probable.
    """

    damage: str
    intact: Finite
    old: Finite
    made: Finite
    falls_after: Finite
    trials: Whole = 0
    falls: Whole = 0
    better_after: Finite | None = None
    seconds: Finite = 0.0
    processor: Finite = 0.0
    cause: str = ""
    probability: Finite = 0.0

    @property
    def words(self) -> str:
        """How it went, in a line."""
        return (
            f"{self.method:<30} {self.made:6.2f} of {self.intact:.2f} m  {self.seconds:5.0f} s  {self.damage}"
        )
