"""Trained gaits in PyBullet's environment of their robot and in ours, and its passages played in ours."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from repertoire.repertoire import Repertoire
from robots.robot import Robot, load_robot
from robots.simulation.stepper import Stepper
from suites.transfer.pybullet import PyBulletRobot, PyBulletWalk

PASSAGE = 8  # control steps, 0.132 s
_TORQUE = 10.0  # [N·m] that drives a joint of the floating robot
_SPEED, _SLOWED = 2.4, 30  # [m/s] and control steps in which drag slows it down
_PASSAGES = 40  # of each robot
_MEANS = ("objective", "distance", "steps", "contacts", "fell")  # of walks
Figures = dict[str, Any]


def measure_running(repertoire: Repertoire, *, gaits: int, episodes: int, folder: Path) -> Figures:
    """Play the gaits with the highest objectives in both simulators, each from the same initial angles.

    Args:
        repertoire: of one of the paper's robots.
        gaits: how many.
        episodes: of each gait in each simulator.
        folder: where to save the robot's passages, as NAME.npz, see `record_passages`.

    Returns:
        Of each simulator and gait the means over its episodes: `objective`, `distance` [m], `steps`,
        `contacts`, and `fell`. Then what the robot does afloat in PyBullet: `accelerations` of joints
        [rad/s²] by 10 N·m, and `slowed`, its speed after 30 control steps [m/s] when it began with 2.4 m/s.
    """
    elites = repertoire.elites
    best = np.argsort(-elites.objectives)[:gaits]
    robot = _FloatingRobot(load_robot(repertoire.problem.name).with_controller(repertoire.controller))
    solutions, seeds = elites.solutions[best], np.arange(episodes)
    there = [[robot.walk(parameters, int(seed)) for seed in seeds] for parameters in solutions]
    here = [[_walk(robot.robot, parameters, int(seed)) for seed in seeds] for parameters in solutions]
    record_passages(robot, solutions, folder / f"{robot.robot.name}.npz")
    return {
        "robot": robot.robot.name,
        "episodes": episodes,
        "surefoot": [_means(walks) for walks in here],
        "pybullet": [_means(walks) for walks in there],
        "accelerations": robot.accelerations(_TORQUE).round(4).tolist(),
        "slowed": round(float(robot.slowed(_SPEED, _SLOWED)[-1]), 8),
    }


class _FloatingRobot(PyBulletRobot):
    """A robot that can also float without gravity: what its joints and drag do alone."""

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


def _walk(robot: Robot, parameters: np.ndarray, seed: int) -> PyBulletWalk:
    """An episode of ours."""
    stepper = Stepper(robot)
    stepper.run(parameters, seed)
    tally = stepper.tally
    return PyBulletWalk(
        tally.objective, stepper.progress, tally.steps, stepper.contact_shares, tally.terminated
    )


def _means(walks: Sequence[PyBulletWalk]) -> Figures:
    """The mean of each figure."""
    columns = {name: [getattr(walk, name) for walk in walks] for name in _MEANS}
    return {name: np.round(np.mean(column, axis=0), 3).tolist() for name, column in columns.items()}


def record_passages(robot: PyBulletRobot, solutions: np.ndarray, path: Path) -> None:
    """Save passages of walks in PyBullet as float32: what `replay` needs, and what became of them there.

    They are `qpos` (n, nq), `qvel` (n, nv), `actions` (n, PASSAGE, a), the positions `ends` (n, nq), and
    `contacts` (n, f): which feet touched the floor in the last control step.
    """
    rows = []
    for parameters in solutions:
        states, actions, contacts = _recorded(robot, parameters)
        last = len(actions) - PASSAGE - 1
        count = -(-_PASSAGES // len(solutions)) if last > PASSAGE else 0
        for start in np.linspace(PASSAGE, last, count).astype(int):
            end = start + PASSAGE
            rows.append((*states[start], actions[start:end], states[end][0], contacts[end - 1]))
    names = ("qpos", "qvel", "actions", "ends", "contacts")
    columns = [np.array(column, np.float32) for column in zip(*rows, strict=True)]
    np.savez_compressed(path, allow_pickle=False, **dict(zip(names, columns, strict=True)))


def _recorded(robot: PyBulletRobot, parameters: np.ndarray) -> tuple[list, list, list]:
    """Of each control step of a walk in PyBullet: the state before, the action, and the contacts after it."""
    states: list[tuple[np.ndarray, np.ndarray]] = []
    actions: list[np.ndarray] = []
    contacts: list[np.ndarray] = []
    observation, ended = robot.reset(0), False
    while not ended and len(actions) < robot.robot.description.episode_steps:
        states.append(robot.state())
        action = robot.robot.controller.act(parameters, observation, len(actions))
        actions.append(np.clip(action, -1, 1))
        observation, _, ended = robot.step(actions[-1])
        contacts.append(robot.feet())
    return states, actions, contacts


def replay(robot: Robot, passages: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Play passages in ours; returns the positions that they end in, (n, nq), and the contacts, (n, f)."""
    stepper, ends, contacts = Stepper(robot), [], []
    for qpos, qvel, actions in zip(passages["qpos"], passages["qvel"], passages["actions"], strict=True):
        stepper.reset(0)
        stepper.data.qpos[:], stepper.data.qvel[:] = qpos, qvel
        mujoco.mj_forward(robot.physics, stepper.data)
        for action in actions:
            stepper.step(action)
        ends.append(stepper.data.qpos.copy())
        contacts.append(stepper.state.touching.copy())
    return np.array(ends), np.array(contacts)
