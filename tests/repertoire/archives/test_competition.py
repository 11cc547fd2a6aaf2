"""The rules by hand, where they differ, and their compiled code against the same code interpreted."""

import math

import numpy as np
import pytest
from kinds import RULES, P, add_to_one_cell, candidates, make

from repertoire.archives import competition
from repertoire.archives.competition import Batch, Store, make_store
from repertoire.state import checked_batch
from robots.errors import InvalidValueError
from robots.files.texts import LARGEST

CELLS = 5
KERNELS = ("add_sequentially", "add_together", "_improvement", "_settle", "_copy")


def batch(seed: int) -> Batch:
    solutions, objectives, measures = candidates(seed, n=20)
    cells = np.random.default_rng(seed).integers(CELLS, size=20)
    return Batch(cells, solutions, objectives, measures)


def compete(rule: str, alpha: float, floor: float) -> tuple[Store, np.ndarray, np.ndarray]:
    store, improvements = make_store(CELLS, P, 2, floor), np.empty((3, 20))
    opened = np.empty((3, 20), np.bool_)
    for seed in range(3):
        told = improvements[seed], opened[seed]
        if rule == "sequential":
            competition.add_sequentially(store, batch(seed), alpha, *told)
        else:
            competition.add_together(store, batch(seed), alpha, floor == -math.inf, *told)
    return store, improvements, opened


@pytest.mark.parametrize(("alpha", "floor"), [(0.3, 0.5), (1.0, -math.inf)])
@pytest.mark.parametrize("rule", RULES)
def test_the_compiled_rules_equal_their_python(rule, alpha, floor, monkeypatch):
    compiled = compete(rule, alpha, floor)
    for name in KERNELS:
        kernel = getattr(competition, name)
        monkeypatch.setattr(competition, name, getattr(kernel, "py_func", kernel))
    interpreted = compete(rule, alpha, floor)
    for actual, expected in zip(interpreted[1:], compiled[1:], strict=True):
        np.testing.assert_array_equal(actual, expected)
    for actual, expected in zip(interpreted[0], compiled[0], strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_the_worked_example_of_three_solutions_in_a_cell():
    sequential, together = (make(learning_rate=0.5, min_objective=0.0, rule=rule) for rule in RULES)
    np.testing.assert_allclose(add_to_one_cell(together, [4, 2, 8]), [4, 2, 8])
    assert together.thresholds.max() == pytest.approx(49 / 12)  # 4.0833
    np.testing.assert_allclose(add_to_one_cell(sequential, [4, 2, 8]), [4, 0, 6])
    assert sequential.thresholds.max() == pytest.approx(5)


def test_what_an_empty_cell_does_below_the_floor_depends_on_the_rule():
    sequential, together = (make(learning_rate=0.1, min_objective=0.0, rule=rule) for rule in RULES)
    for archive in (sequential, together):
        np.testing.assert_array_equal(add_to_one_cell(archive, [-2, -1, -3, 0]), [-2, -1, -3, 0])
        assert (archive.thresholds == 0).all()
    assert sequential.elites().objectives.tolist() == [0]
    assert len(together) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.01 * LARGEST])
def test_a_value_that_is_not_finite_is_found_wherever_it_is(value, dtype):
    for shape in ((3, 11), (33,), (11, 3)):
        sound = np.full(shape, -0.99 * LARGEST, dtype)
        assert checked_batch("numbers", sound, shape, dtype) is sound
        for place in range(33):  # the vectorised part and the rest
            wrong = sound.copy()
            wrong.flat[place] = value
            index = np.unravel_index(place, shape)[0]
            with pytest.raises(InvalidValueError, match=f"^numbers must be finite, .* at index {index}$"):
                checked_batch("numbers", wrong, shape, dtype)
