"""`Observer`: makes of raw sensor readings what a robot's controller was trained to see; `LegOdometry`."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from robots.arrays import real_array
from robots.errors import InvalidValueError, UnknownNameError
from robots.link.messages import State
from robots.robot import Robot, find_robot
from robots.simulation.observing import compose
from robots.simulation.state import composition, imu_axes, make_past
from robots.stance import start_positions
from robots.task.observations import OBSERVATION_LIMIT, Entry


class Observer:
    """Computes observations in the trained order, one call per control step.

    Given the same readings it equals what the simulation's kernel computes within float32, without the noise
    of training. Call `reset` at the start of every episode; `heading` then counts from the first call on.

    Args:
        robot: the robot, or its name, or the path of its YAML; of a repertoire `repertoire.robot`.

    Attributes:
        entries: what each of the o numbers is, in order: its name, unit, scale, zero and lag.
        needs: names of the arguments that a call needs.
    """

    def __init__(self, robot: Robot | str | Path) -> None:
        self.robot = robot if isinstance(robot, Robot) else find_robot(robot)
        self.entries: tuple[Entry, ...] = self.robot.entries
        joints, feet = self.robot.action_dim, len(self.robot.description.feet)
        known = self.robot.channels
        self._gain = np.array([channel.gain for channel in known])
        self._zero = np.array([channel.zero for channel in known])
        self._quantities, self._entries = composition(self.robot)
        self._quantities["noise"] = 0
        self._imu = imu_axes(self.robot)
        self._sizes = {"positions": joints, "speeds": joints, "orientation": 4, "rates": 3, "acceleration": 3}
        self._sizes |= {"contacts": feet, "velocity": 3, "linear_velocity": 3, "height": 1, "bearing": 1}
        self._sizes |= {"last_action": joints, "command": 2}
        sensors = [channel.sensor for channel in known]
        self._places = {name: np.flatnonzero([one == name for one in sensors]) for name in self._sizes}
        made_of = {known[entry.source].sensor for entry in self.entries if entry.kind in (0, 4)}
        made_of |= {"last_action" for entry in self.entries if entry.kind == 1}
        made_of |= {"command" for entry in self.entries if entry.kind in (3, 4)}
        self.needs = tuple(name for name in self._sizes if name in made_of)
        self.reset()

    def reset(self) -> None:
        """Begin an episode."""
        self._step, self._start, self._commanded = 0, None, 0.0
        self._past = make_past(self._quantities, self._entries)

    def __call__(self, **given: Any) -> np.ndarray:
        """The observation after these readings, (o,) float32.

        Those of `needs` must be given, others may be. What is not finite stays so in what is made of it,
        which a `Policy` then refuses or damps.

        Args:
            **given: `positions` and `speeds` of the joints in the order of the description [rad, rad/s or m,
                m/s], (j,); `orientation` of the IMU as a quaternion w, x, y, z from its frame to a level one,
                (4,); its `rates` [rad/s] and `acceleration` less that of free fall, at rest 9.81 upwards
                [m/s²], (3,) along its own axes; its `linear_velocity` along these [m/s], (3,); `contacts`, 0
                or 1 for each foot, (f,); `velocity` of the torso ahead, to the left and up [m/s], (3,); its
                `height` above the start [m]; `bearing` of the target from straight ahead, to the left [rad];
                `last_action`, (j,), 0 before the first;
                the `command`, a speed [m/s] and a turn to the left [rad/s], which may change at any time.
        """
        values = {name: self._checked(name, value) for name, value in given.items()}
        if missing := [name for name in self.needs if name not in values]:
            needs, lacking = ", ".join(self.needs), ", ".join(missing)
            raise InvalidValueError(f"observations of {self.robot.name} need {needs}; missing: {lacking}")
        readings, limit = self.quantities(**values), OBSERVATION_LIMIT
        seen = np.clip(self._gain * (readings - self._zero), -limit, limit).astype(np.float32)
        if not len(self._entries):
            return seen
        told = np.clip(values.get("last_action", np.zeros(self.robot.action_dim)), -1, 1).astype(np.float32)
        speed, turn = values.get("command", np.zeros(2)).tolist()
        observation, command = np.zeros(len(self._entries), np.float32), (speed, turn, self._commanded)
        made_of = self._quantities, self._entries, seen, told, command, self._past, self._step, np.uint64(0)
        compose(*made_of, observation)
        self._step += 1
        self._commanded += turn * self.robot.control_step
        return observation

    def quantities(self, **given: np.ndarray) -> np.ndarray:
        """What each of `robot.channels` says by these readings, in its unit; NaN where none of them tells."""
        found = np.full(len(self._gain), np.nan)
        for name, value in given.items():
            places = self._places[name]
            found[places] = self._quantities_of(name, value)[: len(places)]
        return found

    def _checked(self, name: str, value: Any) -> np.ndarray:
        if name not in self._sizes:
            raise UnknownNameError("reading", name, self._sizes)
        array = np.atleast_1d(real_array(name, value, np.float64))
        if array.shape != (self._sizes[name],):
            raise InvalidValueError(f"{name} must have shape ({self._sizes[name]},), not {array.shape}")
        return array

    def _quantities_of(self, name: str, value: np.ndarray) -> np.ndarray:
        if name == "bearing":
            return np.array([np.sin(value[0]), np.cos(value[0])])
        return self._attitude(value) if name == "orientation" else value

    def _attitude(self, orientation: np.ndarray) -> np.ndarray:
        """Roll, pitch, the three parts of gravity and the heading, by the orientation of the IMU."""
        if not np.isfinite(orientation).all() or not np.any(orientation):
            return np.full(6, np.nan)
        sensor = Rotation.from_quat(orientation, scalar_first=True).as_matrix()
        torso = sensor @ self._imu
        roll = np.arctan2(torso[2, 1], torso[2, 2])
        yaw = np.arctan2(torso[1, 0], torso[0, 0])
        self._start = yaw if self._start is None else self._start
        turned = yaw - self._start
        pitch = np.arcsin(np.clip(-torso[2, 0], -1, 1))
        heading = np.arctan2(np.sin(turned), np.cos(turned))
        return np.array([roll, pitch, *-sensor[2], heading])


class LegOdometry:
    """Adds up how far the torso moved from the feet that touch the floor.

    The median over feet counts, so that one that drags or slips hardly matters. Feet that roll or slip
    together are not noticed.
    """

    def __init__(self, robot: Robot) -> None:
        self._model = robot.physics
        self.data = mujoco.MjData(self._model)  # the robot in the last state, with its torso at the origin
        self.data.qpos[:] = start_positions(robot)
        self.place = np.zeros(
            3
        )  # of the torso since the first state, along the axes of the IMU's attitude [m]
        self.root = int(self._model.jnt_qposadr[robot.root_joint])  # of the torso's free joint in `data.qpos`
        self._joints = [int(self._model.joint(name).qposadr[0]) for name in robot.description.joints]
        self._soles = [
            [self._model.geom(geom).id for geom in geoms] for geoms in robot.description.feet.values()
        ]
        self._before: tuple[np.ndarray, np.ndarray] | None = None

    def take(self, state: State) -> None:
        """Take in a state, newer than the last."""
        positions = self.data.qpos
        positions[self.root : self.root + 3] = 0
        positions[self.root + 3 : self.root + 7] = state.imu_state.quaternion
        positions[self._joints] = [motor.q for motor in state.motor_state]
        mujoco.mj_kinematics(self._model, self.data)
        feet, down = self._feet(), np.array(state.foot_force) > 0
        if self._before is not None and (both := down & self._before[1]).any():
            self.place -= np.median((feet - self._before[0])[both], axis=0)
        self._before = feet, down

    @property
    def height(self) -> float:
        """Of the torso above the lowest foot [m]."""
        return -float(self._feet()[:, 2].min())

    def _feet(self) -> np.ndarray:
        """Lowest point of each foot, (f, 3)."""
        return np.array(
            [min((self._end(geom) for geom in soles), key=lambda p: float(p[2])) for soles in self._soles]
        )

    def _end(self, geom: int) -> np.ndarray:
        """The lower end of a capsule; the middle of any other geom."""
        along = self.data.geom_xmat[geom].reshape(3, 3)[:, 2]
        capsule = self._model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CAPSULE
        reach = self._model.geom_size[geom, 1] if capsule else 0.0
        return np.asarray(self.data.geom_xpos[geom] - np.sign(along[2]) * reach * along)
