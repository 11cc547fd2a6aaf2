"""What a robot on a mission does, `State`, what it does after that, `TRANSITIONS`, and its `Beliefs`."""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np

from adapt.damage.damage import Combination, Damage


class State(Enum):
    """What the robot does; the last three end the mission."""

    WALKING = "walking"  # a stretch towards the goal
    SUSPECTING = "suspecting"  # it fell, or something was unusual: is there anything to find out?
    GETTING_UP = "getting up"  # it comes to rest, and is set upright if it lies
    TRYING = "trying"  # it makes a trial from where it stands
    THINKING = "thinking"  # it finds out what is wrong
    ARRIVED = "arrived"  # at the last goal
    DAMPED = "damped"  # it fell as often as it may
    OUT_OF_TIME = "out of time"


class Outcome(Enum):
    """How a state ended."""

    USUAL = "as expected"
    SURPRISED = "a fall or an alarm"
    TOLD = "it is told what is wrong"  # only robots that others are compared with
    EXPLAINED = "explained"  # by what is believed, before or now
    HALTED = "explained, and it lies or has to come to rest"
    SILENT = "motors without torque tell what is wrong"
    PUZZLED = "not explained"


# A mission begins by walking. After every state it ends instead if its time is up (out of time), if the
# robot reached its last goal (arrived), or if it fell as often as it may (damped).
TRANSITIONS = {
    (State.WALKING, Outcome.USUAL): State.WALKING,
    (State.WALKING, Outcome.SURPRISED): State.SUSPECTING,
    (State.WALKING, Outcome.TOLD): State.GETTING_UP,
    (State.SUSPECTING, Outcome.EXPLAINED): State.WALKING,
    (State.SUSPECTING, Outcome.HALTED): State.GETTING_UP,
    (State.SUSPECTING, Outcome.SILENT): State.THINKING,
    (State.SUSPECTING, Outcome.PUZZLED): State.GETTING_UP,
    (State.GETTING_UP, Outcome.EXPLAINED): State.WALKING,
    (State.GETTING_UP, Outcome.PUZZLED): State.TRYING,
    (State.TRYING, Outcome.USUAL): State.WALKING,
    (State.TRYING, Outcome.EXPLAINED): State.WALKING,
    (State.TRYING, Outcome.HALTED): State.GETTING_UP,
    (State.TRYING, Outcome.PUZZLED): State.THINKING,
    (State.THINKING, Outcome.EXPLAINED): State.WALKING,
    (State.THINKING, Outcome.HALTED): State.GETTING_UP,
}


class Way(NamedTuple):
    """A gait, and the robot's heading when it begins [rad], from what the gait takes to be straight ahead."""

    row: int
    heading: float = 0.0


# Where a way leads: poses seen from where the robot began, (t, 3), and the control step of its fall, infinite
# without one
Paths = dict[Way, tuple[np.ndarray, float]]


class Cause(NamedTuple):
    """What is believed to be wrong."""

    damage: Damage  # the most probable cause that can be simulated
    causes: dict[str, float]  # the likeliest ones with their probabilities
    words: str  # the same in a line
    trusted: bool  # whether the cause explains enough to refine gaits on it

    @classmethod
    def sure(cls, damage: Damage) -> "Cause":
        """A cause that is known."""
        return cls(damage, {str(damage): 1.0}, str(damage), True)


_WHOLE = Cause.sure(Combination())


@dataclass
class Beliefs:
    """What a robot on a mission believes of itself; the parts of its `Knowledge` change it."""

    cause: Cause = _WHOLE  # what is wrong
    paths: dict[str, Paths] = field(default_factory=dict)  # by the text of the damage under which gaits ran
    # by how much rates of stretches under this damage were off, and how long these lasted [s]
    residuals: list[tuple[Way, np.ndarray, float]] = field(default_factory=list)
    promising: list[int] = field(default_factory=list)  # gaits that it is to simulate while the robot walks
    tried: set[int] = field(default_factory=set)  # gaits of trials, since it began to look for what is wrong
    refuted: set[str] = field(default_factory=set)  # texts of damages, believed in until a motor worked
    searches: int = 0  # for a better gait, as many as ended
    sought: float | None = None  # bearing of the goal for which a gait is being refined [rad], if one is
    fresh: bool = False  # whether the last search found a gait with which the robot did not walk yet

    @property
    def damage(self) -> Damage:
        """What is wrong; an empty combination of a whole robot."""
        return self.cause.damage

    @property
    def damaged(self) -> bool:
        """Whether something is."""
        return bool(self.damage.singles)

    @property
    def healthy(self) -> Paths:
        """Where gaits lead on the whole robot."""
        return self.paths.setdefault(str(Combination()), {})

    @property
    def known(self) -> Paths:
        """Where gaits lead under the damage."""
        return self.paths.setdefault(str(self.damage), {})

    @property
    def rows(self) -> list[int]:
        """The gaits that ran under the damage as they begin in episodes."""
        return [way.row for way in self.known if not way.heading]

    def believe(self, cause: Cause) -> None:
        """Take this to be what is wrong; of another damage it is not known by how much stretches are off."""
        if str(cause.damage) != str(self.damage):
            self.residuals.clear()
        self.cause = cause

    def forget(self) -> None:
        """Forget where gaits lead on damaged robots, since episodes begin in another pose from now on."""
        self.residuals.clear()
        self.paths = {str(Combination()): self.healthy}
