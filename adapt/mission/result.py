"""`MissionResult`: how a mission went."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MissionResult:
    """How a mission went.

    Attributes:
        reached: goals.
        unaided: of these, how many before the robot was set upright for the first time.
        goals: how many there were.
        seconds: that it took.
        distance: of the last pose from the first [m].
        falls: how many there were.
        assistances: how often it was set upright.
        trials: how many there were.
        alarms: likewise.
        thinking: seconds of the mission in which the robot thought.
    """

    reached: int
    unaided: int
    goals: int
    seconds: float
    distance: float
    falls: int
    assistances: int
    trials: int
    alarms: int
    thinking: float

    @property
    def words(self) -> str:
        """In a sentence."""
        goals = f"walked {self.distance:.1f} m"
        if self.goals:
            goals = f"reached {self.reached} of {self.goals} goal{'s' * (self.goals != 1)}{self._help}"
        counts = {"fall": self.falls, "assistance": self.assistances, "trial": self.trials}
        counted = ", ".join(f"{n} {what}{'s' * (n != 1)}" for what, n in counts.items())
        return f"{goals} in {self.seconds:.1f} s: {counted}, {self.thinking:.1f} s of thinking"

    @property
    def _help(self) -> str:
        """Whether what was reached was reached with help, in words."""
        if not self.reached:
            return ""
        if self.unaided in (0, self.reached):
            return " without help" if self.unaided else " with help"
        return f", {self.unaided} of them without help,"
