"""Stable-Baselines3 learns on every robot's environment as it is."""

import gymnasium
import pytest

from robots.robot import Robot
from surefoot.environments import environment_id

stable_baselines3 = pytest.importorskip("stable_baselines3")


@pytest.mark.filterwarnings("ignore")  # of the other library's
def test_ppo_learns_unchanged(robot: Robot) -> None:
    model = stable_baselines3.PPO("MlpPolicy", gymnasium.make(environment_id(robot.name)), seed=0)
    model.learn(20_000)
    assert model.num_timesteps >= 20_000
