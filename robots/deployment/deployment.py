"""Deployment: runs one controller on a simulated robot, intact or damaged, and records what happens."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from robots.errors import InvalidValueError
from robots.files.atomic import write_text
from robots.rendering.overlay import Moment
from robots.robot import Robot
from robots.simulation.stepper import Stepper

End = Literal["time", "fall", "divergence"]
_LONGEST = 3600.0  # [s]


@dataclass(frozen=True, eq=False)
class Telemetry:
    """What happened in t control steps: a row per step, the state at its end.

    Attributes:
        joints: names of the j joints, in the order of the columns of `joint_angles` and `actions`.
        feet: names of the f feet, in the order of the columns of `contacts`.
        times: [s], (t,).
        positions: of the torso, x, y, z [m], (t, 3).
        angles: roll, pitch and yaw of the torso about the fixed axes x, y and z [rad], (t, 3).
        speeds: of the torso along its own heading, horizontally [m/s], (t,).
        joint_angles: [rad], (t, j); NaN where the joint is lost.
        actions: in [-1, 1], (t, j); 0 where the motor is lost.
        contacts: whether the foot touched the floor, (t, f) bool.
        rewards: (t,).
        ended: because the time was up, the robot fell, or the simulation blew up; what blew up has no row.
    """

    joints: tuple[str, ...]
    feet: tuple[str, ...]
    times: np.ndarray
    positions: np.ndarray
    angles: np.ndarray
    speeds: np.ndarray
    joint_angles: np.ndarray
    actions: np.ndarray
    contacts: np.ndarray
    rewards: np.ndarray
    ended: End

    def __len__(self) -> int:
        return len(self.times)

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Everything recorded, (t,) each, by a name that ends in its unit."""
        return {
            "time [s]": self.times,
            **_named(self.positions, ("x [m]", "y [m]", "z [m]")),
            **_named(self.angles, ("roll [rad]", "pitch [rad]", "yaw [rad]")),
            "forward speed [m/s]": self.speeds,
            **_named(self.joint_angles, [f"{joint} angle [rad]" for joint in self.joints]),
            **_named(self.actions, [f"{joint} action [-1..1]" for joint in self.joints]),
            **_named(self.contacts, [f"{foot} contact [0/1]" for foot in self.feet]),
            "reward": self.rewards,
        }

    def write_csv(self, path: Path) -> None:
        """Write `columns`, a row per control step under a row of names; "nan" where a joint is lost.

        Raises:
            InvalidFileError: the file cannot be written.
        """
        columns = self.columns
        table = np.array([column.astype(np.float64) for column in columns.values()]).T  # (t, columns)
        text = io.StringIO()
        np.savetxt(text, table, fmt="%.9g", delimiter=",", header=",".join(columns), comments="")
        write_text(path, text.getvalue())

    def summary(self) -> str:
        """How it went, in a line."""
        if not len(self):
            return "the simulation blew up at once"
        end = {"time": "still on its feet", "fall": "it fell", "divergence": "the simulation blew up"}[
            self.ended
        ]
        x, y, _ = self.positions[-1]
        way = f"{x:.2f} m ahead and {abs(y):.2f} m to the {'left' if y > 0 else 'right'}"
        return f"{self.times[-1]:.1f} s: {way}, reward {self.rewards.sum():.1f}; {end}"


def deploy(
    robot: Robot,
    parameters: np.ndarray,
    *,
    seconds: float,
    seed: int,
    on_frame: Callable[[mujoco.MjData, Moment], None] | None = None,
    frame_every: int = 1,
    stop_at_fall: bool = True,
) -> Telemetry:
    """Run a controller until the time is up or, unless told otherwise, the robot falls.

    Up to the robot's own episode limit this is the episode that `Simulation` evaluates for the same seed.

    Args:
        robot: intact or damaged.
        parameters: of its controller, (p,), taken as float32.
        seconds: how long, rounded to whole control steps; the robot's episode limit does not apply.
        seed: of the initial joint angles.
        on_frame: called with the robot's state, and how it is doing, after every `frame_every`-th control
            step, to draw it.
        frame_every: 1 gives about 60 frames per second for the robots that come with the package.
        stop_at_fall: whether a fall ends it; otherwise frames go on after it, while the telemetry ends.

    Raises:
        InvalidValueError: an argument is outside what is said here.
    """
    limit = _whole_steps(robot, seconds)
    limited = robot.with_episode_steps(limit)
    parameters = limited.controller.checked_parameters(parameters)
    if not np.isfinite(parameters).all():
        raise InvalidValueError("parameters must be finite")
    if seed < 0 or frame_every < 1:
        raise InvalidValueError(
            f"seed must be at least 0 and frame_every at least 1, not {seed} and {frame_every}"
        )
    stepper = Stepper(limited)
    stepper.reset(seed)
    log: list[dict[str, np.ndarray]] = []
    fell = False
    for step in range(1, limit + 1):
        stepper.drive(parameters)
        if stepper.tally.diverged:
            break
        data = stepper.posed_data()
        if not fell:
            log.append(_snapshot(data, stepper))
        fell = fell or bool(stepper.tally.terminated)
        if on_frame and step % frame_every == 0:
            on_frame(data, _moment(data, log[-1], stepper))
        if fell and stop_at_fall:
            break
    ended: End = "divergence" if stepper.tally.diverged else "fall" if fell else "time"
    return _telemetry(limited, log, ended)


def _whole_steps(robot: Robot, seconds: float) -> int:
    """Control steps that a duration lasts."""
    if not np.isfinite(seconds) or round(seconds / robot.control_step) < 1:
        raise InvalidValueError(
            f"seconds must last a control step of {robot.control_step:g} s or more, not {seconds}"
        )
    if seconds > _LONGEST:
        raise InvalidValueError(f"seconds must be at most {_LONGEST:g}, not {seconds:g}")
    return round(seconds / robot.control_step)


def _snapshot(data: mujoco.MjData, stepper: Stepper) -> dict[str, np.ndarray]:
    """Copies of what the last control step left behind."""
    torso = data.body(stepper.robot.description.torso)
    velocity = np.empty(6)  # angular, then linear, along the world's axes
    mujoco.mj_objectVelocity(stepper.robot.model, data, mujoco.mjtObj.mjOBJ_XBODY, torso.id, velocity, 0)
    return {
        "position": torso.xpos.copy(),
        "quaternion": torso.xquat.copy(),
        "velocity": velocity[3:],
        "qpos": data.qpos.copy(),
        "actions": stepper.state.action.astype(np.float64),
        "contacts": stepper.state.touching.copy(),
        "rewards": stepper.tally.reward,
        "objective": stepper.tally.objective,
        "shares": stepper.contact_shares,
    }


def _moment(data: mujoco.MjData, last: dict[str, np.ndarray], stepper: Stepper) -> Moment:
    """How it is going, where the score is that of the last snapshot: a fall ends it."""
    return Moment(data.time, float(last["objective"]), last["shares"], stepper.state.touching.copy())


def _telemetry(robot: Robot, log: list[dict[str, np.ndarray]], ended: End) -> Telemetry:
    """Work out what the snapshots mean."""
    model, joints, feet = robot.model, robot.description.joints, tuple(robot.description.feet)
    t = len(log)
    qpos, velocity = _column(log, "qpos", (t, model.nq)), _column(log, "velocity", (t, 3))
    angles = _roll_pitch_yaw(_column(log, "quaternion", (t, 4)))
    yaw = angles[:, 2]
    return Telemetry(
        joints=joints,
        feet=feet,
        times=robot.control_step * np.arange(1, t + 1),
        positions=_column(log, "position", (t, 3)),
        angles=angles,
        speeds=np.cos(yaw) * velocity[:, 0] + np.sin(yaw) * velocity[:, 1],
        joint_angles=_joint_angles(robot, qpos),
        actions=_column(log, "actions", (t, len(joints))),
        contacts=_column(log, "contacts", (t, len(feet))).astype(np.bool_),
        rewards=_column(log, "rewards", (t,)),
        ended=ended,
    )


def _column(log: list[dict[str, np.ndarray]], name: str, shape: tuple[int, ...]) -> np.ndarray:
    """One quantity of all snapshots; the shape is for want of any."""
    return np.array([snapshot[name] for snapshot in log], np.float64).reshape(shape)


def _roll_pitch_yaw(quaternions: np.ndarray) -> np.ndarray:
    """Angles about fixed axes of unit quaternions (w, x, y, z), (t, 3) from (t, 4)."""
    if not len(quaternions):
        return np.empty((0, 3))  # SciPy refuses to rotate nothing
    return Rotation.from_quat(quaternions, scalar_first=True).as_euler("xyz")


def _joint_angles(robot: Robot, qpos: np.ndarray) -> np.ndarray:
    """Angles of the joints [rad], NaN where one is lost, (t, j)."""
    joints, fixed = robot.description.joints, robot.faults.fixed
    angles = np.tile([fixed.get(name, np.nan) for name in joints], (len(qpos), 1))
    for column, name in enumerate(joints):
        joint = mujoco.mj_name2id(robot.model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint >= 0:
            angles[:, column] = qpos[:, robot.model.jnt_qposadr[joint]]
    return angles


def _named(table: np.ndarray, names: list[str] | tuple[str, ...]) -> dict[str, np.ndarray]:
    """A table's columns by name."""
    return dict(zip(names, table.T, strict=True))
