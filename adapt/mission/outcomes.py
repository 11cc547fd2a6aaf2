"""`Outcomes`: where each gait leads in some seconds, by simulation and by what the last stretches did."""

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.spatial.distance import cdist

from adapt.damage.damage import Combination, Damage
from adapt.gaussian_process import matern_52
from adapt.mission.pose import Pose
from adapt.self_model.twin import Run, Twin
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.trace import TraceColumns

# Where a gait leads: poses, (t, 3), and the control step of its fall, infinite without one
Paths = dict[int, tuple[np.ndarray, float]]
SAMPLE = 0.5  # [s] between two places of a path
_SETTING_OFF = 2  # samples until a gait is on its way
_REACH = 0.4  # length scale over which what a model is off by is alike, in units of the measures
_OFF = 0.3  # standard deviation of what a model is off by, as a share of the gaits' spread
_COMMON = 0.5  # share of that variance that all gaits have in common
_NOISE = 0.1  # standard deviation of a stretch, likewise


class Outcomes:
    """Predicts paths of gaits on what the robot is believed to be.

    Each gait runs one episode under the damage that is believed. What stretches did instead corrects the
    rates of all gaits by Gaussian processes whose means are these episodes, as in reset-free trial and error
    (Chatzilygeroudis, Vassiliades & Mouret 2018). They begin anew with another damage.

    Args:
        twin: runs the episodes.
        measures: of the gaits, over which corrections are smooth, (k, m).
        healthy: see below, of a twin with the same repertoire.

    Attributes:
        damage: that is believed.
        every, steps: control steps between two places of a path, and of a whole one.
        healthy: of the gaits that ran on the whole robot, by row.
    """

    def __init__(self, twin: Twin, measures: np.ndarray, healthy: Paths | None = None) -> None:
        self.damage: Damage = Combination()
        self.healthy: Paths = dict(healthy or {})
        self._twin = twin
        self._measures = np.asarray(measures, np.float64)
        self._paths = {str(self.damage): self.healthy}
        self._residuals: list[tuple[int, np.ndarray]] = []
        robot = twin.parts.robot
        self.every = max(1, round(SAMPLE / robot.control_step))
        self.steps = robot.description.episode_steps
        self._count = self.steps // self.every
        self._step, self._columns = robot.control_step, TraceColumns.of(robot)

    def believe(self, damage: Damage) -> None:
        """Predict for another damage from now on."""
        self.damage = damage
        self._residuals.clear()

    def forget(self) -> None:
        """Forget what ran on damaged robots, since the pose in which episodes begin is another one."""
        self._paths = {str(Combination()): self.healthy}

    def add(self, measures: np.ndarray) -> None:
        """Know a gait more, with its measures, (m,)."""
        self._measures = np.vstack([self._measures, measures])

    @property
    def rows(self) -> list[int]:
        """The gaits that ran under the damage."""
        return list(self._paths.get(str(self.damage), ()))

    def simulate(self, rows: Iterable[int], episodes: int = 1) -> int:
        """Run those of some gaits that did not yet run under the damage; returns how many episodes ran."""
        known = self._paths.setdefault(str(self.damage), {})
        new = [int(row) for row in dict.fromkeys(rows) if int(row) not in known]
        known.update(self.run(new, episodes))
        return len(new) * episodes

    def take(self, paths: Paths) -> None:
        """Take in what `run` found under the damage."""
        self._paths.setdefault(str(self.damage), {}).update(paths)

    def copy(self) -> "Outcomes":
        """The same under the damage that is believed now, with a simulator of its own."""
        twin = Twin(self._twin.thinking)
        twin.pose(self._twin.parts.robot)
        found = Outcomes(twin, self._measures, self.healthy)
        found.believe(self.damage)
        return found

    def run(self, rows: Sequence[int], episodes: int) -> Paths:
        """Where some gaits lead under the damage.

        Of several episodes that which lasts longest tells the path, and the earliest fall counts.
        """
        if not len(rows):
            return {}
        seeds = derive_seeds(0, SeedFamily.MISSION, 0, episodes)
        runs = [Run(self.damage, row, int(seed)) for row in rows for seed in seeds]
        found, paths = self._twin.run(runs, traced=True), {}
        assert found.traces is not None
        for number, row in enumerate(rows):
            own = slice(number * episodes, (number + 1) * episodes)
            traces, fell = found.traces[own], found.fell[own]
            fall = min((len(trace) for trace, down in zip(traces, fell, strict=True) if down), default=np.inf)
            paths[row] = self._path(max(traces, key=len)), fall
        return paths

    def predicted(self, rows: Sequence[int], going: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Paths of gaits that ran, and when they fall.

        Args:
            rows: of the gaits, n.
            going: gait that is on its way, so that it does not set off again.

        Returns:
            Poses (x [m], y [m], yaw [rad]) every half second, (n, t, 3); and control steps until a fall,
            infinite without one, (n,).
        """
        known = self._paths[str(self.damage)]
        paths = np.array([known[row][0] if row != going else _continued(known[row][0]) for row in rows])
        times = SAMPLE * np.arange(1, self._count + 1)
        return paths + times[:, None] * self._corrections(rows)[:, None], np.array(
            [known[row][1] for row in rows]
        )

    def observe(self, row: int, moved: Pose, steps: int, *, going: bool) -> None:
        """Take in where a stretch of so many control steps led, if it was long enough to tell.

        Args:
            row: of the gait.
            moved: see `Stretch`.
            steps: of control.
            going: whether the gait was on its way before.
        """
        places = steps // self.every
        if not 1 <= places <= self._count or row not in self._paths.get(str(self.damage), {}):
            return
        path = self._paths[str(self.damage)][row][0]
        expected = (_continued(path) if going else path)[places - 1]
        self._residuals.append((row, (np.array(moved) - expected) / (places * SAMPLE)))

    def _corrections(self, rows: Sequence[int]) -> np.ndarray:
        """What is added to the rates of gaits, (n, 3)."""
        if not self._residuals:
            return np.zeros((len(rows), 3))
        seen = [row for row, _ in self._residuals]
        off = np.array([residual for _, residual in self._residuals])
        covariance = self._covariance(seen, seen) + (_NOISE / _OFF) ** 2 * np.eye(len(seen))
        return np.asarray(self._covariance(rows, seen) @ np.linalg.solve(covariance, off))

    def _covariance(self, some: Sequence[int], others: Sequence[int]) -> np.ndarray:
        distances = cdist(self._measures[list(some)], self._measures[list(others)])
        return np.asarray(_COMMON + (1 - _COMMON) * matern_52(distances, length_scale=_REACH))

    def _path(self, trace: np.ndarray) -> np.ndarray:
        """Poses every half second, (t, 3); after a fall the robot stays."""
        at = self._columns
        if not len(trace):
            return np.zeros((self._count, 3))
        ends = np.minimum(self.every * np.arange(1, self._count + 1), len(trace)) - 1
        yaw = np.unwrap(trace[:, at.attitude + 2].astype(np.float64))
        return np.column_stack([trace[ends, at.position : at.position + 2], yaw[ends]])


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
