"""The overlay says what the robot is doing, and leaves the middle of the frame alone."""

import numpy as np
import pytest

from robots.rendering.overlay import Moment, Overlay
from tests.robots.stepping import described

SIZES = [(320, 240), (1280, 720)]
CALM = Moment(time=1.0, ahead=0.0, fell=False, shares=np.zeros(4), touching=np.zeros(4, np.bool_))


def grey(width: int, height: int) -> np.ndarray:
    return np.full((height, width, 3), 128, np.uint8)


def drawn(overlay: Overlay, width: int, height: int, **changes: object) -> np.ndarray:
    """A frame of a calm moment with changes, as numbers that can be subtracted."""
    return overlay.draw(grey(width, height), CALM._replace(**changes)).astype(int)


def changed(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the pixels that differ."""
    return np.nonzero((one != other).any(axis=2))


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_it_keeps_to_the_upper_corners(ant, width: int, height: int) -> None:
    overlay = Overlay(ant, caption="cell 1,0,3,2, front_left:lost", width=width, height=height)
    frame = drawn(overlay, width, height, ahead=-123.45, time=123.4)
    rows, columns = changed(frame, grey(width, height))
    assert rows.max() < 0.4 * height
    assert (np.diff(np.unique(columns)) > 3).sum() == 1, "the panels stay apart"
    assert len(rows) < 0.25 * width * height
    assert (frame[rows, columns].sum(axis=1) > 700).sum() > 100, "white text"


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_bar_is_as_long_as_the_share_and_shines_while_the_foot_touches(ant, width, height):
    overlay = Overlay(ant, caption="", width=width, height=height)
    calm = drawn(overlay, width, height)
    lengths = []
    for share in (0.25, 0.5, 1.0):
        frame = drawn(overlay, width, height, shares=np.array([0, 0, share, 0]))
        rows, columns = changed(frame, calm)
        lengths.append(np.ptp(columns) + 1)
        assert np.ptp(rows) < height / 20, "one bar alone"
    np.testing.assert_allclose(np.array(lengths) / lengths[-1], [0.25, 0.5, 1.0], atol=0.05)
    full = np.array([0, 0, 1.0, 0])
    dark = drawn(overlay, width, height, shares=full)
    bright = drawn(overlay, width, height, shares=full, touching=full > 0)
    bar = changed(dark, calm)
    color = ant.model.mat("back_right").rgba[:3]
    color = 255 * 0.75 * color / color.max()  # as bright as it must be to be seen on the panel
    np.testing.assert_allclose(bright[bar], np.tile(color, (len(bar[0]), 1)), atol=2)
    assert (dark[bar] < 0.7 * bright[bar] + 1).all()


def test_bars_are_those_of_the_measures_in_their_order(ant) -> None:
    robot = described(ant, measures=dict.fromkeys(("back_right", "front_left"), (0.0, 1.0)))
    overlay = Overlay(robot, caption="", width=640, height=480)
    calm, heights = drawn(overlay, 640, 480), []
    for foot in range(4):
        shares = np.zeros(4)
        shares[foot] = 1
        rows, _ = changed(drawn(overlay, 640, 480, shares=shares), calm)
        heights.append(rows.mean() if len(rows) else None)
    assert heights[1] is heights[3] is None
    assert heights[2] < heights[0]


def test_text_tells_metres_time_falls_and_caption(ant) -> None:
    named, plain = (Overlay(ant, caption=text, width=640, height=480) for text in ("cell 1", ""))
    calm = drawn(named, 640, 480)
    for changes in ({"ahead": 100.0}, {"time": 2.0}, {"fell": True}):
        rows, columns = changed(drawn(named, 640, 480, **changes), calm)
        assert len(rows) > 10
        assert columns.max() < 320
    assert len(changed(calm, drawn(plain, 640, 480))[0]) > 1000, "a line less"
    long = Overlay(ant, caption="a caption " * 30, width=640, height=480)
    assert changed(drawn(long, 640, 480), drawn(plain, 640, 480))[1].max() < 420
