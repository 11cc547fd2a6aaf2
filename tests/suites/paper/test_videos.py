"""Nine gaits in a video."""

import subprocess
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest

from repertoire.algorithms.catalogue import configure
from repertoire.archives.archive import Elites
from repertoire.problems.locomotion import Locomotion
from repertoire.repertoire import Repertoire
from robots.robot import load_robot
from robots.simulation.threads import Threads
from suites.paper import videos
from suites.paper.analysis import Analysis
from suites.paper.published import published_study
from suites.paper.videos import film_regions, nine_regions, study_videos
from suites.videos import film_videos, missing_videos, videos_list
from tests.suites.paper.made_results import make_robot_results


def repertoire_of(robot: str, measures: list[tuple[float, ...]], objectives: list[float]) -> Repertoire:
    """Elites with these measures and objectives, of controllers that never learned."""
    problem = Locomotion(load_robot(robot), backend=Threads(1))
    problem.close()
    settings = configure(problem, "sep-cma-mae", {"evaluations": 200, "seed": 1})
    table = np.array(measures, np.float64).reshape(-1, len(problem.measure_ranges))
    grid = np.array(settings.archive.shape)
    cells = np.ravel_multi_index(tuple((table * grid).astype(int).T), tuple(grid))
    rng = np.random.default_rng(0)
    solutions = np.array([problem.initial(rng) for _ in objectives], np.float32)
    elites = Elites(
        cells, solutions.reshape(-1, problem.solution_dim), np.array(objectives, np.float64), table
    )
    return Repertoire(problem.record, settings, elites, np.zeros(grid.prod()))


def frames_of(path: Path) -> np.ndarray:
    """All frames of a video, (n, height, width, 3)."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", path]
    decoded = subprocess.run(
        [*command, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True
    )
    return np.frombuffer(decoded.stdout, np.uint8).reshape(-1, 3 * 182 - 2, 3 * 242 - 2, 3)


def tile(frame: np.ndarray, row: int, column: int) -> np.ndarray:
    return frame[182 * row : 182 * row + 150, 242 * column : 242 * column + 240].astype(int)


def test_a_single_measure_is_cut_into_nine():
    regions = nine_regions(repertoire_of("hopper", [(0.05,), (0.6,), (0.58,), (0.995,)], [1, 5, 7, 3]))
    assert regions == [0, None, None, None, None, 2, None, None, 3]


def test_gaits_move_and_empty_places_stay_grey(tmp_path):
    film_regions(repertoire_of("walker", [(0.1, 0.1), (0.9, 0.9)], [1, 2]), tmp_path / "x.mp4", seconds=0.5)
    frames = frames_of(tmp_path / "x.mp4")
    assert len(frames) == 6
    moving = [
        [np.abs(tile(frames[0], i, j) - tile(frames[-1], i, j)).max() > 40 for j in range(3)]
        for i in range(3)
    ]
    assert moving == [[False, False, True], [False, False, False], [True, False, False]]
    assert np.median(tile(frames[-1], 1, 1)) == pytest.approx(228, abs=2)


def test_the_median_trial_is_filmed_once(tmp_path, monkeypatch):
    filmed: list[str] = []

    def film(source: Path, path: Path) -> None:
        filmed.append(source.parent.name)
        path.touch()

    monkeypatch.setattr(videos, "read_repertoire", lambda path: path)
    monkeypatch.setattr(videos, "film_regions", film)
    results = Analysis(
        make_robot_results(["hopper"], {"me-es": 0.1, "map-elites": 0.2}, 3), published_study("locomotion")
    )
    for trial in range(3):
        (tmp_path / "trials" / "hopper" / f"me-es-{trial:02d}").mkdir(parents=True)
        (tmp_path / "trials" / "hopper" / f"me-es-{trial:02d}" / "corrected.h5").touch()
    assert videos_list(tmp_path) == ""
    done: list[int] = []
    for _ in range(2):
        film_videos(missing_videos(study_videos(results, tmp_path), tmp_path), tmp_path, done.append)
    assert done == [1]
    assert filmed == ["me-es-02"]  # what is not there cannot be filmed
    assert videos_list(tmp_path) == "* videos/hopper-me-es.mp4: trial 2, seed 102"
