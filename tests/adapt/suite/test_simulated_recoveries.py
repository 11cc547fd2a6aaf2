"""Simulated recoveries to compare with replays: what is run, and how it is scored."""

from types import SimpleNamespace

import numpy as np
import pytest
from made_recoveries import DAMAGES, make_results

import adapt.suite.simulation
from adapt.suite.metrics import at_stop
from adapt.suite.simulation import simulate_recoveries

RESULTS = make_results()
SETTINGS = SimpleNamespace(damages=DAMAGES, texts=DAMAGES)
STUDY = SimpleNamespace(repertoire=None, settings=SETTINGS, threads=1)


@pytest.fixture
def asked(monkeypatch):
    """What `recover` is asked for; it always ends with 0.9 after 7 trials."""
    calls = []

    def recover(repertoire, damage, **options):
        calls.append((damage, options))
        return SimpleNamespace(trials=[None] * 7, recovered=SimpleNamespace(objective=0.9))

    monkeypatch.setattr(adapt.suite.simulation, "recover", recover)
    return calls


def test_recoveries_are_spread_over_the_damages(asked):
    shares = []
    found = simulate_recoveries(STUDY, RESULTS, 3, on_progress=shares.append)
    assert [damage for damage, _ in asked] == 2 * [DAMAGES[0], DAMAGES[2], DAMAGES[5]]
    np.testing.assert_allclose(shares, np.arange(1, 7) / 6)
    assert [options["seed"] for _, options in asked] == [0, 1, 2, 0, 1, 2]
    for damage, options in asked[:3]:
        library = RESULTS.setting.table(RESULTS.main_track, damage).conditions
        assert options["table"].conditions == library
    assert all(options["table"] is None for _, options in asked[3:])
    for selector, some in (("rehearsed", found[:3]), ("map-bo", found[3:])):
        runs = RESULTS.runs(RESULTS.main_track, selector)
        for one, index in zip(some, (0, 2, 5), strict=True):
            assert (one.selector, one.damage, one.trials) == (selector, DAMAGES[index], 7)
            assert one.ratio == pytest.approx(0.9 / 1.2)
            assert one.replayed_trials == pytest.approx(runs.stops[index].mean())
            assert one.replayed_ratio == pytest.approx(at_stop(runs)[index].mean())


def test_no_damage_twice(asked):
    assert len(simulate_recoveries(STUDY, RESULTS, 100)) == 2 * len(DAMAGES)
