"""The shapes of a robot, as the page draws them: those geoms of its compiled model that are seen."""

from typing import Any

import mujoco
import numpy as np

from robots.rendering.overlay import foot_color
from robots.rendering.raycasting import geom_color, mean_color
from robots.robot import Robot
from surefoot.explorer.archive import packed

_SEEN_GROUPS = 3  # MuJoCo draws geoms of groups 0 to 2 unless it is told otherwise
_MESH, _FIELD = mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_HFIELD
_DAMAGED = (0.84, 0.37, 0.0)  # vermilion
_RGB = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)


def describe_scene(robot: Robot, damage: str = "") -> dict[str, Any]:
    """What a page needs to draw a robot, whole or damaged, once it knows the poses of its bodies.

    The legs that a damage names are orange.

    Positions are relative to a geom's body [m], quaternions have the scalar first, sizes are MuJoCo's.
    """
    model = robot.model
    legs = _legs(robot)
    drawn = np.flatnonzero(model.geom_group < _SEEN_GROUPS).tolist()
    shapes = [geom for geom in drawn if _color(model, geom)[3] > 0]
    feet = robot.description.feet
    return {
        "damage": damage,
        "bodies": model.nbody,
        "torso": model.body(robot.description.torso).id,
        "radius": _radius(model, shapes),
        "step": robot.control_step,
        "feet": list(feet),
        "colors": [list(foot_color(model, soles)[:3]) for soles in feet.values()],
        "measured": [list(feet).index(foot) for foot in robot.description.watched],
        "geoms": [_describe_geom(model, geom, legs[model.geom_bodyid[geom]], damage) for geom in shapes],
        "meshes": {
            **{f"mesh {one}": _mesh(model, one) for one in _used(model, shapes, _MESH)},
            **{f"hfield {one}": _field(model, one) for one in _used(model, shapes, _FIELD)},
        },
    }


def _describe_geom(model: mujoco.MjModel, geom: int, leg: str | None, damage: str) -> dict[str, Any]:
    """One geom: its type as MuJoCo names it, its place on its body, its colour, its leg and its mesh."""
    color = _color(model, geom)
    if leg and leg in damage:
        color[:3] = (0.4 * np.array(color[:3]) + 0.6 * np.array(_DAMAGED)).round(4).tolist()
    kind = mujoco.mjtGeom(int(model.geom_type[geom])).name.removeprefix("mjGEOM_").lower()
    return {
        "kind": kind,
        "body": int(model.geom_bodyid[geom]),
        "size": model.geom_size[geom].tolist(),
        "pos": model.geom_pos[geom].tolist(),
        "quat": model.geom_quat[geom].tolist(),
        "rgba": color,
        "mesh": f"{kind} {model.geom_dataid[geom]}" if kind in ("mesh", "hfield") else None,
        "leg": leg,
    }


def _color(model: mujoco.MjModel, geom: int) -> list[float]:
    material = int(model.geom_matid[geom])
    rgba = geom_color(model, geom)
    texture = -1 if material < 0 else int(model.mat_texid[material][_RGB])
    rgba = np.append(rgba[:3] * mean_color(model, texture), rgba[3])
    return [round(float(part), 4) for part in rgba]


def _used(model: mujoco.MjModel, shapes: list[int], kind: mujoco.mjtGeom) -> list[int]:
    return sorted({int(model.geom_dataid[geom]) for geom in shapes if model.geom_type[geom] == kind})


def _mesh(model: mujoco.MjModel, mesh: int) -> dict[str, str]:
    """Corners (v, 3) [m] and triangles (t, 3) of a mesh."""
    corners = slice(model.mesh_vertadr[mesh], model.mesh_vertadr[mesh] + model.mesh_vertnum[mesh])
    faces = slice(model.mesh_faceadr[mesh], model.mesh_faceadr[mesh] + model.mesh_facenum[mesh])
    return {"vertices": packed(model.mesh_vert[corners]), "faces": packed(model.mesh_face[faces], "<u4")}


def _field(model: mujoco.MjModel, field: int) -> dict[str, str]:
    """A height field as a mesh: two triangles between every four neighbouring heights."""
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    first, (half_x, half_y, height, _) = model.hfield_adr[field], model.hfield_size[field]
    x, y = np.meshgrid(np.linspace(-half_x, half_x, columns), np.linspace(-half_y, half_y, rows))
    z = height * model.hfield_data[first : first + rows * columns].reshape(rows, columns)
    corner = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, :-1], corner[1:, 1:]
    faces = np.concatenate([np.stack([a, b, d], -1).reshape(-1, 3), np.stack([a, d, c], -1).reshape(-1, 3)])
    return {"vertices": packed(np.stack([x, y, z], -1)), "faces": packed(faces, "<u4")}


def _radius(model: mujoco.MjModel, shapes: list[int]) -> float:
    """How far the robot reaches from the middle of its parts at rest [m]."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    own = [geom for geom in shapes if model.geom_bodyid[geom] > 0] or [0]
    middle = data.geom_xpos[own].mean(axis=0)
    reach = np.linalg.norm(data.geom_xpos[own] - middle, axis=1) + model.geom_rbound[own]
    return float(np.max(reach)) or 1.0


def _legs(robot: Robot) -> list[str | None]:
    """Of each body the leg that it belongs to: that of its first joint's leg, or its parent's."""
    model = robot.model
    legs: list[str | None] = [None] * model.nbody
    of_joint = {joint: name for name, leg in robot.description.legs.items() for joint in leg.joints}
    for body in range(1, model.nbody):
        legs[body] = legs[model.body_parentid[body]]
        first = model.body_jntadr[body]
        for joint in range(first, first + model.body_jntnum[body]):
            legs[body] = of_joint.get(model.joint(joint).name, legs[body])
    return legs
