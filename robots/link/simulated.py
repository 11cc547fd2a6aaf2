"""`SimulatedRobot`: a robot's own side of a link, in simulation."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np

from robots.attitude import yaw_of
from robots.errors import InvalidValueError
from robots.falls import rests_on_feet
from robots.link.interface import Interface
from robots.link.link import LinkError
from robots.link.messages import ImuState, Mode, MotorCommand, MotorState, Odometry, State
from robots.motors import ABSENT, Motors, followed, motor_torque
from robots.robot import Robot
from robots.simulation.stepper import Stepper, take_over
from robots.stance import start_positions

_LONGEST = 1_000_000  # control steps
_LEAST_FORCE = 1e-3  # of a foot whose contact carries nothing [N]
_HELP = 2.0  # [s] that it lies before somebody sets it upright


class SimulatedRobot:
    """A robot with motors that take position, speed, gains and torque; with those of training it walks alike.

    Args:
        robot: whole or damaged, moving freely in space.
        whole: the same as built.
        seed: of the initial joint angles.
        odometry: whether it knows where it is.
        changes: what it becomes, and how long after the first command [s], in the order of their times.
        helped: whether somebody sets it on its feet where it lies in damping for two seconds.
    """

    def __init__(
        self,
        robot: Robot,
        whole: Robot,
        *,
        seed: int = 1,
        odometry: bool = True,
        changes: Sequence[tuple[float, Robot]] = (),
        helped: bool = False,
    ) -> None:
        if not robot.moves_freely:
            raise InvalidValueError(
                f"{robot.name} moves in a plane: only robots that move freely have a link"
            )
        for each in (robot, *(changed for _, changed in changes)):
            if each.faults.stuck or each.faults.noisy:
                raise InvalidValueError(
                    "damages of sensors cannot be simulated behind a link: leave them out"
                )
        self.face = Interface.of(whole)
        self._first, self._changes = robot, tuple(changes)
        self._odometry, self._seed, self._helped = odometry, seed, helped
        self.reset()

    def _enter(self, robot: Robot) -> None:
        self._model = copy.copy(robot.physics)
        self._model.actuator_biastype[:] = mujoco.mjtBias.mjBIAS_AFFINE
        self._gains = self._model.actuator_gainprm[:, 0].copy()
        self._biases = self._model.actuator_biasprm[:, :3].copy()
        self._motors = Interface.of(robot).motors
        self._stepper = Stepper(replace(robot, physics=self._model).with_episode_steps(_LONGEST))
        model, description, root = robot.physics, robot.description, robot.root_joint
        self._position, self._velocity = int(model.jnt_qposadr[root]), int(model.jnt_dofadr[root])
        joint, geom = mujoco.mjtObj.mjOBJ_JOINT, mujoco.mjtObj.mjOBJ_GEOM
        self._joints = np.array([mujoco.mj_name2id(model, joint, name) for name in description.joints])
        soles = (
            [mujoco.mj_name2id(model, geom, name) for name in names] for names in description.feet.values()
        )
        self._soles = [[sole for sole in some if sole >= 0] for some in soles]

    def reset(self) -> None:
        """Put it in its first pose."""
        self._enter(self._first)
        self._stepper.reset(self._seed)
        self._height = float(self._stepper.data.qpos[self._position + 2])
        self._time = self._driven = self._lain = 0.0
        self._left = list(self._changes)

    def step(self, commands: tuple[MotorCommand, ...]) -> None:
        """Simulate a control step with a command for each joint."""
        columns = zip(*((c.mode, c.q, c.dq, c.kp, c.kd, c.tau) for c in commands), strict=True)
        self._stepper.step(self._apply(*(np.array(column, np.float64) for column in columns)))
        self._time += self._stepper.robot.control_step
        while self._left and self._left[0][0] <= self._driven:  # it breaks
            old = self._stepper
            self._enter(self._left.pop(0)[1])
            take_over(self._stepper, old)
        self._help(all(command.mode == 0 for command in commands))
        if self._stepper.tally.diverged:
            raise LinkError("the simulation of the robot blew up: its commands or gains are too large")

    def _help(self, damped: bool) -> None:
        step, root = self._stepper.robot.control_step, self._stepper.data.qpos[self._position :][:7]
        self._lain = self._lain + step if damped and not rests_on_feet(root[3:]) else 0.0
        if self._helped and self._lain > _HELP:
            place, heading = root[:2].copy(), yaw_of(root[3:])
            self._stepper.data.qpos[:], self._stepper.data.qvel[:] = start_positions(self._stepper.robot), 0
            root[:3] = *place, self._height
            root[3:] = np.cos(heading / 2), 0, 0, np.sin(heading / 2)
            mujoco.mj_forward(self._model, self._stepper.data)

    def _apply(
        self, mode: np.ndarray, q: np.ndarray, dq: np.ndarray, kp: np.ndarray, kd: np.ndarray, tau: np.ndarray
    ) -> np.ndarray:
        """Give the motors of the model these gains; returns the action that tells them the rest, (j,).

        A motor that is weaker than as built stays as much weaker at any gain.
        """
        face, on = self.face, mode == 1
        kp, tau = np.where(on, kp, 0.0), np.where(on, tau, 0.0)
        push = tau + kd * np.where(on, dq, 0.0)
        for j in np.flatnonzero(self._motors != ABSENT):
            motor = self._motors[j]
            gear, bias = self._model.actuator_gear[motor, 0], self._biases[motor]
            share = kp[j] / face.kp[j] if face.servos[j] else float(on[j])
            damped = bias[2] * (kd[j] / face.kd[j]) if face.kd[j] else bias[2] - kd[j] / gear**2
            stiff = bias[1] * share if face.servos[j] else -kp[j] / gear**2
            rest = push[j] if face.servos[j] else kp[j] * q[j] + push[j] - tau[j]
            self._model.actuator_gainprm[motor, 0] = self._gains[motor] * share
            self._model.actuator_biasprm[motor, :3] = bias[0] * share + rest / gear, stiff, damped
        told, middle = np.where(face.servos, q, tau), np.where(face.servos, face.offset, face.torque_offset)
        scale = face.action_scale
        return np.clip(np.divide(told - middle, scale, out=np.zeros_like(told), where=scale != 0), -1, 1)

    def state(self, seq: int, mode: Mode, answered: int) -> State:
        """What its sensors report."""
        self._driven += self._stepper.robot.control_step if answered else 0.0
        data, p, v = self._stepper.data, self._position, self._velocity
        upwards = np.zeros(9)
        mujoco.mju_quat2Mat(upwards, data.qpos[p + 3 : p + 7])
        felt = upwards.reshape(3, 3).T @ (data.qacc[v : v + 3] - self._model.opt.gravity)
        place = Odometry(position=data.qpos[p : p + 3].tolist(), velocity=data.qvel[v : v + 3].tolist())
        quaternion, rates = data.qpos[p + 3 : p + 7].tolist(), data.qvel[v + 3 : v + 6].tolist()
        return State(
            seq=seq,
            time=self._time,
            mode=mode,
            answered=answered,
            motor_state=self._motor_states(),
            imu_state=ImuState(quaternion=quaternion, gyroscope=rates, accelerometer=felt.tolist()),
            foot_force=self._forces(),
            odometry=place if self._odometry else None,
        )

    def _motor_states(self) -> tuple[MotorState, ...]:
        """What the motor of each joint reports; of one that is lost, the middle of its range."""
        robot, data = self._stepper.robot, self._stepper.data
        names, middle = robot.description.joints, robot.joint_middles
        q = np.array([robot.faults.fixed.get(name, m) for name, m in zip(names, middle, strict=True)])
        dq, there = np.zeros(len(names)), self._joints >= 0
        known = self._joints[there]
        q[there] = data.qpos[self._model.jnt_qposadr[known]]
        dq[there] = data.qvel[self._model.jnt_dofadr[known]]
        controls = np.append(followed(self._model, data.ctrl, data.act), 0.0)[self._motors]
        torques = np.where(there, motor_torque(Motors.of(self._model, names), controls, q, dq), 0.0)
        dq *= [robot.description.position_rates.get(name, 1.0) for name in names]
        rows = zip(q.tolist(), dq.tolist(), torques.tolist(), strict=True)
        return tuple(MotorState(q=angle, dq=speed, tau_est=torque) for angle, speed, torque in rows)

    def _forces(self) -> tuple[float, ...]:
        """Normal forces of the floor on each foot [N]; above 0 only where training counts a contact."""
        model, data, forces = self._model, self._forced_data(), np.zeros(self._model.ngeom)
        floor, wrench = model.geom(self._stepper.robot.description.floor).id, np.zeros(6)
        for number in range(data.ncon):
            pair = data.contact.geom[number]
            if floor in pair:
                mujoco.mj_contactForce(model, data, number, wrench)
                forces[pair[0] if pair[1] == floor else pair[1]] += wrench[0]
        felt = [max(float(forces[soles].sum()), _LEAST_FORCE) for soles in self._soles]
        return tuple(np.where(self._stepper.state.touching, felt, 0.0).tolist())

    def _forced_data(self) -> mujoco.MjData:
        """Data whose forces belong to its contacts: a step with drag ends with new contacts alone."""
        if not self._stepper.robot.description.drag:
            return self._stepper.data
        data = copy.copy(self._stepper.data)
        mujoco.mj_forward(self._model, data)
        return data
