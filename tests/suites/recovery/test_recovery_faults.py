"""What a study recovers from: lists of damages, random faults, and tracks."""

from pathlib import Path

import pytest

from adapt.damage import HEALTHY
from adapt.damage.text import damage_from, parse_damage, read_damages
from robots.errors import InvalidValueError, UnknownNameError
from robots.robot import load_robot
from suites.recovery.tracks import (
    benchmark_damages,
    check_damages,
    default_damages,
    draw_faults,
    find_tracks,
    lost_legs,
    random_faults,
)
from tests.adapt.rehearsal.small import small_robot

LIBRARY = (HEALTHY, "left:lost", "right:lost", "left:dead", "all:weak@0.5", "joint=hip:locked@0")
LIBRARY += ("left:lost+right:lost",)


@pytest.mark.parametrize(
    ("name", "damage", "expected"),
    [
        ("T0", "left:lost", [HEALTHY]),
        ("T1", "left:lost", list(LIBRARY)),
        ("T2", "left:lost", list(LIBRARY)),
        ("T2", "left:short@0.5", [*LIBRARY, "left:short@0.5"]),
        ("T3-damage", "left:lost", [text for text in LIBRARY if text != "left:lost"]),
        ("T3-damage", "left:short@0.5", list(LIBRARY)),
        ("T3", "left:lost", [HEALTHY, "left:dead", "all:weak@0.5", "joint=hip:locked@0"]),
        ("T3", "left:lost+all:weak@0.3", [HEALTHY, "left:dead", "joint=hip:locked@0"]),
        ("T3", "floor:friction@0.4", list(LIBRARY)),
        ("T3-limb", "floor:friction@0.4", [HEALTHY, "all:weak@0.5", "joint=hip:locked@0"]),
    ],
)
def test_what_the_library_holds(name, damage, expected):
    (track,) = find_tracks([name])
    assert list(track.library(damage, LIBRARY)) == expected


def test_tracks_by_name():
    listed = ["T0", "T1", "T1-family", "T2", "T3-damage", "T3", "T3-limb"]
    assert [track.name for track in find_tracks()] == listed
    assert [track.name for track in find_tracks(["T3", "T0"])] == ["T0", "T3"]
    with pytest.raises(UnknownNameError, match=r"unknown track 'T9'.*available: T0, T1, T1-family, T2"):
        find_tracks(["T9"])


def test_what_is_no_list_of_damages_to_recover_from_is_refused():
    for texts, message in (
        ([], "there is no damage to recover from"),
        (["healthy"], "'healthy' cannot be a damage to recover from: the robot is whole"),
        (["front_left:lost", "front_left:lost "], "'front_left:lost' .* it appears twice"),
    ):
        with pytest.raises(InvalidValueError, match=message):
            check_damages([parse_damage(text, small_robot()) for text in texts])


@pytest.mark.parametrize("name", ["ant", "hexapod", "walker"])
def test_robots_can_be_broken_in_its_default_ways_and_at_random(name):
    robot = load_robot(name)
    damages = default_damages(robot)
    check_damages(damages)
    assert all(damage.apply(robot).modifications for damage in damages)
    faults = [str(fault) for fault in random_faults(robot, 8, seed=4)]
    assert faults[:4] == [str(fault) for fault in random_faults(robot, 4, seed=4)]
    assert len(set(faults) & {str(fault) for fault in random_faults(robot, 8, seed=40)}) < 3
    assert len(set(faults)) == 8
    assert [text.count("+") for text in faults] == [0, 1] * 4
    for text in faults:
        parse_damage(text, robot).apply(robot)


def test_tuning_and_test_damages_of_the_hexapod_share_nothing():
    robot = load_robot("hexapod")
    tested = {str(damage) for damage in benchmark_damages(robot)}
    tuning = Path(__file__).parents[3] / "suites" / "recovery" / "tuning.yaml"
    tuned = {str(damage) for damage in read_damages(tuning, robot)}
    assert len(tested) >= 24
    assert len(tuned) >= 10
    assert not tested & tuned
    ant = load_robot("ant")
    assert benchmark_damages(ant) == default_damages(ant)


def test_lost_legs():
    faults = [str(fault) for fault in lost_legs(load_robot("hexapod"), seed=4)]
    assert [text.count("lost") for text in faults] == [2, 3] * 15 + [3] * 5
    assert len(set(faults)) == 35
    assert all(damage_from(text).families == {"lost", "pair"} for text in faults)
    assert len(lost_legs(load_robot("ant"), seed=4)) == 6


def test_faults_are_the_same_however_many():
    robot, (track,) = load_robot("hexapod"), find_tracks(["T4"])
    assert draw_faults(track, robot, None, seed=5)[:3] == draw_faults(track, robot, 3, seed=5)
    (listed,) = find_tracks(["T3"])
    assert len(draw_faults(listed, robot, None, seed=5)) == 24
    with pytest.raises(InvalidValueError, match="there are 24 faults of track T3 for the hexapod, not 25"):
        draw_faults(listed, robot, 25, seed=5)
