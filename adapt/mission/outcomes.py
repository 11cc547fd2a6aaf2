"""`Outcomes`: where each gait leads in some seconds, by simulation and by what the last stretches did."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial.distance import cdist

from adapt.gaussian_process import matern_52
from adapt.mission.beliefs import Beliefs, Paths, Way
from adapt.self_model.twin import Run, Twin
from robots.pose import Pose, wrapped_angle
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.trace import TraceColumns
from robots.stance import all_servos, turned

SAMPLE = 0.5  # [s] between two places of a path
_SETTING_OFF = 2  # samples until a gait is on its way
_REACH = 0.4  # length scale over which what a model is off by is alike, in units of the measures
_OFF = 0.3  # standard deviation of what a model is off by, as a share of the gaits' spread
_COMMON = 0.5  # share of that variance that all gaits have in common
_NOISE = 0.1, 2.0  # standard deviation, likewise, of a stretch of so many seconds; it falls with its length


class Outcomes:
    """Predicts paths of gaits on what the robot is believed to be.

    Each gait runs one or several episodes under the damage that is believed, see `run`. What stretches did
    instead corrects the rates of all gaits by Gaussian processes whose means are what these episodes say, as
    in reset-free trial and error (Chatzilygeroudis, Vassiliades & Mouret 2018).

    Args:
        twin: runs the episodes.
        measures: of the gaits, over which corrections are smooth, (k, m).
        beliefs: which damage it is, and what is known of it.

    Attributes:
        every, steps: control steps between two places of a path, and of a whole one.
        columns: of traces.
    """

    def __init__(self, twin: Twin, measures: np.ndarray, beliefs: Beliefs) -> None:
        self.beliefs, self._twin = beliefs, twin
        self._measures = np.asarray(measures, np.float64)
        robot = twin.parts.robot
        self._steady = all_servos(robot)
        self.every = max(1, round(SAMPLE / robot.control_step))
        self.steps = robot.description.episode_steps
        self._count = self.steps // self.every
        self.columns = TraceColumns.of(robot)

    def add(self, measures: np.ndarray) -> None:
        """Know a gait more, with its measures, (m,)."""
        self._measures = np.vstack([self._measures, measures])

    def simulate(self, rows: Iterable[int], episodes: int = 1, headings: Sequence[float] = (0.0,)) -> int:
        """Run what did not yet run of some gaits under the damage; returns how many episodes ran."""
        ways = [Way(row, heading) for heading in headings for row in dict.fromkeys(map(int, rows))]
        new = [way for way in ways if way not in self.beliefs.known]
        self.beliefs.known.update(self.run(new, episodes))
        return len(new) * episodes

    def copy(self) -> "Outcomes":
        """The same under the damage that is believed now, with a simulator of its own."""
        twin = Twin(self._twin.thinking)
        twin.pose(self._twin.parts.robot)
        return Outcomes(twin, self._measures, replace(self.beliefs))

    def run(self, ways: Sequence[Way], episodes: int) -> Paths:
        """Where some ways lead under the damage.

        Of several episodes that which lasts longest tells the path, and the earliest fall counts. Of a robot
        that cannot stand, which begins in another pose every time, it is the mean of those that last longest.
        """
        robot, paths = self._twin.parts.robot, Paths()
        seeds = derive_seeds(0, SeedFamily.MISSION, 0, episodes)
        for heading in dict.fromkeys(way.heading for way in ways):
            some = [way for way in ways if way.heading == heading]
            if heading:
                self._twin.pose(turned(robot, heading))
            runs = [Run(self.beliefs.damage, way.row, int(seed)) for way in some for seed in seeds]
            found = self._twin.run(runs, traced=True)
            assert found.traces is not None
            for number, way in enumerate(some):
                own = slice(number * episodes, (number + 1) * episodes)
                paths[way] = self._led(found.traces[own], found.fell[own], heading)
            if heading:
                self._twin.pose(robot)
        return paths

    def _led(self, traces: np.ndarray, fell: np.ndarray, heading: float) -> tuple[np.ndarray, float]:
        """Where a way led in some episodes, and when the robot fell."""
        fall = min((len(trace) for trace, down in zip(traces, fell, strict=True) if down), default=np.inf)
        longest = [trace for trace in traces if len(trace) == max(map(len, traces))]
        several = [self._path(trace, heading) for trace in longest[: 1 if self._steady else None]]
        return np.mean(several, axis=0), fall

    def predicted(self, ways: Sequence[Way], going: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Paths of what ran, and when the robot falls on them.

        Args:
            ways: n of them.
            going: gait that is on its way, so that it does not set off again.

        Returns:
            Poses (x [m], y [m], yaw [rad]) every half second, (n, t, 3); and control steps until a fall,
            infinite without one, (n,).
        """
        known = self.beliefs.known
        paths = np.array([_continued(known[way][0]) if way.row == going else known[way][0] for way in ways])
        falls = np.array([known[way][1] for way in ways], np.float64)
        falls[[way.row == going for way in ways]] -= _SETTING_OFF * self.every
        times = SAMPLE * np.arange(1, self._count + 1)
        return paths + times[:, None] * self._corrections(ways)[:, None], np.maximum(falls, 1)

    def observe(self, way: Way, moved: Pose, steps: int, *, going: bool) -> None:
        """Take in where a stretch of so many control steps led, if it was long enough to tell.

        The gait may have been `going` before.
        """
        length = steps / self.every
        known = self.beliefs.known
        if not 1 <= length <= self._count or way not in known:
            return
        path = _continued(known[way][0]) if going else known[way][0]
        places = np.arange(self._count + 1)
        off = np.array(moved) - [np.interp(length, places, [0, *column]) for column in path.T]
        off[2] = wrapped_angle(off[2])
        seconds = length * SAMPLE
        self.beliefs.residuals.append((way, off / seconds, seconds))

    def _corrections(self, ways: Sequence[Way]) -> np.ndarray:
        """What is added to the rates of ways, (n, 3)."""
        if not self.beliefs.residuals:
            return np.zeros((len(ways), 3))
        seen = [way for way, _, _ in self.beliefs.residuals]
        off = np.array([residual for _, residual, _ in self.beliefs.residuals])
        noise, usual = _NOISE
        noises = noise * usual / np.array([seconds for _, _, seconds in self.beliefs.residuals])
        covariance = self._covariance(seen, seen) + np.diag((noises / _OFF) ** 2)
        return np.asarray(self._covariance(ways, seen) @ np.linalg.solve(covariance, off))

    def _covariance(self, some: Sequence[Way], others: Sequence[Way]) -> np.ndarray:
        measures, seen = (self._measures[[way.row for way in ways]] for ways in (some, others))
        alike = matern_52(cdist(measures, seen), length_scale=_REACH)
        return np.asarray(_COMMON + (1 - _COMMON) * alike)

    def _path(self, trace: np.ndarray, heading: float) -> np.ndarray:
        """Poses every half second, (t, 3), seen from where the robot began; after a fall it stays."""
        at = self.columns
        if not len(trace):
            return np.zeros((self._count, 3))
        ends = np.minimum(self.every * np.arange(1, self._count + 1), len(trace)) - 1
        yaw = np.unwrap(trace[:, at.attitude + 2].astype(np.float64))
        path = np.column_stack([trace[ends, at.position : at.position + 2], yaw[ends]])
        if heading:
            c, s = np.cos(heading), np.sin(heading)
            path[:, :2] = path[:, :2] @ np.array([[c, -s], [s, c]])
            path[:, 2] -= heading + 2 * np.pi * np.rint((yaw[0] - heading) / (2 * np.pi))
        return path


def _continued(path: np.ndarray) -> np.ndarray:
    """A path, (t, 3), from a second after its beginning on, whose last second comes twice."""
    poses = [Pose(*place) for place in path]
    if len(poses) <= _SETTING_OFF:
        return path
    last = poses[-1].seen_from(poses[-1 - _SETTING_OFF])
    poses += [before @ last for before in poses[-_SETTING_OFF:]]
    found = np.array([pose.seen_from(poses[_SETTING_OFF - 1]) for pose in poses[_SETTING_OFF:]])
    found[:, 2] = np.unwrap(found[:, 2])
    return found
