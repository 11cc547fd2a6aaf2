"""Videos of deployments: a controller's walk, with an overlay that tells how it goes."""

from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

from adapt.deployment import Telemetry, deploy
from robots.rendering.camera import Camera
from robots.rendering.overlay import Moment, Overlay
from robots.rendering.video import open_video
from robots.robot import Robot

_Draw = Callable[[mujoco.MjData, Moment], np.ndarray]
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
    caption: str | None = None,
) -> Telemetry:
    """Deploy a controller as `deploy` does, and film it where a `video` to write, .mp4 or .gif, is asked for.

    The caption is the first line of an overlay that tells how it goes; without one there is no overlay, and
    feet that touch the floor do not light up.

    Raises:
        RenderingError: no video can be encoded here.
        InvalidFileError: the video cannot be written.
    """
    if video is None:
        return deploy(robot, parameters, seconds=seconds, seed=seed)
    gif = video.suffix.lower() == ".gif"
    every = _FRAME_EVERY.get(video.suffix.lower(), 1)
    width, height = _GIF_SIZE if gif else _VIDEO_SIZE
    fps = 1 / (robot.control_step * every)
    with (
        open_video(video, fps=fps) as writer,
        Camera(robot.model, width=width, height=height) as camera,
    ):
        draw = _annotated(camera, robot, caption) if caption else lambda data, _: camera.frame(data)
        return deploy(
            robot,
            parameters,
            seconds=seconds,
            seed=seed,
            on_frame=lambda data, moment: writer.add(draw(data, moment)),
            frame_every=every,
            stop_at_fall=False,
        )


def _annotated(camera: Camera, robot: Robot, caption: str) -> _Draw:
    """Draws the robot with an overlay, and lights up the soles of feet that touch the floor."""
    overlay = Overlay(robot, caption=caption, width=camera.width, height=camera.height)
    feet = list(robot.description.feet.values())

    def draw(data: mujoco.MjData, moment: Moment) -> np.ndarray:
        glowing = {
            sole for soles, touches in zip(feet, moment.touching, strict=True) if touches for sole in soles
        }
        return overlay.draw(camera.frame(data, glowing), moment)

    return draw
