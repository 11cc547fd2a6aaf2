"""`examine` tries a robot out: what one should know of it before training, and what looks wrong."""

import time
from dataclasses import dataclass

import mujoco
import numpy as np

from robots.actuation import motor_of
from robots.facts import wrapped
from robots.importing.remarks import model_remarks, start_remarks, trial_remarks
from robots.rendering.pictures import standing_on_floor
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from robots.simulation.simulation import Simulation

_TRIALS = 16  # episodes with random controllers
_STEPS = 300  # control steps of each, at most


@dataclass(frozen=True)
class Examination:
    """What there is to say about a robot.

    Attributes:
        facts: by name, in lines.
        remarks: what looks wrong, a sentence each.
    """

    facts: dict[str, list[str]]
    remarks: list[str]


def examine(robot: Robot) -> Examination:
    """Look at a robot as it starts, and let random controllers move it for a moment."""
    trials, speed = _try(robot)
    return Examination(
        {
            "body": [_body_words(robot)],
            "stands": _stance(robot),
            "commands": _commands(robot),
            "random gaits": _trial_words(robot, trials),
            "speed": [f"{speed:,.0f} control steps/s on one core, fewer while it does other things too"],
        },
        [*start_remarks(robot), *model_remarks(robot), *trial_remarks(robot, trials)],
    )


def _try(robot: Robot) -> tuple[Episodes, float]:
    """Episodes of random controllers, and the control steps simulated per second."""
    steps = min(_STEPS, robot.description.episode_steps)
    with Simulation(robot.with_episode_steps(steps), threads=1) as simulation:
        rng = np.random.default_rng(0)
        parameters = np.stack([simulation.controller.initial(rng) for _ in range(_TRIALS)])
        simulation.evaluate(parameters[:1], np.zeros(1, np.int64))  # compiles
        started = time.perf_counter()
        trials = simulation.evaluate(parameters, np.arange(_TRIALS))
    return trials, trials.steps.sum() / (time.perf_counter() - started)


def _body_words(robot: Robot) -> str:
    """Mass and height."""
    data, torso = standing_on_floor(robot), robot.model.body(robot.description.torso).id
    return f"{robot.model.body_subtreemass[torso]:.3g} kg; the torso stands {data.xpos[torso, 2]:.3g} m high"


def _stance(robot: Robot) -> list[str]:
    """Where each foot stands, seen from the torso; ahead is where the robot is to walk."""
    data, lines = standing_on_floor(robot), []
    torso = data.body(robot.description.torso).xpos
    for foot, soles in robot.description.feet.items():
        x, y, _ = np.mean([data.geom(sole).xpos for sole in soles], axis=0) - torso
        along, across = "ahead" if x >= 0 else "behind", "left" if y >= 0 else "right"
        lines.append(f"{foot}: {abs(x):.2f} m {along}, {abs(y):.2f} m to the {across}")
    return lines


def _commands(robot: Robot) -> list[str]:
    """What actions from -1 to 1 command, in a line for all joints that are told the same."""
    lines: dict[str, list[str]] = {}
    for name in robot.description.joints:
        lines.setdefault(_command(robot.model, motor_of(robot.model, name)), []).append(name)
    return [line for words, joints in lines.items() for line in wrapped(f"{words}: {', '.join(joints)}")]


def _command(model: mujoco.MjModel, actuator: int) -> str:
    """What actions from -1 to 1 tell an actuator."""
    low, high = model.actuator_ctrlrange[actuator]
    stiffness = -model.actuator_biasprm[actuator, 1]
    if stiffness:
        return f"positions from {low:.3g} to {high:.3g}, stiffness {stiffness:.3g}"
    force = model.actuator_gainprm[actuator, 0] * model.actuator_gear[actuator, 0]
    return f"forces from {force * low:.3g} to {force * high:.3g}"


def _trial_words(robot: Robot, trials: Episodes) -> list[str]:
    """How far random controllers came."""
    limit, lasted = min(_STEPS, robot.description.episode_steps), trials.steps
    if trials.diverged.all():
        return [f"the simulation blew up with all of {_TRIALS} random controllers"]
    shares = np.nanmean(trials.measures, axis=0)
    feet = [f"{foot} {share:.0%}" for foot, share in zip(robot.description.measures, shares, strict=True)]
    return [
        f"{_TRIALS} random controllers lasted {lasted.min()} to {lasted.max()} of {limit} control steps",
        *wrapped(f"and were on the ground: {', '.join(feet)}"),
    ]
