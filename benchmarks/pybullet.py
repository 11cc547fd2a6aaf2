"""The PyBullet environments that the QD robots come from: a peer to be timed, and other physics for gaits."""

import importlib
import importlib.util
import io
import sys
import time
from contextlib import redirect_stdout
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import mujoco
import numpy as np
from packaging.version import parse

from robots.errors import InvalidValueError
from robots.robot import load_robot
from robots.simulation.stepper import Stepper

ENVIRONMENTS = {
    "ant": "AntBulletEnv",
    "half_cheetah": "HalfCheetahBulletEnv",
    "hopper": "HopperBulletEnv",
    "walker": "Walker2DBulletEnv",
}

_PITCH = 2  # the last of the root joints of a robot that moves in a plane
_SIGNS = {"ant": (1, 1, 1, -1, 1, -1, 1, 1)}  # of a joint there against ours, where the axes are not the same


@dataclass(frozen=True)
class Walk:
    """What an episode came to.

    Attributes:
        objective: sum of rewards.
        distance: progress towards the target [m].
        steps: control steps survived.
        contacts: share of them that each foot touched the floor, (f,).
    """

    objective: float
    distance: float
    steps: int
    contacts: np.ndarray


class PyBulletRobot:
    """A robot of ours in PyBullet's environment of it, with our names, signs and initial angles.

    Args:
        name: of the robot, one of `ENVIRONMENTS`.

    Raises:
        InvalidValueError: PyBullet is not installed.
    """

    def __init__(self, name: str) -> None:
        self.robot = load_robot(name)
        self.environment = _make(name)
        with redirect_stdout(io.StringIO()):
            self.environment.reset()
        self._bullet, self._there = self.environment._p, self.environment.robot
        self._body = self._there.robot_body.bodies[self._there.robot_body.bodyIndex]
        self._joints = [joint.jointIndex for joint in self._there.ordered_joints]
        self._signs = np.array(_SIGNS.get(name, (1,) * len(self._joints)))
        # where the torso of a robot that moves in a plane is when its root joints are at 0
        self._start = np.array(self._there.robot_body.pose().xyz())
        self._free = self.robot.physics.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE

    def reset(self, seed: int) -> np.ndarray:
        """Start an episode from the joint angles that a seed has here; returns the observation."""
        with redirect_stdout(io.StringIO()):
            self.environment.reset()
        stepper = Stepper(self.robot)
        stepper.reset(seed)
        for name, joint, sign in zip(self.robot.description.joints, self._joints, self._signs, strict=True):
            self._bullet.resetJointState(self._body, joint, sign * stepper.data.joint(name).qpos[0], 0.0)
        self._there.initial_z = None
        observation = self._there.calc_state()
        self.environment.potential = self._there.calc_potential()
        return self._translated(observation)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """Simulate a control step; returns the observation, the reward, and whether it ended the episode."""
        action = np.clip(action, -1, 1)
        observation, reward, ended, _ = self.environment.step(action * self._signs)
        return self._translated(observation), reward, ended

    def feet(self) -> np.ndarray:
        """Which feet touched the floor in the last control step, (f,) bool."""
        return self._there.feet_contact > 0

    def walk(self, parameters: np.ndarray, seed: int) -> Walk:
        """Run the episode of a seed with a controller of the robot."""
        description, controller = self.robot.description, self.robot.controller
        observation, objective, step, ended = self.reset(seed), 0.0, 0, False
        start, contacts = self._there.walk_target_dist, np.zeros(len(description.feet))
        while step < description.episode_steps and not (ended and description.alive.ends_episode):
            observation, reward, ended = self.step(controller.act(parameters, observation, step))
            contacts += self._there.feet_contact
            objective += reward
            step += 1
        return Walk(objective, start - self._there.walk_target_dist, step, contacts / step)

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities as MuJoCo has those of our model, (nq,) and (nv,)."""
        rates = [
            self.robot.description.position_rates.get(name, 1.0) for name in self.robot.description.joints
        ]
        joints = np.array([self._bullet.getJointState(self._body, joint)[:2] for joint in self._joints])
        if not self._free:  # their root joints turn about a point of the floor
            link = self._there.robot_body.bodyPartIndex
            state = self._bullet.getLinkState(self._body, link, computeLinkVelocity=1)
            pitch, turning = self._bullet.getJointState(self._body, _PITCH)[:2]
            x, _, z = np.subtract(state[0], self._start)
            return np.r_[x, z, pitch, joints[:, 0]], np.r_[state[6][0], state[6][2], turning, joints[:, 1]]
        position, (x, y, z, w) = self._bullet.getBasePositionAndOrientation(self._body)
        velocity, turning = self._bullet.getBaseVelocity(self._body)
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, np.array([w, x, y, z]))
        turning = rotation.reshape(3, 3).T @ turning
        angles, speeds = joints[:, 0] * self._signs, joints[:, 1] * self._signs / rates
        return np.r_[position, w, x, y, z, angles], np.r_[velocity, turning, speeds]

    def accelerations(self, torque: float) -> np.ndarray:
        """Of each joint when a torque drives it alone and the robot floats, all mid-range [rad/s²], (j,)."""
        found = []
        for driven in range(len(self._joints)):
            self._float()
            sign = self._signs[driven]
            self._drive({driven: sign * torque})
            speed = self._bullet.getJointState(self._body, self._joints[driven])[1]
            found.append(sign * speed / self.robot.control_step)
        return np.array(found)

    def slowed(self, speed: float, steps: int) -> np.ndarray:
        """Speed ahead of the floating robot after each of some control steps [m/s], (steps,)."""
        self._float(speed)
        found = []
        for _ in range(steps):
            self._drive({})
            found.append(self.state()[1][0])
        return np.array(found)

    def _float(self, speed: float = 0.0) -> None:
        """Have the robot float without gravity, its joints mid-range, moving ahead at a speed [m/s]."""
        self.reset(0)
        self._bullet.setGravity(0, 0, 0)
        for joint, (low, high), sign in zip(self._joints, self.robot.joint_ranges, self._signs, strict=True):
            self._bullet.resetJointState(self._body, joint, sign * (low + high) / 2, 0.0)
        if self._free:
            self._bullet.resetBasePositionAndOrientation(self._body, [0, 0, 50], [0, 0, 0, 1])
            self._bullet.resetBaseVelocity(self._body, [speed, 0, 0], [0, 0, 0])
        else:
            for joint, (position, velocity) in enumerate([(0, speed), (50, 0), (0, 0)]):
                self._bullet.resetJointState(self._body, joint, position, velocity)

    def _drive(self, torques: dict[int, float]) -> None:
        """Simulate a control step with torques of some joints [N·m]."""
        for number, joint in enumerate(self._joints):
            torque = torques.get(number, 0.0)
            self._bullet.setJointMotorControl2(self._body, joint, self._bullet.TORQUE_CONTROL, force=torque)
        self._bullet.stepSimulation()

    def _translated(self, observation: np.ndarray) -> np.ndarray:
        """An observation there as our controllers know it, float32."""
        joints = observation[8 : 8 + 2 * len(self._signs)]
        joints *= np.repeat(self._signs, 2)
        return observation.astype(np.float32)


def measure_pybullet(robot: str, *, steps: int = 6000) -> float:
    """Control steps per second of a robot's PyBullet environment on one core, with random actions.

    Raises:
        InvalidValueError: see `check_pybullet`.
    """
    environment = _make(robot)
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (steps, len(environment.action_space.low)))
    spent = 0.0  # in steps alone: resets are slow there, and not what is compared
    with redirect_stdout(io.StringIO()):
        environment.reset()
        for action in actions:
            started = time.perf_counter()
            ended = environment.step(action)[2]
            spent += time.perf_counter() - started
            if ended:
                environment.reset()
    return steps / spent


def check_pybullet() -> None:
    """Refuse to measure what is not installed.

    Raises:
        InvalidValueError: PyBullet is not installed.
    """
    if importlib.util.find_spec("pybullet") is None:
        raise InvalidValueError("the peer is not installed: pip install pybullet")


def _make(robot: str) -> Any:
    """Make a robot's environment."""
    check_pybullet()
    _stand_in_for_gym()
    with redirect_stdout(io.StringIO()):
        module = importlib.import_module("pybullet_envs.gym_locomotion_envs")
        return getattr(module, ENVIRONMENTS[robot])()


def _stand_in_for_gym() -> None:
    """Let pybullet_envs find what it uses of gym and pkg_resources, neither of which is kept any more."""
    resources = ModuleType("pkg_resources")
    resources.parse_version = parse  # type: ignore[attr-defined]
    sys.modules.setdefault("pkg_resources", resources)
    # the package registers its environments when it is imported; nothing here looks them up
    if "pybullet_envs" not in sys.modules:
        sys.modules["pybullet_envs"] = _package("pybullet_envs")
    for name in ("", ".spaces", ".utils", ".utils.seeding", ".envs", ".envs.registration"):
        sys.modules.setdefault("gym" + name, importlib.import_module("gymnasium" + name))


def _package(name: str) -> ModuleType:
    """An installed package without running its `__init__`."""
    spec = importlib.util.find_spec(name)
    package = ModuleType(name)
    package.__path__ = list(spec.submodule_search_locations or []) if spec else []
    return package
