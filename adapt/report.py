"""What a recovery or a deployment leaves to look at: files, pictures and videos."""

import json
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

from adapt.deployment import Telemetry, deploy
from adapt.plots import draw_recovery
from adapt.recovery import Recovery
from repertoire.repertoire import format_cell
from robots.atomic import write_text
from robots.rendering import Camera
from robots.robot import Robot
from robots.video import VideoWriter

_VIDEO_SIZE = (640, 480)
_GIF_SIZE = (360, 270)
_GIF_COLORS = 64
_FRAME_EVERY = {".mp4": 3, ".gif": 4}  # control steps; an Ant's is 16.5 ms, so 20 and 15 frames a second


def result_paths(folder: Path) -> tuple[Path, Path]:
    """Where `save_recovery` writes the record and the picture."""
    return folder / "recovery.json", folder / "recovery.png"


def save_recovery(recovery: Recovery, folder: Path) -> list[Path]:
    """Write `recovery.json` and `recovery.png` to a folder; returns their paths.

    Raises:
        InvalidFileError: the folder cannot be written to.
    """
    record, picture = result_paths(folder)
    write_text(record, json.dumps(recovery.to_json(), indent=2) + "\n")
    draw_recovery(
        trials_predicted=[trial.predicted for trial in recovery.trials],
        trials_measured=[trial.measured for trial in recovery.trials],
        chosen=[trial.row == recovery.row for trial in recovery.trials],
        cells=[format_cell(trial.cell) for trial in recovery.trials],
        healthy=recovery.healthy.objective,
        broken=recovery.broken.objective,
        recovered=recovery.recovered.objective,
        oracle=recovery.oracle.objective if recovery.oracle else None,
        title=f"{recovery.robot} with {recovery.damage}: {len(recovery.trials)} trials",
        path=picture,
    )
    return [record, picture]


def film(robot: Robot, parameters: np.ndarray, *, seconds: float, seed: int, video: Path | None) -> Telemetry:
    """Deploy a controller, and film it where a video is asked for.

    Args:
        robot: whole or damaged.
        parameters: of the controller, (p,).
        seconds: how long to run it at most.
        seed: of the episode.
        video: an .mp4 or .gif to write, or None.

    Raises:
        RenderingError: no picture can be drawn here.
        InvalidFileError: the video cannot be written.
    """
    if video is None:
        return deploy(robot, parameters, seconds=seconds, seed=seed)
    gif = video.suffix.lower() == ".gif"
    every = _FRAME_EVERY.get(video.suffix.lower(), 1)
    width, height = _GIF_SIZE if gif else _VIDEO_SIZE
    fps = 1 / (robot.control_step * every)
    colors = {"colors": _GIF_COLORS} if gif else {}
    with (
        VideoWriter(video, fps=fps, **colors) as writer,
        Camera(robot.model, width=width, height=height) as camera,
    ):
        on_frame: Callable[[mujoco.MjData], None] = lambda data: writer.add(camera.frame(data))  # noqa: E731
        return deploy(
            robot,
            parameters,
            seconds=seconds,
            seed=seed,
            on_frame=on_frame,
            frame_every=every,
            stop_at_fall=False,
        )
