"""`Interface`: what a computer on a robot must know of it: joints, gains, what actions mean."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robots.motors import Motors, motor_of
from robots.robot import Robot


@dataclass(frozen=True, eq=False)
class Interface:
    """What actions mean on a robot: (j,) each, in the order of the actions.

    An action a from -1 to 1 commands, with q and q̇ of the joint,

        torque = kp · (offset + scale · a - q) - kd · q̇              of a servo
        torque = torque_offset + torque_scale · a - kd · q̇           of a motor, where kp is 0

    limited to ± `limit`. A robot is only told positions that are `allowed`.
    """

    robot: Robot  # whole
    kp: np.ndarray  # [N·m/rad or N/m], as simulated
    kd: np.ndarray  # [N·m·s/rad or N·s/m], as simulated
    offset: np.ndarray  # where the action 0 sends a servo [rad or m]
    scale: np.ndarray  # how far the action 1 sends it from there
    torque_offset: np.ndarray  # [N·m or N]
    torque_scale: np.ndarray  # what the action 1 adds to it
    limit: np.ndarray  # greatest torque; inf without limits
    motors: np.ndarray  # number of each joint's motor on the robot: that of its actuator in the MJCF
    rate: float  # by which targets of servos may change at the most [rad/s or m/s]; inf without limits

    @classmethod
    def of(cls, robot: Robot, rate: float = np.inf) -> Interface:
        """Read it off a robot's model, whose YAML may declare a lower rate."""
        joints = robot.description.joints
        motors = Motors.of(robot.physics, joints)
        plain, offset = np.where(motors.servos, 0.0, motors.gear), motors.targets(0.0)
        torque_offset = plain * (motors.gain * (motors.low + motors.high) / 2 + motors.bias)
        torque_scale = plain * motors.gain * (motors.high - motors.low) / 2
        targets = offset, motors.targets(1.0) - offset
        numbers = np.array([motor_of(robot.physics, joint) for joint in joints])
        gains = motors.stiffness, motors.damping
        rate = min(rate, robot.description.target_rate or np.inf)
        return cls(robot, *gains, *targets, torque_offset, torque_scale, motors.greatest, numbers, rate)

    @property
    def servos(self) -> np.ndarray:
        """Whether each is told positions, not torques, (j,) bool."""
        return self.kp != 0

    @property
    def action_scale(self) -> np.ndarray:
        """What the action 1 adds: to a servo's position, to a motor's torque."""
        return np.where(self.servos, self.scale, self.torque_scale)

    def targets(self, action: np.ndarray | float) -> np.ndarray:
        """Where an action sends servos [rad or m], (j,); 0 of motors."""
        return self.offset + self.scale * action

    @cached_property
    def allowed(self) -> np.ndarray:
        """The least and the greatest target of each joint, and its greatest change in a control step, (3, j).

        For servos these are the joint's range in the MJCF and the declared rate; else they are infinite.
        """
        low, high = self.robot.joint_ranges.T
        change = np.full(len(low), self.rate * self.robot.control_step)
        return np.where(self.servos, [low, high, change], [[-np.inf], [np.inf], [np.inf]])

    def kept(self, targets: np.ndarray, last: np.ndarray | None = None) -> np.ndarray:
        """Targets as far as they are allowed after the last ones, (j,); an exported graph does the same."""
        low, high, change = self.allowed
        last = np.clip(targets if last is None else last, low, high)
        return np.clip(np.clip(targets, low, high), last - change, last + change)

    @cached_property
    def model_hash(self) -> str:
        """SHA-256 of the MJCF, the joints and the gains: robots that differ in it are not the same.

        That of a robot that was modified is the hash of what a file holds of it.
        """
        if self.robot.modifications:
            return Interface.of(self.robot.as_written()).model_hash
        numbers = (self.kp, self.kd, self.offset, self.scale, self.torque_offset, self.torque_scale)
        texts = [self.robot.xml, *self.robot.description.joints, *(repr(n.tolist()) for n in numbers)]
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()
