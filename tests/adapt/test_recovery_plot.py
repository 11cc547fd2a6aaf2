"""The picture of a recovery, by its pixels."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from adapt.records import Performance, Recovery, Trial, diagnosis_words
from adapt.report import draw_diagnosis, draw_recovery, leading_causes

BLUE, VERMILLION, GREEN = (0, 114, 178), (213, 94, 0), (0, 158, 115)


def made(measured, *, fell=(), diagnoses=None):
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
    levels = [Performance(value, 1.0, 1.0, 0, 10) for value in (2000, 100, 1200)]
    return Recovery("ant", "front_left:lost", "rehearsed", 0, 0, *levels, trials, None, best, (best,), "so")


def where(path: Path, color: tuple[int, int, int]) -> np.ndarray:
    """Pixels of a colour in the plot itself, above labels and legend, (n, 2) rows and columns."""
    with Image.open(path) as image:
        assert image.format == "PNG"
        pixels = np.asarray(image.convert("RGB"))
    assert 1000 < pixels.shape[1] < 1400
    return np.argwhere((pixels[: int(0.75 * len(pixels))] == color).all(axis=2))


def test_trials_levels_falls_and_the_chosen_gait_are_drawn(tmp_path: Path) -> None:
    counts = []
    for name, fell in (("a.png", ()), ("b.png", (1, 3))):
        found = made([300.0, 900.0, 500.0, 600.0], fell=fell)
        draw_recovery(replace(found, robot="$a_{$"), tmp_path / name)  # names are no formulas
        counts.append(len(where(tmp_path / name, BLUE)))
    assert counts[0] > counts[1] > 100  # a cross covers a part of what was measured
    path = tmp_path / "a.png"
    healthy, recovered = (np.median(where(path, color)[:, 0]) for color in (GREEN, VERMILLION))
    assert healthy < recovered  # higher up is better
    star = where(path, VERMILLION)
    star = star[star[:, 0] > recovered + 20, 1]
    assert 0.25 < (star.mean() - 100) / 1100 < 0.5, "the second of four"


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
    axes = Figure().add_subplot()
    draw_diagnosis(axes, [{"_a:lost": 0.8, "$b^$:dead": 0.15, "unknown": 0.05}])
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["_a:lost", "$b^$:dead", "unknown", "all else"], "whatever they begin with or hold"
    axes.figure.draw_without_rendering()  # which reads what it takes for formulas


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
    assert stays.startswith("keeping the old gait: none of the gaits tried is predicted to do better")
    assert "falls in 7 of 10 episodes" in stays
    assert Performance(5, 1, 2.0, 3, 10).words(6.0) == "walks 2.00 m, falls in 3 of 10 episodes"


def test_a_diagnosis_in_words() -> None:
    causes = [("a:lost", 0.826), ("b:dead", 0.11), ("c:dead", 0.05), ("d:dead", 0.01)]
    assert diagnosis_words(causes) == "a:lost 0.83, b:dead 0.11, c:dead 0.05"
    assert diagnosis_words([("a:lost", 0.996), ("b:dead", 0.004)]) == "a:lost 1.00"
    assert diagnosis_words({}.items()) == ""
