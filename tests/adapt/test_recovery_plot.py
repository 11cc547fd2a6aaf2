"""The picture of a recovery, by its pixels."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from adapt.records import Performance, Recovery, Trial, diagnosis_words
from adapt.report import draw_diagnosis, draw_recovery, leading_causes, spread
from robots.errors import InvalidFileError, InvalidValueError

BLUE, VERMILLION, GREEN, PURPLE = (0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167)


def made(
    measured: list[float],
    *,
    oracle: float | None = None,
    fell: tuple[int, ...] = (),
    diagnoses: list[dict[str, float]] | None = None,
) -> Recovery:
    """A recovery that chose the best trial; in those numbered in `fell` the robot fell."""
    trials = tuple(
        Trial(
            number=row + 1,
            row=row,
            cell=(row, 0, 0, 0),
            seed=0,
            predicted=1500.0,
            measured=value,
            fell=row + 1 in fell,
            steps=9,
            distance=1.0,
            diagnosis=diagnoses[row] if diagnoses else {},
        )
        for row, value in enumerate(measured)
    )
    best = int(np.argmax(measured))
    levels = [
        None if value is None else Performance(value, 1.0, 1.0, 0, 10) for value in (2000, 100, 1200, oracle)
    ]
    return Recovery(
        "ant",
        "front_left:lost",
        "rehearsed",
        0,
        0,
        *levels,
        None,
        trials,
        None,
        best,
        trials[best].cell,
        "so",
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
    draw_recovery(made(list(np.linspace(300, 900, count))), path)
    assert len(where(path, PURPLE)) == 0, "there is no oracle"
    draw_recovery(made(list(np.linspace(300, 900, count)), oracle=1700), path)
    assert len(where(path, BLUE)) >= 100 * (count - 1)  # the star hides the chosen one
    healthy, best, recovered = (where(path, color)[:, 0].mean() for color in (GREEN, PURPLE, VERMILLION))
    assert healthy < best < recovered  # higher up is better


def test_the_best_trial_is_marked(tmp_path: Path) -> None:
    columns = []
    for best in range(3):
        measured = [400.0, 400.0, 400.0]
        measured[best] = 900.0
        draw_recovery(made(measured), tmp_path / "recovery.png")
        spots = where(tmp_path / "recovery.png", VERMILLION)
        line = np.median(spots[:, 0])
        columns.append(spots[spots[:, 0] > line + 20, 1].mean())
    assert columns[0] < columns[1] - 100 < columns[2] - 200


def test_falls_are_crossed_out(tmp_path: Path) -> None:
    counts = []
    for name, fell in (("a.png", ()), ("b.png", (1,)), ("c.png", (1, 3))):
        draw_recovery(made([300.0, 900.0, 500.0], fell=fell), tmp_path / name)
        counts.append(len(where(tmp_path / name, BLUE)))
    assert counts[0] > counts[1] > counts[2]  # the cross covers a part of what was measured


def test_the_diagnosis_firms_up_below_the_trials(tmp_path: Path) -> None:
    diagnoses = [{"a:lost": 0.2, "b:dead": 0.6}, {"a:lost": 0.5, "b:dead": 0.3}, {"a:lost": 0.98}]
    sizes = []
    for name, shown in (("with.png", diagnoses), ("without.png", None)):
        draw_recovery(made([300.0, 900.0, 500.0], diagnoses=shown), tmp_path / name)
        with Image.open(tmp_path / name) as image:
            sizes.append(image.height)
    assert sizes[0] > sizes[1] + 200
    axes = Figure().add_subplot()
    draw_diagnosis(axes, diagnoses)
    bars = {
        bars.get_label(): [(round(bar.get_y(), 9), round(bar.get_height(), 9)) for bar in bars]
        for bars in axes.containers
    }
    assert bars == {
        "a:lost": [(0, 0.2), (0, 0.5), (0, 0.98)],
        "b:dead": [(0.2, 0.6), (0.5, 0.3), (0.98, 0)],
        "all else": [(0.8, 0.2), (0.8, 0.2), (0.98, 0.02)],
    }


def test_the_causes_that_were_once_likely_are_named() -> None:
    diagnoses = [{"a": 0.2, "b": 0.6, "c": 0.1}, {"a": 0.9, "d": 0.05}]
    assert leading_causes(diagnoses, 2) == ["a", "b"]
    assert leading_causes(diagnoses, 9) == ["a", "d", "b", "c"]
    axes = Figure().add_subplot()
    draw_diagnosis(axes, [{"joint=left_front_tibia:locked+right_middle:lost": 1.0}])
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["joint=left_front_tibia:locked+\nright_middle:lost", "all else"]


def test_the_verdict_never_calls_a_fall_or_the_old_gait_a_recovery() -> None:
    found = replace(made([300.0, 900.0]), row=1, seconds=16.5)
    standing, falling = Performance(1200, 1, 3.79, 0, 10), Performance(1200, 1, 3.79, 7, 10)
    unclear = replace(standing, standard_error=1300)
    creeping = Performance(1200, 1, 0.04, 0, 10)  # the healthy robot makes 1 m
    limping = Performance(1200, 1, 0.3, 0, 10)
    backwards, poor = Performance(1200, 1, -0.3, 1, 10), Performance(90, 1, 0.5, 0, 10)
    for performance, words in (
        (
            standing,
            "recovered: with the new gait the robot walks 3.79 m, more than the 1.00 m that it did in 16.5 s "
            "when whole, with a gait that was poor",
        ),
        (limping, "improved, but not recovered: with the new gait the robot limps 0.30 m"),
        (falling, "improved, but not recovered: with the new gait the robot falls in 7 of 10 episodes"),
        (backwards, "improved, but not recovered: with the new gait the robot does not get ahead: -0.30 m"),
        (poor, "not recovered: the new gait does no better than the old one"),
        (unclear, "not clear: measured afresh, the new gait is better by no more than chance"),
        (creeping, "improved, but not recovered: with the new gait the robot hardly gets ahead: 0.04 m"),
    ):
        assert replace(found, recovered=performance).verdict.startswith(words)
    stays = replace(found, row=found.incumbent, recovered=falling).verdict
    assert stays.startswith(
        "keeping the old gait: none of the gaits tried is predicted to do better; with it"
    )
    assert "falls in 7 of 10 episodes" in stays
    assert Performance(5, 1, 2.0, 3, 10).words(6.0) == "walks 2.00 m, falls in 3 of 10 episodes"


def test_a_diagnosis_in_words() -> None:
    causes = [("a:lost", 0.826), ("b:dead", 0.11), ("c:dead", 0.05), ("d:dead", 0.01)]
    assert diagnosis_words(causes) == "a:lost 0.83, b:dead 0.11, c:dead 0.05"
    assert diagnosis_words([("a:lost", 0.996), ("b:dead", 0.004)]) == "a:lost 1.00"
    assert diagnosis_words({}.items()) == ""


def test_labels_are_moved_apart_as_little_as_needed() -> None:
    np.testing.assert_array_equal(spread(np.array([5.0, 1.0, 9.0]), 2.0), [5.0, 1.0, 9.0])
    np.testing.assert_array_equal(spread(np.array([5.0, 4.0, 5.0]), 2.0), [6.0, 4.0, 8.0])


def test_bad_arguments(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match=r"must end in \.png"):
        draw_recovery(made([1.0]), tmp_path / "recovery.svg")
    with pytest.raises(InvalidFileError):
        draw_recovery(made([1.0]), tmp_path / "missing" / "recovery.png")
    assert list(tmp_path.iterdir()) == []


def test_the_legend_names_causes_that_begin_with_an_underscore_or_hold_dollars() -> None:
    axes = Figure().add_subplot()
    draw_diagnosis(axes, [{"_a:lost": 0.8, "$b^$:dead": 0.15, "unknown": 0.05}])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        *("_a:lost", "$b^$:dead", "unknown", "all else")
    ]
    axes.figure.draw_without_rendering()  # which reads what it takes for formulas


def test_a_robot_may_be_called_what_looks_like_a_formula(tmp_path: Path) -> None:
    recovery = made([1.0, 2.0], diagnoses=[{"$\\frac{:lost": 1.0}] * 2)
    draw_recovery(replace(recovery, robot="$a_{$"), tmp_path / "a.png")
    assert (tmp_path / "a.png").exists()
