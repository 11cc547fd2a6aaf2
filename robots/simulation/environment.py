"""The walking task as a Gymnasium environment: the same physics, step for step, as `Stepper`."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from robots.errors import InvalidValueError
from robots.robot import Robot, find_robot
from robots.simulation.stepper import Stepper
from robots.task.observations import OBSERVATION_LIMIT


class WalkingEnvironment(gymnasium.Env[np.ndarray, np.ndarray]):
    """One robot walking, for any code that speaks Gymnasium; `surefoot.environments` registers it.

    An episode is a pure function of the seed given to `reset` and of the actions. A `reset` without a seed
    draws the next episode's seed from the environment's own generator. `info` holds "measures",
    "distance" [m], "energy" [J] and "diverged" of the episode so far.

    Args:
        robot: the robot, or the name of one, or the path of a YAML.
        render_mode: None or "rgb_array".
        width, height: of rendered frames [pixels].
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 60}  # noqa: RUF012 (Gymnasium's)

    def __init__(
        self,
        robot: Robot | str | Path,
        *,
        render_mode: str | None = None,
        width: int = 640,
        height: int = 480,
    ) -> None:
        found = robot if isinstance(robot, Robot) else find_robot(robot)
        self.robot = replace(found, ends_at_fall=False)
        if render_mode not in (None, "rgb_array"):
            raise InvalidValueError(f"render_mode must be None or 'rgb_array', not {render_mode!r}")
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "render_fps": round(1 / self.robot.control_step)}
        limit = OBSERVATION_LIMIT
        self.observation_space = gymnasium.spaces.Box(
            -limit, limit, (self.robot.observation_dim,), np.float32
        )
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (self.robot.action_dim,), np.float32)
        self._stepper = Stepper(self.robot)
        self._size = (width, height)
        self._camera: Any = None  # made when the first frame is asked for: that takes a moment

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start an episode; see the class about seeds."""
        super().reset(seed=seed)
        episode = int(self.np_random.integers(2**63)) if seed is None else seed
        return self._stepper.reset(episode), info_of(self._stepper)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Simulate one control step; actions are clipped to [-1, 1]."""
        over = self._stepper.step(action)
        tally = self._stepper.tally
        terminated = bool(tally.terminated)
        observation = self._stepper.state.observation.copy()
        return observation, float(tally.reward), terminated, over and not terminated, info_of(self._stepper)

    def render(self) -> Any:
        """Draw the robot as it is now, (height, width, 3) uint8."""
        from robots.rendering.camera import Camera

        if self.render_mode is None:
            return None
        if self._camera is None:
            self._camera = Camera(self.robot.model, width=self._size[0], height=self._size[1])
        return self._camera.frame(self._stepper.posed_data())

    def close(self) -> None:
        """Free the camera."""
        if self._camera is not None:
            self._camera.close()
            self._camera = None


def info_of(stepper: Stepper) -> dict[str, Any]:
    """What an environment tells of an episode so far, see `WalkingEnvironment`."""
    tally = stepper.tally
    numbers = {"energy": float(tally.energy), "diverged": bool(tally.diverged)}
    return {"measures": stepper.measures, "distance": stepper.progress, **numbers}
