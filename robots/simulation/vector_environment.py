"""Many walking robots as one Gymnasium vector environment, which are simulated together in compiled code."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numba.typed import List

from robots.arrays import real_array, whole_number
from robots.compilation import compiled
from robots.errors import InvalidValueError
from robots.randomization import draw_models, read_randomization
from robots.robot import Robot
from robots.seeds import MOST_SEED
from robots.simulation.environment import WalkingEnvironment, info_of
from robots.simulation.stepper import Stepper, advance
from robots.simulation.threads import available_cores

_MOST = 100_000  # robots
_MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)


class VectorWalkingEnvironment(gymnasium.vector.VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """Robots that walk side by side, each as in a `WalkingEnvironment`, bit for bit.

    `info` holds arrays of "measures", "distance" [m], "energy" [J] and "diverged" of the episodes so far.

    Args:
        robot: the robot, or the name of one, or the path of a YAML.
        num_envs: how many there are.
        autoreset_mode: whether an episode that ended begins anew with the next step, which ignores the
            action, or in the same step, which then has "final_obs" in `info`; see `gymnasium.vector`.
        randomization: "default", or ranges such as "mass=0.8:1.2,delay=0:1", from whose models the robots are
            taken in turn; all are the robot itself by default.
        changes: what is made of the robots in turn, such as what damages make of them; nothing by default.
        threads: that simulate; all cores by default.
    """

    def __init__(
        self,
        robot: Robot | str | Path,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        randomization: str | None = None,
        changes: Sequence[Callable[[Robot], Robot]] = (),
        threads: int | None = None,
    ) -> None:
        if autoreset_mode not in _MODES and autoreset_mode not in [mode.value for mode in _MODES]:
            raise InvalidValueError(f"autoreset_mode must be NEXT_STEP or SAME_STEP, not {autoreset_mode!r}")
        num_envs = whole_number("num_envs", num_envs, 1, _MOST)
        threads = available_cores() if threads is None else whole_number("threads", threads, 1)
        one = WalkingEnvironment(robot)
        self.robot, self.num_envs = one.robot, num_envs
        self._mode = AutoresetMode(autoreset_mode)
        self.metadata = {**one.metadata, "render_modes": [], "autoreset_mode": self._mode}
        self.single_observation_space, self.single_action_space = one.observation_space, one.action_space
        self.observation_space = batch_space(one.observation_space, num_envs)
        self.action_space = batch_space(one.action_space, num_envs)
        ranges = read_randomization(randomization, self.robot)
        models = draw_models(self.robot, ranges) if ranges else [self.robot]
        changes = changes or [lambda robot: robot]
        turns = (divmod(number, len(changes)) for number in range(num_envs))
        self._steppers = [Stepper(changes[kind](models[turn % len(models)])) for turn, kind in turns]
        self._parts = List()  # as compiled code takes them, without a look at each in every step
        for stepper in self._steppers:
            self._parts.append(stepper.parts)
        self._draws: list[np.random.Generator] = []
        self._ended = np.zeros(num_envs, np.bool_)
        threads = min(threads, num_envs)
        self._bounds = np.linspace(0, num_envs, threads + 1).astype(int).tolist()
        self._pool = ThreadPoolExecutor(threads)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start episodes; a single seed is that of the first robot, and the others have the next ones."""
        if not isinstance(seed, Sequence | np.ndarray):
            first = None if seed is None else whole_number("seed", seed, 0, MOST_SEED - self.num_envs)
            seed = [first if first is None else first + n for n in range(self.num_envs)]
        seeds = [None if one is None else whole_number("seed", one, 0, MOST_SEED) for one in seed]
        if len(seeds) != self.num_envs:
            raise InvalidValueError(
                f"there must be a seed for each of {self.num_envs} robots, not {len(seeds)}"
            )
        known: Sequence[np.random.Generator | None] = self._draws or [None] * self.num_envs
        self._draws = [
            draws if draws is not None and one is None else np.random.default_rng(one)
            for draws, one in zip(known, seeds, strict=True)
        ]
        for n, one in enumerate(seeds):
            self._begin(n, one)
        self._ended[:] = False
        return self._observations(), self._infos()

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Simulate a control step of each robot; actions, (n, a), are clipped to [-1, 1]."""
        if not self._draws:
            raise InvalidValueError("episodes begin with reset: call it before the first step")
        actions = real_array("actions", actions, np.float32)
        if actions.shape != self.action_space.shape:
            raise InvalidValueError(f"actions must have shape {self.action_space.shape}, not {actions.shape}")
        if not np.isfinite(actions).all():
            raise InvalidValueError("actions must be finite")
        anew, over = self._ended.copy(), np.zeros(self.num_envs, np.bool_)
        pieces = zip(self._bounds[:-1], self._bounds[1:], strict=True)
        list(self._pool.map(lambda piece: _advance_all(self._parts, actions, anew, over, *piece), pieces))
        tallies = [stepper.tally for stepper in self._steppers]
        rewards = np.where(anew, 0.0, [tally.reward for tally in tallies])
        terminated = np.array([bool(tally.terminated) for tally in tallies]) & ~anew
        truncated = over & ~terminated
        for n in np.flatnonzero(anew):
            self._begin(int(n), None)
        infos = self._infos()
        self._ended[:] = over
        if self._mode == AutoresetMode.SAME_STEP and over.any():
            last = np.full(self.num_envs, None, object)
            for n in np.flatnonzero(over):
                last[n] = self._steppers[n].state.observation.copy()
                self._begin(int(n), None)
            infos = {**self._infos(), "final_obs": last, "_final_obs": over, "final_info": infos}
            self._ended[:] = False
        return self._observations(), rewards, terminated, truncated, infos

    def close_extras(self, **_: Any) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _begin(self, number: int, seed: int | None) -> None:
        """Start an episode of a robot, with a seed of its own generator if none is given."""
        drawn = int(self._draws[number].integers(2**63)) if seed is None else seed
        self._steppers[number].reset(drawn)

    def _observations(self) -> np.ndarray:
        return np.stack([stepper.state.observation for stepper in self._steppers])

    def _infos(self) -> dict[str, Any]:
        infos = [info_of(stepper) for stepper in self._steppers]
        return {name: np.stack([info[name] for info in infos]) for name in infos[0]}


@compiled()
def _advance_all(
    parts: Any, actions: np.ndarray, anew: np.ndarray, over: np.ndarray, first: int, last: int
) -> None:
    """Simulate a control step of some robots, but for those whose episodes begin anew."""
    for n in range(first, last):
        if not anew[n]:
            physics, task, state = parts[n]
            state.action[:] = actions[n]
            over[n] = advance(physics, task, state)
