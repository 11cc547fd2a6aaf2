"""Drawings of a mission for the page, as SVG: `draw_map` of its path, and `draw_lane` of its time.

Whatever has a `data-time` is a moment that a click on it leads to.
"""

import itertools
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np

from adapt.mission.log import DONE, HAPPENED, Event
from robots.rendering.palette import GREEN

_MARGIN = 0.5  # around the path [m]
_MARK = 1 / 70  # radius of a mark, as a share of the drawing's size
_TICK = 1 / 300  # half of the width of a mark in the lane, as a share of its length


def begin(event: Event) -> float:
    """When something began [s]: of what takes time, the log has when it ended."""
    return max(0.0, round(event.time - float(event.facts.get("seconds", 0.0)), 3))


def draw_map(events: Sequence[Event], goals: Sequence[Sequence[float]], within: float) -> str:
    """The path over the floor, ahead to the right, in metres; what has `data-robot` is moved to the robot."""
    walked = [[place[1:3] for place in event.facts.get("path", ())] for event in events]
    places = np.array([(0.0, 0.0), *goals, *itertools.chain(*walked)], float)
    low, high = places.min(axis=0) - _MARGIN, places.max(axis=0) + _MARGIN
    size = _MARK * float(max(high - low))
    drawn = [_goal(number, goal, within, size) for number, goal in enumerate(goals, 1)]
    last = [0.0, 0.0]
    for event, path in zip(events, walked, strict=True):
        if path:
            points = " ".join(f"{x:.3f},{-y:.3f}" for x, y in [last, *path])
            line = {"points": points, "stroke": DONE[event.kind][0], "stroke-width": 0.7 * size}
            drawn.append(_tag("polyline", line | _moment(event), _title(event)))
            last = path[-1]
    drawn += [_mark(event, size) for event in events if event.kind in HAPPENED]
    thick = {"stroke-width": size / 2}
    drawn.append(_tag("g", {"data-robot": ""}, _tag("circle", thick | {"r": 1.6 * size})
                      + _tag("path", thick | {"d": f"M0 0h{3 * size:.3f}"})))  # fmt: skip
    x, y = low[0] + size, -low[1] - size
    drawn.append(_tag("path", thick | {"d": f"M{x:.3f} {y:.3f}h1"}) + _text("1 m", x + 1 + 4 * size, y, size))
    box = f"{low[0]:.3f} {-high[1]:.3f} {high[0] - low[0]:.3f} {high[1] - low[1]:.3f}"
    about = {"viewBox": box, "role": "img", "aria-label": "The path of the robot, and its goals"}
    legend = "".join(_legend({event.kind for event in events}))
    return _tag("svg", about, "".join(drawn)) + f'<p class="quiet">{legend}</p>'


def draw_lane(events: Sequence[Event], duration: float) -> str:
    """What the robot did and what happened to it, over a mission's time."""
    tick = _TICK * duration
    drawn = []
    for event in events:
        if event.kind in DONE:
            start, fill = begin(event), DONE[event.kind][0]
            place = {"x": start, "width": event.time - start, "y": 0.2, "height": 0.6}
            drawn.append(_tag("rect", place | {"fill": fill}))
    for event in events:
        if event.kind in HAPPENED:
            place = {"x": event.time - tick, "width": 2 * tick, "height": 1}
            drawn.append(_tag("rect", place | {"fill": HAPPENED[event.kind][0]}))
    shape = {"viewBox": f"0 0 {duration:.3f} 1", "preserveAspectRatio": "none"}
    return _tag("svg", shape, "".join(drawn))


def _goal(number: int, goal: Sequence[float], within: float, size: float) -> str:
    x, y = goal
    look = {"stroke": GREEN, "stroke-width": size / 3}
    return _tag("circle", look | {"cx": x, "cy": -y, "r": within}) + _text(str(number), x, -y, size)


def _mark(event: Event, size: float) -> str:
    look = {"r": size, "fill": HAPPENED[event.kind][0], "stroke": "#fff", "stroke-width": size / 5}
    place = {"cx": event.pose.x, "cy": -event.pose.y}
    return _tag("circle", look | place | _moment(event), _title(event))


def _text(words: str, x: float, y: float, size: float) -> str:
    return _tag("text", {"x": x, "y": y + 0.9 * size, "font-size": 2.5 * size}, words)


def _tag(name: str, attributes: dict[str, Any], content: str = "") -> str:
    texts = {key: f"{one:.3f}" if isinstance(one, float) else one for key, one in attributes.items()}
    inside = " ".join(f'{key}="{escape(str(text))}"' for key, text in texts.items())
    return f"<{name} {inside}>{content}</{name}>"


def _legend(kinds: set[str]) -> Iterator[str]:
    for kind, (color, words) in {**DONE, **HAPPENED}.items():
        if kind in kinds:
            yield f'<span><i style="background: {color}"></i>{words}</span> '


def _moment(event: Event) -> dict[str, Any]:
    return {"data-time": begin(event)}


def _title(event: Event) -> str:
    return f"<title>{escape(f'{begin(event):.1f} s: {event.words}')}</title>"
