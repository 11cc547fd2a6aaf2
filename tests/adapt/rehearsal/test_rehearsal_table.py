"""Tables: how they come from episodes, their parts, and what they say is left under each damage."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from adapt.rehearsal.plots import draw_rehearsal
from adapt.rehearsal.table import survivals
from robots.errors import UnknownNameError
from tests.adapt.rehearsal.made_up import made_up_table

BLUE, VERMILLION, GREEN = (0, 114, 178), (213, 94, 0), (0, 158, 115)
OBJECTIVES = np.array([[2.0, 1.5, 1.7, 0], [0.2, 1.0, 0.79, 0.8], [-2, -3, -2, -1]], np.float32)
TABLE = replace(
    made_up_table(d=3, k=4),
    objectives=OBJECTIVES,
    falls=np.array([[0, 0, 0, 0], [0, 0.5, 0, 0], [1, 1, 1, 0]], np.float32),
)


def test_some_conditions_in_another_order() -> None:
    table = made_up_table(d=4)
    part = table.take(["leg_3:lost", "healthy"])
    assert len(part) == 2
    assert part.conditions == ("leg_3:lost", "healthy")
    for name in ("objectives", "noise", "falls", "evidence", "evidence_std"):
        assert np.array_equal(getattr(part, name), getattr(table, name)[[3, 0]])
    assert (part.evidence_names, part.episodes) == (table.evidence_names, table.episodes)
    with pytest.raises(UnknownNameError, match=r"the rehearsal 'leg_9:lost'.*available: healthy"):
        table.take(["leg_9:lost"])


def test_the_first_controllers() -> None:
    table = made_up_table(d=3, k=4)
    some = table.first(2)
    assert (some.conditions, some.episodes) == (table.conditions, table.episodes)
    for name, column in table.columns.items():
        np.testing.assert_array_equal(some.columns[name], column[:, :2])
    assert table.objectives.shape[1] > 2


def test_what_survives_by_hand() -> None:
    healthy, one, two = survivals(TABLE)
    assert (healthy.condition, healthy.row, healthy.objective, healthy.headroom) == ("healthy", 0, 2, 1)
    assert (healthy.incumbent, healthy.kept, healthy.good, healthy.falls) == (2, 1, 2, 0)
    assert (one.condition, one.row, one.objective, one.headroom) == ("leg_1:lost", 1, 1, 0.5)
    assert (one.incumbent, one.kept, one.good, one.falls) == pytest.approx((0.2, 0.1, 2, 0.125))
    assert (two.row, two.objective, two.headroom, two.kept, two.good, two.falls) == (3, -1, -0.5, -1, 1, 0.75)


def test_without_a_positive_healthy_best_there_are_no_shares() -> None:
    found = survivals(replace(TABLE, objectives=OBJECTIVES - 3))
    assert all(np.isnan([survival.headroom, survival.kept]).all() for survival in found)
    assert [survival.good for survival in found] == [1, 1, 1]


def spots(path: Path, color: tuple[int, int, int]) -> np.ndarray:
    """Pixels of a colour above the legend, (n, 2) rows and columns."""
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB"))
    return np.argwhere((pixels[: len(pixels) - 120] == color).all(axis=2))


def test_bars_are_as_long_as_the_numbers_are_large(tmp_path: Path) -> None:
    draw_rehearsal(replace(TABLE, objectives=OBJECTIVES.clip(0)), "Gaits", tmp_path / "picture.png")
    blue = spots(tmp_path / "picture.png", BLUE)
    lengths = [np.ptp(part[:, 1]) for part in np.array_split(blue, [np.argmax(np.diff(blue[:, 0])) + 1])]
    assert lengths[1] / lengths[0] == pytest.approx(0.5, abs=0.02)
    assert len(spots(tmp_path / "picture.png", GREEN)) > 1000
    marks = spots(tmp_path / "picture.png", VERMILLION)
    healthy, damaged = (marks[row][:, 1].mean() for row in (marks[:, 0] < 100, marks[:, 0] > 120))
    assert healthy > damaged + 100


@pytest.mark.parametrize("d", [1, 40])
def test_it_grows_with_the_library(tmp_path: Path, d: int) -> None:
    path = tmp_path / "picture.png"
    draw_rehearsal(made_up_table(d=d, k=50), "Gaits", path)
    with Image.open(path) as image:
        assert image.height == pytest.approx(150 * (1.5 + 0.24 * d), abs=2)
