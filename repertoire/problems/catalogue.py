"""The table of problems by name, such as `sphere-100` or `maze`, and how a name becomes a problem."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from repertoire.problems.benchmarks import Arm, Sphere
from repertoire.problems.locomotion import Breaker, Locomotion
from repertoire.problems.maze import Maze
from repertoire.problems.problem import Problem
from repertoire.problems.record import ProblemRecord
from robots.catalogue import known_robots
from robots.controllers.mlp import MLPDescription
from robots.description import Randomization
from robots.errors import InvalidValueError, UnknownNameError, shown
from robots.files.records import Record, Steps, not_registered, validate
from robots.randomization import read_randomization
from robots.registry import Registry
from robots.robot import Robot, find_robot
from robots.simulation.backend import Backend
from robots.simulation.threads import ALL_CORES
from robots.task.measures import parse_measures

# A name that ends in -N stands for one problem for every number N of parameters.
PROBLEMS: Registry[Callable[..., Problem]] = Registry(
    "problem", [("arm-N", Arm), ("maze", Maze), ("sphere-N", Sphere)]
)
_OF_ANY_DIM = "-N"


def make_problem(name: str) -> Problem:
    """Make one of the benchmarks of the table by its name, with a number in place of N."""
    make, arguments = _look_up(name)
    if make is None:
        raise UnknownNameError("problem", name, PROBLEMS)
    return make(*arguments)


class WalkSettings(Record):
    """Settings of the problem to walk with a robot, which no other problem has.

    Attributes:
        hidden: drive the robot by networks with hidden layers of these sizes, e.g. 64,64; by default by its
            own controllers.
        episode_steps: most control steps of an episode; the robot's own number by default.
        measures: what tells gaits apart, feet for their time on the ground or ranges of other measures, e.g.
            forward_speed=-0.5:1,turn_rate=-1:1, see `parse_measures`; the robot's own by default.
        reward: preset of the reward: paper, distance, straight, steering or, where the YAML has a command,
            command; in Python also what a YAML says of it. The robot's own by default.
        damage_share: share of episodes, from 0 to 1, in which a random leg is lost or dead.
        randomization: of its models, or a text, see `read_randomization`.
    """

    hidden: tuple[int, ...] | None = None
    episode_steps: Steps | None = None
    measures: str | dict[str, Any] | tuple[str, ...] | None = None
    reward: str | dict[str, Any] | None = None
    damage_share: float = 0.0
    randomization: str | Randomization | None = "none"


def find_problem(
    problem: Problem | Robot | str | Path,
    *,
    backend: Backend | None = None,
    breaker: Breaker | None = None,
    **settings: object,
) -> Problem:
    """Find a problem: a benchmark, or to walk with a robot.

    Args:
        problem: one of a user's own, or a robot; or the name of a benchmark or of a robot that comes with the
            package, or the path of the YAML of another robot.
        backend: what runs the episodes of a robot; all cores of this machine by default.
        breaker: damages the robot.
        **settings: see `WalkSettings`.
    """
    walk = validate(WalkSettings, settings)
    if isinstance(problem, Problem) or (isinstance(problem, str) and _look_up(problem)[0] is not None):
        name = problem if isinstance(problem, str) else problem.name
        chosen = walk.model_dump(exclude_defaults=True)
        given = [setting for setting, value in chosen.items() if value is not None]
        given += ["threads"] * (isinstance(problem, Problem) and backend is not None)
        if given:
            raise InvalidValueError(
                f"{name} is not a robot, so it cannot be given --{given[0].replace('_', '-')}: leave it out"
            )
        if backend and backend.elsewhere:
            raise InvalidValueError(f"{name} has no episodes that a cluster could run: leave the cluster out")
        return make_problem(problem) if isinstance(problem, str) else problem
    try:
        robot = problem if isinstance(problem, Robot) else find_robot(str(problem))
    except UnknownNameError:
        raise UnknownNameError("robot or problem", problem, [*known_robots(), *PROBLEMS]) from None
    measures = parse_measures(walk.measures) if isinstance(walk.measures, str) else walk.measures
    changes = {"measures": measures, "reward": walk.reward}
    robot = robot.with_task(**{name: value for name, value in changes.items() if value is not None})
    if walk.hidden is not None:
        robot = robot.with_controller(validate(MLPDescription, {"hidden": walk.hidden}))
    if walk.episode_steps is not None:
        robot = robot.with_episode_steps(walk.episode_steps)
    return Locomotion(
        robot,
        backend=backend or ALL_CORES,
        damage_share=walk.damage_share,
        breaker=breaker,
        randomization=read_randomization(walk.randomization, robot),
    )


def recorded_problem(
    record: ProblemRecord, *, backend: Backend | None = None, breaker: Breaker | None = None
) -> Problem:
    """Make the problem that a repertoire was trained on, to go on with it; see `find_problem`."""
    if record.robot is None:
        problem = None if _look_up(record.name)[0] is None else make_problem(record.name)
        if problem is None:
            raise not_registered(f"the problem {shown(record.name)}")
        known = vars(problem.record).items()
        if differing := [name.replace("_", " ") for name, one in known if one != getattr(record, name)]:
            raise InvalidValueError(
                f"it was recorded with the problem {shown(record.name)}, but the one that is registered here "
                f"under that name has other {' and '.join(differing)}"
            )
        return problem
    return Locomotion(
        record.robot,
        backend=backend or ALL_CORES,
        damage_share=record.damage_share,
        damages=record.damages,
        breaker=breaker,
        randomization=record.randomization,
    )


def _look_up(name: str) -> tuple[Callable[..., Problem] | None, tuple[Any, ...]]:
    """What makes the problem of a name, None for an unknown name, and its arguments."""
    kind, _, dim = name.partition("-")
    if dim.isascii() and dim.isdecimal() and len(dim) <= 100:
        return PROBLEMS.get(kind + _OF_ANY_DIM), (int(dim),)
    return (None if name.endswith(_OF_ANY_DIM) else PROBLEMS.get(name)), ()
