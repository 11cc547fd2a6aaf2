"""`Suspects`: what may be wrong with a robot, in which strengths, as the kinds of damage say."""

from collections.abc import Collection, Sequence

from adapt.damage.damage import LIMB_LOSS, Combination, Damage, SingleDamage, Suspect, check_compatible
from adapt.damage.kinds import damage_kinds, kinds_in_order
from adapt.damage.parts import RobotParts
from robots.errors import InvalidValueError, SurefootError, UnknownNameError
from robots.robot import Robot

MOST_AT_ONCE = 4
_MORE = (0.2, 0.8)  # places of further strengths where there are few suspects


class Suspects:
    """All that may be wrong with a robot, up to four damages at once.

    Damage to sensors alone is suspected of robots whose controllers see observations.

    Args:
        robot: whole.
        without: families of damage that are left out.

    Attributes:
        table: the suspects by the text of the part and the name of the kind: those of joints first, then
            those of legs, of feet, and of the whole robot and the floor.
    """

    def __init__(self, robot: Robot, *, without: Collection[str] = ()) -> None:
        families = sorted({kind.family for kind in damage_kinds().values()})
        for family in without:
            if family not in families:
                raise UnknownNameError("family of damage", family, families)
        self.parts = RobotParts(robot)
        sees = robot.controller.closed_loop
        kinds = [kind for kind in kinds_in_order() if kind.family not in without]
        found = [one for kind in kinds if sees or not kind.of_sensors for one in kind.suspects(self.parts)]
        found.sort(key=self._place)
        self.table = {(suspect.target, suspect.kind.kind): suspect for suspect in found}
        if not self.table:
            raise InvalidValueError(f"no fault of the {robot.name} is left without {', '.join(without)}")

    def singles(self, least: int = 0) -> list[SingleDamage]:
        """Every suspect in the strengths of its grid, and in more where that makes less than so many."""
        found = [
            suspect.of(strength) for suspect in self.table.values() for strength in suspect.strengths.grid
        ]
        for place in _MORE:
            if len(found) < least:
                found += [suspect.at(place) for suspect in self.table.values() if suspect.strengths.graded]
        return found

    def suspect(self, single: SingleDamage) -> Suspect | None:
        """The suspect that a damage is a point of, if there is one."""
        return self.table.get((single.target, single.kind))

    def of_part(self, target: str) -> list[Suspect]:
        """The suspects of a part, by the names of their kinds."""
        return [self.table[target, kind] for kind in damage_kinds() if (target, kind) in self.table]

    def combine(self, singles: Sequence[SingleDamage]) -> Damage | None:
        """Several at once; None where they are too many or contradict each other."""
        if len(singles) > MOST_AT_ONCE:
            return None
        damage = singles[0] if len(singles) == 1 else Combination(singles)
        try:
            check_compatible(damage.modifications(self.parts))
        except SurefootError:
            return None
        return damage

    def joints_of(self, single: SingleDamage) -> frozenset[str]:
        """The joints of the part that a damage is of; none where it is of the whole robot."""
        target = self.parts.find(single.target)
        return frozenset(self.parts.joints(target) if target.sort in ("joint", "leg") else ())

    def _place(self, suspect: Suspect) -> tuple[bool, int, int, bool]:
        """What a suspect is sorted by: those of sensors last; what takes a leg away stands with the leg."""
        target, description = self.parts.find(suspect.target), self.parts.robot.description
        takes_leg = suspect.kind.family in LIMB_LOSS
        legs = [target.name in (name, *leg.joints) for name, leg in description.legs.items()]
        if target.sort == "joint" and not takes_leg:
            place = 0, description.joints.index(target.name)
        elif target.sort in ("leg", "joint"):
            place = 1, legs.index(True)
        else:
            place = (2, list(description.feet).index(target.name)) if target.sort == "foot" else (3, 0)
        return suspect.kind.of_sensors, *place, takes_leg
