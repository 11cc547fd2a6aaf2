"""The picture of a recovery, by its pixels."""

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from adapt.records import Performance, Recovery, Trial, diagnosis_words
from adapt.report import draw_diagnosis, draw_recovery, leading_causes

BLUE, VERMILLION, GREEN = (0, 114, 178), (213, 94, 0), (0, 158, 115)


def made(measured, *, fell=(), diagnoses=None):
    """A recovery that chose the best trial; in those numbered in `fell` the robot fell."""
    found = zip(measured, diagnoses or [{}] * len(measured), strict=True)
    trials = tuple(
        Trial(row + 1, row, (row, 0, 0, 0), 0, 1500.0, value, row + 1 in fell, 9, 1.0, diagnosis)
        for row, (value, diagnosis) in enumerate(found)
    )
    best = int(np.argmax(measured))
    levels = [Performance(value, 1.0, 1.0, 0, 10) for value in (2000, 100, 1200)]
    return Recovery("ant", "front_left:lost", "rehearsed", 0, 0, *levels, trials, None, best, (best,), "so")


def where(path, color: tuple[int, int, int]) -> np.ndarray:
    """Pixels of a colour in the plot itself, above labels and legend, (n, 2) rows and columns."""
    with Image.open(path) as image:
        assert image.format == "PNG"
        pixels = np.asarray(image.convert("RGB"))
    assert 1000 < pixels.shape[1] < 1400
    return np.argwhere((pixels[: int(0.75 * len(pixels))] == color).all(axis=2))


def test_trials_levels_falls_and_the_chosen_gait_are_drawn(tmp_path) -> None:
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


def test_the_diagnosis_firms_up_below_the_trials(tmp_path) -> None:
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
    axes, long = Figure().add_subplot(), "joint=left_front_tibia:locked+right_middle:lost"
    draw_diagnosis(axes, [{long: 0.6, "_a:lost": 0.3, "$b^$:dead": 0.1}])
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    # whatever they begin with or hold
    assert labels == [long.replace("+", "+\n"), "_a:lost", "$b^$:dead", "all else"]
    axes.figure.draw_without_rendering()  # which reads what it takes for formulas


def test_the_verdict_never_calls_a_fall_or_the_old_gait_a_recovery() -> None:
    found = replace(made([300.0, 900.0]), row=1, seconds=16.5)
    standing, falling = Performance(1200, 1, 3.79, 0, 10), Performance(1200, 1, 3.79, 7, 10)
    creeping, limping = Performance(1200, 1, 0.04, 0, 10), Performance(1200, 1, 0.3, 0, 10)  # healthy: 1 m
    backwards, poor = Performance(1200, 1, -0.3, 1, 10), Performance(90, 1, 0.5, 0, 10)
    does = "with the new gait the robot "
    for performance, words in (
        (standing, f"recovered: {does}walks 3.79 m, more than the 1.00 m that it did in 16.5 s when whole, "),
        (limping, f"improved, but not recovered: {does}limps 0.30 m"),
        (falling, f"improved, but not recovered: {does}falls in 7 of 10 episodes"),
        (backwards, f"improved, but not recovered: {does}does not get ahead: -0.30 m"),
        (poor, "not recovered: the new gait does no better than the old one"),
        (replace(standing, standard_error=1300), "not clear: measured afresh, the new gait is better by no "),
        (creeping, f"improved, but not recovered: {does}hardly gets ahead: 0.04 m"),
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
