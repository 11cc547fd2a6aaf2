"""The rankings of a batch, against sorting by hand."""

from dataclasses import replace

import numpy as np

from repertoire.emitters.emitter import accepted, by_discovery, by_improvement
from robots.evaluations import Evaluations

NAN = np.full(8, np.nan)
IMPROVEMENTS = np.array([0.5, -np.inf, 3, 0, -2, 3, -4, 7])
OPENED = np.array([0, 0, 0, 0, 1, 0, 1, 0], bool)
OUTCOMES = Evaluations(NAN, NAN[:, None], OPENED, NAN, improvements=IMPROVEMENTS, opened=OPENED)


def test_the_largest_improvement_first_of_equals_the_first_and_failures_last():
    order, values = by_improvement(OUTCOMES)
    assert order.tolist() == [7, 2, 5, 0, 3, 4, 6, 1]
    assert values.tolist() == IMPROVEMENTS[order].tolist()


def test_stages_equal_sorting_tuples():
    rng = np.random.default_rng(0)
    for _ in range(50):
        improvements, opened = rng.integers(-3, 4, size=12) * 1.0, rng.random(12) < 0.3
        outcomes = replace(OUTCOMES, improvements=improvements, opened=opened)
        stage = [2 if o else int(i > 0) for o, i in zip(opened, improvements, strict=True)]
        expected = sorted(range(12), key=lambda i: (-stage[i], -improvements[i], i))
        order, values = by_discovery(outcomes)
        assert order.tolist() == expected
        assert (values[0] == values[-1]) == (
            (stage[expected[0]], improvements[expected[0]])
            == (stage[expected[-1]], improvements[expected[-1]])
        )


def test_accepted_is_what_opened_a_cell_or_exceeded_its_threshold():
    assert np.flatnonzero(accepted(OUTCOMES)).tolist() == [0, 2, 4, 5, 6, 7]
