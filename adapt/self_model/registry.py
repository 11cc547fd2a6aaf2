"""`Registry`: faults that a robot may have, with their strengths, generated from its model."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from adapt.damage.damage import Combination, Damage, Defect, check_compatible
from adapt.damage.kinds import damage_kinds
from adapt.damage.parts import RobotParts
from robots.errors import InvalidValueError, SurefootError, UnknownNameError
from robots.robot import Robot

MOST_FAULTS = 4  # at the same time
_MORE = (0.2, 0.8)  # places of further strengths where there are few faults
_SHIFT = 0.1  # share of the model's extent by which the torso's mass may have moved; twice that at most
_MOST_SHIFT = 0.15  # the same of the robot's own size: the extent of a model may be that of its floor


@dataclass(frozen=True)
class Fault:
    """A kind of damage to a part of a robot, with the range of its strength.

    Attributes:
        target: text of the part.
        kind: of the damage.
        grid: strengths to begin a search with; None alone for a kind without.
        low: the lowest strength.
        high: the highest; the same for a kind whose strengths are those of the grid alone.
        logarithmic: whether the ratios of strengths count, not their differences.
    """

    target: str
    kind: str
    grid: tuple[float | None, ...] = (None,)
    low: float = 0.0
    high: float = 0.0
    logarithmic: bool = False

    @property
    def graded(self) -> bool:
        """Whether its strengths are a range, to be searched; those without a grid are read off sensors."""
        return self.high > self.low and bool(self.grid)

    def at(self, place: float) -> Defect:
        """The damage at a place in the range of strengths, from 0 to 1."""
        place = min(max(place, 0.0), 1.0)
        if self.logarithmic:
            strength = self.low * (self.high / self.low) ** place
        else:
            strength = self.low + place * (self.high - self.low)
        return self.of(min(max(strength, self.low), self.high))  # rounding may lead beyond them

    def place(self, strength: float) -> float:
        """Where in the range a strength is, from 0 to 1: at its end where the strength is beyond it."""
        strength = min(max(strength, self.low), self.high)
        if self.logarithmic:
            return math.log(strength / self.low) / math.log(self.high / self.low)
        return (strength - self.low) / (self.high - self.low)

    def of(self, strength: float | None) -> Defect:
        """The damage of a strength, which is rounded to three digits, and to a whole number where need be.

        Where that leaves the range, as at the end of that of a joint, it is rounded the other way.
        """
        kind = damage_kinds()[self.kind]
        if strength is None or kind.scale is None:
            return kind(self.target)
        if kind.scale.whole:
            return kind(self.target, round(strength))
        rounded = float(f"{strength:.3g}")
        if self.low <= strength <= self.high and not self.low <= rounded <= self.high:
            digit = 10.0 ** (math.floor(math.log10(abs(rounded))) - 2)
            rounded = float(f"{rounded - math.copysign(digit, rounded - strength):.3g}")
        return kind(self.target, rounded)


class Registry:
    """The faults of a robot: of joints, wiring, sensors, legs, feet, body and floor; up to four at once.

    Faults of sensors alone are those of robots whose controllers see observations.

    Args:
        robot: whole.
        without: families of damage that are left out.

    Attributes:
        parts: of the robot.
        faults: by the text of the part and the kind.

    Raises:
        UnknownNameError: there is no such family.
        InvalidValueError: no fault is left.
    """

    def __init__(self, robot: Robot, *, without: Collection[str] = ()) -> None:
        families = {name: kind.family for name, kind in damage_kinds().items()}
        for family in without:
            if family not in families.values():
                raise UnknownNameError("family of damage", family, sorted(set(families.values())))
        self.parts = RobotParts(robot)
        found = [*self._of_joints(), *self._of_legs(), *self._of_body()]
        found += self._of_sensors() if robot.controller.closed_loop else ()
        self.faults = {
            (fault.target, fault.kind): fault for fault in found if families[fault.kind] not in without
        }
        if not self.faults:
            raise InvalidValueError(f"no fault of the {robot.name} is left without {', '.join(without)}")

    def singles(self, least: int = 0) -> list[Defect]:
        """Every fault with the strengths of its grid, and more of them where that makes less than so many."""
        found = [fault.of(strength) for fault in self.faults.values() for strength in fault.grid]
        for place in _MORE:
            if len(found) < least:
                found += [fault.at(place) for fault in self.faults.values() if fault.graded]
        return found

    def fault(self, defect: Defect) -> Fault | None:
        """The fault that a damage is a point of, if the registry has it."""
        return self.faults.get((defect.target, defect.kind))

    def combine(self, defects: Sequence[Defect]) -> Damage | None:
        """Several at once; None where they are too many or contradict each other."""
        if len(defects) > MOST_FAULTS:
            return None
        damage = defects[0] if len(defects) == 1 else Combination(tuple(defects))
        try:
            check_compatible(damage.changes(self.parts))
        except SurefootError:
            return None
        return damage

    def joints_of(self, defect: Defect) -> frozenset[str]:
        """The joints of the part that a damage is of; none where it is of the whole robot."""
        target = self.parts.find(defect.target)
        return frozenset(self.parts.joints(target) if target.sort in ("joint", "leg") else ())

    def _of_joints(self) -> Iterator[Fault]:
        """Faults of joints, and of their wiring."""
        for name in self.parts.robot.description.joints:
            target = f"joint={name}"
            yield Fault(target, "weak", (0.1, 0.5), 0.01, 0.99)
            yield Fault(target, "reversed")
            yield Fault(target, "locked", (), *self.parts.range(name))  # angles are read off sensors
            yield Fault(target, "stiff", (2.0,), 0.1, 15.0, logarithmic=True)
            yield Fault(target, "rubbing", (0.4,), 0.05, 1.2, logarithmic=True)
            yield Fault(target, "bent", (-30.0, 30.0), -70.0, 70.0)
            if near := self._neighbours(name):
                yield Fault(target, "swapped", near)
            if self.parts.is_servo(name):
                yield Fault(target, "offset", (-0.35, 0.35), -1.0, 1.0)
                yield Fault(target, "backlash", (0.3,), 0.05, 0.6)

    def _neighbours(self, joint: str) -> tuple[float, ...]:
        """Numbers of joints whose cables are near: further out on the leg, and likewise on the next leg."""
        description = self.parts.robot.description
        legs = [leg.joints for leg in description.legs.values()]
        near = [
            other
            for own, following in zip(legs, [*legs[1:], *legs[:1]], strict=True)
            if joint in own
            for place in [own.index(joint)]
            for other in (*own[place + 1 :], *following[place : place + 1])
            if other != joint
        ]
        return tuple(description.joints.index(other) + 1.0 for other in near)

    def _of_legs(self) -> Iterator[Fault]:
        """Faults of legs and feet."""
        for name, leg in self.parts.robot.description.legs.items():
            yield Fault(name, "weak", (0.2, 0.5), 0.01, 0.99)
            for number, joint in enumerate(leg.joints):
                yield Fault(f"joint={joint}" if number else name, "lost")
            for joint in leg.joints[1:] or leg.joints:
                yield Fault(f"joint={joint}", "short", (0.5,), 0.1, 0.95)
        for foot in self.parts.robot.description.feet:
            yield Fault(f"foot={foot}", "slip", (0.2,), 0.02, 0.95)

    def _of_sensors(self) -> Iterator[Fault]:
        """Faults of what the controller sees, and nothing else."""
        for name in self.parts.robot.description.joints:
            yield Fault(f"joint={name}", "stuck-sensor", (), *self.parts.range(name))  # read off likewise
            yield Fault(f"joint={name}", "noisy-sensor", (0.3,), 0.03, 3.0, logarithmic=True)
        for foot in self.parts.robot.description.feet:
            yield Fault(f"foot={foot}", "stuck-sensor", (0.0, 1.0))
            yield Fault(f"foot={foot}", "noisy-sensor", (0.5,), 0.1, 3.0, logarithmic=True)
        yield Fault("all", "noisy-sensor", (0.3,), 0.03, 3.0, logarithmic=True)

    def _of_body(self) -> Iterator[Fault]:
        """Faults of the whole robot and of the floor."""
        model = self.parts.robot.physics
        mass = float(model.body_mass.sum())
        reach = min(_SHIFT * float(model.stat.extent), _MOST_SHIFT * _size(model))
        yield Fault("all", "weak", (0.6,), 0.1, 0.99)
        yield Fault("all", "stiff", (0.5,), 0.1, 5.0, logarithmic=True)
        yield _possible(Fault("torso", "payload", (0.2 * mass,), 0.02 * mass, 0.8 * mass, logarithmic=True))
        for kind in ("mass-ahead", "mass-left") if self.parts.robot.moves_freely else ("mass-ahead",):
            yield _possible(Fault("torso", kind, (-reach, reach), -2 * reach, 2 * reach))
        yield Fault("floor", "friction", (0.3, 0.6, 1.5), 0.1, 2.0, logarithmic=True)
        yield Fault("floor", "slope", (-8.0, 8.0), -20.0, 20.0)
        yield Fault("all", "delay", (2.0, 4.0), 1.0, 8.0)


def _size(model: mujoco.MjModel) -> float:
    """Length, width or height of what moves, the largest of them [m]."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    moving = model.body_weldid[model.geom_bodyid] != 0
    places, radii = data.geom_xpos[moving], model.geom_rbound[moving, None]
    return float(np.max((places + radii).max(axis=0) - (places - radii).min(axis=0)))


def _possible(fault: Fault) -> Fault:
    """A fault with strengths that its kind can have, however large or heavy the robot is."""
    scale = damage_kinds()[fault.kind].scale
    assert scale is not None
    grid = tuple(scale.nearest(strength) for strength in fault.grid if strength is not None)
    return replace(fault, grid=grid, low=scale.nearest(fault.low), high=scale.nearest(fault.high))
