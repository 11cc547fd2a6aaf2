from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from repertoire.problems.maze import Maze, draw_maze
from robots.errors import InvalidFileError, InvalidValueError

MAZE = Maze()


def solutions(count: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.array([3 * MAZE.initial(rng) for _ in range(count)]).reshape(count, 138)


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        assert image.format == "PNG"
        return np.asarray(image.convert("RGB")).astype(int)


@pytest.mark.parametrize("count", [0, 2, 30])
def test_the_picture_shows_walls_and_ways(tmp_path: Path, count: int) -> None:
    draw_maze(MAZE, solutions(count), tmp_path / "maze.png")
    image = pixels(tmp_path / "maze.png")
    height, width, _ = image.shape
    assert 900 < height < 1200
    assert 900 < width < 1300
    assert (image == 34).all(axis=2).sum() > 5000, "walls"
    colored = (np.ptp(image[:, : width * 3 // 4], axis=2) > 30).sum()  # with the start alone, some 600
    assert colored < 1000 if not count else colored > 1000


def test_the_same_picture_every_time(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        draw_maze(MAZE, solutions(5), tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_wrong_solutions_and_paths_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match=r"must have shape \(n, 138\) for maze"):
        draw_maze(MAZE, np.zeros((1, 3)), tmp_path / "maze.png")
    with pytest.raises(InvalidValueError, match=r"must end in \.png"):
        draw_maze(MAZE, solutions(1), tmp_path / "maze.jpg")
    with pytest.raises(InvalidFileError, match="cannot be written"):
        draw_maze(MAZE, solutions(1), tmp_path / "missing" / "maze.png")
