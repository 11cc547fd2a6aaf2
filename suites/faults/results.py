"""`FaultRecord`: how an episode with a fault went."""

from typing import Annotated

from pydantic import Field

from suites.faults.protocol import Command
from suites.records import TrialRecord

_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class FaultRecord(TrialRecord):
    """How an episode went.

    Attributes:
        walker: checksum of who walked.
        fault: name of the case.
        command: what it was told to do.
        made: way ahead [m], turn to the left [rad] or, of a robot that is to stand, time on its feet [s].
        asked: the same of a robot that does what it is told; None of gaits that follow no command.
        fell_after: seconds to the fall; None without one.
    """

    walker: str
    fault: str
    command: Command
    made: _Number
    asked: _Number | None = None
    fell_after: _Number | None = None

    @property
    def words(self) -> str:
        """How it went, in a line."""
        end = "no fall" if self.fell_after is None else f"fell after {self.fell_after:.1f} s"
        return f"{self.method:<16} {self.command:<6} {self.made:7.2f}  {end:<18} {self.fault}"
