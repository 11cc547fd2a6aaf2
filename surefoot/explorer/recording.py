"""A gait as the page plays it: the poses of an episode's bodies, step by step, as it was evaluated."""

import base64
import io
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import mujoco
import numpy as np
from PIL import Image

from robots.rendering.camera import Camera
from robots.robot import Robot
from robots.simulation.stepper import Stepper
from surefoot.explorer.encoding import packed

FRAME_SECONDS = 1 / 12  # between two pictures that are drawn here
_PICTURE = (480, 360)  # [pixels]
_QUALITY = 80  # of a JPEG
_FIRST, _LATER = 8, 60  # rows of a part: little at first, so that something is seen at once
_AFTER = 1.0  # [s] that are still shown after a fall


class CancelledError(Exception):
    """Nobody wants to see any more of this."""


class EpisodeParts:
    """Collects the steps of an episode, and hands them on in parts.

    Args:
        on_part: called with a part: the number of its first row, the poses of all bodies as x, y, z and a
            quaternion (rows, bodies, 7), which feet touch the floor (rows, feet), a curve (rows,), which is
            the way ahead of a gait [m], and pictures of some rows.
        cancelled: asked every step.
        later: rows of all parts but the first.
    """

    def __init__(
        self,
        on_part: Callable[[dict[str, Any]], None],
        cancelled: Callable[[], bool],
        *,
        later: int = _LATER,
    ) -> None:
        self._on_part, self._cancelled, self._later = on_part, cancelled, later
        self._rows: list[tuple[np.ndarray, np.ndarray, float]] = []
        self._pictures: dict[int, str] = {}
        self._start = 0

    def add(self, pose: np.ndarray, touching: np.ndarray, height: float, picture: np.ndarray | None) -> None:
        """Take in a step: the pose of each body, (bodies, 7), the height of the curve, perhaps a picture."""
        if self._cancelled():
            raise CancelledError
        if picture is not None:
            self._pictures[self._start + len(self._rows)] = _jpeg(picture)
        self._rows.append((pose, touching.copy(), height))
        if len(self._rows) >= (self._later if self._start else _FIRST):
            self.flush()

    def flush(self) -> None:
        """Hand on what was collected."""
        if not self._rows:
            return
        poses, touching, curve = zip(*self._rows, strict=True)
        part = {
            "start": self._start,
            "rows": len(self._rows),
            "poses": packed(np.array(poses)),
            "touching": packed(np.array(touching), "u1"),
            "curve": packed(np.array(curve)),
            "pictures": self._pictures,
        }
        self._start += len(self._rows)
        self._rows, self._pictures = [], {}
        self._on_part(part)


def replay(
    robot: Robot,
    parameters: np.ndarray,
    *,
    seed: int,
    survived: int,
    every: int = 1,
    limit: int | None = None,
    pictures: bool = False,
    on_part: Callable[[dict[str, Any]], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> None:
    """Run the episode of a seed once more and hand on its poses, see `EpisodeParts`.

    Args:
        robot: healthy or damaged, with the length of the episode.
        parameters: of its controller.
        seed: of the episode.
        survived: control steps that the robot survives in it; a second more is shown after a fall.
        every: control steps between rows.
        limit: control steps to show at most.
        pictures: whether to draw pictures too, for a page that cannot.
        on_part: called with each part.
        cancelled: asked every row.
    """
    steps = robot.description.episode_steps
    shown = survived if survived >= steps else min(steps, survived + round(_AFTER / robot.control_step))
    parts = EpisodeParts(on_part, cancelled)
    between = every * max(1, round(FRAME_SECONDS / (robot.control_step * every)))
    with open_camera(robot.model) if pictures else nullcontext() as camera:
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
                posed_data(robot.model, stepper.data.qpos, posed)
                picture = camera.frame(posed) if camera and (step + 1) % between == 0 else None
                parts.add(body_poses(posed), stepper.state.touching, ahead, picture)
    parts.flush()


def open_camera(model: mujoco.MjModel) -> Camera:
    """A camera for pictures that a page shows."""
    return Camera(model, width=_PICTURE[0], height=_PICTURE[1])


def posed_data(model: mujoco.MjModel, positions: np.ndarray, posed: mujoco.MjData) -> mujoco.MjData:
    """Give data of a model the places of its bodies that follow from joint positions, and nothing else."""
    posed.qpos[:] = positions
    mujoco.mj_kinematics(model, posed)
    mujoco.mj_comPos(model, posed)  # which cameras follow
    mujoco.mj_camlight(model, posed)
    return posed


def body_poses(posed: mujoco.MjData) -> np.ndarray:
    """Position and quaternion of each body, (bodies, 7) float32."""
    return np.concatenate([posed.xpos, posed.xquat], axis=1).astype(np.float32)


def _jpeg(picture: np.ndarray) -> str:
    """A picture as text: base64 of a JPEG."""
    written = io.BytesIO()
    Image.fromarray(picture).save(written, format="JPEG", quality=_QUALITY)
    return base64.b64encode(written.getvalue()).decode("ascii")
