"""Tables: how they come from episodes, and their parts."""

import numpy as np
import pytest

from adapt.rehearsal.samples import Samples
from adapt.rehearsal.table import tabulate
from robots.errors import UnknownNameError
from tests.adapt.rehearsal.made_up import made_up_table


def make_samples(count: int) -> Samples:
    rng = np.random.default_rng(1)
    objectives = rng.normal(size=count).astype(np.float32)
    evidence = rng.normal(size=(count, 2)).astype(np.float32)
    return Samples(objectives, rng.integers(0, 2, count).astype(np.uint8), evidence)


def test_entries_are_means_and_deviations_of_their_episodes() -> None:
    samples, conditions = make_samples(2 * 3 * 4), ("healthy", "a:lost")
    table = tabulate(samples, conditions=conditions, evidence_names=("x", "y"), episodes=4)
    assert (table.conditions, table.evidence_names, table.episodes) == (conditions, ("x", "y"), 4)
    for condition in range(2):
        for row in range(3):
            start = 4 * (3 * condition + row)
            part, place = samples[start : start + 4], (condition, row)
            assert table.objectives[place] == pytest.approx(np.mean(part.objectives), rel=1e-6)
            assert table.noise[place] == pytest.approx(np.std(part.objectives, ddof=1), rel=1e-5)
            assert table.falls[place] == np.mean(part.fell)
            assert table.evidence[place] == pytest.approx(part.evidence.mean(axis=0), rel=1e-5)
            assert table.evidence_std[place] == pytest.approx(part.evidence.std(axis=0, ddof=1), rel=1e-5)
    for name in ("objectives", "noise", "falls", "evidence", "evidence_std"):
        assert getattr(table, name).dtype == np.float32


def test_one_episode_has_no_noise() -> None:
    samples = make_samples(6)
    table = tabulate(samples, conditions=("healthy",), evidence_names=("x", "y"), episodes=1)
    assert np.array_equal(table.objectives[0], samples.objectives)
    assert not table.noise.any()
    assert not table.evidence_std.any()


def test_some_conditions_in_another_order() -> None:
    table = made_up_table(d=4)
    part = table.take(["leg_3:lost", "healthy"])
    assert len(part) == 2
    assert part.conditions == ("leg_3:lost", "healthy")
    for name in ("objectives", "noise", "falls", "evidence", "evidence_std"):
        assert np.array_equal(getattr(part, name), getattr(table, name)[[3, 0]])
    assert (part.evidence_names, part.episodes) == (table.evidence_names, table.episodes)
    with pytest.raises(UnknownNameError, match=r"the rehearsal 'leg_9:lost'.*available: healthy"):
        table.take(["leg_9:lost"])
