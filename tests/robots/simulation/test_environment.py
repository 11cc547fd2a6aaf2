import numpy as np
import pytest

from robots.errors import InvalidValueError, UnknownNameError
from robots.simulation.backend import ModelBatch
from robots.simulation.environment import WalkingEnvironment
from robots.simulation.threads import Threads


def test_it_equals_simulation_bit_for_bit(robot) -> None:
    seeds, rng, robot = np.arange(2) + 40, np.random.default_rng(0), robot.with_episode_steps(80)
    backend, batch = Threads(2), ModelBatch(robot)
    controllers = np.stack([robot.controller.initial(rng) for _ in seeds])
    episodes = backend.run(batch, controllers, seeds)
    environment = WalkingEnvironment(robot)
    for i, parameters in enumerate(controllers):
        total, steps, info = _run(environment, robot.controller, parameters, int(seeds[i]))
        assert total == pytest.approx(episodes.objectives[i], abs=1e-12)  # what falls may forfeit the sum
        assert steps == episodes.steps[i]
        assert np.array_equal(info["measures"], episodes.measures[i])
        assert info["distance"] == episodes.distances[i]
        assert np.all((info["measures"] >= 0) & (info["measures"] <= 1))


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
    with pytest.raises(InvalidValueError, match="real numbers"):
        environment.step(np.zeros(8) * 1j)
    with pytest.raises(InvalidValueError, match="seed must be a whole number from 0"):
        environment.reset(seed=10**400)
    with pytest.raises(InvalidValueError, match=r"an action must be finite, not \[0.0, nan"):
        environment.step(np.array([0, np.nan, *[0] * 6]))
    with pytest.raises(InvalidValueError, match=r"an action of ant must have shape \(8,\), not \(7,\)"):
        environment.step(np.zeros(7))
    environment.step(np.full(8, 7.0))  # beyond the range is clipped
