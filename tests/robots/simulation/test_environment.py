import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from robots.errors import InvalidValueError, UnknownNameError
from robots.robot import Faults, Robot
from robots.simulation.backend import ModelBatch
from robots.simulation.environment import WalkingEnvironment
from robots.simulation.threads import Threads


def test_it_equals_simulation_bit_for_bit(robot: Robot) -> None:
    seeds, rng = np.arange(4) + 40, np.random.default_rng(0)
    backend, batch = Threads(2), ModelBatch(robot.with_episode_steps(200))
    controllers = np.stack([robot.controller.initial(rng) for _ in seeds])
    episodes = backend.run(batch, controllers, seeds)
    environment = WalkingEnvironment(robot.with_episode_steps(200))
    for i, parameters in enumerate(controllers):
        total, steps, info = _run(environment, robot.controller, parameters, int(seeds[i]))
        assert total == pytest.approx(episodes.objectives[i], abs=1e-12)  # what falls may forfeit the sum
        assert steps == episodes.steps[i]
        assert np.array_equal(info["measures"], episodes.measures[i])
        assert info["distance"] == episodes.distances[i]
        assert np.all((info["measures"] >= 0) & (info["measures"] <= 1))


def test_frames_show_the_robot(robot: Robot) -> None:
    environment = WalkingEnvironment(robot, render_mode="rgb_array", width=160, height=120)
    environment.reset(seed=0)
    frame = environment.render()
    environment.close()
    assert frame.shape == (120, 160, 3)
    dark = frame.max(axis=2) < 110  # limbs and torso, in front of a light floor and sky
    assert 50 < dark.sum() < 4000


def _run(environment, controller, parameters: np.ndarray, seed: int) -> tuple[float, int, dict]:
    observation, info = environment.reset(seed=seed)
    total, steps, over = 0.0, 0, False
    while not over:
        action = controller.act(parameters, observation, steps)
        observation, reward, terminated, truncated, info = environment.step(action)
        total, steps, over = total + reward, steps + 1, terminated or truncated
    return total, steps, info


def test_a_reset_without_seed_goes_on_from_the_last_one() -> None:
    a, b = WalkingEnvironment("ant"), WalkingEnvironment("ant")
    a.reset(seed=3)
    b.reset(seed=3)
    first, second = a.reset()[0], a.reset()[0]
    assert np.array_equal(first, b.reset()[0])
    assert not np.array_equal(first, second)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"available: .*ant"):
        WalkingEnvironment("snail")
    with pytest.raises(InvalidValueError, match="rgb_array"):
        WalkingEnvironment("ant", render_mode="human")


def test_a_step_needs_a_reset_and_finite_actions_of_the_right_shape() -> None:
    environment = WalkingEnvironment("ant")
    with pytest.raises(InvalidValueError, match="an episode begins with reset"):
        environment.step(np.zeros(8))
    environment.reset(seed=0)
    with pytest.raises(InvalidValueError, match=r"an action must be finite, not \[0.0, nan"):
        environment.step(np.array([0, np.nan, *[0] * 6]))
    with pytest.raises(InvalidValueError, match=r"an action of ant must have shape \(8,\), not \(7,\)"):
        environment.step(np.zeros(7))
    environment.step(np.full(8, 7.0))  # beyond the range is clipped


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_copies_go_on_where_the_original_was(ant: Robot, copied: Callable) -> None:
    faults = Faults(delay=2, noisy={"roll": 0.1})
    environment = WalkingEnvironment(ant.modified("late", lambda spec: None, faults))
    environment.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(20):
        environment.step(rng.uniform(-1, 1, 8))
    other = copied(environment)
    for _ in range(20):
        action = rng.uniform(-1, 1, 8)
        one, two = environment.step(action), other.step(action)
        assert np.array_equal(one[0], two[0])
        assert one[1:4] == two[1:4]
        assert one[4]["energy"] == two[4]["energy"]
    assert np.array_equal(environment.reset()[0], other.reset()[0]), "their generators differ"


def test_nothing_is_simulated_after_close() -> None:
    environment = WalkingEnvironment("hopper")
    environment.reset(seed=0)
    with pytest.raises(InvalidValueError, match="real numbers"):
        environment.step(np.zeros(3) * 1j)
    with pytest.raises(InvalidValueError, match="seed must be a whole number from 0"):
        environment.reset(seed=10**400)
    environment.close()
    environment.close()
    for attempt in (lambda: environment.step(np.zeros(3)), lambda: environment.reset(seed=0)):
        with pytest.raises(InvalidValueError, match="the environment was closed"):
            attempt()
