"""Changes the friction between a geom and the floor, and nothing else about their contact."""

import mujoco
import numpy as np


def scale_friction(spec: mujoco.MjSpec, geom: mujoco.MjsGeom, floor: mujoco.MjsGeom, factor: float) -> None:
    """Multiply the friction between a geom and the floor: sliding, torsional and rolling.

    MuJoCo takes the larger friction of the two geoms, and mixes the rest, unless one has the higher
    priority: then its own count. So the geom gets what is in force, and a higher priority than the floor.
    Against other geoms it is as slippery.
    """
    if geom.priority <= floor.priority:
        _take_over(geom, floor)
        geom.priority = floor.priority + 1
    geom.friction = factor * np.asarray(geom.friction)
    for pair in spec.pairs:
        if {pair.geomname1, pair.geomname2} == {geom.name, floor.name}:
            pair.friction = factor * np.asarray(pair.friction)


def touches(geom: mujoco.MjsGeom, floor: mujoco.MjsGeom) -> bool:
    """Whether a geom and the floor can be in contact."""
    return bool(geom.contype & floor.conaffinity or floor.contype & geom.conaffinity)


def _take_over(geom: mujoco.MjsGeom, floor: mujoco.MjsGeom) -> None:
    """Give a geom the parameters of its contact with the floor."""
    if geom.priority < floor.priority:
        geom.condim, geom.friction = floor.condim, floor.friction
        geom.solref, geom.solimp = floor.solref, floor.solimp
        return
    share = _share(geom.solmix, floor.solmix)
    geom.condim = max(geom.condim, floor.condim)
    geom.friction = np.maximum(geom.friction, floor.friction)
    geom.solref = _mixed_solref(np.asarray(geom.solref), np.asarray(floor.solref), share)
    geom.solimp = share * np.asarray(geom.solimp) + (1 - share) * np.asarray(floor.solimp)


def _share(own: float, other: float) -> float:
    """Share of a geom's own parameters in a mix, see MuJoCo's "Contact parameters"."""
    least = mujoco.mjMINVAL
    if own < least or other < least:
        return 0.5 if own < least and other < least else float(own >= least)
    return own / (own + other)


def _mixed_solref(own: np.ndarray, other: np.ndarray, share: float) -> np.ndarray:
    """A mix of time constants and damping ratios, or the smaller of direct stiffness and damping."""
    if own[0] > 0 and other[0] > 0:
        return share * own + (1 - share) * other
    return np.minimum(own, other)
