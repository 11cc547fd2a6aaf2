"""`Steering`: tells a damaged robot again and again where its goal is, if its gaits see that."""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from adapt.mission.outcomes import SAMPLE, Outcomes, Way
from adapt.mission.pose import Pose, wrapped_angle
from adapt.mission.world import Stretch, Until, World

BEARINGS = tuple(math.radians(angle) for angle in (-60, 0, 60))  # that gaits are told [rad]
_SAMPLES = 4  # of a stretch, after each of which the gait is told anew where to go
_SIDEWAYS = np.radians(75)  # to a side, up to which gaits may well walk without turning
_USUAL = 0.8  # of the fastest gait's speed and turning rate, which the rest of the way is taken to have
_MAY_FALL = 0.8  # what a gait's promises count that fell in the simulation
_LOYAL = 0.4  # share of the best gait's promise at which the robot goes on with the gait on its way
_DIRECT = 0.8  # share of the promise with any other bearing at which that of the goal itself is told
_TRUST, _DOUBT = 0.3, 0.6  # weight of a stretch in what a gait held of its promises; of one that went wrong
_WRONG = 0.1  # share of its promises below which a stretch went wrong, as one that ended in a fall
_NEAR = 3.0  # [m] from the goal, in which a robot that misses it is no worse than it promised
_MOVED = 0.3  # [m] from which on a stretch has a course
_MOST = 1.5  # share of its promises that counts at most
_LEAST = 0.05  # seconds that any gait promises to gain in a second, so that shares of it are finite


class Steering:
    """Chooses a gait and what it is told for two seconds, and tells it again every half second.

    On a damaged robot a gait leads to a side of the target that it is told, or is slower than in the
    simulation, and where it leads from one pose and another varies by tens of degrees. So what is left of the
    way is simply taken to be walked, and turned, somewhat slower than the fastest gaits do,

        time = distance / speed + max(0, |bearing| - 75 degrees) / rate,

    and what a gait promises is how much of this time it gains in a second of its simulated path, which is
    interpolated between targets ahead and on both sides, times the share of its promises that it held so far.
    It is told the bearing of the goal, or another one that promises more, and this is corrected as the robot
    walks and turns, up to 60 degrees to a side: training showed targets ahead. A gait on its way goes on
    until another one promises a lot more, since setting off takes time.

    Args:
        outcomes: of the gaits with these targets.
        solutions: gives parameters of gaits by their rows, (n, p).
    """

    def __init__(self, outcomes: Outcomes, solutions: Callable[[list[int]], np.ndarray]) -> None:
        self._outcomes, self._solutions = outcomes, solutions
        self._held: dict[tuple[str, int], float] = defaultdict(lambda: 1.0)
        self._off: dict[tuple[str, int], float] = defaultdict(float)  # course less what was told [rad]

    @property
    def rows(self) -> list[int]:
        """The gaits that ran with all targets under the damage that is believed."""
        ways = set(self._outcomes.ways)
        return [row for row in self._outcomes.rows if all(Way(row, -told) in ways for told in BEARINGS)]

    def walk(self, world: World, goal: tuple[float, float], steps: int, until: Until) -> Stretch:
        """Walk towards a goal for two seconds.

        Args:
            world: where the robot is.
            goal: place in it [m].
            steps: how many control steps it may take at most.
            until: as of `World.drive`; called with the trace since the gait was told last.
        """
        row, aside, promised = self._choose(_seen(goal, world), world.driving)
        parameters, parts, ended = self._solutions([row])[0], list[Stretch](), False
        courses: list[float] = []  # that were told, in the world [rad]
        before = self._time(_seen(goal, world))

        def watch(trace: np.ndarray, made: int) -> bool:
            nonlocal ended
            ended = until(trace, made)
            return ended

        while steps > 0 and len(parts) < _SAMPLES and not ended:
            told = wrapped_angle(world.pose.bearing(goal) + aside)
            told = min(max(told, BEARINGS[0]), BEARINGS[-1])
            courses.append(world.pose.yaw + told)
            part = world.drive(row, parameters, min(steps, self._outcomes.every), towards=told, until=watch)
            parts.append(part)
            steps -= len(part.trace)
            ended = ended or part.fell
        trace = np.concatenate([part.trace for part in parts])
        stretch = replace(parts[-1], start=parts[0].start, trace=trace)
        moved, length = math.hypot(*stretch.moved[:2]), len(trace) / self._outcomes.every
        if moved > _MOVED:
            self._learn_course(row, stretch, courses)
        if stretch.fell or moved < _MOVED or stretch.start.distance(goal) > _NEAR:
            gained = before - self._time(_seen(goal, world))
            share = 0.0 if stretch.fell else gained / (max(promised, _LEAST) * SAMPLE * length)
            self._learn(row, share, length / _SAMPLES)
        return stretch

    def _choose(self, goal: np.ndarray, driving: int | None) -> tuple[int, float, float]:
        """The gait to walk with, what it is told beside the bearing of the goal, and what it promises."""
        rows, damage, bearing = self.rows, str(self._outcomes.damage), math.atan2(goal[1], goal[0])
        asides = np.array([0.0, *(told - bearing for told in BEARINGS)])  # beyond them, interpolation ends
        promises = {row: self._promises(row, goal, bearing + asides) for row in rows}
        held = {row: self._held[damage, row] * promises[row].max() for row in rows}
        row = max(rows, key=lambda row: held[row])
        if driving in held and held[driving] >= _LOYAL * held[row]:
            row = driving
        chosen = int(np.argmax(promises[row]))
        if promises[row][0] >= _DIRECT * promises[row][chosen]:
            chosen = 0
        aside = float(asides[chosen]) if chosen else -self._off[damage, row]
        return row, aside, float(promises[row][chosen])

    def _promises(self, row: int, goal: np.ndarray, told: np.ndarray) -> np.ndarray:
        """Seconds that a gait should gain in one on the way to a goal if it is told some bearings, (n,)."""
        paths, falls = self._paths(row)
        columns = paths.reshape(len(BEARINGS), -1).T
        known = np.array([np.interp(told, BEARINGS, values) for values in columns])
        x, y, yaw = known.reshape(*paths.shape[1:], -1)[_SAMPLES - 1 :].transpose(1, 0, 2)
        c, s = np.cos(yaw), np.sin(yaw)
        ahead = np.stack([c * (goal[0] - x) + s * (goal[1] - y), c * (goal[1] - y) - s * (goal[0] - x)])
        seconds = SAMPLE * np.arange(_SAMPLES, len(x) + _SAMPLES)
        gained = (self._time(goal) - self._time(ahead)) / seconds[:, None]
        return np.asarray(gained.max(axis=0) * (1.0 if np.isinf(falls).all() else _MAY_FALL))

    def _time(self, goal: np.ndarray) -> Any:
        """What is left of the way to a place, or to places, as the robot sees them (2, ...) [s]."""
        ends = np.array([self._paths(row)[0][:, -1] for row in self.rows]).reshape(-1, 3)
        seconds = SAMPLE * (self._outcomes.steps // self._outcomes.every)
        speed = _USUAL * max(np.linalg.norm(ends[:, :2], axis=1).max(), 1e-2) / seconds
        rate = _USUAL * max(abs(ends[:, 2]).max(), 1.0) / seconds
        turned = np.maximum(0, abs(np.arctan2(goal[1], goal[0])) - _SIDEWAYS)
        return np.hypot(*goal) / speed + turned / rate

    def _paths(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Where a gait leads with all targets, (3, t, 3), and when it falls, (3,)."""
        return self._outcomes.predicted([Way(row, -told) for told in BEARINGS])

    def _learn_course(self, row: int, stretch: Stretch, told: list[float]) -> None:
        """Take in by how much a gait's course was off those that it was told, in the world [rad]."""
        (x, y, _), (to_x, to_y, _) = stretch.start, stretch.end
        off, key = math.atan2(to_y - y, to_x - x) - _mean_angle(told), (str(self._outcomes.damage), row)
        known = self._off[key] + _TRUST * wrapped_angle(off - self._off[key])
        self._off[key] = min(max(known, BEARINGS[0]), BEARINGS[-1])

    def _learn(self, row: int, share: float, length: float) -> None:
        """Take in what a gait held of its promises in a stretch of some share of the usual length."""
        key, weight = (str(self._outcomes.damage), row), _TRUST * length if share > _WRONG else _DOUBT
        self._held[key] += weight * (min(max(share, 0.0), _MOST) - self._held[key])


def _seen(goal: tuple[float, float], world: World) -> np.ndarray:
    """A place as the robot sees it, (2,)."""
    return np.array(Pose(*goal).seen_from(world.pose)[:2])


def _mean_angle(angles: list[float]) -> float:
    return float(np.angle(np.exp(1j * np.array(angles)).mean()))
