"""Robots that differ from their model: models drawn from a `Randomization`."""

from dataclasses import replace
from functools import partial

import mujoco
import numpy as np

from robots.description import Draw, Randomization
from robots.errors import InvalidValueError
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
    """Draw the models that a randomization asks for, always the same ones.

    Args:
        robot: not damaged yet, see `randomised`.
        randomization: of it.

    Raises:
        InvalidValueError: the randomization changes nothing, friction where there is none, or the heading of
            a robot that cannot turn.
        InvalidRobotError: a changed model does not compile.
    """
    _check(robot, randomization)
    if randomization.drawn:
        named = enumerate(randomization.drawn)
        return [model_of(robot, draw, f"model {number} of {randomization}") for number, draw in named]
    family = int(SeedFamily.RANDOMIZATION)
    seeds = [np.random.SeedSequence(0, spawn_key=(family, i)) for i in range(randomization.models)]
    return [randomised(robot, seed, randomization) for seed in seeds]


def randomised(robot: Robot, seed: int | np.random.SeedSequence, randomization: Randomization = GAP) -> Robot:
    """Draw one model of a robot.

    Args:
        robot: not damaged yet: without a body, the others would get different factors.
        seed: from which all that is drawn derives, not negative.
        randomization: the distribution.

    Raises:
        InvalidRobotError: the changed model does not compile.
    """
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
    """The model of a robot that a draw says.

    Args:
        robot: not damaged yet.
        draw: what is different.
        label: what to call that.
        unseen: whether nobody looks at it, see `Robot.with_modifications`.

    Raises:
        InvalidValueError: the draw is of a robot with other bodies, motors or joints.
        InvalidRobotError: the changed model does not compile.
    """
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
    shaped = draw.ground or draw.slope or not _weighs_as_stated(robot)
    numbers = None if shaped else partial(_scale, draw)
    change = Modification(label, edit, Faults(delay=draw.delay, noisy=noisy), patch, numbers)
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
    """Read a randomization from a command line; one that is read already passes as it is.

    Args:
        text: `none` or None; `default` for that of the robot's YAML, or else `DEFAULT`; or ranges such as
            `mass=0.8:1.2,delay=0:2,models=32`, or `delay=1`; what is left out is not randomised.
        robot: which is to be randomised.

    Raises:
        InvalidValueError: the text is none of these, or a range is impossible.
    """
    if isinstance(text, Randomization):
        return text
    if text is None or text == "none":
        return None
    if text == "default":
        return robot.description.randomization or DEFAULT
    values: dict[str, object] = {}
    for part in text.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name == "terrain" and name not in values:
            values[name] = parse_terrain(value)
            continue
        try:
            numbers = [_whole(parse_number(piece)) for piece in value.split(":")]
        except ValueError:
            numbers = []
        if not numbers or name in values:
            raise InvalidValueError(
                "randomization must be none, default, or ranges such as mass=0.8:1.2,delay=0:2, each once, "
                f"not {text!r}"
            )
        if len(numbers) == 1:  # a range of one value, but of how many models there are
            values[name] = numbers[0] if name == "models" else 2 * numbers
        else:
            values[name] = numbers
    try:
        return validate(Randomization, values)
    except InvalidValueError as error:
        raise InvalidValueError(f"randomization: {error}") from error


def _whole(number: float) -> float | int:
    return int(number) if number.is_integer() else number


def _check(robot: Robot, randomization: Randomization) -> None:
    model, feet = robot.physics, robot.description.feet
    spec = robot.spec()
    sizes = len(spec.bodies), len(spec.actuators), robot.action_dim
    if any((len(one.mass), len(one.strength), len(one.offset)) != sizes for one in randomization.drawn):
        raise InvalidValueError(f"the models that were drawn are not of the {robot.name}")
    if randomization.model_copy(update={"models": 1}) == Randomization(models=1):
        raise InvalidValueError("this randomization changes nothing: give a range such as mass=0.8:1.2")
    soles = [model.geom(sole).id for soles in feet.values() for sole in soles]
    touching = [
        *soles,
        model.geom(robot.description.floor).id,
    ]  # MuJoCo takes the larger of two geoms' values
    grips = np.any(model.geom_condim[touching] > 1) and np.any(model.geom_friction[touching, 0] > 0)
    if randomization.friction != (1.0, 1.0) and not grips:
        raise InvalidValueError(f"the feet of {robot.name} have no friction that could be randomised")


def _weighs_as_stated(robot: Robot) -> bool:
    """Whether the MJCF states the mass and inertia of every body, which can then be changed in the model.

    Those that the compiler computes from geoms would differ in their last bits.
    """
    spec, model = robot.nominal_spec, robot.physics
    return (
        len(spec.bodies) == model.nbody
        and bool(np.isnan(spec.stat.meaninertia))
        and all(
            body.mass == mass and np.array_equal(body.inertia, inertia)
            for body, mass, inertia in zip(spec.bodies, model.body_mass, model.body_inertia, strict=True)
        )
    )


def _scale(draw: Draw, model: mujoco.MjModel) -> None:
    """Multiply numbers of a compiled model, as the compiler does with those of the MJCF, to the last bit."""
    masses, strength = np.array(draw.mass), np.array(draw.strength)[:, None]
    model.body_mass *= masses
    model.body_inertia *= masses[:, None]
    for forces in (model.actuator_gainprm, model.actuator_biasprm, model.actuator_forcerange):
        forces *= strength
    for surfaces in (model.geom_friction, model.pair_friction):
        surfaces *= draw.friction
    for damping in (model.dof_damping, model.dof_dampingpoly):
        damping *= draw.damping
    mujoco.mj_setConst(model, mujoco.MjData(model))
    # only the compiler works it out, in this order; the tolerance of solvers scales with it
    model.stat.meaninertia = np.cumsum(model.dof_M0)[-1] / model.nv


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
