"""Simulated recoveries to compare with replays: what is run, and how it is scored."""

from types import SimpleNamespace

import numpy as np
import pytest

import suites.recovery.simulation
from adapt.damage import HEALTHY
from suites.recovery.simulation import simulate_recoveries
from tests.suites.recovery.made_recoveries import DAMAGES, make_objectives, make_results, make_table

RESULTS = make_results()
SETTINGS = SimpleNamespace(damages=DAMAGES, texts=DAMAGES)
TABLE = make_table(make_objectives())
STUDY = SimpleNamespace(
    repertoire=SimpleNamespace(settings=SimpleNamespace(min_objective=0.0)),
    settings=SETTINGS,
    library=TABLE.take((HEALTHY, *DAMAGES[:4])),
    rehearsed=lambda: TABLE,
    threads=1,
)


@pytest.fixture
def asked(monkeypatch):
    """What `recover` is asked for; it always ends with 0.9 after 7 trials."""
    calls = []

    def recover(repertoire, damage, **options):
        calls.append((damage, options))
        return SimpleNamespace(trials=[None] * 7, recovered=SimpleNamespace(objective=0.9))

    monkeypatch.setattr(suites.recovery.simulation, "recover", recover)
    return calls


def test_recoveries_are_spread_over_the_damages(asked):
    shares = []
    found = simulate_recoveries(STUDY, RESULTS, 3, on_progress=shares.append)
    assert [damage for damage, _ in asked] == 2 * [DAMAGES[0], DAMAGES[2], DAMAGES[5]]
    np.testing.assert_allclose(shares, np.arange(1, 7) / 6)
    assert [options["seed"] for _, options in asked] == [0, 1, 2, 0, 1, 2]
    for damage, options in asked[:3]:
        assert options["table"].conditions == RESULTS.main_track.library(damage, STUDY.library.conditions)
    assert all(options["table"] is None for _, options in asked[3:])
    assert all(options["confirmations"] == 0 for _, options in asked)
    for selector, some in found.groupby("selector"):
        runs = RESULTS.of(RESULTS.main_track, selector)
        assert some["damage"].tolist() == [DAMAGES[0], DAMAGES[2], DAMAGES[5]]
        assert (some["trials"] == 7).all()
        np.testing.assert_allclose(some["ratio"], 0.9 / 1.2)
        for one in some.itertuples():
            own = runs[runs["damage"] == one.damage]
            at_stop = [run[f"rr_{run['stop']}"] for _, run in own.iterrows()]
            assert one.replayed_trials == pytest.approx(own["stop"].mean())
            assert one.replayed_ratio == pytest.approx(np.mean(at_stop))


def test_no_damage_twice(asked):
    assert len(simulate_recoveries(STUDY, RESULTS, 100)) == 2 * len(DAMAGES)
