"""`Anatomy`: what a robot has, as far as damages need to know."""

import mujoco
import numpy as np

from adapt.damage.target import Target
from robots.robot import Robot


class Anatomy:
    """The parts of a robot as it was when it was whole.

    Args:
        robot: whole or damaged.

    Attributes:
        robot: as given.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._spec = robot.spec()

    def joints(self, target: Target) -> tuple[str, ...]:
        """A joint, or the joints of a leg or of all legs, each leg's from the torso outwards."""
        description = self.robot.description
        if target.sort == "joint":
            return (target.name,)
        if target.sort == "leg":
            return description.legs[target.name].joints
        return description.joints if target.sort == "all" else ()

    def feet(self, target: Target) -> tuple[str, ...]:
        """A foot, or the foot of a leg or of every leg."""
        legs = self.robot.description.legs
        if target.sort == "foot":
            return (target.name,)
        if target.sort == "leg":
            return (legs[target.name].foot,)
        return tuple(dict.fromkeys(leg.foot for leg in legs.values())) if target.sort == "all" else ()

    def joints_from(self, joint: str) -> tuple[str, ...]:
        """The actuated joints of the limb that a joint moves and of all that hangs on it."""
        there = {element.name for element in self._limb(joint).find_all("joint")}
        return tuple(name for name in self.robot.description.joints if name in there)

    def feet_from(self, joint: str) -> tuple[str, ...]:
        """The feet none of whose soles is left without the limb that a joint moves."""
        there = {element.name for element in self._limb(joint).find_all("geom")}
        return tuple(foot for foot, soles in self.robot.description.feet.items() if there.issuperset(soles))

    def range(self, joint: str) -> tuple[float, float]:
        """Lowest and highest position of a joint [rad]."""
        low, high = self.robot.joint_ranges[self.robot.description.joints.index(joint)]
        return float(low), float(high)

    def rest(self, joint: str) -> float:
        """Position of a joint at rest [rad]: where episodes start, 0 unless a keyframe says otherwise.

        Where that is outside the joint's range, what is nearest to it inside.
        """
        start = self.robot.start.get(joint, np.zeros(1))
        return float(np.clip(start[0], *self.range(joint)))

    def _limb(self, joint: str) -> mujoco.MjsBody:
        """The body that a joint moves."""
        return self._spec.joint(joint).parent
