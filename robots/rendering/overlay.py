"""`Overlay` writes on the frames of a video what the robot is doing: its name, its score, its feet."""

import textwrap
from typing import NamedTuple

import mujoco
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from robots.rendering.raycasting import geom_color
from robots.robot import Robot
from robots.words import foot_words

_Color = tuple[int, ...]  # red, green, blue and, where it is not opaque, opacity

_PANEL: _Color = (16, 22, 32, 170)
_TEXT: _Color = (255, 255, 255)
_QUIET: _Color = (190, 198, 210)
_TROUGH: _Color = (255, 255, 255, 45)
_GREY = 150  # of a foot that is lost
_LINES = 27  # number of lines of text that would fill a frame's height
_SIZES = 11.0, 30.0  # least and largest size of the text [pixels]
_DIM = 0.62  # brightness of a bar while its foot is in the air
_BAR = 3.6  # length of a bar, in sizes of the text
_CAPTION_LINES = 3  # at most


class Moment(NamedTuple):
    """How an episode of a robot with f feet is going."""

    time: float  # since the start [s]
    ahead: float  # how far the torso has come along x [m], or had when the robot fell
    fell: bool  # whether it has fallen, see `robots.falls`
    shares: np.ndarray  # of the time so far that each foot was on the ground, (f,)
    touching: np.ndarray  # whether each foot is, (f,) bool


class Overlay:
    """Two small panels in the upper corners: name, caption and objective; and a bar for each measured foot.

    A foot's bar has the colour of its sole. It is filled up to its measure, the share of time so far that the
    foot was on the ground. While the foot is on the ground, the bar and the lamp in front of it are bright.

    Args:
        robot: whole or damaged; a foot that it lost is grey.
        caption: text below the robot's title, e.g. the gait's cell, in three lines at most; none if empty.
        width, height: of the frames [pixels].
    """

    def __init__(self, robot: Robot, *, caption: str, width: int, height: int) -> None:
        self._size = width, height
        least, most = _SIZES
        self._text = min(max(height / _LINES, least), most)
        self._font = ImageFont.load_default(self._text)
        feet, measures = robot.description.feet, robot.description.watched
        self._rows = [list(feet).index(foot) for foot in measures]
        self._total = len(feet)
        self._colors = [foot_color(robot.model, feet[foot]) for foot in measures]
        self._names = [foot_words(foot).removesuffix(" foot") for foot in measures]
        self._right = max(map(self._font.getlength, self._names)) + (_BAR + 3) * self._text
        room = width - self._right - 4 * self._text
        self._title = self._fitted(robot.description.title, room, 1)
        self._caption = self._fitted(caption, room, _CAPTION_LINES)

    def draw(self, frame: np.ndarray, moment: Moment) -> np.ndarray:
        """Write on a copy of a frame, (height, width, 3) uint8."""
        image = Image.fromarray(frame)
        pen = ImageDraw.Draw(image, "RGBA")
        time = "it fell" if moment.fell else f"{moment.time:.1f} s"
        self._draw_header(pen, f"{moment.ahead:.2f} m   {time}")
        self._draw_feet(pen, moment.shares[self._rows], moment.touching[self._rows])
        return np.array(image)

    def _draw_header(self, pen: ImageDraw.ImageDraw, score: str) -> None:
        lines = [*self._title, *self._caption, score]
        # room for a longer score, so that the width of the panel does not change
        wide = max(map(self._font.getlength, [*lines, "-000.00 m   000.0 s"]))
        x, y = self._panel(pen, self._text, wide, len(lines))
        for number, line in enumerate(lines):
            color = _QUIET if 0 < number < len(lines) - 1 else _TEXT
            pen.text((x, y + number * self._step), line, fill=color, font=self._font)

    def _draw_feet(self, pen: ImageDraw.ImageDraw, shares: np.ndarray, touching: np.ndarray) -> None:
        unit = self._text
        inner = self._right - unit
        left = self._size[0] - unit - self._right
        x, y = self._panel(pen, left, inner, len(self._names))
        end = x + inner
        for row, (name, color) in enumerate(zip(self._names, self._colors, strict=True)):
            top = y + row * self._step + 0.25 * unit
            bottom = top + 0.75 * unit
            shade = color if touching[row] else tuple(int(_DIM * part) for part in color)
            lamp = (round(x), round(top), round(x) + round(0.75 * unit), round(top) + round(0.75 * unit))
            pen.ellipse(lamp, fill=color if touching[row] else _TROUGH)
            place, tone = (x + 1.3 * unit, y + row * self._step), _TEXT if touching[row] else _QUIET
            pen.text(place, name, fill=tone, font=self._font)
            start = end - _BAR * unit
            pen.rectangle((start, top, end, bottom), fill=_TROUGH)
            if shares[row] > 0:
                pen.rectangle((start, top, start + float(shares[row]) * (end - start), bottom), fill=shade)

    @property
    def _step(self) -> float:
        return 1.35 * self._text

    def _panel(self, pen: ImageDraw.ImageDraw, left: float, wide: float, lines: int) -> tuple[float, float]:
        """Draw a panel for so many lines of text below the upper edge; returns where the first begins."""
        margin = 0.5 * self._text
        right, bottom = left + wide + 2 * margin, self._text + lines * self._step + 1.5 * margin
        # whole pixels, or the corners overlap
        box = (round(left), round(self._text), round(right), round(bottom))
        pen.rounded_rectangle(box, radius=round(margin), fill=_PANEL)
        return left + margin, self._text + margin / 2

    def _fitted(self, text: str, room: float, most: int) -> list[str]:
        """A text broken into so many lines at most that about fit into a width [pixels].

        A no-break space, which the font lacks, is drawn as a space.
        """
        width = max(1, int(room / self._font.getlength("n")))
        lines = textwrap.wrap(text, width, max_lines=most, placeholder="…")
        return [line.replace("\u00a0", " ") for line in lines]


def foot_color(model: mujoco.MjModel, soles: tuple[str, ...]) -> _Color:
    """Colour of a foot's first sole that is there, bright enough to be seen; grey where all are lost."""
    for sole in soles:
        geom = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, sole)
        if geom >= 0:
            rgba = geom_color(model, geom)
            brightest = max(float(rgba[:3].max()), 1e-6)
            scale = 255 * max(1.0, 0.75 / brightest)
            return tuple(min(int(scale * part), 255) for part in rgba[:3])
    return _GREY, _GREY, _GREY
