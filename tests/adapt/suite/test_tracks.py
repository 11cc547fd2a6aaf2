"""Tracks: which part of a library a selector is given."""

import pytest

from adapt.damage import HEALTHY
from adapt.suite.tracks import TRACKS, find_tracks
from robots.errors import UnknownNameError

LIBRARY = (
    HEALTHY,
    "left:lost",
    "right:lost",
    "left:dead",
    "all:weak@0.5",
    "joint=hip:locked@0",
    "left:lost+right:lost",
)


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
    assert [track.name for track in find_tracks(["T3", "T0"])] == ["T0", "T3"]
    with pytest.raises(UnknownNameError, match=r"unknown track 'T9'.*available: T0, T1, T1-family, T2"):
        find_tracks(["T9"])


def test_which_tracks_have_another_robot():
    assert [track.name for track in TRACKS if track.gap] == ["T1", "T1-family"]
