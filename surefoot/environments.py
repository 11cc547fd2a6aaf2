"""The walking task for Gymnasium: importing this module registers an environment of every included robot.

import gymnasium
import surefoot.environments

gymnasium.make("surefoot/QDAnt-v0", damage="front_left:lost")
gymnasium.make("surefoot/Robot-v0", robot="my_robot.yaml", damage="left:dead")
gymnasium.make_vec("surefoot/QDAnt-v0", num_envs=32, damage=[None, "front_left:lost"])
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium

from adapt.damage.damage import Combination, Damage
from adapt.damage.text import parse_damage
from robots.catalogue import known_robots
from robots.robot import Robot, find_robot
from robots.simulation.environment import WalkingEnvironment
from robots.simulation.vector_environment import VectorWalkingEnvironment


def environment_id(robot: str) -> str:
    """The Gymnasium id of a robot's environment, e.g. `surefoot/QDAnt-v0`."""
    return f"surefoot/QD{robot.replace('_', ' ').title().replace(' ', '')}-v0"


def make_environment(
    robot: Robot | str | Path, *, damage: Damage | str | None = None, **options: Any
) -> WalkingEnvironment:
    """Make the environment of a robot, damaged or whole.

    Args:
        robot: the robot, or the name of one, or the path of a YAML.
        damage: of the robot, e.g. `front_left:lost`; nothing by default.
        **options: the other arguments of `WalkingEnvironment`.
    """
    robot = robot if isinstance(robot, Robot) else find_robot(robot)
    return WalkingEnvironment(
        robot if damage is None else parse_damage(damage, robot).apply(robot), **options
    )


def make_vector_environment(
    robot: Robot | str | Path,
    num_envs: int = 1,
    *,
    damage: Damage | str | Sequence[Damage | str | None] | None = None,
    **options: Any,
) -> VectorWalkingEnvironment:
    """Make so many environments of a robot that are simulated together, see `make_environment`.

    Robots have several damages in turn, None for none; options are those of `VectorWalkingEnvironment`.
    """
    robot = robot if isinstance(robot, Robot) else find_robot(robot)
    damages = damage if isinstance(damage, Sequence) and not isinstance(damage, str) else [damage]
    changes = [(Combination() if one is None else parse_damage(one, robot)).apply for one in damages]
    return VectorWalkingEnvironment(robot, num_envs, changes=changes, **options)


_KNOWN = {environment_id(name): {"robot": name} for name in known_robots()}
for _id, _given in {**_KNOWN, "surefoot/Robot-v0": {}}.items():
    gymnasium.register(
        _id,
        entry_point=f"{__name__}:{make_environment.__name__}",
        vector_entry_point=f"{__name__}:{make_vector_environment.__name__}",
        kwargs=_given,
    )
