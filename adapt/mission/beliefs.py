"""`Beliefs`: what a robot on a mission believes of itself, in one record."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from adapt.damage.damage import Combination, Damage


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
