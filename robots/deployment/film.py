"""Videos of deployments: a controller's walk, with an overlay that tells how it goes."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import mujoco
import numpy as np

from robots.deployment.deployment import Telemetry, deploy
from robots.rendering.camera import Camera
from robots.rendering.overlay import Moment, Overlay
from robots.rendering.video import FASTEST, open_video
from robots.robot import Robot

_Draw = Callable[[mujoco.MjData, Moment], np.ndarray]
_VIDEO_SIZE = (640, 480)
_GIF_SIZE = (360, 270)
_HALF_SIZE = (400, 300)
_SPACE = 4  # between halves [pixels]
_FRAMES = 20  # per second of a video in halves, approximately
_FRAME_EVERY = {".mp4": 3, ".gif": 4}  # control steps; an Ant's is 16.5 ms, so 20 and 15 frames a second


def film(
    robot: Robot,
    parameters: np.ndarray,
    *,
    seconds: float,
    seed: int,
    video: Path | None,
    caption: str | None = None,
    on_frame: Callable[[], None] = lambda: None,
) -> Telemetry:
    """Deploy a controller as `deploy` does, and film it where a `video` to write, .mp4 or .gif, is asked for.

    The caption is the first line of an overlay that tells how it goes; without one there is no overlay, and
    feet that touch the floor do not light up. `on_frame` is called with every frame; what it raises ends the
    film, and no file is left.
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
        draw = _annotated(camera, robot, caption) if caption else lambda data, _: camera.frame(data)

        def add(data: mujoco.MjData, moment: Moment) -> None:
            on_frame()
            writer.add(draw(data, moment))

        return deploy(
            robot,
            parameters,
            seconds=seconds,
            seed=seed,
            on_frame=add,
            frame_every=every,
        )


def film_next_to_each_other(
    robot: Robot, gaits: Mapping[str, np.ndarray], *, seconds: float, seed: int, video: Path
) -> None:
    """Film an episode with several controllers, given by captions; a half that ends early stands still."""
    every = max(1, round(1 / (_FRAMES * robot.control_step)))
    width, height = _HALF_SIZE
    halves: list[list[np.ndarray]] = []
    for caption, parameters in gaits.items():
        overlay, frames = Overlay(robot, caption=caption, width=width, height=height), []
        with Camera(robot.model, width=width, height=height) as camera:
            deploy(
                robot,
                parameters,
                seconds=seconds,
                seed=seed,
                on_frame=lambda data, moment: frames.append(overlay.draw(camera.frame(data), moment)),  # noqa: B023
                frame_every=every,
            )
        nothing = np.full((height, width, 3), 255, np.uint8)  # of a gait that diverges at once
        halves.append(frames or [nothing])
    space = np.full((height, _SPACE, 3), 255, np.uint8)
    with open_video(video, fps=1 / (every * robot.control_step)) as writer:
        for number in range(max(map(len, halves))):
            first, *others = (half[min(number, len(half) - 1)] for half in halves)
            writer.add(np.hstack([first, *(part for half in others for part in (space, half))]))


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
