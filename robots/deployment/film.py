"""Videos of deployments: a controller's walk, with an overlay that tells how it goes."""

import math
from pathlib import Path

import mujoco
import numpy as np

from robots.deployment.deployment import Telemetry, deploy
from robots.rendering.camera import Camera
from robots.rendering.overlay import Moment, Overlay
from robots.rendering.video import FASTEST, open_video
from robots.robot import Robot

_VIDEO_SIZE = (640, 480)
_GIF_SIZE = (360, 270)
_FRAME_EVERY = {".mp4": 3, ".gif": 4}  # control steps; an Ant's is 16.5 ms, so 20 and 15 frames a second


def film(
    robot: Robot,
    parameters: np.ndarray,
    *,
    seconds: float,
    seed: int,
    video: Path | None,
    caption: str = "",
) -> Telemetry:
    """Deploy a controller as `deploy` does, and film it where a `video` to write, .mp4 or .gif, is asked for.

    The caption is the first line of an overlay that tells how it goes; feet that touch the floor light up.
    """
    if video is None:
        return deploy(robot, parameters, seconds=seconds, seed=seed)
    suffix = video.suffix.lower()
    least = math.ceil(1 / (FASTEST.get(suffix, math.inf) * robot.control_step) - 1e-9)
    every = max(_FRAME_EVERY.get(suffix, 1), least)
    width, height = _GIF_SIZE if suffix == ".gif" else _VIDEO_SIZE
    fps = 1 / (robot.control_step * every)
    with (
        open_video(video, fps=fps) as writer,
        Camera(robot.model, width=width, height=height) as camera,
    ):
        overlay = Overlay(robot, caption=caption, width=width, height=height)
        feet = list(robot.description.feet.values())

        def add(data: mujoco.MjData, moment: Moment) -> None:
            touching = zip(feet, moment.touching, strict=True)
            glowing = {sole for soles, touches in touching if touches for sole in soles}
            writer.add(overlay.draw(camera.frame(data, glowing), moment))

        return deploy(robot, parameters, seconds=seconds, seed=seed, on_frame=add, frame_every=every)
