"""Videos of a study that trains robots: nine gaits of the median trial of each algorithm and robot."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import read_repertoire
from robots.files.atomic import file_exists
from robots.rendering.camera import Camera
from robots.rendering.video import open_video
from robots.simulation.stepper import Stepper
from suites.paper.analysis import Analysis
from suites.paper.trial import CORRECTED
from suites.suite import result_path
from suites.videos import Video

_SIDE = 3  # of the square of tiles
_TILE = 240, 180  # width and height [pixels]
_SECONDS = 5.0
_FRAME_EVERY = 5  # control steps; with 16.5 ms each, these are 12 frames per second
_GAP = 2  # between tiles [pixels]
_EMPTY = 228
_PANEL, _TEXT = (16, 22, 32, 170), (255, 255, 255)
_SIZE, _MARGIN = 11, 4  # of the text [pixels]


def study_videos(study: Analysis, folder: Path) -> list[Video]:
    """Videos of the median trial of each algorithm and robot.

    A trial whose corrected repertoire is not in the folder of the study any more is left out.
    """
    videos = []
    for domain in study.domains:
        for algorithm in study.algorithms_in(domain):
            shown = study.median_trial(domain, algorithm)
            source = result_path(folder, (domain, algorithm, shown.trial), "") / CORRECTED
            name, label = f"{domain}-{algorithm}.mp4", f"trial {shown.trial}, seed {shown.seed}"
            if file_exists(source):
                videos.append(Video(name, label, partial(_film, source)))
    return videos


def _film(source: Path, path: Path) -> None:
    """Film a repertoire that is in a file."""
    film_regions(read_repertoire(source), path)


def nine_regions(repertoire: Repertoire) -> list[int | None]:
    """Divide the measure space into nine regions, and find the best elite in each.

    A single measure is divided into nine intervals; of two or more measures the first two are divided into
    three each, and further measures may have any value.

    Args:
        repertoire: whose measures lie within 0 and 1; may be empty.

    Returns:
        The row of the elite with the largest objective in each region, None where there is none; row by row
        from the top, where the second measure is largest.
    """
    elites, single = repertoire.elites, repertoire.robot.measure_dim == 1
    parts, dims = (_SIDE * _SIDE, 1) if single else (_SIDE, 2)
    places = np.clip((elites.measures[:, :dims] * parts).astype(int), 0, parts - 1)
    best = []
    for number in range(_SIDE * _SIDE):
        wanted = [number] if single else [number % _SIDE, _SIDE - 1 - number // _SIDE]
        rows = np.flatnonzero((places == wanted).all(axis=1))
        best.append(max(map(int, rows), key=lambda row: float(elites.objectives[row]), default=None))
    return best


def film_regions(repertoire: Repertoire, path: Path, *, seconds: float = _SECONDS) -> None:
    """Film the best gait in each of nine regions, see `nine_regions`; a region without a gait stays grey.

    Every gait runs the same episode, and goes on after a fall. Its measures and its objective, as they are
    in the repertoire, are written on its tile.

    Args:
        repertoire: may be empty.
        path: of the .mp4 or .gif.
        seconds: length of the video [s].
    """
    robot, width, height = repertoire.robot, *_TILE
    fps = 1 / (_FRAME_EVERY * robot.control_step)
    with open_video(path, fps=fps) as writer, Camera(robot.model, width=width, height=height) as camera:
        draws = [_tile(repertoire, row, camera) for row in nine_regions(repertoire)]
        for _ in range(round(seconds * fps)):
            writer.add(_arranged([draw() for draw in draws]))


def _tile(repertoire: Repertoire, row: int | None, camera: Camera) -> Callable[[], np.ndarray]:
    """Return what draws the next frame of an elite, or a grey one if there is none."""
    if row is None:
        return lambda: np.full((camera.height, camera.width, 3), _EMPTY, np.uint8)
    stepper = Stepper(repertoire.robot)  # no limit ends an episode here
    elites = repertoire.elites
    parameters = np.ascontiguousarray(elites.solutions[row], np.float32)
    measures = ", ".join(f"{measure:.2f}" for measure in elites.measures[row])
    label = f"{measures}  objective {elites.objectives[row]:,.0f}"
    stepper.reset(0)

    def draw() -> np.ndarray:
        frame = _labelled(camera.frame(stepper.posed_data()), label)
        for _ in range(_FRAME_EVERY):
            if not stepper.tally.diverged:  # otherwise the robot stands still
                stepper.drive(parameters)
        return frame

    return draw


def _labelled(frame: np.ndarray, label: str) -> np.ndarray:
    """Write a label into the lower left corner of a frame."""
    image, font = Image.fromarray(frame), ImageFont.load_default(_SIZE)
    pen, top = ImageDraw.Draw(image, "RGBA"), len(frame) - _SIZE - 3 * _MARGIN
    pen.rectangle((0, top, font.getlength(label) + 2 * _MARGIN, len(frame)), fill=_PANEL)
    pen.text((_MARGIN, top + _MARGIN), label, fill=_TEXT, font=font)
    return np.array(image)


def _arranged(tiles: list[np.ndarray]) -> np.ndarray:
    """Return nine tiles as one frame, with white lines between them."""
    framed = np.pad(tiles, ((0, 0), (0, _GAP), (0, _GAP), (0, 0)), constant_values=255)
    rows = [np.concatenate(framed[start : start + _SIDE], axis=1) for start in range(0, len(tiles), _SIDE)]
    return np.ascontiguousarray(np.concatenate(rows)[:-_GAP, :-_GAP])
