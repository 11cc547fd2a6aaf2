"""Deployment: runs one controller on a simulated robot, intact or damaged, and records what happens."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import mujoco
import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from robots.arrays import real_number
from robots.deployment.walk import Walk
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
        joints: names of the j joints, in the order of the columns of `joint_angles`, `torques` and `actions`.
        feet: names of the f feet, in the order of the columns of `contacts`.
        times: [s], (t,).
        positions: of the torso, x, y, z [m], (t, 3).
        angles: roll, pitch and yaw of the torso about the fixed axes x, y and z [rad], (t, 3).
        rates: at which the torso turns about its own axes [rad/s], (t, 3).
        speeds: of the torso along its own heading, horizontally [m/s], (t,).
        joint_angles: [rad], (t, j); NaN where the joint is lost.
        torques: that motors give [N m or N], (t, j); 0 where the joint or the motor is lost.
        commands: what the controller told each joint, (t, j).
        actions: what arrived at the motors, in [-1, 1], (t, j); 0 where the motor is lost.
        contacts: whether the foot touched the floor, (t, f) bool.
        rewards: (t,); their sum is the objective.
        command: speed [m/s] and turn [rad/s] that the robot was told, if any.
        ended: because the time was up, the robot fell, or the simulation blew up; what blew up has no row.
        start: where the torso began over the ground [m], (2,).
    """

    joints: tuple[str, ...]
    feet: tuple[str, ...]
    times: np.ndarray
    positions: np.ndarray
    angles: np.ndarray
    rates: np.ndarray
    speeds: np.ndarray
    joint_angles: np.ndarray
    torques: np.ndarray
    commands: np.ndarray
    actions: np.ndarray
    contacts: np.ndarray
    rewards: np.ndarray
    ended: End
    start: np.ndarray
    command: tuple[float, float] | None = None

    def __len__(self) -> int:
        return len(self.times)

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Everything recorded, (t,) each, by a name that ends in its unit."""
        return {
            "time [s]": self.times,
            **_named(self.positions, ("x [m]", "y [m]", "z [m]")),
            **_named(self.angles, ("roll [rad]", "pitch [rad]", "yaw [rad]")),
            **_named(self.rates, ("roll rate [rad/s]", "pitch rate [rad/s]", "yaw rate [rad/s]")),
            "forward speed [m/s]": self.speeds,
            **_named(self.joint_angles, [f"{joint} angle [rad]" for joint in self.joints]),
            **_named(self.torques, [f"{joint} torque [N m]" for joint in self.joints]),
            **_named(self.commands, [f"{joint} command [-1..1]" for joint in self.joints]),
            **_named(self.actions, [f"{joint} action [-1..1]" for joint in self.joints]),
            **_named(self.contacts, [f"{foot} contact [0/1]" for foot in self.feet]),
            "reward": self.rewards,
        }

    def write_csv(self, path: Path, gait: str | None = None) -> None:
        """Write `columns`, a row per control step under a row of names; "nan" where a joint is lost.

        Args:
            path: the file.
            gait: what to call it in a last column, `gait`; without, there is none.
        """
        table = pd.DataFrame({name: column.astype(np.float64) for name, column in self.columns.items()})
        if gait is not None:
            table["gait"] = gait
        write_text(path, table.to_csv(index=False, float_format="%.9g", na_rep="nan"))

    @property
    def walk(self) -> Walk:
        """The way over the ground, if there is a row."""
        steps, yaw = np.diff(self.positions[:, :2], axis=0), np.unwrap(self.angles[:, 2])
        path = float(np.linalg.norm(steps, axis=1).sum())
        x, y = (self.positions[-1, :2] - self.start).tolist()
        turned = float(yaw[-1] - yaw[0])
        return Walk(x, y, path, turned, single=True, falls=float(self.ended == "fall"))

    def summary(self) -> str:
        """How it went, in a line."""
        if not len(self):
            return "the simulation blew up at once"
        ends = {"time": ", still on its feet", "fall": "", "divergence": ", and the simulation blew up"}
        return f"{self.times[-1]:.1f} s: {self.walk.words}{ends[self.ended]}{self._command_words}"

    @property
    def _command_words(self) -> str:
        """The command and what the robot did, in words; "" without one."""
        if self.command is None:
            return ""
        (speed, turn), rate = self.command, self.walk.turned / self.times[-1]
        return (
            f"; told {speed:.2f} m/s and {turn:+.2f} rad/s, it went at {self.speeds.mean():.2f} m/s and "
            f"{rate:+.2f} rad/s"
        )


def deploy(
    robot: Robot,
    parameters: np.ndarray,
    *,
    seconds: float,
    seed: int,
    on_frame: Callable[[mujoco.MjData, Moment], None] | None = None,
    frame_every: int = 1,
) -> Telemetry:
    """Run a controller until the time is up or the robot falls, see `robots.falls`.

    Up to the robot's own episode limit this is the episode that a `Backend` runs for the same seed, of
    the robot whose episodes end when it falls.

    Args:
        robot: intact or damaged.
        parameters: of its controller, (p,), taken as float32.
        seconds: how long, rounded to whole control steps; the robot's episode limit does not apply.
        seed: of the initial joint angles.
        on_frame: called with the robot's state, and how it is doing, after every `frame_every`-th control
            step, to draw it. Frames go on after a fall, while the telemetry ends.
        frame_every: 1 gives about 60 frames per second for the robots that come with the package.

    Raises:
        InvalidValueError: an argument is outside what is said here.
    """
    limit = _whole_steps(robot, seconds)
    limited = robot.with_episode_steps(limit).until_it_falls()
    parameters = limited.controller.checked_parameters(parameters)
    if not np.isfinite(parameters).all():
        raise InvalidValueError("parameters must be finite")
    if frame_every < 1:
        raise InvalidValueError(f"frame_every must be at least 1, not {frame_every}")
    stepper = Stepper(limited)
    stepper.reset(seed)
    rows, t, fell = _table(limited, limit), 0, False
    start = stepper.posed_data().body(robot.description.torso).xpos[:2].copy()
    for step in range(limit):
        command = limited.controller.act(parameters, stepper.state.observation, stepper.tally.steps)
        stepper.step(command)
        if stepper.tally.diverged:
            break
        data = stepper.posed_data()
        if not fell:
            rows[step] = _row(data, stepper, command)
            t, shares = step + 1, stepper.contact_shares
            ahead = float(rows["positions"][step, 0] - start[0])
        fell = fell or bool(stepper.tally.terminated)
        if on_frame and (step + 1) % frame_every == 0:
            on_frame(data, Moment(data.time, ahead, fell, shares, stepper.state.touching.copy()))
        if fell and not on_frame:
            break
    tally, told = stepper.tally, robot.description.command is not None
    ended: End = "fall" if fell else "divergence" if tally.diverged else "time"
    return Telemetry(
        joints=robot.description.joints,
        feet=tuple(robot.description.feet),
        times=robot.control_step * np.arange(1, t + 1),
        command=(float(tally.commanded_speed), float(tally.commanded_turn)) if told else None,
        ended=ended,
        start=start,
        **{name: rows[name][:t].copy() for name in rows.dtype.names},
    )


def _whole_steps(robot: Robot, seconds: float) -> int:
    """Control steps that a duration lasts."""
    seconds = real_number("seconds", seconds, 0, above=True, unit="s")
    if not robot.control_step / 2 < seconds <= _LONGEST:
        raise InvalidValueError(
            f"seconds must last a control step of {robot.control_step:g} s or more, at most {_LONGEST:g} s, "
            f"not {seconds:g}"
        )
    return round(seconds / robot.control_step)


def _table(robot: Robot, steps: int) -> Any:
    """Rows for the columns of a `Telemetry` that differ from step to step, (steps,)."""
    joints, feet = len(robot.description.joints), len(robot.description.feet)
    columns = [
        ("positions", np.float64, (3,)),
        ("angles", np.float64, (3,)),
        ("rates", np.float64, (3,)),
        ("speeds", np.float64),
        ("joint_angles", np.float64, (joints,)),
        ("torques", np.float64, (joints,)),
        ("commands", np.float64, (joints,)),
        ("actions", np.float64, (joints,)),
        ("contacts", np.bool_, (feet,)),
        ("rewards", np.float64),
    ]
    return np.zeros(steps, columns)


def _row(data: mujoco.MjData, stepper: Stepper, command: np.ndarray) -> tuple[Any, ...]:
    """What the last control step left behind, in the order of `_table`."""
    robot, torso = stepper.robot, data.body(stepper.robot.description.torso)
    velocity = np.empty(6)  # angular, then linear, along the world's axes
    mujoco.mj_objectVelocity(robot.model, data, mujoco.mjtObj.mjOBJ_XBODY, torso.id, velocity, 0)
    angles = Rotation.from_quat(torso.xquat, scalar_first=True).as_euler("xyz")
    speed = np.cos(angles[2]) * velocity[3] + np.sin(angles[2]) * velocity[4]
    state = stepper.state
    return (
        torso.xpos,
        angles,
        torso.xmat.reshape(3, 3).T @ velocity[:3],
        speed,
        _of_joints(robot, data.qpos, robot.model.jnt_qposadr, robot.faults.fixed, np.nan),
        _of_joints(robot, data.qfrc_actuator, robot.model.jnt_dofadr, {}, 0.0),
        command,
        state.action,
        state.touching,
        stepper.tally.reward,
    )


def _of_joints(
    robot: Robot, values: np.ndarray, places: np.ndarray, fixed: Mapping[str, float], lost: float
) -> np.ndarray:
    """What data hold for each joint at its place, or for one that is fixed or lost, (j,)."""
    joints = robot.description.joints
    found = np.array([fixed.get(name, lost) for name in joints])
    for column, name in enumerate(joints):
        joint = mujoco.mj_name2id(robot.model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint >= 0:
            found[column] = values[places[joint]]
    return found


def _named(table: np.ndarray, names: list[str] | tuple[str, ...]) -> dict[str, np.ndarray]:
    return dict(zip(names, table.T, strict=True))
