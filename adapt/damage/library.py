"""The damages that a repertoire is rehearsed on by default."""

from itertools import combinations

from adapt.damage.damage import Combination, Damage
from adapt.damage.kinds.ground import Friction, Slip
from adapt.damage.kinds.joints import Locked
from adapt.damage.kinds.limbs import Lost, Short
from adapt.damage.kinds.loads import Payload
from adapt.damage.kinds.motors import Dead, Weak
from adapt.damage.parts import RobotParts
from robots.robot import Robot

_LOAD = 0.25  # of the robot's mass
_WEAK = 0.2  # of the torque
_SLIP = 0.2  # of the friction
_LEAST_TURN = 0.02  # [rad or m] by which a locked joint must differ from rest


def damage_library(robot: Robot) -> list[Damage]:
    """A robot's default damages, of which the first is that nothing is wrong.

    Every leg lost, dead, weak and short; every other pair of legs lost; every joint locked at rest and
    halfway to either end of its range; every foot slippery; and weak motors, a slippery floor and a load.
    Damages that leave less than half of the legs are left out.

    It is wide because similar damages are evidence of each other: a leg that is stuck in the air behaves
    like one that is lost.
    """
    description, parts = robot.description, RobotParts(robot)
    legs = description.legs
    pairs = list(combinations(legs, 2))[::2]  # the others are similar to these
    mass = _LOAD * float(robot.model.body_subtreemass[robot.model.body(description.torso).id])
    return [
        Combination(),
        *(Lost(leg) for leg in legs if len(legs) > 1),
        *(Combination((Lost(one), Lost(other))) for one, other in pairs if len(legs) > 3),
        *(Dead(leg) for leg in legs if len(legs) > 1),
        *(Weak(leg, _WEAK) for leg in legs),
        *(Short(leg, 0.5) for leg in legs),
        *(locked for joint in description.joints for locked in _locked(joint, parts)),
        *(Slip(f"foot={foot}", _SLIP) for foot in description.feet),
        Weak("all", 0.5),
        Friction("floor", 0.4),
        Payload("torso", float(f"{mass:.2g}")),
    ]


def _locked(joint: str, parts: RobotParts) -> list[Damage]:
    """A joint locked at rest and, where that differs, halfway from there to each end of its range."""
    rest, (low, high) = parts.rest(joint), parts.range(joint)
    halfway = (round((rest + end) / 2, 2) for end in (low, high))
    angles = [angle for angle in halfway if low <= angle <= high and abs(angle - rest) > _LEAST_TURN]
    return [Locked(f"joint={joint}", angle) for angle in (None, *angles)]
