"""Successive halving on made-up scores."""

import numpy as np
import pytest

from adapt.records import Outcome
from adapt.selectors.baselines import SuccessiveHalving
from adapt.selectors.selector import Context, Prior


def halve(scores, trials):
    """Rows tried, controllers being in the order of the prior."""
    k = len(scores)
    selector = SuccessiveHalving(Context(Prior(np.arange(k, 0.0, -1), np.zeros((k, 1)), 0.0), trials=trials))
    while selector.done() is None:
        row = selector.ask()
        selector.tell(row, Outcome(scores[row]))
    return selector


def test_the_better_half_is_tried_again():
    selector = halve([3.0, 1, 5, 2, 4, 0, 9, 9, 9], trials=13)
    # 6 + 3 + 2 + 1 = 12 of the 13
    assert selector.rows == [0, 1, 2, 3, 4, 5, 2, 4, 0, 2, 4, 2]
    assert selector.recommendation() == 2
    assert selector.done() == "one gait is left of those that were tried, after 4 trials of it"


@pytest.mark.parametrize(("trials", "started"), [(1, 1), (2, 1), (3, 2), (6, 3), (20, 9), (100, 40)])
def test_it_starts_with_as_many_as_it_can_finish(trials, started):
    selector = halve(list(np.random.default_rng(0).random(40)), trials)
    assert len(set(selector.rows)) == started
    assert len(selector.rows) <= trials


def test_what_is_left_over_goes_to_the_next_best():
    selector = halve([1.0, 2, 3, 4], trials=3)
    assert selector.rows == [0, 1, 1]
    assert selector.ask() == 2


def test_a_pool_of_all_controllers_is_halved_too():
    selector = halve([1.0, 3, 2], trials=20)
    assert selector.rows == [0, 1, 2, 1, 2, 1]
    assert selector.done() == "one gait is left of those that were tried, after 3 trials of it"
    with pytest.raises(RuntimeError, match="every controller was tried"):
        selector.ask()
