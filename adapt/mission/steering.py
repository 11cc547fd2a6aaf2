"""`Steering`: tells a damaged robot again and again where its goal is, if its gaits see that."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from adapt.mission.outcomes import SAMPLE, Outcomes, Way
from adapt.mission.pose import wrapped_angle
from adapt.mission.world import Stretch, Until, World

HEADINGS = tuple(np.pi / 4 * np.arange(-3, 5))  # with which gaits begin that are to steer [rad], see `Way`
_SAMPLES = 4  # of a stretch, after each of which the gait is told anew where to go
_FALL = 5.0  # seconds that a fall costs
_KNOWN = 20.0  # seconds of walking that the simulation of a gait counts as much as
_AROUND = 4.0, np.radians(60)  # [m] from a goal, and to its side at least, while a robot walks round it
_STRAIGHT = 4.0  # seconds that it then walks straight on
_LOYAL = 0.6  # share of the best gait's speed from which on the robot goes on with the gait on its way


class Steering:
    """Chooses a gait and tells it for two seconds where the goal is, every half second.

    Where a gait leads a damaged robot varies too much to plan with, from one pose to another by tens of
    degrees. So what is told is the bearing of the goal as it is, and the gait is chosen by how well it turns
    and walks. Its speed towards targets all around in simulated episodes, which begin with eight headings, is

        v = sum of progress / (sum of seconds + 5 seconds for each fall),

    and that which is expected of it, once the robot walked with it,

        (20 seconds * v + metres that it got nearer) / (20 seconds + its seconds + 5 seconds for each fall).

    A gait on its way goes on until another one promises a lot more, since setting off takes time. A robot
    that walks round a goal, which is nearer than it can turn, first walks straight on for four seconds.

    Args:
        outcomes: of the gaits with these headings.
        solutions: gives parameters of gaits by their rows, (n, p).
    """

    def __init__(self, outcomes: Outcomes, solutions: Callable[[list[int]], np.ndarray]) -> None:
        self._outcomes, self._solutions = outcomes, solutions
        self._course, self._straight = 0.0, 0  # in the world [rad], and control steps left on it
        self._goal = (0.0, 0.0)
        self._walked = defaultdict[tuple[str, int], np.ndarray](lambda: np.zeros(2))  # metres and seconds

    @property
    def rows(self) -> list[int]:
        """The gaits that ran with all headings under the damage that is believed."""
        ways = set(self._outcomes.ways)
        return [row for row in self._outcomes.rows if all(Way(row, heading) in ways for heading in HEADINGS)]

    def walk(self, world: World, goal: tuple[float, float], steps: int, until: Until) -> Stretch:
        """Walk towards a goal for two seconds.

        Args:
            world: where the robot is.
            goal: place in it [m].
            steps: how many control steps it may take at most.
            until: as of `World.drive`; called with the trace since the gait was told last.

        Returns:
            The stretch; its traces follow each other, each in the frame in which the gait was told, and its
            episodes are those since it was told last.
        """
        if goal != self._goal:
            self._goal, self._straight = goal, 0
        row = self._choose(world.driving)
        parameters, parts, ended = self._solutions([row])[0], list[Stretch](), False
        straight, begun = self._straight > 0, abs(world.pose.bearing(goal))

        def watch(trace: np.ndarray, made: int) -> bool:
            nonlocal ended
            ended = until(trace, made)
            return ended

        while steps > 0 and len(parts) < _SAMPLES and not ended:
            pose = world.pose
            told = wrapped_angle(self._course - pose.yaw) if straight else pose.bearing(goal)
            part = world.drive(row, parameters, min(steps, self._outcomes.every), towards=told, until=watch)
            parts.append(part)
            steps -= len(part.trace)
            ended = ended or part.fell
        trace = np.concatenate([part.trace for part in parts])
        stretch = replace(parts[-1], start=parts[0].start, trace=trace)
        self._straight = 0 if stretch.fell else max(0, self._straight - len(trace))
        self._walked[str(self._outcomes.damage), row] += 0.0, _FALL * stretch.fell
        if straight:
            return stretch
        nearer = stretch.start.distance(goal) - stretch.end.distance(goal)
        self._walked[str(self._outcomes.damage), row] += nearer, SAMPLE * len(trace) / self._outcomes.every
        near, aside = _AROUND
        around = stretch.start.distance(goal) < near and min(begun, abs(stretch.end.bearing(goal))) > aside
        if around and len(parts) == _SAMPLES and not ended:
            self._course, self._straight = stretch.end.yaw, round(_STRAIGHT / SAMPLE) * self._outcomes.every
        return stretch

    def _choose(self, driving: int | None) -> int:
        """The gait to walk with."""
        speeds = {row: self._speed(row) for row in self.rows}
        best = max(speeds, key=lambda row: speeds[row])
        return driving if driving in speeds and speeds[driving] >= _LOYAL * speeds[best] else best

    def _speed(self, row: int) -> float:
        """With which a gait is expected to get towards goals [m/s]."""
        paths, falls = self._outcomes.predicted([Way(row, heading) for heading in HEADINGS])
        x, y, _ = paths[:, -1].T
        ahead = x * np.cos(HEADINGS) - y * np.sin(HEADINGS)
        simulated = paths.shape[1] * SAMPLE * len(HEADINGS) + _FALL * np.isfinite(falls).sum()
        metres, seconds = self._walked[str(self._outcomes.damage), row]
        return float((_KNOWN * ahead.sum() / simulated + metres) / (_KNOWN + seconds))
