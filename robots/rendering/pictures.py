"""`draw_robot` draws a picture of a robot as a PNG; `check_picture` refuses a wrong path before the work."""

from pathlib import Path

from PIL import Image

from robots.errors import InvalidValueError
from robots.files.atomic import check_writable, replace_file
from robots.rendering.camera import Camera
from robots.robot import Robot
from robots.stance import standing_on_floor

_WIDTH, _HEIGHT = 800, 600  # [pixels]


def check_suffix(path: Path) -> None:
    """Refuse a picture in another format."""
    if path.suffix.lower() != ".png":
        raise InvalidValueError(f"{path} must end in .png")


def check_picture(path: Path) -> None:
    """Find out whether a picture could be written, before the work that it will show."""
    check_suffix(path)
    check_writable(path)


def draw_robot(robot: Robot, path: Path) -> None:
    """Draw a robot, whole or damaged, as it stands on the floor, to a PNG."""
    check_suffix(path)
    with replace_file(path) as temporary:
        with Camera(robot.model, width=_WIDTH, height=_HEIGHT) as camera:
            frame = camera.frame(standing_on_floor(robot))
        Image.fromarray(frame).save(temporary, format="PNG")
