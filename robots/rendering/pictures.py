"""Pictures of robots in PNG files: what is refused before one is drawn, and `draw_robot`."""

from pathlib import Path

from PIL import Image

from robots.errors import InvalidValueError
from robots.files.atomic import check_writable, replace_file
from robots.rendering.camera import Camera, CanvasKind
from robots.robot import Robot
from robots.stance import standing_on_floor


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
