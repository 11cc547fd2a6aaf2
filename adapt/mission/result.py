"""`MissionResult`: how a mission went."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MissionResult:
    """How a mission went.

    Attributes:
        reached: goals.
        goals: how many there were.
        seconds: that it took.
        distance: of the last pose from the first [m].
        falls, assistances, trials, alarms: how many there were.
        thinking: seconds of the mission in which the robot thought.
    """

    reached: int
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
        goals = (
            f"reached {self.reached} of {self.goals} goal{'s' * (self.goals != 1)}"
            if self.goals
            else f"walked {self.distance:.1f} m"
        )
        counts = {"fall": self.falls, "assistance": self.assistances, "trial": self.trials}
        counted = ", ".join(f"{n} {what}{'s' * (n != 1)}" for what, n in counts.items())
        return f"{goals} in {self.seconds:.1f} s: {counted}, {self.thinking:.1f} s of thinking"
