"""`film_places`: the gaits at nine places of the measure space, walking side by side."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from repertoire.repertoire import Repertoire
from repertoire.suites.places import SIDE, Place, nine_places
from robots.rendering.camera import Camera
from robots.rendering.video import VideoWriter
from robots.simulation.stepper import Stepper

_TILE = 240, 180  # width and height [pixels]
_SECONDS = 5.0
_FRAME_EVERY = 5  # control steps; of 16.5 ms, so 12 frames a second
_GAP = 2  # between tiles [pixels]
_EMPTY = 228
_PANEL, _TEXT, _QUIET = (16, 22, 32, 170), (255, 255, 255), (110, 110, 110)
_SIZE, _MARGIN = 11, 4  # of the text [pixels]


def film_places(repertoire: Repertoire, path: Path, *, seconds: float = _SECONDS) -> None:
    """Film the best gait at each of nine places, see `nine_places`; a place without a gait stays grey.

    Every gait runs one and the same episode, and goes on after a fall. Below each stand its measures and
    its objective as they are in the repertoire.

    Args:
        repertoire: may be empty.
        path: of the .mp4 or .gif.
        seconds: that it shows.

    Raises:
        InvalidValueError: the path ends otherwise.
        InvalidFileError: the file cannot be written.
        RenderingError: frames cannot be drawn, or a video cannot be encoded, on this machine.
    """
    robot, places = repertoire.robot, nine_places(repertoire)
    fps = 1 / (_FRAME_EVERY * robot.control_step)
    with (
        VideoWriter(path, fps=fps) as writer,
        Camera(robot.model, width=_TILE[0], height=_TILE[1]) as camera,
    ):
        tiles = [_blank(repertoire, place) for place in places]
        labels = [_label(repertoire, place) for place in places]
        walkers = {
            number: _Walker(repertoire, place.row)
            for number, place in enumerate(places)
            if place.row is not None
        }
        for _ in range(round(seconds * fps)):
            for number, walker in walkers.items():
                tiles[number] = _write(camera.frame(walker.state()), labels[number])
            writer.add(_arrange(tiles))
            for walker in walkers.values():
                walker.walk(_FRAME_EVERY)


class _Walker:
    """One of a repertoire's gaits, walking."""

    def __init__(self, repertoire: Repertoire, row: int) -> None:
        self._stepper = Stepper(repertoire.robot)  # no limit ends an episode here
        self._parameters = np.ascontiguousarray(repertoire.elites.solutions[row], np.float32)
        self._stepper.reset(0)

    def walk(self, steps: int) -> None:
        """Simulate control steps; a robot whose simulation blew up stands still."""
        stepper = self._stepper
        for _ in range(steps):
            if stepper.tally.diverged:
                return
            stepper.drive(self._parameters)

    def state(self) -> object:
        """The robot as it stands, as MuJoCo's data."""
        return self._stepper.posed_data()


def _label(repertoire: Repertoire, place: Place) -> str:
    """What to write on a tile with a gait."""
    if place.row is None:
        return ""
    measures = ", ".join(f"{measure:.2f}" for measure in repertoire.elites.measures[place.row])
    return f"{measures}  objective {repertoire.elites.objectives[place.row]:,.0f}"


def _blank(repertoire: Repertoire, place: Place) -> np.ndarray:
    """A tile without a gait: the region in words."""
    image = Image.new("RGB", _TILE, (_EMPTY, _EMPTY, _EMPTY))
    names = repertoire.robot.description.measures
    lines = [
        f"{name}: {low:.2f} to {high:.2f}" for name, (low, high) in zip(names, place.region, strict=False)
    ]
    text = "\n".join(["no gait", *lines])
    middle = _TILE[0] / 2, _TILE[1] / 2
    font = ImageFont.load_default(_SIZE)
    ImageDraw.Draw(image).multiline_text(middle, text, fill=_QUIET, font=font, anchor="mm", align="center")
    return np.array(image)


def _write(frame: np.ndarray, label: str) -> np.ndarray:
    """Write a label into the lower left corner of a frame."""
    image = Image.fromarray(frame)
    pen, font = ImageDraw.Draw(image, "RGBA"), ImageFont.load_default(_SIZE)
    top = _TILE[1] - _SIZE - 3 * _MARGIN
    pen.rectangle((0, top, font.getlength(label) + 2 * _MARGIN, _TILE[1]), fill=_PANEL)
    pen.text((_MARGIN, top + _MARGIN), label, fill=_TEXT, font=font)
    return np.array(image)


def _arrange(tiles: list[np.ndarray]) -> np.ndarray:
    """Nine tiles as one frame, with white lines between."""
    width, height = _TILE
    frame = np.full((SIDE * (height + _GAP) - _GAP, SIDE * (width + _GAP) - _GAP, 3), 255, np.uint8)
    for number, tile in enumerate(tiles):
        top, left = number // SIDE * (height + _GAP), number % SIDE * (width + _GAP)
        frame[top : top + height, left : left + width] = tile
    return frame
