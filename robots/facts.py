"""What a person may ask about a robot, in words: its sizes, joints, actuators, task and measures."""

from robots.description import Alive, Description
from robots.motors import Motors, lags
from robots.robot import Robot
from robots.task.measures import KINDS
from robots.words import counted, foot_words, wrapped


def size_words(robot: Robot) -> str:
    """The sizes of a robot's observations, actions, controller and archive, in a line."""
    return (
        f"{robot.observation_dim} observations, {robot.action_dim} actions; "
        f"{robot.controller.label}, {robot.controller.parameter_count:,} parameters; "
        f"{counted(robot.measure_dim, 'measure')}, {_cells(robot)}"
    )


def robot_facts(robot: Robot) -> dict[str, list[str]]:
    """What a person may ask about a robot: each fact by its name, in lines."""
    description = robot.description
    least = description.min_objective
    published = "" if least.published is None else f" (published for another simulator: {least.published:g})"
    limit = f"{description.episode_steps} control steps, {description.episode_steps * robot.control_step:g} s"
    pose = f"within ±{description.reset_joint_noise:g} rad"
    start = f"joints start {pose}"
    if description.keyframe is not None:
        start = f"episodes start in the pose {description.keyframe!r} of the MJCF, joints {pose} of it"
    return {
        "robot": [f"{robot.name}: {description.title}"],
        "size": [size_words(robot)],
        "joints": wrapped(", ".join(description.joints)),
        "actuators": actuation_words(robot),
        "feet": [f"{foot}: {', '.join(soles)}" for foot, soles in description.feet.items()],
        "legs": [
            f"{name}: {', '.join(leg.joints)}, ending in {foot_words(leg.foot)}"
            for name, leg in description.legs.items()
        ],
        "measures": _measure_words(description),
        "control step": [f"{robot.control_step:g} s: {description.substeps} physics steps"],
        "episode": wrapped(f"{limit} at most; {start}"),
        "alive": wrapped(_alive_words(description.alive)),
        "objective": [description.reward.objective],
        "observations": wrapped(description.observations.words),
        "reward": wrapped(description.reward.words),
        **({"command": [description.command.words]} if description.command else {}),
        **({"ground": [description.terrain.words]} if description.terrain.kind != "flat" else {}),
        "archive": [_cells(robot)],
        "least objective": [f"{least.value:g}{published}", *wrapped(least.source)],
    }


def _measure_words(description: Description) -> list[str]:
    feet = [name for name in description.measures if name in description.feet]
    others = [
        f"{name}: {KINDS[name].meaning}, {low:g} to {high:g} {KINDS[name].unit}"
        for name, (low, high) in description.measures.items()
        if name not in feet
    ]
    return [*(wrapped(f"share of time on the ground: {', '.join(feet)}") if feet else ()), *others]


def actuation_words(robot: Robot) -> list[str]:
    """What actions from -1 to 1 command, one line for all joints with the same actuators; see `Servo`."""
    lines: dict[str, list[str]] = {}
    for name in robot.description.joints:
        motor = Motors.of(robot.physics, [name])
        low, high = (float(motor.targets(action)[0]) for action in (-1.0, 1.0))
        limit, lag = f"at most {motor.greatest[0]:.3g}", lags(robot.physics, [name])[0]
        limit += f", lag {lag:g} s" * bool(lag)
        if motor.servos[0]:
            gains = f"kp {motor.stiffness[0]:.3g}, kd {motor.damping[0]:.3g}"
            words = f"target {(low + high) / 2:.3g} + action · {(high - low) / 2:.3g}, {gains}, {limit}"
        else:
            force = motor.gain[0] * motor.gear[0]
            words = f"forces from {force * motor.low[0]:.3g} to {force * motor.high[0]:.3g}"
        lines.setdefault(words, []).append(name)
    return [line for words, joints in lines.items() for line in wrapped(f"{words}: {', '.join(joints)}")]


def _cells(robot: Robot) -> str:
    return f"{' x '.join(map(str, robot.description.archive))} cells"


def _alive_words(alive: Alive) -> str:
    conditions = {
        "the torso is above {:g} m": alive.min_height,
        "it leans by less than {:g} rad": alive.max_pitch,
        "it is tilted by less than {:g} rad": alive.max_tilt,
        "none of these touches the floor: {}": ", ".join(alive.untouched) or None,
    }
    words = [text.format(value) for text, value in conditions.items() if value is not None]
    end = ("ends" if alive.ends_episode else "goes on") + " and is worth 0 at most" * alive.forfeits
    return f"while {' and '.join(words)}; otherwise the episode {end}" if words else "always"
