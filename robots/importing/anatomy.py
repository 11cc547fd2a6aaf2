"""`find_parts` finds the torso, the legs and the feet of a model that has no description yet."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np

from robots.description import TAKEN, is_readable
from robots.errors import InvalidRobotError
from robots.motors import TO_JOINT, transmissions

_WORLD = 0
_FAR = 100.0  # [m] within which distances are measured
_REACH = 0.25  # a limb is a leg if it ends closer to the ground than this share of the torso's height
_FLAT = 0.005  # [m] the geoms of a foot that end so close to its lowest point are its soles
_ALIKE = 0.05  # share of its length by which a limb may differ from one of the same structure
_CLOSING = int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD)
_FREE, _HINGE, _SLIDE = (
    int(getattr(mujoco.mjtJoint, f"mjJNT_{kind}")) for kind in ("FREE", "HINGE", "SLIDE")
)


@dataclass(frozen=True)
class FoundLeg:
    """A leg."""

    name: str  # the words that the names of its bodies have in common, or the name of the first
    joints: tuple[str, ...]  # its actuated joints, from the torso outwards
    soles: tuple[str, ...]  # its geoms that touch the ground when the robot stands
    kind: int  # the same number for legs of the same structure


@dataclass(frozen=True)
class Parts:
    """The parts of a robot."""

    torso: str  # the body that moves freely or in the x-z plane
    legs: tuple[FoundLeg, ...]  # limbs that reach the ground, and those of the same structure as one of these
    lifted: tuple[str, ...]  # names of the legs that do not reach the ground in the pose that was looked at
    others: tuple[str, ...]  # actuated joints outside the legs, such as those of arms
    height: float  # of the torso above the ground while the lowest sole is on it [m]


def find_parts(model: mujoco.MjModel, data: mujoco.MjData, floor: int, *, origin: str) -> Parts:
    """Find a robot's parts in a model that stands on a `floor`; every body, joint and geom has a name."""
    torso = _torso(model, origin)
    tree = _Tree(model, data, floor)
    limbs = tree.joined([limb for child in tree.children(torso) for limb in tree.limbs(child)])
    if not limbs:
        known = ", ".join(model.joint(joint).name for joint in range(model.njnt))
        raise InvalidRobotError(
            f"{origin}: no motor drives a joint below the torso {model.body(torso).name!r}; joints: {known}"
            f"{transmissions(model)}"
        )
    lowest = min(tree.gap(limb) for limb in limbs)
    if not np.isfinite(lowest):
        raise InvalidRobotError(
            f"{origin}: there are no feet: no limb has a geom that can touch the floor "
            f"{model.geom(floor).name!r}"
        )
    height = tree.height(torso) - lowest
    down = [limb for limb in limbs if tree.gap(limb) <= lowest + _REACH * max(height, 0)]
    touching = [limb for limb in limbs if np.isfinite(tree.gap(limb))]
    feet = [limb for limb in touching if any(tree.alike(limb, other) for other in down)]
    kinds = [next(kind for kind, other in enumerate(feet) if tree.alike(limb, other)) for limb in feet]
    names = _names(model, feet)
    soles = [tree.soles(limb, next(other for other in down if tree.alike(limb, other))) for limb in feet]
    legs = tuple(map(FoundLeg, names, map(tree.joints, feet), soles, kinds))
    lifted = tuple(name for name, limb in zip(names, feet, strict=True) if limb not in down)
    in_legs = {joint for leg in legs for joint in leg.joints}
    others = tuple(joint for joint in tree.joints(tree.subtree(torso)) if joint not in in_legs)
    return Parts(model.body(torso).name, legs, lifted, others, height)


def find_floor(model: mujoco.MjModel) -> int | None:
    """The first plane, or else height field, that does not move; None if there is none."""
    still = model.body_weldid[model.geom_bodyid] == _WORLD
    for kind in (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD):
        found = np.flatnonzero(still & (model.geom_type == int(kind)))
        if len(found):
            return int(found[0])
    return None


def can_touch(model: mujoco.MjModel, one: int, other: int) -> bool:
    """Whether MuJoCo lets two geoms touch."""
    pairs = {frozenset(pair) for pair in zip(model.pair_geom1, model.pair_geom2, strict=True)}
    masks = model.geom_contype, model.geom_conaffinity
    return frozenset((one, other)) in pairs or any(masks[i][one] & masks[1 - i][other] for i in range(2))


def tendon_joints(model: mujoco.MjModel) -> dict[int, dict[int, float]]:
    """The joints that each actuator of a fixed tendon pulls, with the tendon's length per position."""
    found, fixed = {}, int(mujoco.mjtWrap.mjWRAP_JOINT)
    for actuator in np.flatnonzero(model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_TENDON)):
        tendon = model.actuator_trnid[actuator, 0]
        wraps = range(model.tendon_adr[tendon], model.tendon_adr[tendon] + model.tendon_num[tendon])
        found[int(actuator)] = {
            int(model.wrap_objid[wrap]): float(model.wrap_prm[wrap])
            for wrap in wraps
            if model.wrap_type[wrap] == fixed
        }
    return found


class _Tree:
    """The bodies of a model that stands in some pose."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, floor: int) -> None:
        self._model, self._data, self._floor = model, data, floor
        direct = model.actuator_trntype == int(TO_JOINT)
        pulled = {joint for joints in tendon_joints(model).values() for joint in joints}
        driven = sorted({int(joint) for joint in model.actuator_trnid[direct, 0]} | pulled)
        self._driven = [joint for joint in driven if model.jnt_type[joint] in (_HINGE, _SLIDE)]
        self._gaps = [self._measured(geom) for geom in range(model.ngeom)]

    def children(self, body: int) -> list[int]:
        return [child for child in range(1, self._model.nbody) if self._model.body_parentid[child] == body]

    def subtree(self, body: int) -> list[int]:
        return [body, *(below for child in self.children(body) for below in self.subtree(child))]

    def joints(self, bodies: list[int]) -> tuple[str, ...]:
        model = self._model
        found = [j for body in bodies for j in self._driven if model.jnt_bodyid[j] == body]
        return tuple(model.joint(joint).name for joint in found)

    def limbs(self, body: int) -> list[list[int]]:
        """The bodies of each limb from a body on: a chain of actuated joints that branches no more."""
        branches = self._branches(body)
        while len(branches) == 1:
            branches = self._branches(branches[0])
        if branches:
            return [limb for branch in branches for limb in self.limbs(branch)]
        bodies = self.subtree(body)
        return [bodies] if self.joints(bodies) else []

    def joined(self, limbs: list[list[int]]) -> list[list[int]]:
        """The limbs, where those that an equality constraint closes to a loop are one."""
        whole = [list(limb) for limb in limbs]
        for one, other in self._closed():
            ends = [limb for limb in whole if one in limb or other in limb]
            if len(ends) > 1:
                whole[whole.index(ends[0])] = ends[0] + ends[1]
                whole.remove(ends[1])
        return whole

    def alike(self, one: list[int], other: list[int]) -> bool:
        """Whether two limbs that can touch the floor have the same joints at about the same distances."""
        (kinds, lengths), (others, widths) = self._structure(one), self._structure(other)
        return kinds == others and np.allclose(lengths, widths, rtol=0, atol=_ALIKE * lengths.sum())

    def gap(self, limb: list[int]) -> float:
        """Height of a limb's lowest point above the floor [m]; inf if it cannot touch it."""
        return min((self._gaps[geom] for geom in self._geoms(limb)), default=np.inf)

    def soles(self, limb: list[int], standing: list[int]) -> tuple[str, ...]:
        """Names of the geoms at the end of a limb that touch the floor first.

        They are those in the place of the lowest ones of a limb of the same structure that reaches the floor.
        """
        own, others = self._end(limb), self._end(standing)
        ends = (others, own) if limb != standing and len(own) == len(others) else (own, own)
        lowest = min(self._gaps[geom] for geom in ends[0]) + _FLAT
        down = [geom for other, geom in zip(*ends, strict=True) if self._gaps[other] <= lowest]
        return tuple(self._model.geom(geom).name for geom in down)

    def height(self, body: int) -> float:
        """Height of a body above the floor's origin [m]."""
        return float(self._data.xpos[body, 2] - self._data.geom_xpos[self._floor, 2])

    def _structure(self, limb: list[int]) -> tuple[list[int], np.ndarray]:
        """The kinds of a limb's joints, and the distances from one to the next and to its end [m]."""
        model, data = self._model, self._data
        joints = [joint for body in limb for joint in self._driven if model.jnt_bodyid[joint] == body]
        places = data.xanchor[joints]
        steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
        ends = np.linalg.norm(data.geom_xpos[self._end(limb)] - places[-1], axis=1)
        return model.jnt_type[joints].tolist(), np.append(steps, ends.max())

    def _end(self, limb: list[int]) -> list[int]:
        """The geoms that can touch the floor of the body at a limb's end; of several the lowest body's."""
        owner = self._model.geom_bodyid
        touching = [geom for geom in self._geoms(limb) if np.isfinite(self._gaps[geom])]
        bodies = {int(owner[geom]) for geom in touching}
        inner = {body for body in bodies if bodies & set(self.subtree(body)[1:])}
        first = min((geom for geom in touching if owner[geom] not in inner), key=self._gaps.__getitem__)
        return [geom for geom in touching if owner[geom] == owner[first]]

    def _closed(self) -> Iterator[tuple[int, int]]:
        """The bodies that equality constraints hold together."""
        model = self._model
        for number in range(model.neq):
            if model.eq_type[number] in _CLOSING:
                ends = int(model.eq_obj1id[number]), int(model.eq_obj2id[number])
                if model.eq_objtype[number] == int(mujoco.mjtObj.mjOBJ_SITE):
                    ends = int(model.site_bodyid[ends[0]]), int(model.site_bodyid[ends[1]])
                yield ends

    def _branches(self, body: int) -> list[int]:
        return [child for child in self.children(body) if self.joints(self.subtree(child))]

    def _geoms(self, bodies: list[int]) -> list[int]:
        return [geom for geom in range(self._model.ngeom) if self._model.geom_bodyid[geom] in bodies]

    def _measured(self, geom: int) -> float:
        """Distance of a geom from the floor [m], negative inside it; inf if they cannot touch."""
        if geom == self._floor or not can_touch(self._model, geom, self._floor):
            return np.inf
        return float(mujoco.mj_geomDistance(self._model, self._data, self._floor, geom, _FAR, None))


def _torso(model: mujoco.MjModel, origin: str) -> int:
    """The body with a free joint, or the one that moves in a plane; the heaviest if there are several."""
    kinds = [
        model.jnt_type[first : first + count].tolist()
        for first, count in zip(model.body_jntadr, model.body_jntnum, strict=True)
    ]
    for wanted in ([_FREE], [_SLIDE, _SLIDE, _HINGE]):
        found = [body for body in range(model.nbody) if kinds[body] == wanted]
        if found:
            return max(found, key=model.body_subtreemass.__getitem__)
    known = ", ".join(model.joint(joint).name for joint in range(model.njnt)) or "none"
    raise InvalidRobotError(
        f"{origin}: no body moves freely: give the torso a <freejoint/>, or for a robot that moves in the "
        f"x-z plane a slide along x, a slide along z and then a hinge about y; joints: {known}"
    )


def _names(model: mujoco.MjModel, limbs: list[list[int]]) -> list[str]:
    """A name of each limb that the text of a damage can hold, see `is_readable`."""
    whole = [model.body(limb[0]).name for limb in limbs]
    words = [[model.body(body).name.split("_") for body in limb] for limb in limbs]
    short = ["_".join(word for word in some[0] if all(word in other for other in some)) for some in words]
    differ = all(short) and len(set(short)) == len(short)
    names = [re.sub(r"[:+=\s]+", "_", name) for name in (short if differ else whole)]
    usable = len(set(names)) == len(names) and all(map(is_readable, names)) and set(names).isdisjoint(TAKEN)
    return names if usable else [f"leg_{number}" for number in range(1, len(limbs) + 1)]
