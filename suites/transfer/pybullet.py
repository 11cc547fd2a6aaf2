"""The PyBullet environments that the QD robots come from, as other physics for gaits."""

import importlib
import importlib.util
import io
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any
from weakref import finalize

import mujoco
import numpy as np
from packaging.version import parse

from adapt.damage.damage import Damage
from robots.controllers.controller import Actor
from robots.errors import InvalidValueError
from robots.falls import has_fallen
from robots.motors import Motors
from robots.robot import Robot
from robots.simulation.backend import Backend, Work
from robots.simulation.episodes import Episodes
from robots.simulation.state import MIDWAY
from robots.simulation.stepper import Stepper
from robots.simulation.trace import TraceColumns

ENVIRONMENTS = {
    "ant": "AntBulletEnv",
    "half_cheetah": "HalfCheetahBulletEnv",
    "hopper": "HopperBulletEnv",
    "walker": "Walker2DBulletEnv",
}

_PITCH = 2  # the last of the root joints of a robot that moves in a plane
_SIGNS = {"ant": (1, 1, 1, -1, 1, -1, 1, 1)}  # of a joint there against ours, where the axes are not the same
_FAULTS = ("dead", "locked", "weak")  # kinds of damage that are possible there
_HOLD = 1e5  # [N·m] that keep a locked joint at its angle


@dataclass(frozen=True)
class PyBulletWalk:
    """What an episode came to."""

    objective: float  # sum of rewards
    distance: float  # progress towards the target [m]
    steps: int  # control steps survived
    contacts: np.ndarray  # share of them that each foot touched the floor, (f,)
    fell: bool = False  # whether it fell, see `robots.falls`, which ended it
    # what the sensors read, (steps, columns) float32, see `robots.simulation.trace`
    trace: np.ndarray = field(default_factory=lambda: np.empty((0, 0), np.float32))


def check_pybullet_damage(damage: Damage) -> None:
    """Refuse damage that PyBullet's environments cannot have."""
    if any(single.kind not in _FAULTS for single in damage.singles):
        raise InvalidValueError(f"damage in PyBullet can be {', '.join(_FAULTS)}, not {damage}")


class PyBulletRobot:
    """A robot of ours in PyBullet's environment of it, with our names, signs and initial angles.

    Args:
        robot: one of `ENVIRONMENTS`, with the controllers that are to drive it.
        damage: of its motors: dead, weak or locked; none by default.
    """

    def __init__(self, robot: Robot, damage: Damage | None = None) -> None:
        self.robot, name = robot, robot.name
        if damage:
            check_pybullet_damage(damage)
        damaged = damage.apply(self.robot) if damage else self.robot
        whole, left = (Motors.of(one.physics, robot.description.joints) for one in (robot, damaged))
        self._strength = left.gear * left.gain / (whole.gear * whole.gain)
        self._torques = whole.gear * whole.gain * self._strength
        self._locked = damaged.faults.fixed
        self.environment = _make(name)
        finalize(self, self.environment.close)
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
            angle = sign * self._locked.get(name, stepper.data.joint(name).qpos[0])
            self._bullet.resetJointState(self._body, joint, angle, 0.0)
            if name in self._locked:
                hold = self._bullet.POSITION_CONTROL
                self._bullet.setJointMotorControl2(self._body, joint, hold, targetPosition=angle, force=_HOLD)
        self._there.initial_z = None
        observation = self._there.calc_state()
        self.environment.potential = self._there.calc_potential()
        return self._translated(observation)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """Simulate a control step; returns the observation, the reward, and whether it ended the episode."""
        action = np.clip(action, -1, 1) * self._strength
        observation, reward, ended, _ = self.environment.step(action * self._signs)
        return self._translated(observation), reward, ended

    def feet(self) -> np.ndarray:
        """Which feet touched the floor in the last control step, (f,) bool."""
        return self._there.feet_contact > 0

    def walk(self, parameters: np.ndarray, seed: int) -> PyBulletWalk:
        """Run the episode of a seed with a controller of the robot, until it falls."""
        description, act = self.robot.description, Actor(self.robot.controller)
        observation, objective, fell = self.reset(seed), 0.0, False
        start, contacts = self._there.walk_target_dist, np.zeros(len(description.feet))
        rows: list[np.ndarray] = []
        while len(rows) < description.episode_steps and not fell:
            action = np.clip(act(parameters, observation, len(rows)), -1, 1)
            observation, reward, ended = self.step(action)
            contacts += self._there.feet_contact
            objective += reward
            rows.append(self._sensed(action, observation))
            leans = self._free and has_fallen(self.robot, self.state()[0][3:7])
            fell = leans or bool(ended and description.alive.ends_episode)
        distance, trace = start - self._there.walk_target_dist, np.array(rows, np.float32)
        return PyBulletWalk(objective, distance, len(rows), contacts / len(rows), fell, trace)

    def _sensed(self, action: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """A row of a trace, see `robots.simulation.trace`."""
        joints, velocity = len(self._joints), self.state()[1]
        rates = velocity[3:6] if self._free else (0.0, velocity[_PITCH], 0.0)
        angles = observation[8 : 8 + 2 * joints : 2]
        x, y, _ = self._there.body_xyz
        return np.r_[action, angles, action * self._torques, self._there.body_rpy, rates, self.feet(), x, y]

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

    def _translated(self, observation: np.ndarray) -> np.ndarray:
        """An observation there as our controllers know it, float32."""
        joints = observation[8 : 8 + 2 * len(self._signs)]
        joints *= np.repeat(self._signs, 2)
        return observation.astype(np.float32)


class PyBullet(Backend):
    """Runs episodes in PyBullet's environment of a robot, which tells no measures, paths and turns.

    Args:
        robot: of a repertoire.
        damage: of the robot, see `PyBulletRobot`; none by default.
    """

    threads = 1

    def __init__(self, robot: Robot, damage: Damage | None) -> None:
        self._robot = PyBulletRobot(robot, damage)

    def _run(self, work: Work) -> Episodes:
        robot = self._robot.robot
        pairs = zip(work.solutions, work.seeds.tolist(), strict=True)
        walks = [self._robot.walk(*pair) for pair in pairs]
        traces = np.empty(len(walks), object)
        traces[:] = [walk.trace for walk in walks]
        at, half_ranges = TraceColumns.of(robot), np.diff(robot.joint_ranges)[:, 0] / 2
        longest = max(1, round(MIDWAY * robot.description.episode_steps))
        midway, energies = [], []
        for trace in traces:
            places, angles = trace[:, at.position], trace[:, at.angle : at.torque]
            midway.append(places[min(len(places), longest) - 1] - places[0])
            turned = np.abs(np.diff(angles, axis=0)) * half_ranges
            energies.append(np.sum(turned * np.abs(trace[1:, at.torque : at.attitude])))
        return Episodes(
            objectives=np.array([walk.objective for walk in walks]),
            measures=np.full((len(walks), robot.measure_dim), np.nan),
            diverged=np.zeros(len(walks), np.bool_),
            steps=np.array([walk.steps for walk in walks], np.int64),
            distances=np.array([walk.distance for walk in walks]),
            energies=np.array(energies, np.float64),
            fell=np.array([walk.fell for walk in walks], np.bool_),
            midway=np.array(midway, np.float64),
            lateral=np.array([trace[-1, at.position + 1] for trace in traces], np.float64),
            heading=np.array([trace[-1, at.attitude + 2] for trace in traces], np.float64),
            contacts=np.array([walk.contacts for walk in walks]),
            traces=traces if work.request.traces else None,
        )


def pybullet_is_installed() -> bool:
    """Whether gaits can run in PyBullet's environments."""
    return importlib.util.find_spec("pybullet") is not None


def _make(robot: str) -> Any:
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
