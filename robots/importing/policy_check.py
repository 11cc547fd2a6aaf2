"""`check_policy`: how well a policy follows its command on a healthy robot, and why it may fall."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import numpy as np

from robots.controllers.policy import PolicyDescription
from robots.errors import InvalidValueError
from robots.robot import Robot
from robots.simulation.stepper import Stepper

_SECONDS = 10.0
_SOON = 3.0  # [s] before which a fall is one at once
_FOLLOWS = 0.5  # share of the commanded speed from which a policy counts as following it
_SCALES = (0.05, 0.25, 4.0, 20.0)  # by which scales of terms are commonly wrong


class Walk(NamedTuple):
    """How a policy follows a command: a speed ahead and to the left [m/s] and a turn to the left [rad/s]."""

    command: tuple[float, float, float]
    made: tuple[float, float, float]
    seconds: float  # that it walked
    fell: bool  # or is where no numbers are finite any more
    diverged: bool


def check_policy(robot: Robot) -> list[Walk]:
    """Ten seconds of each simple command: as trained, backwards, to both sides, and turning both ways.

    A policy that observes no command walks once.
    """
    description = _description(robot)
    default, least, most = description.command.default, description.command.least, description.command.most
    told = [default, (least[0] / 2, 0.0, 0.0)]
    told += [(0.0, limit / 2, 0.0) for limit in (most[1], least[1])]
    told += [(0.0, 0.0, limit / 2) for limit in (most[2], least[2])]
    return [walk(robot, command) for command in (told if description.follows else told[:1])]


def walk(robot: Robot, command: tuple[float, float, float]) -> Walk:
    """Ten seconds of one command."""
    steps = round(_SECONDS / robot.control_step)
    stepper = Stepper(commanded(robot, command).with_episode_steps(steps).until_it_falls())
    stepper.run(robot.controller.initial(np.random.default_rng(0)), 1)
    tally = stepper.tally
    seconds = max(tally.steps, 1) * robot.control_step
    made = (tally.ahead / seconds, tally.lateral / seconds, tally.turned / seconds)
    return Walk(command, made, seconds, bool(tally.fell or tally.diverged), bool(tally.diverged))


def commanded(robot: Robot, command: tuple[float, float, float]) -> Robot:
    """The robot whose policy alone is told a command; it holds its heading unless it is to turn."""
    description = _description(robot)
    gain = 0.0 if command[2] else description.command.heading_gain
    told = description.command.model_copy(update={"default": command, "heading_gain": gain})
    return robot.with_controller(description.model_copy(update={"command": told}))


def suspicions(robot: Robot) -> list[str]:
    """Other orders of joints, scales and signs with which a policy walks that falls at once, in words."""
    before = walk(robot, _description(robot).command.default)
    if not before.fell or before.seconds > _SOON:
        return []
    found = []
    for words, description in _variants(robot):
        after = walk(robot.with_controller(description), description.command.default)
        if not after.fell and after.made[0] > _FOLLOWS * description.command.default[0]:
            found.append(words)
    return found


def _variants(robot: Robot) -> Iterator[tuple[str, PolicyDescription]]:
    own = _description(robot)
    legs, joints = robot.description.legs, robot.description.joints
    by_leg = [legs[name].joints for name in sorted(legs)]
    orders: Mapping[str, Iterable[str | None]] = {
        "in the order of the robot": (),
        "leg by leg in the order of their names": chain(*by_leg),
        "first the first joints of all legs": chain(*zip_longest(*by_leg)),
    }
    for words, order in orders.items():
        told = tuple(dict.fromkeys((*filter(None, order), *joints)))
        if told != own.joints:
            said = f"the joints are in another order: it walks with them {words}"
            yield said, own.model_copy(update={"joints": told})
    for number, term in enumerate(own.observes):
        for factor in (*_SCALES, -1.0):
            size = f"its scale is {1 / factor:g} times what it should be"
            observes = list(own.observes)
            observes[number] = _scaled(term, factor)
            changed = own.model_copy(update={"observes": tuple(observes)})
            yield f"{term.term}: {'its sign is wrong' if factor < 0 else size}", changed
    for factor in (0.5, 2.0) if own.scale is not None else ():
        yield f"the scale of actions: it walks with {factor:g} times that", _scaled(own, factor)


def _scaled(record: Any, factor: float) -> Any:
    return record.model_copy(update={"scale": (factor * np.asarray(record.scale)).tolist()})


def _description(robot: Robot) -> PolicyDescription:
    description = robot.description.controller
    if not isinstance(description, PolicyDescription):
        raise InvalidValueError(f"{robot.name} is not driven by a policy of others: give it one")
    return description
