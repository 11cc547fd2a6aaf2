"""`draw_robot` draws a robot as it stands."""

from pathlib import Path

import mujoco
from PIL import Image

from robots.files import replace_file
from robots.pose import standing_data
from robots.rendering.camera import Camera, CanvasKind
from robots.rendering.pictures import check_suffix
from robots.robot import Robot

_FAR = 100.0  # [m] from the ground, at most, that a robot may be before it is put there


def draw_robot(
    robot: Robot, path: Path, *, width: int = 800, height: int = 600, canvas: CanvasKind | None = None
) -> None:
    """Draw a robot to a PNG.

    Args:
        robot: whole or damaged.
        path: of the picture; it must end in .png.
        width: of the picture [pixels].
        height: of the picture [pixels].
        canvas: what draws, see `Camera`.

    Raises:
        InvalidValueError: the path ends otherwise, or the picture has no pixels.
        InvalidFileError: the file cannot be written.
    """
    check_suffix(path)
    with replace_file(path) as temporary:
        with Camera(robot.model, width=width, height=height, canvas=canvas) as camera:
            frame = camera.frame(standing(robot))
        Image.fromarray(frame).save(temporary, format="PNG")


def standing(robot: Robot) -> mujoco.MjData:
    """The robot as its episodes start, but with joints inside their ranges and a sole on the floor."""
    model, data = robot.model, standing_data(robot.model, robot.start)
    _lower(robot, data, _gap(robot, data))
    mujoco.mj_forward(model, data)
    return data


def _gap(robot: Robot, data: mujoco.MjData) -> float:
    """Distance of the lowest sole from the floor [m], negative inside it; 0 if there is no sole."""
    floor = robot.model.geom(robot.description.floor).id
    gaps = [
        mujoco.mj_geomDistance(robot.model, data, floor, sole, _FAR, None)
        for soles in robot.description.feet.values()
        for name in soles
        if (sole := mujoco.mj_name2id(robot.model, mujoco.mjtObj.mjOBJ_GEOM, name)) >= 0
    ]
    return min(gaps, default=0.0)


def _lower(robot: Robot, data: mujoco.MjData, gap: float) -> None:
    """Move the torso down, whether it is free or slides."""
    model = robot.model
    body = model.body(robot.description.torso)
    for joint in range(body.jntadr[0], body.jntadr[0] + body.jntnum[0]):
        address = model.jnt_qposadr[joint]
        if model.jnt_type[joint] == int(mujoco.mjtJoint.mjJNT_FREE):
            data.qpos[address + 2] -= gap
        elif model.jnt_type[joint] == int(mujoco.mjtJoint.mjJNT_SLIDE):
            data.qpos[address] -= gap * data.xaxis[joint, 2]  # nothing along a level axis
