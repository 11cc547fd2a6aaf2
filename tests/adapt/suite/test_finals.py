"""The best gait under each damage, among finalists."""

from dataclasses import replace

import numpy as np
import pytest
from made_recoveries import make_table

import adapt.suite.finals
from adapt.damage import HEALTHY
from adapt.rehearsal.samples import Samples
from adapt.suite.finals import EPISODES, find_oracles, keep_oracles, read_oracles
from robots.errors import InvalidFileError

CONDITIONS = (HEALTHY, "front_left:lost")
K = 30


class FakeStage:
    """Under the damage row 3 is worth 1.0 in every episode, and row 4 only 3.0 in one of eight, else 0.1."""

    closed = False

    def __init__(self, repertoire, robot, conditions, threads):
        assert conditions == CONDITIONS

    def evaluate(self, conditions, rows, seeds):
        assert len(conditions) == len(rows) == len(seeds) == 20 * EPISODES
        assert len(set(zip(rows, seeds, strict=True))) == len(rows)
        assert len(set(seeds)) == EPISODES
        worth = np.where(rows == 3, 1.0, 0.1)
        worth = np.where((rows == 4) & (seeds == seeds[0]), 3.0, worth)
        objectives = np.where(conditions, worth, np.where(rows == 7, 2.0, 0.1))
        return Samples(objectives.astype(np.float32), np.zeros(len(rows)), np.zeros((len(rows), 2)))

    def close(self):
        FakeStage.closed = True


@pytest.fixture
def table():
    objectives = np.random.default_rng(0).uniform(0.0, 0.3, (2, K))
    objectives[0, [7, 8]] = 1.9, 1.0
    objectives[1, [3, 4]] = 1.0, 1.6  # the other is lucky in these episodes
    return make_table(objectives, CONDITIONS)


def test_who_was_lucky_once_does_not_win(table, monkeypatch):
    monkeypatch.setattr(adapt.suite.finals, "Stage", FakeStage)
    assert find_oracles(None, None, table, seed=1) == {HEALTHY: 7, CONDITIONS[1]: 3}
    assert FakeStage.closed


def test_earlier_episodes_count_too(table, monkeypatch):
    monkeypatch.setattr(adapt.suite.finals, "Stage", FakeStage)
    assert find_oracles(None, None, replace(table, episodes=100), seed=1)[CONDITIONS[1]] == 4


def test_oracles_in_a_file(table, tmp_path):
    path = tmp_path / "oracles.json"
    assert read_oracles(path, table) is None
    oracles = {HEALTHY: 7, CONDITIONS[1]: 3}
    keep_oracles(path, oracles)
    assert read_oracles(path, table) == oracles
    for wrong in (
        '{"healthy": 7}',
        '{"healthy": 7, "front_left:lost": 30}',
        '{"healthy": 7, "front_left:lost": true}',
        "[]",
    ):
        path.write_text(wrong)
        with pytest.raises(InvalidFileError, match="does not name a gait for each condition: remove it"):
            read_oracles(path, table)
    path.write_text("{")
    with pytest.raises(InvalidFileError, match="cannot be read"):
        read_oracles(path, table)
