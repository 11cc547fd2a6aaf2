"""Videos of the recoveries that gained most: the gait in use on the broken robot, beside the one found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from adapt.damage.text import parse_damage
from adapt.deployment import deploy
from adapt.suite.results import Results
from adapt.suite.tracks import Track
from repertoire.repertoire import Repertoire
from robots.files import make_folder
from robots.rendering.camera import Camera
from robots.rendering.overlay import Moment, Overlay
from robots.rendering.video import VideoWriter
from robots.robot import Robot

FOLDER = "videos"
_SIZE = 400, 300  # of each half [pixels]
_FRAMES = 20  # about so many a second
_SEED = 0
_SECONDS = 5.0
_GAP = 4  # between the halves [pixels]


@dataclass(frozen=True)
class Scene:
    """A recovery worth showing.

    Attributes:
        damage: its text.
        before: row of the controller in use.
        after: row of the one that was found.
        unadapted: recovery ratio of the first.
        recovered: of the second.
    """

    damage: str
    before: int
    after: int
    unadapted: float
    recovered: float


def best_scenes(results: Results, track: Track, selector: str, count: int) -> list[Scene]:
    """The damages from which a selector's median recovery gained most, the most first.

    Args:
        results: of the benchmark.
        track: that ran.
        selector: that ran in it.
        count: how many at most.
    """
    world, runs = results.world(track), results.runs[track.name, selector]
    scenes = []
    for index, case in enumerate(world.cases):
        last = runs.ratios[index, :, -1]
        seed = int(np.argsort(last, kind="stable")[(len(last) - 1) // 2])
        after = int(runs.recommended[index, seed, -1])
        scenes.append(
            Scene(case.damage, world.in_use, after, float(world.unadapted[index]), float(last[seed]))
        )
    return sorted(scenes, key=lambda scene: scene.unadapted - scene.recovered)[:count]


def film_scenes(
    repertoire: Repertoire,
    scenes: Sequence[Scene],
    folder: Path,
    *,
    seconds: float = _SECONDS,
    say: Callable[[str], object] = lambda _: None,
) -> list[str]:
    """Film scenes into `videos/`, before on the left and after on the right, in the same episode.

    Args:
        repertoire: of the intact robot.
        scenes: to film.
        folder: of the study.
        seconds: that each shows.
        say: told of each video.

    Returns:
        A line for each: its file and what it shows.

    Raises:
        InvalidFileError: a video cannot be written.
        RenderingError: frames cannot be drawn, or a video cannot be encoded, on this machine.
    """
    make_folder(folder / FOLDER)
    lines = []
    for number, scene in enumerate(scenes, start=1):
        path = folder / FOLDER / f"{repertoire.robot.name}-{number}.mp4"
        _film(repertoire, scene, path, seconds)
        lines.append(
            f"{FOLDER}/{path.name}: {scene.damage}, recovery ratio {scene.unadapted:.2f} without adaptation "
            f"and {scene.recovered:.2f} with the gait that was found"
        )
        say(f"filmed {path}")
    return lines


def _film(repertoire: Repertoire, scene: Scene, path: Path, seconds: float) -> None:
    """Film one scene."""
    robot = parse_damage(scene.damage, repertoire.robot).apply(repertoire.robot)
    every = max(1, round(1 / (_FRAMES * robot.control_step)))
    halves = [
        _frames(robot, repertoire.elites.solutions[row], caption, seconds, every)
        for row, caption in ((scene.before, "before"), (scene.after, "after"))
    ]
    length = max(len(half) for half in halves)
    gap = np.full((_SIZE[1], _GAP, 3), 255, np.uint8)
    with VideoWriter(path, fps=1 / (every * robot.control_step)) as writer:
        for moment in range(length):
            left, right = (half[min(moment, len(half) - 1)] for half in halves)
            writer.add(np.hstack([left, gap, right]))


def _frames(
    robot: Robot, parameters: np.ndarray, caption: str, seconds: float, every: int
) -> list[np.ndarray]:
    """Frames of an episode, which goes on after a fall; the last one stands where the simulation blew up."""
    frames: list[np.ndarray] = []
    overlay = Overlay(robot, caption=caption, width=_SIZE[0], height=_SIZE[1])
    with Camera(robot.model, width=_SIZE[0], height=_SIZE[1]) as camera:

        def draw(data: mujoco.MjData, moment: Moment) -> None:
            frames.append(overlay.draw(camera.frame(data), moment))

        deploy(
            robot,
            parameters,
            seconds=seconds,
            seed=_SEED,
            on_frame=draw,
            frame_every=every,
            stop_at_fall=False,
        )
    return frames
