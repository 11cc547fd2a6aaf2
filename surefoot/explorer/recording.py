"""A gait as the page plays it: the poses of an episode's bodies, step by step, as it was evaluated."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import mujoco
import numpy as np

from robots.robot import Robot
from robots.simulation.stepper import Stepper
from surefoot.explorer.archive import packed

# poses (bodies, 7), which feet touch the floor, height of the curve
Row = tuple[np.ndarray, np.ndarray, float]
_FIRST = 8  # rows of the first part: little, so that something is seen at once
_AFTER = 1.0  # [s] that are still shown after a fall


def parts_of(rows: Iterable[Row], later: int = 60) -> Iterator[dict[str, Any]]:
    """Rows of an episode as the page reads them: in parts of `later` rows, the first one shorter."""
    rows, start = iter(rows), 0
    while some := list(islice(rows, later if start else _FIRST)):
        poses, touching, curve = zip(*some, strict=True)
        yield {
            "start": start,
            "rows": len(some),
            "poses": packed(np.array(poses)),
            "touching": packed(np.array(touching), "u1"),
            "curve": packed(np.array(curve)),
        }
        start += len(some)


def replay(
    robot: Robot,
    parameters: np.ndarray,
    *,
    seed: int,
    survived: int,
    every: int = 1,
    limit: int | None = None,
) -> Iterator[Row]:
    """Run the episode of a seed once more; the curve is how far it has come [m].

    Args:
        robot: healthy or damaged, with the length of the episode.
        parameters: of its controller.
        seed: of the episode.
        survived: control steps that the robot survives in it; a second more is shown after a fall.
        every: control steps between rows.
        limit: control steps to show at most.
    """
    steps = robot.description.episode_steps
    shown = survived if survived >= steps else min(steps, survived + round(_AFTER / robot.control_step))
    stepper, posed = Stepper(robot), mujoco.MjData(robot.model)
    stepper.reset(seed)
    ahead = 0.0
    for step in range(max(1, min(shown, limit or shown))):
        stepper.drive(parameters)
        if stepper.tally.diverged:
            break
        if step < survived:
            ahead = stepper.progress
        if (step + 1) % every == 0:
            posed.qpos[:] = stepper.data.qpos
            yield body_poses(robot.model, posed), stepper.state.touching.copy(), ahead


def body_poses(model: mujoco.MjModel, posed: mujoco.MjData) -> np.ndarray:
    """Position and quaternion of each body where joints are as the data has them, (bodies, 7) float32."""
    mujoco.mj_kinematics(model, posed)
    return np.concatenate([posed.xpos, posed.xquat], axis=1).astype(np.float32)
