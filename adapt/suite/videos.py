"""Videos of the recoveries that gained most: the incumbent and the new gait, side by side."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from adapt.deployment import deploy
from adapt.suite.recoveries import Results
from adapt.suite.study import RecoveryStudy
from robots.files import make_folder
from robots.rendering.camera import Camera
from robots.rendering.overlay import Moment, Overlay
from robots.rendering.video import open_video
from robots.robot import Robot

_FOLDER = "videos"
_SELECTOR = "rehearsed"
_SIZE = 400, 300  # width and height of each half [pixels]
_FRAMES = 20  # per second, approximately
_SEED = 0
_SECONDS = 5.0
_SPACE = 4  # between the halves [pixels]


class Scene(NamedTuple):
    """A recovery to film: its damage, and the rows and recovery ratios of the two controllers."""

    damage: str
    rows: tuple[int, int]
    ratios: tuple[float, float]


def film_best(
    study: RecoveryStudy, results: Results, count: int, *, say: Callable[[str], object] = lambda _: None
) -> list[str]:
    """Film the recoveries that gained most: five seconds of the same episode with either controller.

    The recoveries are the median ones from each damage, in the `main_track`, by `rehearsed` or, if that was
    not run, by the first selector.

    Args:
        study: whose robot it is; the videos go to `videos/` in its folder.
        results: of the study.
        count: of videos, at most; there are none if no track has the rehearsed robot.
        say: called with a line for each video.

    Returns:
        A line for each video: its file and what it shows.

    Raises:
        InvalidFileError: a video cannot be written.
        RenderingError: frames cannot be drawn, or a video cannot be encoded, on this machine.
    """
    robot, settings = study.repertoire.robot, study.settings
    make_folder(study.folder / _FOLDER)
    lines = []
    for number, scene in enumerate(_best_scenes(results, study.repertoire.best())[:count], start=1):
        path = study.folder / _FOLDER / f"{robot.name}-{number}.mp4"
        damaged = settings.damages[settings.texts.index(scene.damage)].apply(robot)
        _film(damaged, study.repertoire.elites.solutions[list(scene.rows)], path)
        before, after = scene.ratios
        lines.append(
            f"{_FOLDER}/{path.name}: {scene.damage}, recovery ratio {before:.2f} without adaptation and "
            f"{after:.2f} with the gait that was found"
        )
        say(f"filmed {path}")
    return lines


def _best_scenes(results: Results, incumbent: int) -> list[Scene]:
    """The median recovery from each damage, the largest gain first."""
    track = results.main_track
    if track is None:
        return []
    selector = _SELECTOR if _SELECTOR in results.selectors else results.selectors[0]
    last, scenes = f"rr_{results.trials}", []
    for damage, runs in results.of(track, selector).groupby("damage", sort=False):
        median = runs.sort_values(last, kind="stable").iloc[(len(runs) - 1) // 2]
        scenes.append(Scene(str(damage), (incumbent, int(median["gait"])), (median["rr_0"], median[last])))
    return sorted(scenes, key=lambda scene: scene.ratios[0] - scene.ratios[1])


def _film(robot: Robot, solutions: np.ndarray, path: Path) -> None:
    """Film two controllers on the damaged robot, side by side."""
    every = max(1, round(1 / (_FRAMES * robot.control_step)))
    halves = [
        _frames(robot, solution, caption, every)
        for solution, caption in zip(solutions, ("before", "after"), strict=True)
    ]
    space = np.full((_SIZE[1], _SPACE, 3), 255, np.uint8)
    with open_video(path, fps=1 / (every * robot.control_step)) as writer:
        for number in range(max(len(half) for half in halves)):
            left, right = (half[min(number, len(half) - 1)] for half in halves)
            writer.add(np.hstack([left, space, right]))


def _frames(robot: Robot, parameters: np.ndarray, caption: str, every: int) -> list[np.ndarray]:
    """Frames of an episode, which goes on after a fall; there are fewer if the simulation diverges."""
    frames: list[np.ndarray] = []
    overlay = Overlay(robot, caption=caption, width=_SIZE[0], height=_SIZE[1])
    with Camera(robot.model, width=_SIZE[0], height=_SIZE[1]) as camera:

        def draw(data: mujoco.MjData, moment: Moment) -> None:
            frames.append(overlay.draw(camera.frame(data), moment))

        deploy(
            robot,
            parameters,
            seconds=_SECONDS,
            seed=_SEED,
            on_frame=draw,
            frame_every=every,
            stop_at_fall=False,
        )
    return frames
