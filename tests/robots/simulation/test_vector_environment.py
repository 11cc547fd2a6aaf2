"""Many robots in one environment: each walks as it does by itself, and what Gymnasium's wrappers see."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from adapt.damage.text import parse_damage
from robots.errors import InvalidValueError
from robots.randomization import draw_models, read_randomization
from robots.robot import load_robot
from robots.simulation.environment import WalkingEnvironment
from robots.simulation.vector_environment import VectorWalkingEnvironment
from surefoot.environments import make_vector_environment

pytestmark = pytest.mark.slow  # the kernel for many robots takes long to compile

ROBOT = load_robot("hopper").with_episode_steps(40)
COUNT = 5


def played(environment: gymnasium.vector.VectorEnv, steps: int = 100):
    """What random actions lead to; some robots fall, and others walk until the time is up."""
    rng = np.random.default_rng(0)
    yield environment.reset(seed=7)
    for _ in range(steps):
        yield environment.step(rng.uniform(-1, 1, (COUNT, 3)) * np.arange(COUNT)[:, None] / COUNT)
    yield environment.reset()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("threads", [1, 3])
def test_robots_walk_as_each_does_by_itself(mode: AutoresetMode, threads: int) -> None:
    together = VectorWalkingEnvironment(ROBOT, COUNT, autoreset_mode=mode, threads=threads)
    apart = SyncVectorEnv([lambda: WalkingEnvironment(ROBOT)] * COUNT, autoreset_mode=mode)
    ended = np.zeros(2, int)
    for one, other in zip(played(together), played(apart), strict=True):
        for ours, theirs in zip(one[:-1], other[:-1], strict=True):
            np.testing.assert_array_equal(ours, theirs)
        for name in ("measures", "distance", "energy", "diverged"):
            np.testing.assert_array_equal(one[-1][name], other[-1][name])
        assert ("final_obs" in one[-1]) == ("final_obs" in other[-1])
        if "final_obs" in one[-1]:
            for n in np.flatnonzero(other[-1]["_final_obs"]):
                np.testing.assert_array_equal(one[-1]["final_obs"][n], other[-1]["final_obs"][n])
                assert one[-1]["final_info"]["distance"][n] == other[-1]["final_info"]["distance"][n]
        if len(one) > 2:
            ended += one[2].sum(), one[3].sum()
    assert ended.min() > 0, "episodes ended by a fall, and because the time was up"
    together.close()


def test_robots_may_be_models_that_differ_and_broken_in_several_ways() -> None:
    text, damage = "mass=0.5:1.5,models=2", parse_damage("leg:weak@0.3", ROBOT)
    models = draw_models(ROBOT, read_randomization(text, ROBOT))
    robots = [robot for model in models for robot in (model, damage.apply(model))]
    apart = SyncVectorEnv([lambda robot=robots[n % 4]: WalkingEnvironment(robot) for n in range(COUNT)])
    together = make_vector_environment(ROBOT, COUNT, damage=[None, "leg:weak@0.3"], randomization=text)
    for one, other in zip(played(together, 9), played(apart, 9), strict=True):
        np.testing.assert_array_equal(one[0], other[0])


def test_gymnasiums_wrappers_take_it() -> None:
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(VectorWalkingEnvironment(ROBOT, COUNT))
    returns = [info["episode"]["r"] for *_, info in list(played(wrapped))[1:-1] if "episode" in info]
    assert len(returns) >= 2
    assert wrapped.observation_space.contains(wrapped.reset(seed=[1, 2, 3, 4, 5])[0])


def test_what_cannot_be_is_refused() -> None:
    environment = VectorWalkingEnvironment(ROBOT, COUNT)
    with pytest.raises(InvalidValueError, match="begin with reset"):
        environment.step(np.zeros((COUNT, 3)))
    with pytest.raises(InvalidValueError, match="a seed for each of 5 robots, not 2"):
        environment.reset(seed=[1, 2])
    environment.reset(seed=1)
    with pytest.raises(InvalidValueError, match=r"shape \(5, 3\), not \(5, 2\)"):
        environment.step(np.zeros((COUNT, 2)))
    with pytest.raises(InvalidValueError, match="finite"):
        environment.step(np.full((COUNT, 3), np.nan))
    with pytest.raises(InvalidValueError, match="NEXT_STEP or SAME_STEP"):
        VectorWalkingEnvironment(ROBOT, autoreset_mode="Disabled")
    for wrong in ({"num_envs": 0}, {"num_envs": 1.5}, {"num_envs": True}, {"threads": 0}, {"threads": "all"}):
        with pytest.raises(InvalidValueError, match="must be a whole number"):
            VectorWalkingEnvironment(ROBOT, **wrong)
    for seed in (-1, 1.5, [1, 2, 3, 4, "5"]):
        with pytest.raises(InvalidValueError, match="seed must be a whole number"):
            environment.reset(seed=seed)
