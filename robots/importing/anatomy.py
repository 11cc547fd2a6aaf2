"""`find_parts` finds the torso, the legs and the feet of a model that has no description yet."""

from dataclasses import dataclass

import mujoco
import numpy as np

from robots.errors import InvalidRobotError
from robots.model import keyframe_positions, standing_data
from robots.motors import TO_JOINT, transmissions

_WORLD = 0
_FAR = 100.0  # [m] within which distances are measured
_REACH = 0.25  # a limb is a leg if it ends closer to the ground than this share of the torso's height
_FLAT = 0.005  # [m] the geoms of a foot that end so close to its lowest point are its soles
_FREE, _HINGE, _SLIDE = (
    int(getattr(mujoco.mjtJoint, f"mjJNT_{kind}")) for kind in ("FREE", "HINGE", "SLIDE")
)


@dataclass(frozen=True)
class FoundLeg:
    """A leg.

    Attributes:
        name: the words that the names of its bodies have in common, or the name of the first.
        joints: its actuated joints, from the torso outwards.
        soles: its geoms that touch the ground when the robot stands.
    """

    name: str
    joints: tuple[str, ...]
    soles: tuple[str, ...]


@dataclass(frozen=True)
class Parts:
    """The parts of a robot.

    Attributes:
        torso: the body that moves freely or in the x-z plane.
        legs: the limbs that reach the ground.
        others: actuated joints outside the legs, such as those of arms.
        height: of the torso above the ground while the lowest sole is on it [m].
    """

    torso: str
    legs: tuple[FoundLeg, ...]
    others: tuple[str, ...]
    height: float


def find_parts(model: mujoco.MjModel, floor: int, *, origin: str) -> Parts:
    """Find a robot's parts.

    Args:
        model: every body, joint and geom has a name.
        floor: the geom that is the ground, see `find_floor`.
        origin: how errors name the model, e.g. by its path.

    Raises:
        InvalidRobotError: there is no torso, motor or foot to be found.
    """
    torso = _torso(model, origin)
    pose = keyframe_positions(model, next(iter(keyframes(model)), None))
    tree = _Tree(model, standing_data(model, pose), floor)
    limbs = [limb for child in tree.children(torso) for limb in tree.limbs(child)]
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
    feet = [limb for limb in limbs if tree.gap(limb) <= lowest + _REACH * max(height, 0)]
    legs = tuple(map(FoundLeg, _names(model, feet), map(tree.joints, feet), map(tree.soles, feet)))
    in_legs = {joint for leg in legs for joint in leg.joints}
    others = tuple(joint for joint in tree.joints(tree.subtree(torso)) if joint not in in_legs)
    return Parts(model.body(torso).name, legs, others, height)


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
        self._model = model
        self._data = data
        self._floor = floor
        direct = model.actuator_trntype == int(TO_JOINT)
        pulled = {joint for joints in tendon_joints(model).values() for joint in joints}
        driven = sorted({int(joint) for joint in model.actuator_trnid[direct, 0]} | pulled)
        self._driven = [joint for joint in driven if model.jnt_type[joint] in (_HINGE, _SLIDE)]
        self._gaps = [self._measured(geom) for geom in range(model.ngeom)]

    def children(self, body: int) -> list[int]:
        """The bodies that hang on a body."""
        return [child for child in range(1, self._model.nbody) if self._model.body_parentid[child] == body]

    def subtree(self, body: int) -> list[int]:
        """A body and all that hangs on it."""
        return [body, *(below for child in self.children(body) for below in self.subtree(child))]

    def joints(self, bodies: list[int]) -> tuple[str, ...]:
        """Names of the actuated joints of some bodies."""
        model = self._model
        return tuple(
            model.joint(joint).name
            for body in bodies
            for joint in self._driven
            if model.jnt_bodyid[joint] == body
        )

    def limbs(self, body: int) -> list[list[int]]:
        """The bodies of each limb from a body on: a chain of actuated joints that branches no more."""
        branches = self._branches(body)
        while len(branches) == 1:
            branches = self._branches(branches[0])
        if branches:
            return [limb for branch in branches for limb in self.limbs(branch)]
        bodies = self.subtree(body)
        return [bodies] if self.joints(bodies) else []

    def gap(self, limb: list[int]) -> float:
        """Height of a limb's lowest point above the floor [m]; inf if it cannot touch it."""
        return min((self._gaps[geom] for geom in self._geoms(limb)), default=np.inf)

    def soles(self, limb: list[int]) -> tuple[str, ...]:
        """Names of the geoms that touch the floor first; all belong to one body."""
        geoms = self._geoms(limb)
        first = min(geoms, key=self._gaps.__getitem__)
        body = self._model.geom_bodyid
        return tuple(
            self._model.geom(geom).name
            for geom in geoms
            if body[geom] == body[first] and self._gaps[geom] <= self._gaps[first] + _FLAT
        )

    def height(self, body: int) -> float:
        """Height of a body above the floor's origin [m]."""
        return float(self._data.xpos[body, 2] - self._data.geom_xpos[self._floor, 2])

    def _branches(self, body: int) -> list[int]:
        """The bodies that hang on a body and have actuated joints in or below them."""
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


def keyframes(model: mujoco.MjModel) -> list[str]:
    """Names of the poses that the robot may start in, `home` before the others."""
    names = [model.key(key).name for key in range(model.nkey)]
    return sorted(filter(None, names), key=lambda name: name != "home")


def _names(model: mujoco.MjModel, limbs: list[list[int]]) -> list[str]:
    whole = [model.body(limb[0]).name for limb in limbs]
    short = [_common([model.body(body).name.split("_") for body in limb]) for limb in limbs]
    return short if all(short) and len(set(short)) == len(short) else whole


def _common(names: list[list[str]]) -> str:
    """The words that all names have in common; a name is a list of words."""
    return "_".join(word for word in names[0] if all(word in other for other in names))
