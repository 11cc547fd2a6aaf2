"""Pictures of studies, by their pixels."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from suites.paper.figures import draw_curves, mean_curve
from tests.suites.paper.made_results import PAPER, analyse, make_results


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def share(path: Path, color: Sequence[int]) -> float:
    return float((np.abs(pixels(path).astype(int) - np.array(color)) <= 1).all(axis=2).mean())


def history(evaluations: list[float], qd_score: list[float]) -> dict[str, np.ndarray]:
    return {"evaluations": np.array(evaluations), "qd_score": np.array(qd_score)}


def test_curves_average_what_all_trials_have():
    curve = mean_curve(
        [
            history([100, 300, 500], [1e6, 3e6, 5e6]),
            history([200, 400], [4e6, 4e6]),
        ]
    )
    evaluations, means, lows, highs = curve
    assert (evaluations[0], evaluations[-1]) == (200, 400)
    assert (means[0], means[-1]) == (pytest.approx(3), pytest.approx(4))
    # t(0.975, 1) = 12.706, of 2 and 4 with a deviation of sqrt(2)
    assert highs[0] - means[0] == pytest.approx(12.706, abs=1e-3)
    assert lows[-1] == highs[-1] == pytest.approx(4)


def test_each_algorithm_has_its_color_in_every_study(tmp_path: Path):
    blue, vermilion = (0, 114, 178), (213, 94, 0)
    draw_curves(analyse(make_results(["maze"], ["openai-mae"])), tmp_path / "one.png")
    assert share(tmp_path / "one.png", vermilion) > 0.001
    assert share(tmp_path / "one.png", blue) == 0
    draw_curves(analyse(make_results(["maze"], PAPER.algorithms)), tmp_path / "all.png")
    assert min(share(tmp_path / "all.png", color) for color in (vermilion, blue)) > 0.001
