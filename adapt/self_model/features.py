"""`Features`: what the trace of a trial says of a robot's condition, with whichever sensors there are."""

from collections.abc import Sequence
from itertools import compress, pairwise

import numpy as np

from adapt.damage.damage import JointReading
from robots.errors import InvalidValueError, UnknownNameError
from robots.motors import Motors
from robots.robot import Robot
from robots.simulation.trace import SENSORS, TraceColumns

_WINDOWS = 5
_LONGEST = 250  # control steps that count: what is wrong shows within seconds
_ERROR = "encoders: {} mean error [rad]"
_TORQUE_SHARE = "encoders+currents: {} share of usual torque [1]"
# The features of joints and of the whole robot, and what each may be off by in any case: resolution and drift
_OF_JOINTS = {
    _ERROR: 0.01,
    "encoders: {} spread of error [rad]": 0.01,
    "encoders: {} range [rad]": 0.01,
    "currents: {} mean torque [N m]": 0.03,
    "currents: {} spread of torque [N m]": 0.03,
    _TORQUE_SHARE: 0.02,
    "encoders+currents: {} correlation with usual torque [1]": 0.02,
    "encoders+currents: {} turn by torque [rad]": 0.001,
    "encoders+currents: {} turn by turn before [rad]": 0.001,
    "encoders+currents: {} turn by angle [rad]": 0.001,
    "encoders+currents: {} other turn [rad]": 0.001,
}
_AXES = ("roll", "pitch")
_OF_BODY = {  # in each window, by kind: of what, or of every foot
    "attitude": ("imu: {} in window {} [rad]", _AXES, 0.02),
    "spread": ("imu: spread of {} in window {} [rad]", _AXES, 0.02),
    "turn": ("imu: {} in window {} [rad]", ("turn",), 0.02),
    "contacts": ("contacts: {} in window {} [share]", None, 0.03),
    "odometry": ("odometry: {} in window {} [m]", ("x", "y"), 0.015),
}
_LEAST_TORQUE = 0.03  # [N m] below which a motor is at rest
_LEAST_STD = np.array([0.02, 0.005, 0.02])  # [N m], [rad] and [rad] of which deviations say hardly anything
_RIDGE = 0.01  # added to the variances of a regression's inputs


def check_sensors(sensors: Sequence[str]) -> tuple[str, ...]:
    """The names of sensors, checked: raises an error where one is unknown, or there is none."""
    for sensor in sensors:
        if sensor not in SENSORS:
            raise UnknownNameError("sensor", sensor, SENSORS)
    if not sensors:
        raise InvalidValueError(f"a robot needs a sensor to find out what is wrong: {', '.join(SENSORS)}")
    return tuple(sensors)


class Features:
    """Reads features off traces of a robot.

    `_OF_JOINTS` lists those of every joint. The usual torque is the healthy motor's at the same commands and
    angles. The last four are a regression: the change of the angle in a control step that goes with one
    standard deviation of the torque, of the change before and of the angle, and what is left.

    `_OF_BODY` lists those of the whole robot, in each of five windows of the steps that count. A closed-loop
    controller soon amplifies small differences to another path: then these are used only if the robot has no
    sensors in its joints.

    Attributes:
        steps: of a trial that count, its first ones.
        names: of the e features, with sensor and unit.
        floor: standard deviation of each that sensors have in any case, (e,).
        joints: number of the joint that each is about, -1 for those of the whole robot, (e,).
        kinds: what each is, of whichever joint, foot, axis or window, (e,) texts.
    """

    def __init__(self, robot: Robot, sensors: Sequence[str] = SENSORS) -> None:
        self.robot, self.sensors, self._columns = robot, check_sensors(sensors), TraceColumns.of(robot)
        self._motors = Motors.of(robot.physics, robot.description.joints)
        self.steps = min(_LONGEST, robot.description.episode_steps)
        every = self._every()
        of_joints_alone = robot.controller.closed_loop and {"encoders", "currents"} & set(sensors)
        read = [set(name.partition(":")[0].split("+")) <= set(sensors) for name, *_ in every]
        about = [joint >= 0 or not of_joints_alone for _, _, joint, _ in every]
        self._kept = np.logical_and(read, about)
        self.names, kinds, joints, floors = zip(*compress(every, self._kept), strict=True)
        self.kinds, self.joints, self.floor = np.array(kinds), np.array(joints), np.array(floors)

    def __len__(self) -> int:
        return len(self.names)

    def check(self, trace: np.ndarray) -> None:
        """Refuse what is no trace of this robot."""
        columns, most = self._columns.end, self.robot.description.episode_steps
        if np.ndim(trace) != 2 or trace.shape[1] != columns or not 1 <= len(trace) <= most:
            raise InvalidValueError(
                f"a trace of the {self.robot.name} must have 1 to {most} rows of {columns} numbers, not the "
                f"shape {np.shape(trace)}"
            )
        if not np.isfinite(trace).all():
            row = int(np.flatnonzero(~np.isfinite(trace).all(axis=1))[0])
            raise InvalidValueError(f"the numbers of a trace must be finite, but are not in row {row}")

    def of(self, traces: Sequence[np.ndarray], until: int) -> np.ndarray:
        """Features of n traces, (n, e) float64, of whose rows only the first ones count."""
        steps = np.array([max(1, min(len(trace), until)) for trace in traces])
        held = np.stack([self._held(trace, until) for trace in traces])  # (n, until, c)
        counts = np.arange(until) < steps[:, None]
        every = np.concatenate([self._of_joints(held, counts), self._of_body(held, until)], axis=1)
        return np.asarray(every[:, self._kept])

    def readings(self, trace: np.ndarray, steps: int) -> list[JointReading]:
        """What the sensors of each joint showed in a trial; an angle's range holds 80% of the time."""
        values = dict(zip(self.names, self.of([trace], steps)[0].tolist(), strict=True))
        angles, moved = np.zeros(self.robot.action_dim), np.full(self.robot.action_dim, np.inf)
        if "encoders" in self.sensors:
            shares = trace[:, self._columns.angle : self._columns.torque]
            least, median, most = np.quantile(shares, (0.1, 0.5, 0.9), axis=0)
            angles = self.robot.joint_middles + self.robot.joint_half_ranges * median
            moved = self.robot.joint_half_ranges * (most - least)
        return [
            JointReading(
                angle=float(angles[number]),
                moved=float(moved[number]),
                error=values.get(_ERROR.format(joint), 0.0),
                torque_share=values.get(_TORQUE_SHARE.format(joint), 1.0),
            )
            for number, joint in enumerate(self.robot.description.joints)
        ]

    def _held(self, trace: np.ndarray, until: int) -> np.ndarray:
        """The first rows of a trace, the last of them repeated, (until, c)."""
        if not len(trace):  # the simulation blew up
            return np.zeros((until, self._columns.end), np.float32)
        return trace[np.minimum(np.arange(until), len(trace) - 1)]

    def _of_joints(self, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Features of joints, (n, 11 j), from rows (n, t, c) of which some count, (n, t)."""
        at = self._columns
        shares = rows[:, :, at.angle : at.torque].astype(np.float64)
        angle = self.robot.joint_middles + self.robot.joint_half_ranges * shares
        target = self._motors.targets(rows[:, :, : at.angle])
        torque = rows[:, :, at.torque : at.attitude].astype(np.float64)
        weight = counts[:, :, None] / counts.sum(axis=1)[:, None, None]

        def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            mean = (weight * values).sum(axis=1)
            square = (weight * (values - mean[:, None]) ** 2).sum(axis=1)
            return mean, np.sqrt(square)

        highest = np.where(counts[:, :, None], angle, -np.inf).max(axis=1)
        lowest = np.where(counts[:, :, None], angle, np.inf).min(axis=1)
        usual = self._motors.torques(rows[:, :, : at.angle].astype(np.float64), angle)  # at rest
        least = _LEAST_TORQUE**2  # draws what is said of a motor at rest towards 1
        both, square, own = (
            (weight * product).sum(axis=1) + least for product in (usual * torque, usual**2, torque**2)
        )
        ratios = [both / square, both / np.sqrt(square * own), _answers(angle, torque, counts)]
        moved = [*moments(angle - target), highest - lowest]
        return np.concatenate([*moved, *moments(torque), *ratios], axis=1)

    def _of_body(self, rows: np.ndarray, until: int) -> np.ndarray:
        """Features of the whole robot in windows, (n, w (7 + f))."""
        at = self._columns
        ends = np.linspace(0, max(self.steps, until), _WINDOWS + 1).astype(int)
        found = []
        for start, end in pairwise(ends):
            first = min(start, until - 1)
            some = rows[:, first : max(min(end, until), first + 1)].astype(float)
            attitude, contacts = some[:, :, at.attitude : at.rate], some[:, :, at.contact : at.position]
            turned = attitude[:, -1, 2] - attitude[:, 0, 2]
            found += [
                attitude[:, :, :2].mean(axis=1),
                attitude[:, :, :2].std(axis=1),
                (np.mod(turned + np.pi, 2 * np.pi) - np.pi)[:, None],
                contacts.mean(axis=1),
                some[:, -1, at.position :] - some[:, 0, at.position :],
            ]
        return np.concatenate(found, axis=1)

    def _every(self) -> list[tuple[str, str, int, float]]:
        """Name, kind, joint or -1, and what it may be off by of every feature, whatever the sensors."""
        joints, feet = self.robot.description.joints, self.robot.description.feet
        of_joints = [
            (form.format(joint), form, number, floor)
            for form, floor in _OF_JOINTS.items()
            for number, joint in enumerate(joints)
        ]
        of_body = [
            (form.format(what, window), kind, -1, floor)
            for window in range(1, _WINDOWS + 1)
            for kind, (form, whats, floor) in _OF_BODY.items()
            for what in whats or feet
        ]
        return of_joints + of_body


def _answers(angle: np.ndarray, torque: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """How joints answer to torque [N m], (n, 4 j), from (n, t, j) and which steps count, (n, t)."""
    n, _, j = angle.shape
    turn = np.diff(angle, axis=1)
    every = np.stack([torque[:, 2:], turn[:, :-1], angle[:, 1:-1], turn[:, 1:]], axis=3)  # (n, t - 2, j, 4)
    weight = counts[:, 2:] / np.maximum(counts[:, 2:].sum(axis=1), 1)[:, None]
    every = every - np.einsum("nt,ntja->nja", weight, every)[:, None]
    both = np.einsum("nt,ntja,ntjb->njab", weight, every, every, optimize=True)
    size = np.sqrt(np.diagonal(both[..., :3, :3], axis1=2, axis2=3)) + _LEAST_STD
    inputs = both[..., :3, :3] / (size[..., :, None] * size[..., None, :])
    shared = both[..., :3, 3] / size
    found = np.linalg.solve(inputs + _RIDGE * np.eye(3), shared[..., None])[..., 0]  # (n, j, 3)
    left = both[..., 3, 3] - (found * (2 * shared - np.einsum("njab,njb->nja", inputs, found))).sum(axis=2)
    answers = np.concatenate([found, np.sqrt(np.maximum(left, 0))[..., None]], axis=2)
    return np.asarray(answers.transpose(0, 2, 1).reshape(n, 4 * j))
