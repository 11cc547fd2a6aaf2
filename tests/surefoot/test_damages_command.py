"""The command that lists damages and draws them."""

import numpy as np
import pytest
import yaml
from PIL import Image

from adapt.damage.edits import RED
from adapt.damage.library import damage_library
from adapt.damage.text import parse_damage
from robots.rendering.pictures import draw_robot
from robots.robot import load_robot


def test_it_lists_parts_kinds_and_examples(run):
    code, out, _ = run("damages", "ant")
    assert code == 0
    for text in (
        "front_left_hip: -0.698 to 0.698 rad",
        "PART: LEG, joint=JOINT",
        "default: 0.5",
        "all:weak@0.7",
    ):
        assert text in out
    assert "47 damages are rehearsed" in out


def test_it_prints_the_library_as_a_file_of_damages(run):
    code, out, _ = run("damages", "walker", "--library")
    assert code == 0
    assert yaml.safe_load(out.replace(" - ", "\n- ")) == list(map(str, damage_library(load_robot("walker"))))


def pixels(path):
    return np.asarray(Image.open(path).convert("RGB"), np.float64)


def red(path):
    """Share of pixels as red as what is marked."""
    r, g, b = np.moveaxis(pixels(path), -1, 0)
    return float(((r > 60) & (g + b < 0.6 * r)).mean())


def test_pictures_show_what_is_damaged(tmp_path):
    assert RED[0] > 3 * max(RED[1:3])
    ant = load_robot("ant")
    for name, damage in (("whole", "healthy"), ("dead", "back_right:dead"), ("lost", "back_right:lost")):
        damaged = parse_damage(damage, ant).apply(ant)
        draw_robot(damaged, tmp_path / f"{name}.png")
    whole, dead, lost = (tmp_path / f"{name}.png" for name in ("whole", "dead", "lost"))
    assert red(dead) > red(whole) + 0.005
    assert red(lost) < red(whole) + 0.001
    assert (abs(pixels(whole) - pixels(lost)).max(axis=2) > 60).mean() > 0.005


def test_it_draws_the_damaged_robot(run, tmp_path):
    path = tmp_path / "dead.png"
    code, out, _ = run("damages", "ant", "--damage", "back_right:dead", "--picture", path)
    assert code == 0
    assert "back_right:dead: the motors give no torque" in out
    assert f"drawn to {path}" in out
    assert red(path) > 0.005


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["ant", "--picture", "x.png"], "say what to draw: --damage DAMAGE --picture FILE.png"),
        (["ant", "--damage", "front_left:lost", "--library"], "leave one out"),
        (["ant", "--damage", "tail:lost"], "unknown leg of the ant 'tail'"),
        (["anteater"], "unknown robot 'anteater'"),
    ],
)
def test_wrong_arguments(refused, arguments, complaint):
    refused([(arguments, complaint)], "damages")
