from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from adapt.plots import draw_recovery, spread
from robots.errors import InvalidFileError, InvalidValueError

BLUE, VERMILLION, GREEN, PURPLE = (0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167)


def draw(path: Path, measured: list[float], oracle: float | None = None) -> None:
    draw_recovery(
        trials_predicted=[1500.0] * len(measured),
        trials_measured=measured,
        chosen=[value == max(measured) for value in measured] if measured else [],
        cells=[f"{i},0,0,0" for i in range(len(measured))],
        healthy=2000,
        broken=100,
        recovered=1200,
        oracle=oracle,
        title="A recovery",
        path=path,
    )


def where(path: Path, color: tuple[int, int, int]) -> np.ndarray:
    """Pixels of a colour in the plot itself, without labels and legend, (n, 2) rows and columns."""
    with Image.open(path) as image:
        assert image.format == "PNG"
        pixels = np.asarray(image.convert("RGB"))
    assert 1000 < pixels.shape[1] < 1400
    return np.argwhere((pixels[: int(0.8 * len(pixels)), :950] == color).all(axis=2))


@pytest.mark.parametrize("count", [1, 6, 20])
def test_each_trial_and_level_is_drawn(tmp_path: Path, count: int) -> None:
    path = tmp_path / "recovery.png"
    draw(path, list(np.linspace(300, 900, count)), oracle=1700)
    assert len(where(path, BLUE)) >= 100 * (count - 1)  # the star hides the chosen one
    healthy, best, recovered = (where(path, color)[:, 0].mean() for color in (GREEN, PURPLE, VERMILLION))
    assert healthy < best < recovered  # higher up is better


def test_the_best_trial_is_marked(tmp_path: Path) -> None:
    columns = []
    for best in range(3):
        measured = [400.0, 400.0, 400.0]
        measured[best] = 900.0
        draw(tmp_path / "recovery.png", measured)
        spots = where(tmp_path / "recovery.png", VERMILLION)
        line = np.median(spots[:, 0])
        columns.append(spots[spots[:, 0] > line + 20, 1].mean())
    assert columns[0] < columns[1] - 100 < columns[2] - 200


def test_without_an_oracle_there_is_no_such_line(tmp_path: Path) -> None:
    draw(tmp_path / "recovery.png", [500.0, 700.0])
    assert len(where(tmp_path / "recovery.png", PURPLE)) == 0


def test_labels_are_moved_apart_as_little_as_needed() -> None:
    np.testing.assert_array_equal(spread(np.array([5.0, 1.0, 9.0]), 2.0), [5.0, 1.0, 9.0])
    np.testing.assert_array_equal(spread(np.array([5.0, 4.0, 5.0]), 2.0), [6.0, 4.0, 8.0])


def test_bad_arguments(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="at least one trial, not 0, 0, 0 and 0"):
        draw(tmp_path / "recovery.png", [])
    with pytest.raises(InvalidValueError, match=r"must end in \.png"):
        draw(tmp_path / "recovery.svg", [1.0])
    with pytest.raises(InvalidFileError):
        draw(tmp_path / "missing" / "recovery.png", [1.0])
    assert list(tmp_path.iterdir()) == []
