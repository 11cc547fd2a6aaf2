"""Pictures of robots in PNG files: what is refused before one is drawn, and `draw_robot`."""

from pathlib import Path

import mujoco
from PIL import Image

from robots.errors import InvalidValueError
from robots.files import check_writable, replace_file
from robots.model import standing_data
from robots.rendering.camera import Camera, CanvasKind
from robots.robot import Robot

_FAR = 100.0  # [m] from the ground, at most, that a robot may be before it is put there


def check_suffix(path: Path) -> None:
    """Refuse a picture in another format.

    Raises:
        InvalidValueError: the path does not end in .png.
    """
    if path.suffix.lower() != ".png":
        raise InvalidValueError(f"{path} must end in .png")


def check_picture(path: Path) -> None:
    """Find out whether a picture could be written, before the work that it will show.

    Raises:
        InvalidValueError: the path does not end in .png.
        InvalidFileError: the file cannot be written.
    """
    check_suffix(path)
    check_writable(path)


def draw_robot(
    robot: Robot, path: Path, *, width: int = 800, height: int = 600, canvas: CanvasKind | None = None
) -> None:
    """Draw a robot, standing on the floor, to a PNG.

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
            frame = camera.frame(standing_on_floor(robot))
        Image.fromarray(frame).save(temporary, format="PNG")


def standing_on_floor(robot: Robot) -> mujoco.MjData:
    """The state in which episodes start, with joints inside their ranges and the lowest sole on the floor."""
    model, data = robot.model, standing_data(robot.model, robot.start)
    _lower(robot, data, floor_gap(robot, data))
    mujoco.mj_forward(model, data)
    return data


def floor_gap(robot: Robot, data: mujoco.MjData) -> float:
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
    """Move the torso down, whether it moves freely or along slides."""
    model = robot.model
    body = model.body(robot.description.torso)
    for joint in range(body.jntadr[0], body.jntadr[0] + body.jntnum[0]):
        address = model.jnt_qposadr[joint]
        if model.jnt_type[joint] == int(mujoco.mjtJoint.mjJNT_FREE):
            data.qpos[address + 2] -= gap
        elif model.jnt_type[joint] == int(mujoco.mjtJoint.mjJNT_SLIDE):
            data.qpos[address] -= gap * data.xaxis[joint, 2]  # 0 along a horizontal axis
