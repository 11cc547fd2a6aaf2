"""`MissionLog`: what the page is told of a mission that was walked: its events, its path, and every pose.

Its path and its time are drawings in SVG. Whatever has a `data-time` is a moment that a click on it leads to.
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import accumulate, chain
from pathlib import Path
from shlex import quote
from typing import Any

import mujoco
import numpy as np

from adapt.mission.log import Event, read_log, read_poses
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from robots.errors import InvalidFileError
from robots.rendering.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION
from robots.robot import Robot
from surefoot.explorer.recording import body_poses, parts_of
from surefoot.explorer.scene import describe_scene

Message = dict[str, Any]
SCENE = "a mission"  # what its scene is called, among those that are called by a damage
_MOST_ROWS = 10_000  # poses that are shown; of longer missions fewer a second
_PART = 200  # poses that are handed on at once
_MOST_DAMAGES = 50  # of a mission, each of which is another robot
_AWAY = (0, 0, -1e4, 1, 0, 0, 0)  # pose of bodies that are not there
# Colours and words of what the robot did and of what happened
_DONE = {"walk": (BLUE, "walks"), "trial": (SKY, "tries a gait"), "thought": (GREY, "thinks")}
_HAPPENED = {
    "change": (VERMILION, "something breaks or is repaired"),
    "alarm": (ORANGE, "alarm"),
    "fall": ("#7a1f00", "fall"),
    "assistance": (PURPLE, "set upright"),
    "relearned": (GREEN, "better gait refined"),
}
_MARGIN = 0.5  # around the path [m]
_MARK = 1 / 70  # radius of a mark, as a share of the drawing's size
_TICK = 1 / 300  # half of the width of a mark in the lane, as a share of its length


class MissionLog:
    """A mission's log, and the robots in it: the whole one, and what it became when something broke.

    All of them are one scene for the page. At each moment the bodies of one of them stand where the robot
    was, and those of the others are far below the floor.

    Args:
        log: file that `surefoot mission --log` wrote.
        repertoire: that it was walked with.
        source: of the repertoire, as the user named it.
        damaged: gives the robot with a damage.

    Attributes:
        told: what the page needs first: what happened when, a picture of the path, and the command.
    """

    def __init__(
        self, log: Path, repertoire: Repertoire, source: str, damaged: Callable[[str], Robot]
    ) -> None:
        self._asked, self._events = read_log(log)
        if self._asked.repertoire != fingerprint(repertoire):
            raise InvalidFileError(f"the mission of {log} was walked with another repertoire than {source}")
        self._poses = read_poses(log)
        damages = dict.fromkeys(poses.damage for poses in self._poses)
        if len(damages) > _MOST_DAMAGES:
            raise InvalidFileError(
                f"{log} tells of {len(damages)} different damages: at most {_MOST_DAMAGES} can be shown"
            )
        self._robots = {damage: damaged(damage) for damage in damages}
        feet = len(repertoire.robot.description.feet)
        for poses in self._poses:
            sizes = (poses.positions.shape[1], poses.touching.shape[1])
            if sizes != (self._robots[poses.damage].model.nq, feet):
                raise InvalidFileError(f"{log} holds poses of another robot than {source} is for")
        self._source, self._goals = source, np.array(self._asked.goals, float).reshape(-1, 2)
        try:
            self.told = self._tell()
            json.dumps(self.told, allow_nan=False)  # facts of events may be of any kind
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InvalidFileError(f"{log} is no log of a mission, or not a whole one") from error
        counts = [robot.model.nbody for robot in self._robots.values()]
        *firsts, self._torso = accumulate(counts, initial=0)
        self._firsts = dict(zip(self._robots, firsts, strict=True))
        known = np.concatenate([poses.times for poses in self._poses]).astype(float)
        self._spacing = _spacing(known)
        # a robot behind a link tells no poses while it thinks: then it stands as it stood before
        self._times = self._spacing * np.arange(1, max(1, round(known[-1] / self._spacing)) + 1)
        rows = np.searchsorted(known, self._times + self._spacing / 2, side="right") - 1
        every = [(poses, row) for poses in self._poses for row in range(len(poses.times))]
        self._moments = [every[row] for row in np.maximum(rows, 0)]

    def scene(self) -> Message:
        """All robots of the mission as one, see `describe_scene`; its last body is where the torso is."""
        scenes = {damage: describe_scene(robot, damage) for damage, robot in self._robots.items()}
        meshes: dict[str, Any] = {}
        geoms = []
        for number, (damage, scene) in enumerate(scenes.items()):
            names = {}
            for name, mesh in scene["meshes"].items():
                names[name] = next((known for known in meshes if meshes[known] == mesh), f"{name}.{number}")
                meshes[names[name]] = mesh
            for geom in scene["geoms"]:
                if geom["body"] or not number:  # the floor is always the same
                    body, mesh = self._firsts[damage] + geom["body"], names.get(geom["mesh"])
                    geoms.append({**geom, "body": body, "mesh": mesh})
        whole = next(iter(scenes.values()))
        parts = {"geoms": geoms, "meshes": meshes, "bodies": self._torso + 1, "torso": self._torso}
        return {**whole, **parts, "damage": SCENE}

    def walk(self) -> Message:
        """What the view says besides the poses."""
        duration = len(self._moments) * self._spacing
        return {
            "damage": SCENE,
            "title": "Mission",
            "subtitle": "",
            "facts": "",
            "command": "",
            "seconds": self._spacing,
            "duration": duration,
            "curve": "distance to the goal" if len(self._goals) else "distance from the start",
            "lane": draw_lane(self._events, duration),
        }

    def parts(self) -> Iterator[Message]:
        """All poses, see `parts_of`; the curve is the distance to the goal, or from the start."""
        every_body = self._every_body()
        touching = (poses.touching[row] for poses, row in self._moments)
        curve = self._distances(every_body[:, self._torso, :2])
        return parts_of(zip(every_body, touching, curve, strict=True), _PART)

    def _every_body(self) -> np.ndarray:
        """Poses of all bodies of all robots, and of the torso, (t, bodies, 7)."""
        found = np.tile(np.array(_AWAY, np.float32), (len(self._moments), self._torso + 1, 1))
        for number, (poses, row) in enumerate(self._moments):
            robot, first = self._robots[poses.damage], self._firsts[poses.damage]
            here = slice(first, first + robot.model.nbody)
            posed = mujoco.MjData(robot.model)
            posed.qpos[:] = poses.positions[row]
            found[number, here] = body_poses(robot.model, posed)
            found[number, self._torso] = found[number, here][robot.model.body(robot.description.torso).id]
            if number and self._moments[number - 1][0].damage != poses.damage:
                found[number - 1, here] = found[number, here]  # or else it would fly in from far below
        return found

    def _distances(self, places: np.ndarray) -> np.ndarray:
        """How far each place, (t, 2), is from the goal that was next then, or from the start (t,) [m]."""
        goals = self._goals
        arrivals = [event.time for event in self._events if event.kind == "goal"]
        reached = np.searchsorted(arrivals, self._times)
        nextgoal = goals[np.minimum(reached, len(goals) - 1)] if len(goals) else np.zeros(2)
        return np.linalg.norm(places - nextgoal, axis=1)

    def _tell(self) -> Message:
        return {
            "map": draw_map(self._events, self._asked.goals, self._asked.within),
            "events": [
                {"time": begin(one), "kind": one.kind, "words": one.words, "row": one.facts.get("row")}
                for one in sorted(self._events, key=begin)
            ],
            "command": self._command(),
        }

    def _command(self) -> str:
        asked = self._asked
        numbers = ("seconds", "within", "think_episodes", "refine", "cores", "max_falls", "seed")
        given = [
            *(("goal", f"{_option(x)},{_option(y)}") for x, y in asked.goals),
            *(("break", change) for change in asked.changes),
            *((name.replace("_", "-"), _option(getattr(asked, name))) for name in numbers),
            *((name, text) for name in ("selector", "rehearsal") if (text := getattr(asked, name))),
        ]
        options = (f"--{name} {quote(text)}" for name, text in given)
        return " ".join([f"surefoot mission {quote(self._source)}", *options])


def _spacing(times: np.ndarray) -> float:
    """Time between two poses that are shown, of a log with poses at times (t,) [s]."""
    if len(times) < 2:
        return 1.0
    usual = float(np.median(np.diff(times)))
    return usual * max(1, math.ceil(times[-1] / usual / _MOST_ROWS))


def _option(number: float) -> str:
    """A number as an option takes it, in all its digits."""
    return str(number if isinstance(number, int) else float(number)).removesuffix(".0")


def begin(event: Event) -> float:
    """When something began [s]: of what takes time, the log has when it ended."""
    return max(0.0, round(event.time - float(event.facts.get("seconds", 0.0)), 3))


def draw_map(events: Sequence[Event], goals: Sequence[Sequence[float]], within: float) -> str:
    """The path over the floor, ahead to the right, in metres; what has `data-robot` is moved to the robot."""
    walked = [[place[1:3] for place in event.facts.get("path", ())] for event in events]
    places = np.array([(0.0, 0.0), *goals, *chain(*walked)], float)
    low, high = places.min(axis=0) - _MARGIN, places.max(axis=0) + _MARGIN
    size = _MARK * float(max(high - low))
    drawn = [_goal(number, goal, within, size) for number, goal in enumerate(goals, 1)]
    last = [0.0, 0.0]
    for event, path in zip(events, walked, strict=True):
        if path:
            points = " ".join(f"{x:.3f},{-y:.3f}" for x, y in [last, *path])
            line = {"points": points, "stroke": _DONE[event.kind][0], "stroke-width": 0.7 * size}
            drawn.append(_tag("polyline", line | {"data-time": begin(event)}, _title(event)))
            last = path[-1]
    drawn += [_mark(event, size) for event in events if event.kind in _HAPPENED]
    thick = {"stroke-width": size / 2}
    drawn.append(_tag("g", {"data-robot": ""}, _tag("circle", thick | {"r": 1.6 * size})
                      + _tag("path", thick | {"d": f"M0 0h{3 * size:.3f}"})))  # fmt: skip
    x, y = low[0] + size, -low[1] - size
    drawn.append(_tag("path", thick | {"d": f"M{x:.3f} {y:.3f}h1"}) + _text("1 m", x + 1 + 4 * size, y, size))
    box = f"{low[0]:.3f} {-high[1]:.3f} {high[0] - low[0]:.3f} {high[1] - low[1]:.3f}"
    about = {"viewBox": box, "role": "img", "aria-label": "The path of the robot, and its goals"}
    kinds, known = {event.kind for event in events}, {**_DONE, **_HAPPENED}
    shown = [known[kind] for kind in known if kind in kinds]
    legend = "".join(f'<span><i style="background: {color}"></i>{words}</span> ' for color, words in shown)
    return _tag("svg", about, "".join(drawn)) + f'<p class="quiet">{legend}</p>'


def draw_lane(events: Sequence[Event], duration: float) -> str:
    """What the robot did and what happened to it, over a mission's time."""
    tick = _TICK * duration
    drawn = []
    for event in events:
        if event.kind in _DONE:
            start, fill = begin(event), _DONE[event.kind][0]
            place = {"x": start, "width": event.time - start, "y": 0.2, "height": 0.6}
            drawn.append(_tag("rect", place | {"fill": fill}))
    for event in events:
        if event.kind in _HAPPENED:
            place = {"x": event.time - tick, "width": 2 * tick, "height": 1}
            drawn.append(_tag("rect", place | {"fill": _HAPPENED[event.kind][0]}))
    shape = {"viewBox": f"0 0 {duration:.3f} 1", "preserveAspectRatio": "none"}
    return _tag("svg", shape, "".join(drawn))


def _goal(number: int, goal: Sequence[float], within: float, size: float) -> str:
    x, y = goal
    look = {"stroke": GREEN, "stroke-width": size / 3}
    return _tag("circle", look | {"cx": x, "cy": -y, "r": within}) + _text(str(number), x, -y, size)


def _mark(event: Event, size: float) -> str:
    look = {"r": size, "fill": _HAPPENED[event.kind][0], "stroke": "#fff", "stroke-width": size / 5}
    place = {"cx": event.pose.x, "cy": -event.pose.y}
    return _tag("circle", look | place | {"data-time": begin(event)}, _title(event))


def _text(words: str, x: float, y: float, size: float) -> str:
    return _tag("text", {"x": x, "y": y + 0.9 * size, "font-size": 2.5 * size}, words)


def _tag(name: str, attributes: dict[str, Any], content: str = "") -> str:
    texts = {key: f"{one:.3f}" if isinstance(one, float) else one for key, one in attributes.items()}
    inside = " ".join(f'{key}="{escape(str(text))}"' for key, text in texts.items())
    return f"<{name} {inside}>{content}</{name}>"


def _title(event: Event) -> str:
    return f"<title>{escape(f'{begin(event):.1f} s: {event.words}')}</title>"
