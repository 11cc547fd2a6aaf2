"""Deployment: one controller on a simulated robot, intact or damaged: what happens is recorded, or filmed."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Literal

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from robots.arrays import real_number
from robots.deployment.traces import column_names, write_table
from robots.deployment.walk import Walk
from robots.errors import InvalidValueError
from robots.rendering.camera import Camera
from robots.rendering.overlay import Moment, Overlay
from robots.rendering.video import FASTEST, open_video
from robots.robot import Robot
from robots.simulation.stepper import Stepper

End = Literal["time", "fall", "divergence"]
_LONGEST = 3600.0  # [s]
_VIDEO_SIZE = (640, 480)
_GIF_SIZE = (360, 270)
_FRAME_EVERY = {".mp4": 3, ".gif": 4}  # control steps; an Ant's is 16.5 ms, so 20 and 15 frames a second


@dataclass(frozen=True, eq=False)
class Telemetry:
    """What happened in t control steps: a row per step, the state at its end."""

    joints: tuple[str, ...]  # names of the j joints, in the order of columns
    feet: tuple[str, ...]  # names of the f feet, in the order of columns
    times: np.ndarray  # [s], (t,)
    positions: np.ndarray  # of the torso, x, y, z [m], (t, 3)
    angles: np.ndarray  # roll, pitch and yaw of the torso about the fixed axes x, y and z [rad], (t, 3)
    rates: np.ndarray  # at which the torso turns about its own axes [rad/s], (t, 3)
    speeds: np.ndarray  # of the torso along its own heading, horizontally [m/s], (t,)
    joint_angles: np.ndarray  # [rad], (t, j); NaN where the joint is lost
    joint_speeds: np.ndarray  # [rad/s], (t, j); NaN likewise
    torques: np.ndarray  # that motors give [N m or N], (t, j); 0 where the joint or the motor is lost
    commands: np.ndarray  # what the controller told each joint, (t, j)
    actions: np.ndarray  # what arrived at the motors, in [-1, 1], (t, j); 0 where the motor is lost
    contacts: np.ndarray  # whether the foot touched the floor, (t, f) bool
    rewards: np.ndarray  # (t,); their sum is the objective
    ended: End  # because the time was up, the robot fell, or the simulation blew up, which has no row
    start: np.ndarray  # where the torso began over the ground [m], (2,)
    command: tuple[float, float] | None = None  # speed [m/s] and turn [rad/s] that the robot was told, if any

    def __len__(self) -> int:
        return len(self.times)

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Everything recorded, (t,) each, by a name that ends in its unit."""
        columns = dict[str, np.ndarray]()
        for field, names in column_names(self.joints, self.feet).items():
            columns |= zip(names, np.atleast_2d(getattr(self, field).T), strict=True)
        return columns

    def write_csv(self, path: Path, gait: str | None = None) -> None:
        """Write `columns`, a row per control step, and the name of the `gait`, if any."""
        write_table(self.columns, path, gait)

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
) -> Telemetry:
    """Run a controller until the time is up or the robot falls, see `robots.falls`.

    Up to the robot's own episode limit this is the episode that a `Backend` runs for the same seed, of
    the robot whose episodes end when it falls.

    Args:
        robot: intact or damaged.
        parameters: of its controller, (p,), taken as float32.
        seconds: how long, rounded to whole control steps; the robot's episode limit does not apply.
        seed: of the initial joint angles.
        on_frame: called with the robot's state, and how it is doing, after every control step, to draw it.
            Frames go on after a fall, while the telemetry ends.
    """
    limit = _whole_steps(robot, seconds)
    limited = robot.with_episode_steps(limit).until_it_falls()
    parameters = limited.controller.checked_parameters(parameters)
    if not np.isfinite(parameters).all():
        raise InvalidValueError("parameters must be finite")
    stepper = Stepper(limited)
    stepper.reset(seed)
    first = _row(stepper.posed_data(), stepper, np.zeros(robot.action_dim))
    columns = [(name, np.asarray(value).dtype, np.shape(value)) for name, value in first.items()]
    rows, t, fell = np.zeros(limit, columns), 0, False
    start = first["positions"][:2].copy()
    for step in range(limit):
        command = stepper.action(parameters)
        stepper.step(command)
        if stepper.tally.diverged:
            break
        data = stepper.posed_data()
        if not fell:
            rows[step] = tuple(_row(data, stepper, command).values())
            t, shares = step + 1, stepper.contact_shares
            ahead = float(rows["positions"][step, 0] - start[0])
        fell = fell or bool(stepper.tally.terminated)
        if on_frame:
            on_frame(data, Moment(data.time, ahead, fell, shares, stepper.state.touching.copy()))
        if fell and not on_frame:
            break
    return _telemetry(stepper, rows[:t], start, fell=fell)


def _telemetry(stepper: Stepper, rows: Any, start: np.ndarray, *, fell: bool) -> Telemetry:
    robot, tally = stepper.robot, stepper.tally
    told = robot.description.command is not None
    return Telemetry(
        joints=robot.description.joints,
        feet=tuple(robot.description.feet),
        times=robot.control_step * np.arange(1, len(rows) + 1),
        command=(float(tally.commanded_speed), float(tally.commanded_turn)) if told else None,
        ended="fall" if fell else "divergence" if tally.diverged else "time",
        start=start,
        **{name: rows[name].copy() for name in rows.dtype.names},
    )


def _whole_steps(robot: Robot, seconds: float) -> int:
    seconds = real_number("seconds", seconds, 0, above=True, unit="s")
    if not robot.control_step / 2 < seconds <= _LONGEST:
        raise InvalidValueError(
            f"seconds must last a control step of {robot.control_step:g} s or more, at most {_LONGEST:g} s, "
            f"not {seconds:g}"
        )
    return round(seconds / robot.control_step)


def _row(data: mujoco.MjData, stepper: Stepper, command: np.ndarray) -> dict[str, Any]:
    """What the last control step left behind, by the attributes of `Telemetry` that change with each."""
    robot, torso = stepper.robot, data.body(stepper.robot.description.torso)
    velocity = np.empty(6)  # angular, then linear, along the world's axes
    mujoco.mj_objectVelocity(robot.model, data, mujoco.mjtObj.mjOBJ_XBODY, torso.id, velocity, 0)
    angles = Rotation.from_quat(torso.xquat, scalar_first=True).as_euler("xyz")
    speed = np.cos(angles[2]) * velocity[3] + np.sin(angles[2]) * velocity[4]
    state, rates = stepper.state, robot.description.position_rates
    slowed = np.array([rates.get(joint, 1.0) for joint in robot.description.joints])
    return {
        "positions": torso.xpos.copy(),
        "angles": angles,
        "rates": torso.xmat.reshape(3, 3).T @ velocity[:3],
        "speeds": speed,
        "joint_angles": _of_joints(robot, data.qpos, robot.model.jnt_qposadr, robot.faults.fixed, np.nan),
        "joint_speeds": _of_joints(robot, data.qvel, robot.model.jnt_dofadr, {}, np.nan) * slowed,
        "torques": _of_joints(robot, data.qfrc_actuator, robot.model.jnt_dofadr, {}, 0.0),
        "commands": np.asarray(command, np.float64),
        "actions": state.action.astype(np.float64),
        "contacts": state.touching.astype(np.bool_),
        "rewards": float(stepper.tally.reward),
    }


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


@contextmanager
def open_film(path: Path, robot: Robot) -> Iterator[Callable[[Robot, str, mujoco.MjData, Moment], None]]:
    """Film a robot, which may break meanwhile, to an .mp4 or .gif; feet that touch the floor light up.

    What is given back is to be called after every control step with the robot as it is, a caption, the first
    line of an overlay that tells how it goes, data of the robot's `model`, and how it is doing.
    """
    suffix = path.suffix.lower()
    least = math.ceil(1 / (FASTEST.get(suffix, math.inf) * robot.control_step) - 1e-9)
    every = max(_FRAME_EVERY.get(suffix, 1), least)
    width, height = _GIF_SIZE if suffix == ".gif" else _VIDEO_SIZE
    fps = 1 / (robot.control_step * every)
    with open_video(path, fps=fps) as writer, Camera(robot.model, width=width, height=height) as camera:
        steps = count(1)

        def add(robot: Robot, caption: str, data: mujoco.MjData, moment: Moment) -> None:
            if next(steps) % every:
                return
            camera.look_at(robot.model)
            overlay = Overlay(robot, caption=caption, width=width, height=height)
            touching = zip(robot.description.feet.values(), moment.touching, strict=True)
            glowing = {sole for soles, touches in touching if touches for sole in soles}
            writer.add(overlay.draw(camera.frame(data, glowing), moment))

        yield add
