"""What a benchmark tests: lists of damages, tracks, and cases with their oracles."""

import numpy as np
import pytest

from adapt.damage import HEALTHY
from adapt.damage.text import parse_damage, read_damages
from robots.catalogue import robot_names
from robots.errors import InvalidValueError, UnknownNameError
from robots.robot import load_robot
from suites.recovery.cases import (
    TRACKS,
    TUNING,
    benchmark_damages,
    check_damages,
    default_damages,
    find_tracks,
)
from suites.recovery.replay import make_cases
from tests.adapt.rehearsal.small import small_robot
from tests.suites.recovery.made_recoveries import cases_of, make_objectives, make_table

LIBRARY = (
    HEALTHY,
    "left:lost",
    "right:lost",
    "left:dead",
    "all:weak@0.5",
    "joint=hip:locked@0",
    "left:lost+right:lost",
)
CONDITIONS = (HEALTHY, "left:lost")
SHOWN = make_table([[2.0, 1.0, 0.5], [0.2, 1.1, 0.9]], CONDITIONS)
SCORES = make_table([[1.8, 1.2, 0.6], [0.1, 0.8, 1.0]], CONDITIONS)


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
    assert find_tracks() == find_tracks(None) == TRACKS
    assert [track.name for track in find_tracks(["T3", "T0"])] == ["T0", "T3"]
    with pytest.raises(UnknownNameError, match=r"unknown track 'T9'.*available: T0, T1, T1-family, T2"):
        find_tracks(["T9"])


def test_which_tracks_have_another_robot():
    assert [track.name for track in TRACKS if track.gap] == ["T1", "T1-family"]


def test_a_case_from_two_sets_of_episodes():
    oracles = {HEALTHY: 0, "left:lost": 1}
    (case,) = make_cases(SHOWN, SCORES, oracles, min_objective=-0.2, incumbent=0)
    assert case.damage == "left:lost"
    np.testing.assert_array_equal(case.truth.objectives, SHOWN.objectives[1])
    assert case.oracle == pytest.approx(0.8 + 0.2)  # though another has more in the second set
    assert case.intact == pytest.approx(1.8 + 0.2)
    assert case.unadapted == pytest.approx(0.3)
    np.testing.assert_allclose(case.ratio(np.array([[0, 1], [2, 0]])), [[0.3, 1.0], [1.0, 0.3]])


def test_binding_damages_are_those_that_need_adaptation():
    cases = cases_of(make_table(make_objectives()))
    expected = np.array([0.1, 0.2, 0.3, 1.15, 1.05, 0.6]) / 1.2
    np.testing.assert_allclose([case.unadapted for case in cases], expected, rtol=1e-6)
    assert [case.binding for case in cases] == [True, True, True, False, True, True]


def test_what_is_no_list_of_damages_to_recover_from_is_refused():
    for texts, message in (
        ([], "there is no damage to recover from"),
        (["healthy"], "'healthy' cannot be a damage to recover from: nothing is broken"),
        (["front_left:lost", "front_left:lost "], "'front_left:lost' .* it appears twice"),
    ):
        with pytest.raises(InvalidValueError, match=message):
            check_damages([parse_damage(text, small_robot()) for text in texts])


@pytest.mark.parametrize("name", robot_names())
def test_every_robot_can_be_broken_in_its_default_ways(name):
    robot = load_robot(name)
    damages = default_damages(robot)
    check_damages(damages)
    for damage in damages:
        assert damage.apply(robot).modifications


def test_tuning_and_test_damages_of_the_hexapod_share_nothing():
    robot = load_robot("hexapod")
    tested = {str(damage) for damage in benchmark_damages(robot)}
    tuned = {str(damage) for damage in read_damages(TUNING, robot)}
    assert len(tested) >= 24
    assert len(tuned) >= 10
    assert not tested & tuned
    ant = load_robot("ant")
    assert benchmark_damages(ant) == default_damages(ant)
