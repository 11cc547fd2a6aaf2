"""`Monitor`: notices that a gait does not go as it does on the robot that is believed in."""

from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from adapt.damage.damage import Damage
from adapt.self_model.twin import Twin
from robots.evaluations import Request
from robots.motors import Motors
from robots.randomization import DEFAULT, facing_ahead, randomised
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import ModelBatch
from robots.simulation.trace import TraceColumns

WINDOW = 1.0  # [s] that a vector of features sums up: the period of the included periodic gaits
_MODELS = 12  # models of the robot, on each of which an episode of a gait tells what is usual
_LARGEST = 6.0  # standardised residual beyond which more is no more evidence
_FLOORS = (0.03, 0.05, 0.03, 0.03, 0.08)  # least scales: joints [rad], [N m], torso [rad], path [m], feet
ALLOWANCE = 1.5  # standard deviations by which a window may exceed the usual without adding to the sums
THRESHOLD = 11.0  # value of a sum at which the monitor gives the alarm
_MOST = 10.0  # standard deviations that a window counts at most: no single one gives the alarm
_MOST_AT_FIRST = 4.5  # the same after a change of gait, of which the window still holds some
_LEAST_SCALE = 0.15  # least standard deviation of a statistic between windows of one robot
_WORKS = 0.1  # share of the torque of other joints at which a motor that was dead or lost works again
SILENCE = "motors give no torque"
_SILENT = 0.1  # share of the least torque that is usual of a motor, below which it gives none


@dataclass(frozen=True, eq=False)
class _Usual:
    """How a gait usually goes: means and scales of the features and of the statistics, and its torque."""

    mean: np.ndarray
    scale: np.ndarray
    levels: np.ndarray  # (2, 3): mean and standard deviation of each statistic
    sound: np.ndarray  # (j,) bool: joints without damage, of which alone it is known how they move
    powerless: np.ndarray  # (j,) bool: joints whose motors give no torque
    torque: float  # [N m] from which on one of these works again
    # mean torques of half a second below which the motors of other joints give none, (j,) [N m]
    least: np.ndarray


class Monitor:
    """Sums up by how much windows of a trace differ from what the gait usually does.

    Each half second the features of the last second, which is a cycle of the included periodic gaits, are
    standardised by the gait's own episodes on twelve robots with the damage that is believed. These differ
    from the model as those of the training did, by default in masses, friction, strength, delay and noise,
    but begin facing ahead. Three statistics of the
    residuals, their robust mean over all features, that of the worst joint and the root mean square of the
    course (what is lacking of the progress ahead, and the turn), drive three one-sided cumulative sums (Page
    1954): S ← max(0, S + min(z, 10) - 1.5), where z is by how many standard deviations of one robot's windows
    the statistic is above the highest of the twelve robots' means, or for the course by how many beyond two
    standard deviations. The alarm is given where a sum reaches 11. The course counts for periodic gaits of a
    robot with odometry that is believed to be whole alone: that of other gaits varies too much within a
    second, and how a broken leg drags depends on the floor. For a second and a half after a change of gait
    nothing counts, and the first window then counts little. A motor that is believed to be dead or lost and
    gives torque was repaired, and one that gives none for half a second, where it always gives some, has
    failed: the alarm is given at once.

    Args:
        twin: runs the episodes.
        robot: whole.

    Attributes:
        sums: the cumulative sums, of all features, of the worst joint and of the course, (3,).
        highest: that a sum has been since `calm`.
        works: whether a motor worked since then that is believed to be dead or lost.
        silent: joints whose motors gave no torque since then, though they are believed to work.
    """

    def __init__(self, twin: Twin, robot: Robot) -> None:
        self._twin = twin
        self._columns = TraceColumns.of(robot)
        self._motors = Motors.of(robot.physics, robot.description.joints)
        self._middle, self._half = robot.joint_middles, robot.joint_half_ranges
        self._joints, self._feet = robot.action_dim, len(robot.description.feet)
        self._window = max(2, round(WINDOW / robot.control_step))
        self._known: dict[tuple[str, int], _Usual | None] = {}
        self._usual: _Usual | None = None
        self._believed = ""
        self._made: tuple[tuple[str, Robot], list[Robot]] | None = None
        self._going = False
        self.calm()
        self._ignored = False  # whether a working motor is no news, since the damage is believed all the same

    def calm(self) -> None:
        """Forget what was noticed."""
        self.sums, self.highest, self.works = np.zeros(3), 0.0, False
        self.silent: tuple[str, ...] = ()

    def begin(self, damage: Damage, row: int, *, going: bool = False) -> None:
        """Watch a gait from now on, on a robot with this damage; `going` where it was on its way before."""
        self._going = going
        key = (str(damage), row)
        if key not in self._known:
            self._known[key] = self._learn(damage, row)
        if key[0] != self._believed:
            self._believed, self._ignored = key[0], False
        self._usual = self._known[key]

    def trust(self, damage: Damage, row: int) -> None:
        """Expect twice as much variety of a gait from now on: its alarm was a false one.

        If a working motor gave it, it gives no more under this damage.
        """
        self._ignored |= self.works and str(damage) == self._believed
        if usual := self._known.get((str(damage), row)):
            levels = usual.levels * np.array([[1.0], [2.0]])
            self._known[str(damage), row] = replace(usual, levels=levels)

    def watch(self, trace: np.ndarray, made: int) -> str | None:
        """Look at a stretch whose trace has so many rows; what is unusual, in words, or None."""
        late = made - self._window  # the first cycle after a change of gait is none of either
        half = self._window // 2
        if made % half == 0 and self.listen(trace[:made]):
            return SILENCE
        if self._usual is None or late < (0 if self._going else half) or late % half:
            return None
        most = _MOST if self._going or late > half else _MOST_AT_FIRST
        window = trace[made - self._window : made]
        torques = np.median(abs(window[:, self._columns.torque : self._columns.attitude]), axis=0)
        if not self._ignored and (torques[self._usual.powerless] > self._usual.torque).any():
            self.sums[1] = self.highest = THRESHOLD
            self.works = True
            return "a motor works that should give no torque"
        z = self._statistics(self._features(window), self._usual)
        mean, deviation = self._usual.levels
        self.sums = np.maximum(0, self.sums + np.minimum((z - mean) / deviation, most) - ALLOWANCE)
        self.highest = max(self.highest, float(self.sums.max()))
        if self.sums.max() < THRESHOLD:
            return None
        what = ("the whole robot moves otherwise", "a joint moves otherwise", "the robot gets elsewhere")
        return f"{what[int(np.argmax(self.sums))]} than usual"

    def listen(self, trace: np.ndarray) -> bool:
        """Whether motors gave no torque in the last half second of a stretch, of those that always give some.

        The first half second after a change of gait does not count.
        """
        half = self._window // 2
        known = "currents" in self._twin.thinking.sensors
        if self._usual is None or not known or len(trace) < (half if self._going else 2 * half):
            return False
        silent = self._loads(trace[-half:]) < self._usual.least
        self.silent = tuple(compress(self._twin.parts.robot.description.joints, silent))
        return bool(self.silent)

    def _loads(self, rows: np.ndarray) -> np.ndarray:
        """Mean torques of the joints, whichever way they go, (j,) [N m]."""
        return np.asarray(abs(rows[:, self._columns.torque : self._columns.attitude]).mean(axis=0))

    def _learn(self, damage: Damage, row: int) -> _Usual | None:
        """How a gait usually goes; None if it hardly stays up."""
        solutions = self._twin.solutions([row] * _MODELS)
        episodes = self._twin.thinking.backend.run(
            ModelBatch(*self._models(damage)),
            solutions,
            derive_seeds(0, SeedFamily.MISSION, 0, _MODELS, row),
            models=np.arange(_MODELS),
            request=Request(traces=True),
        )
        assert episodes.traces is not None
        half = self._window // 2
        windows = [
            (model, trace[end - self._window : end])
            for model, trace in enumerate(episodes.traces)
            for end in range(self._window + half, len(trace) + 1, half)
        ]
        if len(windows) < _MODELS:
            return None
        _, model = np.unique([number for number, _ in windows], return_inverse=True)
        found = np.array([self._features(window) for _, window in windows])
        floors = np.repeat(_FLOORS, (2 * self._joints, 2 * self._joints, 4, 3, self._feet))
        scale = np.hypot(found.std(axis=0), floors)
        sound = ~self._joints_of(damage)  # where a dead leg drags, its joints follow the floor
        sound = sound if sound.any() else ~sound
        powerless = self._joints_of(damage, powerless=True)
        every = np.concatenate(list(episodes.traces))[:, self._columns.torque : self._columns.attitude]
        others = abs(every[:, ~powerless])
        torque = max(_FLOORS[1], _WORKS * float(others.mean()) if others.size else 0.0)
        ends = ((trace, end) for trace in episodes.traces for end in range(2 * half, len(trace) + 1, half))
        loads = [self._loads(trace[end - half : end]) for trace, end in ends]
        least = np.where(powerless, 0.0, _SILENT * np.min(loads, axis=0))
        levels = np.array([[0.0] * 3, [1.0] * 3])
        usual = _Usual(found.mean(axis=0), scale, levels, sound, powerless, torque, least)
        z = np.array([self._statistics(features, usual) for features in found])
        # one model differs from the mean of all in every window, which must not add up
        means = np.array([z[model == i].mean(axis=0) for i in range(model.max() + 1)])
        within = z - means[model]
        levels = np.stack([means.max(axis=0), np.maximum(within.std(axis=0), _LEAST_SCALE)])
        levels[0, 2] += 2 * levels[1, 2]  # of two features, which vary more by chance than many
        repeats = self._twin.parts.robot.controller.period(solutions[0]) is not None
        if damage.singles or not repeats or "odometry" not in self._twin.thinking.sensors:
            levels[0, 2] = np.inf  # of the course nothing is unusual
        return replace(usual, levels=levels)

    def _models(self, damage: Damage) -> list[Robot]:
        """Robots with a damage that differ from the model."""
        key = str(damage), self._twin.parts.robot
        if self._made is None or self._made[0] != key:
            ranges = facing_ahead(self._twin.thinking.randomization or DEFAULT)
            robots = [randomised(key[1], number, ranges) for number in range(_MODELS)]
            self._made = key, [damage.apply(robot) for robot in robots]
        return self._made[1]

    def _joints_of(self, damage: Damage, *, powerless: bool = False) -> np.ndarray:
        """Which joints have a part in a damage, if asked for one that leaves motors no torque, (j,) bool."""
        parts, names = self._twin.parts, self._twin.parts.robot.description.joints
        some = [single for single in damage.singles if single.powerless or not powerless]
        broken = {name for single in some for name in parts.joints(parts.find(single.target))}
        return np.array([name in broken for name in names])

    def _features(self, window: np.ndarray) -> np.ndarray:
        """Features of a window, (e,): joints, torques, attitude, progress, contacts."""
        at = self._columns
        rows = window.astype(np.float64)
        angle = self._middle + self._half * rows[:, at.angle : at.torque]
        error = angle - self._motors.targets(rows[:, : at.angle])
        torque = rows[:, at.torque : at.attitude]
        attitude = rows[:, at.attitude : at.attitude + 2]
        dx, dy = rows[-1, at.position : at.position + 2] - rows[0, at.position : at.position + 2]
        start, end = rows[0, at.attitude + 2], rows[-1, at.attitude + 2]
        turned = np.mod(end - start + np.pi, 2 * np.pi) - np.pi
        ahead = np.cos(start) * dx + np.sin(start) * dy
        aside = np.cos(start) * dy - np.sin(start) * dx
        return np.concatenate([
            error.mean(axis=0), error.std(axis=0),
            torque.mean(axis=0), torque.std(axis=0),
            attitude.mean(axis=0), attitude.std(axis=0),
            [ahead, aside, turned],
            rows[:, at.contact : at.contact + self._feet].mean(axis=0),
        ])  # fmt: skip

    def _statistics(self, features: np.ndarray, usual: _Usual) -> np.ndarray:
        """Mean residual of all features, of the worst joint, and size of that of the course, (3,)."""
        signed = (features - usual.mean) / usual.scale
        residuals = np.minimum(abs(signed), _LARGEST)
        joints = residuals[: 4 * self._joints].reshape(4, self._joints)[:, usual.sound]
        others = residuals[4 * self._joints :]
        mean = (joints.sum() + others.sum()) / (joints.size + others.size)
        ahead, _, turned = others[4:7]
        lacking = ahead if signed[4 * self._joints + 4] < 0 else 0.0
        return np.array([mean, joints.mean(axis=0).max(), np.hypot(lacking, turned) / np.sqrt(2)])
