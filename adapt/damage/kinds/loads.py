"""Another mass, or the same mass elsewhere."""

import copy
from collections.abc import Iterator
from typing import ClassVar

import mujoco
import numpy as np

from adapt.damage.damage import Damage, DamageModification, SingleDamage, Suspect, register, subjects
from adapt.damage.edits import mark, settle, the_joint
from adapt.damage.parts import RobotParts, Target
from adapt.damage.strength import Scale, Strengths
from robots.errors import InvalidValueError
from robots.mjcf.compiling import compiled_so_far

_DENSITY = 2700.0  # of aluminium [kg/m³]
_ABOVE = 100.0  # [m] over a body's centre of mass, from where its top is looked for
_IN_LIBRARY = 0.25  # of the robot's mass
_SHIFT = 0.1  # share of the model's extent by which the torso's mass may have moved; twice that at most
_MOST_SHIFT = 0.15  # the same of the robot's own size: the extent of a model may be that of its floor


@register("payload")
class Payload(SingleDamage):
    """A cube of aluminium on the torso, or on what a joint moves, over its centre of mass."""

    title = "the torso, or what the joint moves, carries a load"
    family = "payload"
    sorts = ("torso", "joint")
    scale = Scale("the load's mass [kg]", 0.001, 1000.0)
    order = 14

    @classmethod
    def suspects(cls, parts: RobotParts) -> Iterator[Suspect]:
        mass = float(parts.robot.physics.body_mass.sum())
        grid, low, high = (cls.scale.nearest(share * mass) for share in (0.2, 0.02, 0.8))
        yield Suspect(cls, "torso", Strengths((grid,), low, high, logarithmic=True))

    @classmethod
    def library(cls, parts: RobotParts) -> Iterator[Damage]:
        model, torso = parts.robot.model, parts.robot.description.torso
        mass = _IN_LIBRARY * float(model.body_subtreemass[model.body(torso).id])
        yield cls("torso", float(f"{mass:.2g}"))

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        torso, joint = parts.robot.description.torso, target.name
        if target.sort == "torso":
            return self.modify(
                frozenset({"the load of the torso"}), lambda spec: _load(spec, spec.body(torso), self.amount)
            )
        return self.modify(
            subjects("limb", [joint]), lambda spec: _load(spec, the_joint(spec, joint).parent, self.amount)
        )


def _load(spec: mujoco.MjSpec, body: mujoco.MjsBody, mass: float) -> None:
    edge = (mass / _DENSITY) ** (1 / 3)
    # a body of its own, since a body whose inertia is given does not count its geoms
    top, inertia = _top(compiled_so_far(spec), body.id, edge / 2), np.full(3, mass * edge**2 / 6)
    cube = body.add_body(pos=top, explicitinertial=True, ipos=np.zeros(3), mass=mass, inertia=inertia)
    box, size, untouched = mujoco.mjtGeom.mjGEOM_BOX, np.full(3, edge / 2), {"contype": 0, "conaffinity": 0}
    mark([cube.add_geom(type=box, size=size, density=0, mass=0, group=0, **untouched)])


def _top(model: mujoco.MjModel, body: int, above: float) -> np.ndarray:
    """Place above the top of a body, over its centre of mass, in its coordinates, (3,)."""
    alone, data = copy.copy(model), mujoco.MjData(model)
    alone.geom_group[:] = model.geom_bodyid != body
    mujoco.mj_forward(alone, data)
    up = np.array([0.0, 0.0, 1.0])
    start = data.xipos[body] + _ABOVE * up
    found, only = np.full(1, -1, np.int32), np.array([1, 0, 0, 0, 0, 0], np.uint8)
    distance = mujoco.mj_ray(alone, data, start, -up, only, 1, -1, found, None)
    top = start - distance * up if found[0] >= 0 else data.xipos[body]
    return data.xmat[body].reshape(3, 3).T @ (top + above * up - data.xpos[body])


class _Shifted(SingleDamage):
    """The torso's own mass is as large, but elsewhere: a battery slipped."""

    family = "mass"
    sorts = ("torso",)
    scale: ClassVar[Scale]
    axis: ClassVar[int]

    @classmethod
    def suspects(cls, parts: RobotParts) -> Iterator[Suspect]:
        """Shares of the robot's size, to the side only where it can move there."""
        model = parts.robot.physics
        reach = min(_SHIFT * float(model.stat.extent), _MOST_SHIFT * _size(model))
        if cls.axis == 0 or parts.robot.moves_freely:
            back, ahead, low, high = (cls.scale.nearest(times * reach) for times in (-1, 1, -2, 2))
            yield Suspect(cls, "torso", Strengths((back, ahead), low, high))

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        torso, axis = parts.robot.description.torso, self.axis
        if axis == 1 and not parts.robot.moves_freely:
            raise InvalidValueError(
                f"{self}: the {parts.robot.name} moves in a plane, without left and right"
            )

        def shift(model: mujoco.MjModel) -> None:
            model.body_ipos[model.body(torso).id, axis] += self.amount
            settle(model)

        return self.modify(frozenset({f"where the torso's mass is along {'xy'[axis]}"}), patch=shift)


@register("mass-ahead")
class MassAhead(_Shifted):
    """The torso's centre of mass is further to the front."""

    title = "the torso's centre of mass is further to the front"
    scale = Scale("how far [m], to the rear negative", -1.0, 1.0, default=0.05)
    axis, order = 0, 15


@register("mass-left")
class MassLeft(_Shifted):
    """The torso's centre of mass is further to the left."""

    title = "the torso's centre of mass is further to the left"
    scale = Scale("how far [m], to the right negative", -1.0, 1.0, default=0.05)
    axis, order = 1, 16


def _size(model: mujoco.MjModel) -> float:
    """Length, width or height of what moves, the largest of them [m]."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    moving = model.body_weldid[model.geom_bodyid] != 0
    places, radii = data.geom_xpos[moving], model.geom_rbound[moving, None]
    return float(np.max((places + radii).max(axis=0) - (places - radii).min(axis=0)))
