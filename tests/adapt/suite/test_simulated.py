"""Simulated recoveries beside replays: what is run, and how it is scored."""

from types import SimpleNamespace

import numpy as np
import pytest
from made_recoveries import DAMAGES, make_results

import adapt.suite.simulated
from adapt.suite.metrics import at_stop
from adapt.suite.simulated import simulate
from adapt.suite.tracks import find_tracks

RESULTS = make_results()
(TRACK,) = find_tracks(["T3"])


class FakeArena:
    trials = 20

    def table(self, track, damage):
        assert track is TRACK
        return f"the library for {damage}"


@pytest.fixture
def asked(monkeypatch):
    """What `recover` is asked for; it always ends with 0.9 after 7 trials."""
    calls = []

    def recover(repertoire, damage, **options):
        calls.append((damage, options))
        return SimpleNamespace(trials=[None] * 7, recovered=SimpleNamespace(objective=0.9))

    monkeypatch.setattr(adapt.suite.simulated, "recover", recover)
    return calls


def test_recoveries_are_spread_over_the_damages(asked):
    repertoire, told = SimpleNamespace(robot=None), []
    found = simulate(
        repertoire, DAMAGES, FakeArena(), RESULTS, TRACK, "rehearsed", count=3, threads=1, on_done=told.append
    )
    assert [damage for damage, _ in asked] == [DAMAGES[0], DAMAGES[2], DAMAGES[5]]
    assert told == [1, 2, 3]
    assert [options["table"] for _, options in asked] == [f"the library for {damage}" for damage, _ in asked]
    assert [options["seed"] for _, options in asked] == [0, 1, 2]
    runs = RESULTS.runs["T3", "rehearsed"]
    for one, index in zip(found, (0, 2, 5), strict=True):
        assert (one.damage, one.trials) == (DAMAGES[index], 7)
        assert one.ratio == pytest.approx(0.9 / 1.2)
        assert one.replayed_trials == runs.stops[index].mean()
        assert one.replayed_ratio == pytest.approx(np.mean(at_stop(runs)[index]))


def test_a_selector_without_a_library_gets_none(asked):
    found = simulate(
        SimpleNamespace(robot=None), DAMAGES, FakeArena(), RESULTS, TRACK, "map-bo", count=99, threads=1
    )
    assert len(found) == len(DAMAGES)
    assert all(options["table"] is None for _, options in asked)
