"""The best gait under each damage of a table, and the file that names them."""

import numpy as np
import pytest
from made_recoveries import make_table

import adapt.suite.finals
from adapt.damage import HEALTHY
from adapt.oracle import find_oracle
from adapt.suite.finals import find_oracles, keep_oracles, read_oracles
from robots.errors import InvalidFileError
from tests.adapt.rehearsal.small import small_repertoire

CONDITIONS = (HEALTHY, "front_left:lost")
K = 30


@pytest.fixture
def table():
    return make_table(np.random.default_rng(0).uniform(0.0, 0.3, (2, K)), CONDITIONS)


def test_each_condition_has_its_oracle(table, monkeypatch):
    asked = []

    def watch(evaluator, means, *, seed, condition):
        asked.append((evaluator.conditions[condition], len(evaluator.robots[condition].modifications), seed))
        np.testing.assert_array_equal(means, table.objectives[condition])
        return find_oracle(evaluator, means, seed=seed, condition=condition)

    monkeypatch.setattr(adapt.suite.finals, "find_oracle", watch)
    repertoire = small_repertoire(K)
    found = find_oracles(repertoire, repertoire.robot, table, seed=1, threads=1)
    assert set(found) == set(CONDITIONS)
    assert all(0 <= row < K for row in found.values())
    assert [(condition, seed) for condition, _, seed in asked] == [(condition, 1) for condition in CONDITIONS]
    assert asked[0][1] == 0
    assert asked[1][1] > 0


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
