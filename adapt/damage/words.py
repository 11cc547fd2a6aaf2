"""Damages in words: what can happen to a robot, in lines that a person reads."""

import textwrap

from adapt.damage.anatomy import Anatomy
from adapt.damage.defect import Defect, damage_kinds
from adapt.damage.library import damage_library
from adapt.damage.target import sort_words
from robots.robot import Robot

_WIDTH = 92  # of a line [characters]


def damage_facts(robot: Robot) -> dict[str, list[str]]:
    """What a person may ask about damages to a robot: each fact by its name, in lines."""
    description, anatomy = robot.description, Anatomy(robot)
    return {
        "robot": [f"{robot.name}: {description.title}"],
        "LEG": _wrapped(", ".join(description.legs)),
        "JOINT": [_joint_words(anatomy, joint) for joint in description.joints],
        "FOOT": _wrapped(", ".join(description.feet)),
        "a damage": _wrapped(
            "PART:KIND or PART:KIND@STRENGTH, where PART is LEG, joint=JOINT, foot=FOOT, all (legs), torso "
            "or floor; several of these with + between; or healthy"
        ),
        **{name: _kind_words(kind) for name, kind in damage_kinds().items()},
        "examples": examples(robot),
        "library": _wrapped(
            f"{len(damage_library(robot))} damages to rehearse unless told otherwise; --library lists them"
        ),
    }


def examples(robot: Robot) -> list[str]:
    """Texts of damages that a robot can have."""
    description, anatomy = robot.description, Anatomy(robot)
    leg, foot, joint = list(description.legs)[-1], next(iter(description.feet)), description.joints[0]
    load = damage_library(robot)[-1]
    return [
        f"{leg}:lost",
        f"joint={joint}:locked@{sum(anatomy.range(joint)) / 2:.2g}",
        "all:weak@0.7",
        f"foot={foot}:slip@0.2",
        f"{load}+floor:slope@5",
    ]


def _joint_words(anatomy: Anatomy, joint: str) -> str:
    """A joint and its range."""
    low, high = anatomy.range(joint)
    return f"{joint}: {low:.3g} to {high:.3g} rad"


def _kind_words(kind: type[Defect]) -> list[str]:
    """What a kind of damage does, to what, and what its strength means."""
    lines = [kind.title, f"PART: {', '.join(sort_words(sort) for sort in kind.sorts)}"]
    if kind.scale is not None:
        lines += [f"STRENGTH: {kind.scale.words()}"]
    return [part for line in lines for part in _wrapped(line)]


def _wrapped(text: str) -> list[str]:
    """A text in lines."""
    return textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
