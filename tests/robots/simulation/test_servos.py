"""Position servos: what they are told, and the torque that counts as theirs."""

import mujoco
import numpy as np
import pytest

from robots.robot import Robot
from robots.simulation.stepper import Stepper

KP, KV, LIMIT = 30.0, 1.5, 12.0


@pytest.fixture(scope="module")
def servo_ant(ant: Robot) -> Robot:
    """An Ant whose motors are servos with limited torque."""

    def replace(spec: mujoco.MjSpec) -> None:
        for motor in spec.actuators:
            low, high = spec.joint(motor.target).range
            motor.set_to_position(kp=KP, kv=KV)
            motor.gear[0] = 1
            motor.ctrlrange = np.deg2rad([low, high]) if abs(low) > 6.3 or abs(high) > 6.3 else [low, high]
            motor.forcerange = [-LIMIT, LIMIT]

    return ant.modified("servos", replace)


def _advance(robot: Robot, actions: np.ndarray) -> Stepper:
    stepper = Stepper(robot)
    stepper.reset(1)
    for action in actions:
        stepper.step(action)
    return stepper


def test_actions_span_what_a_servo_can_be_told(servo_ant: Robot) -> None:
    model = servo_ant.physics
    for action, expected in ((-1, model.actuator_ctrlrange[:, 0]), (1, model.actuator_ctrlrange[:, 1])):
        stepper = _advance(servo_ant, np.full((1, servo_ant.action_dim), action, np.float32))
        np.testing.assert_allclose(stepper.data.ctrl, expected)
    middle = _advance(servo_ant, np.zeros((1, servo_ant.action_dim), np.float32))
    np.testing.assert_allclose(middle.data.ctrl, model.actuator_ctrlrange.mean(axis=1))


def test_energy_is_that_of_the_torque_mujoco_applies(servo_ant: Robot) -> None:
    stepper, energy = Stepper(servo_ant), 0.0
    stepper.reset(1)
    rng = np.random.default_rng(2)
    saturated = False
    for _ in range(30):
        stepper.step(rng.uniform(-1, 1, servo_ant.action_dim))
        data = mujoco.MjData(servo_ant.physics)
        for name in ("qpos", "qvel", "ctrl"):
            getattr(data, name)[:] = getattr(stepper.data, name)
        mujoco.mj_forward(servo_ant.physics, data)
        joints = [servo_ant.physics.joint(name).dofadr[0] for name in servo_ant.description.joints]
        energy += np.abs(data.qfrc_actuator[joints] * data.qvel[joints]).sum() * servo_ant.control_step
        saturated |= bool((np.abs(data.actuator_force) == LIMIT).any())
        assert stepper.tally.energy == pytest.approx(energy, rel=1e-9)
    assert saturated, "the limit of the torque was never met"
