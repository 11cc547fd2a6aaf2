from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from PIL import Image

from repertoire.algorithms.catalogue import ALGORITHMS
from repertoire.algorithms.settings import parse_archive
from repertoire.archives.archive import Elites
from repertoire.plots import draw_history, draw_repertoire
from repertoire.problems.record import ProblemRecord
from repertoire.repertoire import Repertoire
from robots.errors import InvalidValueError

RANGES = ((0.0, 1.0), (-2.0, 2.0), (0.0, 5.0))
EMPTY = (228, 228, 228)


def made(archive: str, cells, measures: int = 2) -> Repertoire:
    """A repertoire with elites in some cells, whose objectives are 100, 200, ... in their order."""
    settings = {"evaluations": 100, "seed": 0, "archive": archive, "min_objective": 0.0}
    found, k = ALGORITHMS.find("cma-mae").settings(settings), len(cells)
    solutions, objectives = np.zeros((k, 2), np.float32), 100.0 * np.arange(1, k + 1)
    return Repertoire(
        problem=ProblemRecord(name="made up", solution_dim=2, measure_ranges=RANGES[:measures]),
        settings=found,
        elites=Elites(np.array(cells), solutions, objectives, np.zeros((k, measures))),
        thresholds=np.zeros(found.archive.cells),
        history={name: np.array([1.0, 2.0]) for name in ("evaluations", "qd_score", "coverage", "best")},
    )


def pixels(path) -> np.ndarray:
    with Image.open(path) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("RGB"))


def test_cells_have_the_color_of_their_objective(tmp_path) -> None:
    draw_repertoire(made("2,2", [0, 2, 3]), tmp_path / "archive.png")
    image = pixels(tmp_path / "archive.png")
    viridis = matplotlib.colormaps["viridis"]
    areas = {}
    for name, color in {
        "worst": viridis(0.0, bytes=True)[:3],
        "middle": viridis(0.5, bytes=True)[:3],
        "best": viridis(1.0, bytes=True)[:3],
        "empty": EMPTY,
    }.items():
        there = np.argwhere((image == np.array(color)).all(axis=2)[:, :900])  # left of the colour bar
        assert len(there) > 0.1 * 900 * 900, name
        areas[name] = there.mean(axis=0)
    # measure 0 grows to the right and measure 1 upwards: cells (0, 0), (1, 0), (1, 1) and the empty (0, 1)
    assert areas["worst"][1] < areas["middle"][1]
    assert areas["best"][0] < areas["middle"][0]
    assert areas["empty"][0] < areas["worst"][0]
    assert areas["empty"][1] < areas["best"][1]


@pytest.mark.parametrize("measures", [1, 2, 3])
def test_the_occupied_cells_named_next_to_an_empty_one_are_those_with_the_nearest_centroids(measures) -> None:
    repertoire = made("cvt:40", range(20), measures)
    ranges = np.array(repertoire.problem.measure_ranges)
    centroids = parse_archive("cvt:40").centroids(ranges) / np.diff(ranges, axis=1).T
    nearest = sorted(range(20), key=lambda cell: float(np.linalg.norm(centroids[cell] - centroids[30])))[:3]
    message = f"^cell 30 is empty; the nearest that are not: {' '.join(map(str, nearest))}$"
    with pytest.raises(InvalidValueError, match=message):
        repertoire.row((30,))


def test_the_regions_of_two_measures_fill_the_picture(tmp_path) -> None:
    draw_repertoire(made("cvt:40", range(40)), tmp_path / "full.png")
    draw_repertoire(made("cvt:40", range(20)), tmp_path / "half.png")
    full, half = ((pixels(tmp_path / name) == EMPTY).all(axis=2).mean() for name in ("full.png", "half.png"))
    assert full < 0.001
    assert 0.2 < half < 0.5


def test_history(tmp_path) -> None:
    trained = made("3,3", [1, 4])
    draw_history(trained, tmp_path / "history.png")
    assert pixels(tmp_path / "history.png").shape[0] > 600
    huge = {name: np.full(3, 1e308) for name in ("evaluations", "qd_score", "coverage", "best")}
    with pytest.raises(InvalidValueError, match=r"none\.png cannot be drawn, as for too large values: "):
        draw_history(replace(trained, history=huge), tmp_path / "none.png")
    for history in ({}, {"evaluations": np.arange(3)}):
        with pytest.raises(InvalidValueError, match="no history"):
            draw_history(replace(trained, history=history), tmp_path / "none.png")
    assert [path.name for path in tmp_path.iterdir()] == ["history.png"]
