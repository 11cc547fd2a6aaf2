"""The picture of a mission."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import same_color

from adapt.mission import plots
from adapt.mission.log import DONE, HAPPENED, Event
from adapt.mission.plan import Plan
from adapt.mission.pose import Pose

EVENTS = [
    Event(0.0, "start", "", Pose(0.0, 0.0, 0.0)),
    Event(2.0, "walk", "", Pose(1.0, 0.5, 0.0), {"seconds": 2.0, "path": [[1.0, 0.4, 0.1], [2.0, 1.0, 0.5]]}),
    Event(2.0, "alarm", "", Pose(1.0, 0.5, 0.0)),
    Event(2.5, "fall", "", Pose(1.1, 0.5, 0.0)),
    Event(3.0, "trial", "", Pose(1.5, 0.7, 0.0), {"seconds": 0.5, "path": [[2.9, 1.5, 0.7]]}),
    Event(3.0, "alarm", "", Pose(1.5, 0.7, 0.0)),
    Event(4.0, "thought", "", Pose(1.5, 0.7, 0.0), {"seconds": 1.0}),
    Event(6.0, "walk", "", Pose(1.9, 0.9, 0.0), {"seconds": 2.0, "path": [[5.0, 1.9, 0.9]]}),
]


@pytest.fixture
def figure(monkeypatch: pytest.MonkeyPatch):
    drawn = []
    monkeypatch.setattr(plots, "save_figure", lambda figure, path: drawn.append(figure))
    plots.draw_mission(EVENTS, Plan(goals=((2.0, 1.0),), within=0.3, seconds=10.0), "it walks", Path("m.png"))
    return drawn[0]


def test_the_path_goes_on_where_it_was_and_has_marks_where_things_happened(figure):
    lines = [
        (line.get_xydata().tolist(), line.get_color(), line.get_marker()) for line in figure.axes[0].lines
    ]
    walk, trial, again, alarms, fall, _ = lines
    assert walk[0] == [[0.0, 0.0], [0.4, 0.1], [1.0, 0.5]]
    assert trial[0] == [[1.0, 0.5], [1.5, 0.7]]
    assert again[0] == [[1.5, 0.7], [1.9, 0.9]]
    assert (walk[1], trial[1]) == (DONE["walk"][0], DONE["trial"][0])
    assert alarms == ([[1.0, 0.5], [1.5, 0.7]], HAPPENED["alarm"][0], "^")
    assert fall == ([[1.1, 0.5]], HAPPENED["fall"][0], "v")
    (goal,) = figure.axes[0].patches
    assert (goal.center, goal.radius) == ((2.0, 1.0), 0.3)


def test_the_timeline_has_what_took_time_from_its_begin(figure):
    bars = [(bar.get_x(), bar.get_width(), bar.get_facecolor()) for bar in figure.axes[1].patches]
    np.testing.assert_allclose([bar[:2] for bar in bars], [(0.0, 2.0), (2.5, 0.5), (3.0, 1.0), (4.0, 2.0)])
    for bar, kind in zip(bars, ("walk", "trial", "thought", "walk"), strict=True):
        assert same_color(bar[2], DONE[kind][0])
    times = [line.get_xdata()[0] for line in figure.axes[1].lines]
    assert times == [2.0, 2.5, 3.0]


def test_the_legend_says_what_there_is_once(figure):
    (legend,) = figure.legends
    words = [text.get_text() for text in legend.get_texts()]
    assert sorted(words) == sorted(["alarm", "fall", "walks", "tries a gait", "thinks"])
