"""Damage as text: `parse_damage` reads one, `read_damages` a list, `damage_facts` explains them."""

from collections.abc import Sequence
from pathlib import Path

from adapt.damage import HEALTHY
from adapt.damage.damage import Combination, Damage, SingleDamage, check_compatible
from adapt.damage.kinds import damage_kinds
from adapt.damage.library import damage_library
from adapt.damage.parts import RobotParts, sort_words
from robots.errors import InvalidFileError, InvalidValueError, SurefootError, naming, shown
from robots.files.texts import parse_number, parse_yaml, read_text
from robots.robot import Robot
from robots.words import wrapped

_MOST = 1000  # in a list


def parse_damage(text: Damage | str, robot: Robot) -> Damage:
    """Read a damage of a robot from its text; one that is known already is taken as it is.

    Args:
        text: a part, a kind and possibly its strength, e.g. `front_left:lost` or `joint=hip:locked@0.3`; or
            several of these joined by +; or `healthy`.
        robot: the robot whose part it is.
    """
    if isinstance(text, Damage):
        return text
    damage = damage_from(str(text), example=f"{next(iter(robot.description.legs))}:lost")
    check_compatible(damage.modifications(RobotParts(robot)))
    return damage


def damage_from(text: str, *, example: str = "front_left:lost") -> Damage:
    """Read a damage from its text, of whichever robot: see `parse_damage`."""
    if text.strip() == HEALTHY:
        return Combination()
    singles = [_read_single(part.strip(), text, example) for part in text.split("+")]
    return singles[0] if len(singles) == 1 else Combination(singles)


def _read_single(part: str, text: str, example: str) -> SingleDamage:
    target, colon, rest = (piece.strip() for piece in part.partition(":"))
    kind, at, strength = (piece.strip() for piece in rest.partition("@"))
    if not (target and colon and kind) or ":" in rest or bool(at) != bool(strength):
        whole = "" if part == text.strip() else f" in {text!r}"
        raise InvalidValueError(
            f"a damage is written PART:KIND or PART:KIND@STRENGTH, for example {example}, not {part!r}{whole}"
        )
    made = damage_kinds().find(kind)
    target = "=".join(piece.strip() for piece in target.split("="))
    try:
        value = parse_number(strength) if at else None
    except ValueError:
        raise InvalidValueError(f"the strength in {part!r} must be a number, not {strength!r}") from None
    return made(target, value)


def damaged_robots(robot: Robot, texts: Sequence[str] = ()) -> dict[str, Robot]:
    """A robot with each of several damages, by their texts; by default every leg lost and every leg dead."""
    legs = robot.description.legs
    if not texts and len(legs) < 2:
        raise InvalidValueError(f"{robot.name} cannot be trained with lost and dead legs: it has {len(legs)}")
    texts = texts or [f"{leg}:{kind}" for kind in ("lost", "dead") for leg in legs]
    return {text: parse_damage(text, robot).apply(robot) for text in texts}


def read_damages(path: str | Path, robot: Robot) -> list[Damage]:
    """Read damages from a YAML file that holds a list of texts."""
    text = read_text(Path(path))
    with naming(path):
        content = parse_yaml(text)
    if not isinstance(content, list) or not content:
        raise InvalidFileError(f"{path} must hold a list of damages, for example: - healthy")
    if len(content) > _MOST:
        raise InvalidFileError(f"{path} must hold at most {_MOST:,} damages, not {len(content):,}")
    damages: dict[str, Damage] = {}
    for number, entry in enumerate(content, 1):
        with naming(f"{path}, entry {number}", of=SurefootError):
            if not isinstance(entry, str):
                raise InvalidValueError(f"a damage is a text, not {shown(entry)}")
            damage = parse_damage(entry, robot)
            if str(damage) in damages:
                raise InvalidValueError(f"{damage} appears twice")
        damages[str(damage)] = damage
    return list(damages.values())


def damage_facts(robot: Robot) -> dict[str, list[str]]:
    """What a user may ask about damages to a robot: each fact by its name, in lines."""
    description, parts = robot.description, RobotParts(robot)
    return {
        "robot": [f"{robot.name}: {description.title}"],
        "LEG": wrapped(", ".join(description.legs)),
        "JOINT": ["{}: {:.3g} to {:.3g} rad".format(name, *parts.range(name)) for name in description.joints],
        "FOOT": wrapped(", ".join(description.feet)),
        "a damage": wrapped(
            "PART:KIND or PART:KIND@STRENGTH, where PART is LEG, joint=JOINT, foot=FOOT, all (legs), torso "
            "or floor; several of these joined by +; or healthy"
        ),
        **{name: _kind_words(kind) for name, kind in damage_kinds().items()},
        "examples": damage_examples(robot),
        "library": wrapped(f"{len(damage_library(robot))} damages are rehearsed by default"),
    }


def damage_examples(robot: Robot) -> list[str]:
    """Texts of damages that a robot can have."""
    description, parts = robot.description, RobotParts(robot)
    leg, foot, joint = list(description.legs)[-1], next(iter(description.feet)), description.joints[0]
    return [
        f"{leg}:lost",
        f"joint={joint}:locked@{sum(parts.range(joint)) / 2:.2g}",
        "all:weak@0.7",
        f"foot={foot}:slip@0.2",
        f"{damage_library(robot)[-1]}+floor:slope@5",
    ]


def _kind_words(kind: type[SingleDamage]) -> list[str]:
    lines = [kind.title, f"PART: {', '.join(sort_words(sort) for sort in kind.sorts)}"]
    if kind.scale is not None:
        lines += [f"STRENGTH: {kind.scale.words()}"]
    return [part for line in lines for part in wrapped(line)]
