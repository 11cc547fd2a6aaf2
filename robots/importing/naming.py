"""Names for the keyframes, bodies, joints and geoms that an MJCF leaves without one."""

from collections.abc import Iterator
from typing import Any

import mujoco


def has_nameless(spec: mujoco.MjSpec) -> bool:
    """Whether an MJCF leaves one of them without a name."""
    return any(not element.name for _, elements in _siblings(spec) for element in elements)


def name_all(spec: mujoco.MjSpec) -> None:
    """Give them names: `BODY_geom_2` is the third geom of its body, whether or not the first two have names.

    The same MJCF always gets the same names, so that a YAML can refer to them.
    """
    for kind, elements in _siblings(spec):
        taken = {element.name for element in getattr(spec, _LISTS[kind])}
        for number, element in enumerate(elements):
            if not element.name:
                owner = "" if kind == "key" else f"{element.parent.name}_"
                name = f"{owner}{kind}_{number}"
                while name in taken:
                    name += "_"
                element.name = name
                taken.add(name)


_LISTS = {"key": "keys", "body": "bodies", "joint": "joints", "geom": "geoms"}


def _siblings(spec: mujoco.MjSpec) -> Iterator[tuple[str, list[Any]]]:
    """Elements with the same parent, if they have one, by kind; a body comes before its children."""
    yield "key", list(spec.keys)
    for body in spec.bodies:
        yield "body", list(body.bodies)
        yield "joint", list(body.joints)
        yield "geom", list(body.geoms)
