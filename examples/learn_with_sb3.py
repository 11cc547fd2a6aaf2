"""PPO of Stable-Baselines3 on many robots that are simulated together, and its policy as an ONNX file.

pip install stable-baselines3 onnx onnxscript
python examples/learn_with_sb3.py [ROBOT] [STEPS] [ROBOTS] [FILE] [RANDOMIZATION] [SPEED] [DAMAGES] [START]

ROBOT is the name of a robot or the path of the YAML of your own. RANDOMIZATION is `default`, or ranges such
as `mass=0.8:1.2,delay=0:1`, and makes robots that differ. With a SPEED [m/s] the policy learns to walk ahead
at it; without one it learns what the robot is rewarded for, which may be to run. DAMAGES is a YAML list of
them: then the robots are broken in these ways in turn, and two of each round are whole. START is a file that
this example wrote for the robot, whose policy learns on, and explores as at first.

Where left and right of the robot are alike, the networks are, too: in the mirror the policy does the mirror
image of what it does. So it walks straight, and learns from one broken leg what to do about its image.
"""

import sys
from typing import Any

import gymnasium
import numpy as np
import onnx
import torch
from gymnasium.vector import AutoresetMode
from onnx.numpy_helper import to_array
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecNormalize
from torch.nn.utils import parametrize

import surefoot.environments  # noqa: F401 (registers them)
from adapt.damage.text import read_damages
from robots.controllers.controller import Mirror, Reflection
from robots.robot import Robot, find_robot
from robots.symmetry import find_symmetry

EXPLORED = -1.0  # logarithm of the standard deviation of actions, at first


class Robots(VecEnv):
    """What `gymnasium.make_vec` makes, as Stable-Baselines3 wants it."""

    def __init__(self, robot: Robot, num_envs: int, **options: Any) -> None:
        options |= {"robot": robot, "autoreset_mode": AutoresetMode.SAME_STEP}
        self.envs: Any = gymnasium.make_vec("surefoot/Robot-v0", num_envs=num_envs, **options)
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> np.ndarray:
        """Begin all episodes, with the seeds of `seed` if there were any."""
        seen, _ = self.envs.reset(seed=self._seeds)
        self._reset_seeds()
        return seen

    def step_async(self, actions: np.ndarray) -> None:
        """Take note of the actions."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Simulate a control step of each robot."""
        seen, rewards, terminated, truncated, told = self.envs.step(self._actions)
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": bool(one)} for one in truncated]
        for number in np.flatnonzero(terminated | truncated):
            infos[number]["terminal_observation"] = told["final_obs"][number]
        return seen, rewards.astype(np.float32), terminated | truncated, infos

    def close(self) -> None:
        """End the threads."""
        self.envs.close()

    def get_attr(self, name: str, indices: Any = None) -> list[Any]:
        """An attribute of all robots together, once for each."""
        return [getattr(self.envs, name)] * len(list(self._get_indices(indices)))

    def set_attr(self, name: str, value: Any, indices: Any = None) -> None:
        """Refused, as is `env_method`: robots have nothing of their own."""
        raise NotImplementedError("these robots are simulated together")

    env_method = set_attr

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No robot is wrapped by itself."""
        return [False] * len(list(self._get_indices(indices)))


class Normalised(torch.nn.Module):
    """The policy, from observations as robots make them to actions, which the robot limits to -1 and 1."""

    def __init__(self, model: PPO, seen: VecNormalize) -> None:
        super().__init__()
        self.policy, self.limit = model.policy, seen.clip_obs
        spread = np.sqrt(seen.obs_rms.var + seen.epsilon)
        self.mean, self.spread = (torch.tensor(x, dtype=torch.float32) for x in (seen.obs_rms.mean, spread))

    def forward(self, observation: torch.Tensor) -> Any:
        """Actions, values and the logarithms of their probabilities, as the documentation exports them."""
        normalised = ((observation - self.mean) / self.spread).clamp(-self.limit, self.limit)
        return self.policy(normalised, deterministic=True)


class Alike(torch.nn.Module):
    """Weights or biases of a layer whose outputs become their mirror images where its inputs do.

    The sum with the image of what is learned has this property. Hidden units are in pairs of images.
    """

    def __init__(self, outputs: Reflection, inputs: Reflection | None = None) -> None:
        super().__init__()
        self.outputs, self.inputs = outputs, inputs

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Weights (o, i) or biases (o,), made of as many that are learned."""
        image = _image(values, self.outputs)
        if self.inputs:
            image = _image(image.T, self.inputs).T
        return (values + image) / 2**0.5  # as large as they are


def _image(values: torch.Tensor, mirror: Reflection) -> torch.Tensor:
    """The mirror images of numbers, (n, ...)."""
    signs = torch.tensor(mirror.signs, dtype=torch.float32)
    return (signs * values[torch.tensor(mirror.images)].T).T


class BothSides(RunningMeanStd):
    """Statistics of observations and of their mirror images."""

    def __init__(self, mirror: Reflection) -> None:
        super().__init__(shape=mirror.images.shape)
        self.mirror = mirror

    def update(self, arr: np.ndarray) -> None:
        """Count these observations, (n, o)."""
        super().update(np.concatenate([arr, self.mirror.of(arr.T).T]))


def make_alike(model: PPO, seen: VecNormalize, mirror: Mirror) -> None:
    """Let the networks do in the mirror the mirror image of what they do, before they learn."""
    seen.obs_rms = BothSides(mirror.observations)
    value = Reflection(np.zeros(1, int), np.ones(1))
    for hidden, last, outputs in (
        (model.policy.mlp_extractor.policy_net, model.policy.action_net, mirror.actions),
        (model.policy.mlp_extractor.value_net, model.policy.value_net, value),
    ):
        layers, inputs = (
            [one for one in (*hidden, last) if isinstance(one, torch.nn.Linear)],
            mirror.observations,
        )
        for layer in layers:
            units = layer.out_features
            images = (
                outputs
                if layer is last
                else Reflection(np.roll(np.arange(units), units // 2), np.ones(units))
            )
            parametrize.register_parametrization(layer, "weight", Alike(images, inputs))
            parametrize.register_parametrization(layer, "bias", Alike(images))
            inputs = images


def begin_with(file: str, model: PPO, seen: VecNormalize) -> None:
    """Give the networks and the statistics of observations what a file holds that this example wrote."""
    graph = onnx.load(file).graph
    values = {one.name.removeprefix("policy."): torch.tensor(to_array(one)) for one in graph.initializer}
    told = {one.output[0]: to_array(one.attribute[0].t) for one in graph.node if one.op_type == "Constant"}
    mean, spread = (
        told[next(one for one in graph.node if one.op_type == kind).input[1]] for kind in ("Sub", "Div")
    )
    seen.obs_rms.mean, seen.obs_rms.var = mean.astype(float), spread.astype(float) ** 2 - seen.epsilon
    seen.obs_rms.count = 1e6  # so that they hardly change
    state = model.policy.state_dict()
    for name in state:
        value = values[name.replace("parametrizations.", "").replace(".original", "")]
        state[name] = value / 2**0.5 if name.endswith(".original") else value  # see `Alike`
    state["log_std"] = state["log_std"].clamp(min=EXPLORED)
    model.policy.load_state_dict(state)


def main(
    robot: str = "walker",
    steps: str = "20000",
    robots: str = "16",
    file: str = "",
    randomization: str = "none",
    speed: str = "",
    damages: str = "",
    start: str = "",
) -> None:
    """Learn, print the mean return of an episode of each robot before and after, and write the policy."""
    torch.set_num_threads(1)  # networks as small as this one are faster so, beside other work by far
    learner = find_robot(robot)
    if speed:  # to stand earns more than to fall, which forfeits all, and to walk at the speed most
        wanted = {"target_speed": float(speed), "speed_error": -2.0, "alive": 2.5 * float(speed)}
        learner = learner.with_task(reward={"preset": "straight", **wanted})
    broken = [None, None, *read_damages(damages, learner)] if damages else None
    environment = VecNormalize(
        VecMonitor(Robots(learner, int(robots), randomization=randomization, damage=broken))
    )
    options: Any = {"n_steps": 128, "batch_size": 512, "n_epochs": 5, "learning_rate": 5e-4}
    small: Any = {"net_arch": [128, 64] if broken else [64, 64], "log_std_init": EXPLORED}
    model = PPO("MlpPolicy", environment, **options, policy_kwargs=small, device="cpu", seed=1)
    if mirror := find_symmetry(learner):
        make_alike(model, environment, mirror)
    if start:
        begin_with(start, model, environment)
    before = evaluate_policy(model, environment, int(robots))[0]
    model.learn(int(steps))
    environment.training = False
    after = evaluate_policy(model, environment, int(robots))[0]
    print(f"mean return: {before:.1f} before, {after:.1f} after {model.num_timesteps} steps")
    if file:
        for layer in model.policy.modules():
            if parametrize.is_parametrized(layer):
                for name in ("weight", "bias"):
                    parametrize.remove_parametrizations(layer, name)
        seen = torch.zeros(1, *environment.observation_space.shape)
        torch.onnx.export(Normalised(model, environment), (seen,), file, input_names=["obs"], dynamo=False)
    environment.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
