"""`randomised`: a robot as it might really be, which is never quite as it was modelled."""

import mujoco
import numpy as np

from robots.robot import Faults, Robot

MASS, FRICTION, STRENGTH = 0.2, 0.3, 0.15  # how far each may be off, as a share
LATENCY = 1  # control steps by which actions come late


def randomised(robot: Robot, seed: int) -> Robot:
    """The robot with other masses, friction and motors, and with actions that come late.

    Each body's mass and inertia are multiplied by a factor of its own, within 20% of 1; the friction of
    everything by one factor, within 30%; the force of each motor, and of a servo's damping, by a factor of
    its own, within 15%. Factors are uniform. Actions come one control step late.

    Args:
        robot: not damaged yet: a body that is gone would leave the others with other factors.
        seed: at least 0; the result depends on nothing else.

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
    """Multiply a body's mass and inertia, whether they are given or follow from its geoms."""
    if body.explicitinertial:
        body.mass *= factor
        body.inertia = np.asarray(body.inertia) * factor
        body.fullinertia = np.asarray(body.fullinertia) * factor
    for geom in body.geoms:
        geom.density *= factor
        geom.mass *= factor  # one that is not given is NaN, and stays so


def _scale_force(motor: mujoco.MjsActuator, factor: float) -> None:
    """Multiply the force that an actuator gives for any action and state, and its limits."""
    motor.gainprm = np.asarray(motor.gainprm) * factor
    motor.biasprm = np.asarray(motor.biasprm) * factor
    motor.forcerange = np.asarray(motor.forcerange) * factor
