"""Robots that differ from their model: models drawn from a `Randomization`."""

from dataclasses import replace

import mujoco
import numpy as np

from robots.description import Draw, Randomization
from robots.errors import InvalidValueError, naming
from robots.files.records import validate
from robots.files.texts import parse_number
from robots.motors import settle_gains
from robots.robot import Faults, Modification, Robot
from robots.seeds import SeedFamily
from robots.stance import turned
from robots.task.terrain import clearance, lay, parse_terrain, tilt

# What robots are trained on where their YAML says nothing else, and how robots of benchmarks differ.
DEFAULT = Randomization(
    mass=(0.8, 1.2), friction=(0.7, 1.3), strength=(0.85, 1.15), delay=(0, 1), noise=(0.0, 0.02)
)
GAP = Randomization(mass=(0.8, 1.2), friction=(0.7, 1.3), strength=(0.85, 1.15), delay=(1, 1))


def draw_models(robot: Robot, randomization: Randomization) -> list[Robot]:
    """Draw the models that a randomization asks for, always the same ones, of a robot without damage."""
    _check(robot, randomization)
    if randomization.drawn:
        named = enumerate(randomization.drawn)
        return [model_of(robot, draw, f"model {number} of {randomization}") for number, draw in named]
    family = int(SeedFamily.RANDOMIZATION)
    seeds = [np.random.SeedSequence(0, spawn_key=(family, i)) for i in range(randomization.models)]
    return [randomised(robot, seed, randomization) for seed in seeds]


def randomised(
    robot: Robot, seed: int | np.random.SeedSequence, randomization: Randomization | None = GAP
) -> Robot:
    """Draw one model of a robot, which is not damaged yet, by a seed; None leaves it as it is."""
    if randomization is None:
        return robot
    label = f"gap@{seed}" if isinstance(seed, int) else f"model {seed.spawn_key[-1]} of {randomization}"
    return model_of(robot, draw(robot, np.random.default_rng(seed), randomization), label)


def draw(robot: Robot, rng: np.random.Generator, randomization: Randomization) -> Draw:
    """What one model of a robot differs by."""
    ranges, spec = randomization, robot.spec()
    if ranges.drawn:
        return ranges.drawn[rng.integers(len(ranges.drawn))]
    return Draw(
        mass=tuple(rng.uniform(*ranges.mass, len(spec.bodies))),
        friction=rng.uniform(*ranges.friction),
        strength=tuple(rng.uniform(*ranges.strength, len(spec.actuators))),
        delay=int(rng.integers(*ranges.delay, endpoint=True)),
        noise=rng.uniform(*ranges.noise),
        pose=None if ranges.pose is None else rng.uniform(*ranges.pose),
        damping=rng.uniform(*ranges.damping),
        offset=tuple(rng.uniform(*ranges.offset, robot.action_dim)),
        slope=rng.uniform(*ranges.slope),
        ground=ranges.terrain.draw(rng) if ranges.terrain else None,
        heading=rng.uniform(*ranges.heading),
    )


def model_of(robot: Robot, draw: Draw, label: str, *, unseen: bool = False) -> Robot:
    """The model of a robot, which is not damaged yet, that a draw says; see `Robot.with_modifications`."""
    floor, own = robot.description.floor, robot.description.terrain.own
    clear = clearance(robot.spec()) if draw.ground else 0.0

    def edit(spec: mujoco.MjSpec) -> None:
        settle_gains(spec)  # those of the masses of the model
        if draw.ground:
            if own.angle:
                tilt(spec, -own.angle)
            lay(spec, floor, draw.ground, clear)
        for body, factor in zip(spec.bodies, draw.mass, strict=True):
            _scale_mass(body, factor)
        for surface in (*spec.geoms, *spec.pairs):
            surface.friction = np.asarray(surface.friction) * draw.friction
        for motor, factor in zip(spec.actuators, draw.strength, strict=True):
            _scale_force(motor, factor)
        for joint in spec.joints:
            joint.damping = np.asarray(joint.damping) * draw.damping
        if draw.slope:
            tilt(spec, draw.slope)

    def turn_sensors(model: mujoco.MjModel) -> None:
        for name, angle in zip(robot.description.joints, draw.offset, strict=True):
            joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
            if joint >= 0:
                place = model.jnt_qposadr[joint]
                model.qpos0[place] += angle
                model.qpos_spring[place] += angle
                model.jnt_range[joint] += angle

    noisy = {channel.name: draw.noise for channel in robot.channels} if draw.noise else {}
    patch = turn_sensors if any(draw.offset) else None
    change = Modification(label, edit, Faults(delay=draw.delay, noisy=noisy), patch)
    changed = robot.with_modifications(change, unseen=unseen)
    if draw.heading:
        changed = turned(changed, np.radians(draw.heading))
    if draw.pose is None:
        return changed
    return replace(
        changed, description=changed.description.model_copy(update={"reset_joint_noise": draw.pose})
    )


def facing_ahead(randomization: Randomization) -> Randomization:
    """The same distribution, of robots that begin with their usual heading."""
    drawn = tuple(draw.model_copy(update={"heading": 0.0}) for draw in randomization.drawn)
    return randomization.model_copy(update={"heading": (0.0, 0.0), "drawn": drawn})


def read_randomization(text: str | Randomization | None, robot: Robot) -> Randomization | None:
    """Read a randomization of a robot from a command line; one that is read already passes as it is.

    The text is `none`, `default` for that of the robot's YAML, or else `DEFAULT`, or ranges such as
    `mass=0.8:1.2,delay=1,models=32`; what is left out is not randomised.
    """
    if isinstance(text, Randomization):
        return text
    if text is None or text == "none":
        return None
    if text == "default":
        return robot.description.randomization or DEFAULT
    pairs = [[piece.strip() for piece in part.partition("=")[::2]] for part in text.split(",")]
    try:
        values = {name: _read(name, value) for name, value in pairs}
    except ValueError:
        values = {}
    if len(values) < len(pairs):
        raise InvalidValueError(
            "randomization must be none, default, or ranges such as mass=0.8:1.2,delay=0:2, each once, "
            f"not {text!r}"
        )
    with naming("randomization", InvalidValueError):
        return validate(Randomization, values)


def _read(name: str, text: str) -> object:
    """A terrain, a number of models, or a range, for which one number may stand."""
    if name == "terrain":
        return parse_terrain(text)
    numbers = [parse_number(piece) for piece in text.split(":")]
    numbers = [int(number) if number.is_integer() else number for number in numbers]
    if len(numbers) > 1:
        return numbers
    return numbers[0] if name == "models" else 2 * numbers


def _check(robot: Robot, randomization: Randomization) -> None:
    model, feet = robot.physics, robot.description.feet
    spec = robot.spec()
    sizes = len(spec.bodies), len(spec.actuators), robot.action_dim
    if any((len(one.mass), len(one.strength), len(one.offset)) != sizes for one in randomization.drawn):
        raise InvalidValueError(f"the models that were drawn are not of the {robot.name}")
    if randomization.model_copy(update={"models": 1}) == Randomization(models=1):
        raise InvalidValueError("this randomization changes nothing: give a range such as mass=0.8:1.2")
    soles = [model.geom(sole).id for soles in feet.values() for sole in soles]
    touching = [*soles, model.geom(robot.description.floor).id]  # the larger of two geoms' values counts
    grips = np.any(model.geom_condim[touching] > 1) and np.any(model.geom_friction[touching, 0] > 0)
    if randomization.friction != (1.0, 1.0) and not grips:
        raise InvalidValueError(f"the feet of {robot.name} have no friction that could be randomised")


def _scale_mass(body: mujoco.MjsBody, factor: float) -> None:
    if body.explicitinertial:
        body.mass *= factor
        body.inertia = np.asarray(body.inertia) * factor
        body.fullinertia = np.asarray(body.fullinertia) * factor
    for geom in body.geoms:
        geom.density *= factor
        geom.mass *= factor  # NaN where it is not given, and stays NaN


def _scale_force(motor: mujoco.MjsActuator, factor: float) -> None:
    motor.gainprm = np.asarray(motor.gainprm) * factor
    motor.biasprm = np.asarray(motor.biasprm) * factor
    motor.forcerange = np.asarray(motor.forcerange) * factor
