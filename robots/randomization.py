"""`randomised`: a robot that differs from its model as a real one does (domain randomisation)."""

import mujoco
import numpy as np

from robots.robot import Faults, Robot

MASS, FRICTION, STRENGTH = 0.2, 0.3, 0.15  # largest relative differences
LATENCY = 1  # control steps by which actions are delayed


def randomised(robot: Robot, seed: int) -> Robot:
    """The robot with different masses, friction and motors, and with delayed actions.

    The mass and inertia of each body are multiplied by a factor within 20% of 1, all friction by one factor
    within 30%, and the force of each motor, including a servo's damping, by a factor within 15%. Factors are
    uniformly distributed. Actions are delayed by one control step.

    Args:
        robot: not damaged yet: without a body, the others would get different factors.
        seed: of the factors, at least 0.

    Raises:
        InvalidRobotError: the changed model does not compile.
    """

    def edit(spec: mujoco.MjSpec) -> None:
        rng = np.random.default_rng(seed)
        for body, factor in zip(spec.bodies, _factors(rng, MASS, len(spec.bodies)), strict=True):
            _scale_mass(body, factor)
        friction = _factors(rng, FRICTION, 1)[0]
        for surface in (*spec.geoms, *spec.pairs):
            surface.friction = np.asarray(surface.friction) * friction
        for motor, factor in zip(spec.actuators, _factors(rng, STRENGTH, len(spec.actuators)), strict=True):
            _scale_force(motor, factor)

    return robot.modified(f"gap@{seed}", edit, faults=Faults(delay=LATENCY))


def _factors(rng: np.random.Generator, reach: float, count: int) -> np.ndarray:
    """Factors within `reach` of 1, (count,)."""
    return rng.uniform(1 - reach, 1 + reach, count)


def _scale_mass(body: mujoco.MjsBody, factor: float) -> None:
    """Multiply a body's mass and inertia, whether they are given or computed from its geoms."""
    if body.explicitinertial:
        body.mass *= factor
        body.inertia = np.asarray(body.inertia) * factor
        body.fullinertia = np.asarray(body.fullinertia) * factor
    for geom in body.geoms:
        geom.density *= factor
        geom.mass *= factor  # NaN where it is not given, and stays NaN


def _scale_force(motor: mujoco.MjsActuator, factor: float) -> None:
    """Multiply the force that an actuator gives for any action and state, and its limits."""
    motor.gainprm = np.asarray(motor.gainprm) * factor
    motor.biasprm = np.asarray(motor.biasprm) * factor
    motor.forcerange = np.asarray(motor.forcerange) * factor
