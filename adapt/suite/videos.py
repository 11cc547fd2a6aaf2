"""Videos of the recoveries that gained most: the incumbent and the new gait, side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from adapt.deployment import deploy
from adapt.suite.results import Results
from adapt.suite.study import RecoveryStudy
from robots.files import make_folder
from robots.rendering.camera import Camera
from robots.rendering.overlay import Moment, Overlay
from robots.rendering.video import VideoWriter
from robots.robot import Robot

_FOLDER = "videos"
_SELECTOR = "rehearsed"
_SIZE = 400, 300  # width and height of each half [pixels]
_FRAMES = 20  # per second, approximately
_SEED = 0
_SECONDS = 5.0
_SPACE = 4  # between the halves [pixels]


@dataclass(frozen=True)
class Scene:
    """A recovery to film.

    Attributes:
        damage: its text.
        before: row of the incumbent.
        after: row of the controller that was found.
        unadapted: recovery ratio of the incumbent.
        recovered: recovery ratio of the controller that was found.
    """

    damage: str
    before: int
    after: int
    unadapted: float
    recovered: float


def best_scenes(results: Results, count: int) -> list[Scene]:
    """The damages from which the median recovery gained most, the largest gain first.

    They are those of `rehearsed`, or of the first selector if that was not run, in the `main_track`.

    Args:
        results: of the benchmark.
        count: of scenes, at most; there are none if no track has the rehearsed robot.
    """
    track = results.main_track
    if track is None:
        return []
    selector = _SELECTOR if _SELECTOR in results.selectors else results.selectors[0]
    case_set, runs = results.case_set(track), results.runs(track, selector)
    scenes = []
    for index, case in enumerate(case_set.cases):
        last = runs.ratios[index, :, -1]
        seed = int(np.argsort(last, kind="stable")[(len(last) - 1) // 2])
        after = int(runs.recommended[index, seed, -1])
        unadapted = float(case_set.unadapted[index])
        scenes.append(Scene(case.damage, case_set.incumbent, after, unadapted, float(last[seed])))
    return sorted(scenes, key=lambda scene: scene.unadapted - scene.recovered)[:count]


def film_scenes(
    study: RecoveryStudy, scenes: Sequence[Scene], *, say: Callable[[str], object] = lambda _: None
) -> list[str]:
    """Film scenes into `videos/`: five seconds of the same episode, before on the left, after on the right.

    Args:
        study: whose robot it is.
        scenes: to film.
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
    for number, scene in enumerate(scenes, start=1):
        path = study.folder / _FOLDER / f"{robot.name}-{number}.mp4"
        damaged = settings.damages[settings.texts.index(scene.damage)].apply(robot)
        _film(damaged, study.repertoire.elites.solutions, scene, path)
        lines.append(
            f"{_FOLDER}/{path.name}: {scene.damage}, recovery ratio {scene.unadapted:.2f} without adaptation "
            f"and {scene.recovered:.2f} with the gait that was found"
        )
        say(f"filmed {path}")
    return lines


def _film(robot: Robot, solutions: np.ndarray, scene: Scene, path: Path) -> None:
    """Film one scene on the damaged robot."""
    every = max(1, round(1 / (_FRAMES * robot.control_step)))
    halves = [
        _frames(robot, solutions[row], caption, every)
        for row, caption in ((scene.before, "before"), (scene.after, "after"))
    ]
    space = np.full((_SIZE[1], _SPACE, 3), 255, np.uint8)
    with VideoWriter(path, fps=1 / (every * robot.control_step)) as writer:
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
