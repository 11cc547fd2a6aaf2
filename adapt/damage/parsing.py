"""`parse_damage` reads a damage from its text."""

from adapt.damage.anatomy import Anatomy
from adapt.damage.combination import HEALTHY, Combination
from adapt.damage.damage import Damage
from adapt.damage.defect import Defect, damage_kinds
from adapt.damage.effect import check_compatible
from robots.errors import InvalidValueError, UnknownNameError
from robots.robot import Robot


def parse_damage(text: str, robot: Robot) -> Damage:
    """Read a damage from its text.

    Args:
        text: a part, a kind and perhaps its strength, e.g. `front_left:lost` or `joint=hip:locked@0.3`; or
            several of these with + between; or `healthy`.
        robot: whose part it is.

    Raises:
        InvalidValueError: the text is not of that form, the strength is outside what is possible, the kind
            does not befall such a part, or two damages contradict each other.
        UnknownNameError: the robot has no such part, or there is no such kind.
    """
    if text.strip() == HEALTHY:
        return Combination()
    defects = tuple(_parse_defect(part.strip(), text, robot) for part in text.split("+"))
    damage = defects[0] if len(defects) == 1 else Combination(defects)
    check_compatible(damage.effects(Anatomy(robot)))
    return damage


def _parse_defect(part: str, text: str, robot: Robot) -> Defect:
    """Read one of the damages of a text."""
    target, colon, rest = (piece.strip() for piece in part.partition(":"))
    kind, at, strength = (piece.strip() for piece in rest.partition("@"))
    if not (target and colon and kind) or ":" in rest or bool(at) != bool(strength):
        example = f"{next(iter(robot.description.legs))}:lost"
        whole = "" if part == text.strip() else f" in {text!r}"
        raise InvalidValueError(
            f"a damage is written PART:KIND or PART:KIND@STRENGTH, for example {example}, not {part!r}{whole}"
        )
    kinds = damage_kinds()
    if kind not in kinds:
        raise UnknownNameError("kind of damage", kind, kinds)
    target = "=".join(piece.strip() for piece in target.split("="))
    return kinds[kind](target, _parse_strength(strength, part) if at else None)


def _parse_strength(text: str, part: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise InvalidValueError(f"the strength in {part!r} must be a number, not {text!r}") from None
