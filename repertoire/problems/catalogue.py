"""The table of problems by name, such as `sphere-100` or `maze`, and how a name becomes a problem."""

from collections.abc import Callable, Mapping
from typing import Any

from repertoire.problems.arm import Arm
from repertoire.problems.locomotion import Locomotion
from repertoire.problems.maze import Maze
from repertoire.problems.problem import Problem
from repertoire.problems.record import ProblemRecord
from repertoire.problems.sphere import Sphere
from robots.catalogue import robot_names
from robots.controllers.mlp import MLPDescription
from robots.errors import InvalidValueError, UnknownNameError
from robots.robot import find_robot

# A name that ends in -N stands for one problem for every number N of parameters.
PROBLEMS: Mapping[str, Callable[..., Problem]] = {"arm-N": Arm, "maze": Maze, "sphere-N": Sphere}
_OF_ANY_DIM = "-N"
_MOST_STEPS = 1_000_000  # of an episode


def make_problem(name: str) -> Problem:
    """Make one of the problems of the table, which are benchmarks.

    Args:
        name: as in the table, with a number in place of N.

    Raises:
        UnknownNameError: there is none of that name.
        InvalidValueError: N is below 2 or above a million.
    """
    make, arguments = _look_up(name)
    if make is None:
        raise UnknownNameError("problem", name, PROBLEMS)
    return make(*arguments)


def find_problem(
    name: str,
    *,
    threads: int | None = None,
    hidden: tuple[int, ...] | None = None,
    episode_steps: int | None = None,
) -> Problem:
    """Find a problem: a benchmark, or to walk with a robot.

    Args:
        name: of a benchmark or of a robot that comes with the package, or the path of the YAML of another
            robot.
        threads: of a robot's simulation; all cores by default.
        hidden: units of the hidden layers of the networks that drive a robot; its own controllers by default.
        episode_steps: control steps that a robot's episode has at most; the robot's own number by default.

    Raises:
        UnknownNameError: there is nothing of that name.
        InvalidRobotError: the robot's files cannot be read, or do not describe a robot.
        InvalidValueError: an argument is out of range, or the problem has no use for it.
    """
    if _look_up(name)[0] is not None:
        if hidden is not None or episode_steps is not None:
            given = "hidden layers" if hidden is not None else "a number of episode steps"
            raise InvalidValueError(f"{name} is not a robot, so it cannot be given {given}: leave it out")
        return make_problem(name)
    try:
        robot = find_robot(name)
    except UnknownNameError:
        raise UnknownNameError("robot or problem", name, [*robot_names(), *PROBLEMS]) from None
    if hidden is not None:
        robot = robot.with_controller(MLPDescription(hidden=hidden))
    if episode_steps is not None:
        if not 1 <= episode_steps <= _MOST_STEPS:
            raise InvalidValueError(
                f"episode_steps must be at least 1 and at most {_MOST_STEPS}, not {episode_steps}"
            )
        robot = robot.with_episode_steps(episode_steps)
    return Locomotion(robot, threads=threads)


def recorded_problem(record: ProblemRecord, *, threads: int | None = None) -> Problem:
    """Make the problem that a repertoire was trained on, to go on with it.

    Raises:
        UnknownNameError: it is neither that of a robot nor one of the table, but a user's own.
    """
    return make_problem(record.name) if record.robot is None else Locomotion(record.robot, threads=threads)


def _look_up(name: str) -> tuple[Callable[..., Problem] | None, tuple[Any, ...]]:
    """What makes the problem of a name, None for an unknown name, and its arguments."""
    kind, _, dim = name.partition("-")
    if dim.isascii() and dim.isdecimal() and len(dim) <= 100:
        return PROBLEMS.get(kind + _OF_ANY_DIM), (int(dim),)
    return (None if name.endswith(_OF_ANY_DIM) else PROBLEMS.get(name)), ()
