"""The environments that are registered with Gymnasium, of whole and of damaged robots."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from adapt.damage.text import parse_damage
from robots.catalogue import MODELS, robot_names
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.robot import load_robot
from robots.simulation.environment import WalkingEnvironment
from surefoot.environments import environment_id

ANT = "surefoot/QDAnt-v0"
LOST = "front_left:lost"


@pytest.mark.parametrize("name", robot_names())
def test_every_robot_is_registered_and_passes_gymnasiums_check(name: str) -> None:
    check_env(gymnasium.make(environment_id(name)).unwrapped, skip_render_check=True)


def test_the_ids() -> None:
    assert [environment_id(name) for name in robot_names()] == [
        "surefoot/QDAnt-v0",
        "surefoot/QDHalfCheetah-v0",
        "surefoot/QDHexapod-v0",
        "surefoot/QDHopper-v0",
        "surefoot/QDQuadruped-v0",
        "surefoot/QDWalker-v0",
    ]


def observations(environment: gymnasium.Env, seed: int | None, steps: int = 30) -> list[np.ndarray]:
    """What random actions lead to."""
    rng = np.random.default_rng(0)
    first = [environment.reset(seed=seed)[0]] if seed is not None else []
    return first + [environment.step(rng.uniform(-1, 1, 8))[0] for _ in range(steps)]


@pytest.mark.parametrize("options", [{}, {"robot": MODELS / "ant" / "ant.yaml"}])
def test_a_damage_breaks_the_robot_of_an_environment(options: dict) -> None:
    ant = load_robot("ant")
    damaged = gymnasium.make(f"surefoot.environments:{ANT}", damage=LOST, render_mode="rgb_array", **options)
    expected = WalkingEnvironment(parse_damage(LOST, ant).apply(ant))
    np.testing.assert_array_equal(observations(damaged, 1), observations(expected, 1))
    assert not np.array_equal(observations(damaged, 1), observations(gymnasium.make(ANT), 1))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_copy_of_a_damaged_and_wrapped_environment_goes_on_where_it_was(copied) -> None:
    environment = gymnasium.make(ANT, damage=LOST)
    observations(environment, 2)
    other = copied(environment)
    np.testing.assert_array_equal(observations(environment, None), observations(other, None))


def test_robots_and_damages_that_there_are_not_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"tail.*available"):
        gymnasium.make(ANT, damage="tail:lost")
    with pytest.raises(InvalidValueError, match="PART:KIND"):
        gymnasium.make(ANT, damage=3)
    with pytest.raises(InvalidFileError, match="cannot read"):
        gymnasium.make(ANT, robot="snail.yaml")
