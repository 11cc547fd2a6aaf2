"""Colours what is damaged, so that pictures and videos show it; the physics stays as it is."""

from collections.abc import Iterable

import mujoco

RED = (0.83, 0.05, 0.12, 1.0)  # darker than the vermilion that some feet have
_PALE = (1.0, 0.80, 0.78, 1.0)  # what the floor's own colour is multiplied with


def mark(geoms: Iterable[mujoco.MjsGeom]) -> None:
    """Colour parts of a robot red."""
    for geom in geoms:
        geom.rgba = RED


def tint(floor: mujoco.MjsGeom) -> None:
    """Colour the floor a pale red."""
    floor.rgba = _PALE
