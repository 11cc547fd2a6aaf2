"""Cases: the oracle is chosen by some episodes and scored by others."""

import numpy as np
import pytest
from made_recoveries import make_table, make_world

from adapt.damage import HEALTHY
from adapt.suite.case import make_cases

CONDITIONS = (HEALTHY, "left:lost")
SHOWN = make_table([[2.0, 1.0, 0.5], [0.2, 1.1, 0.9]], CONDITIONS)
SCORES = make_table([[1.8, 1.2, 0.6], [0.1, 0.8, 1.0]], CONDITIONS)


def test_a_case_from_two_sets_of_episodes():
    (case,) = make_cases(SHOWN, SCORES, {HEALTHY: 0, "left:lost": 1}, min_objective=-0.2)
    assert case.damage == "left:lost"
    assert case.shown.conditions == ("left:lost",)
    assert case.oracle_row == 1
    assert case.oracle == pytest.approx(0.8 + 0.2)  # though another has more in the second set
    assert case.intact == pytest.approx(1.8 + 0.2)
    assert case.headroom == pytest.approx(0.5)
    np.testing.assert_allclose(case.ratio(np.array([[0, 1], [2, 0]])), [[0.3, 1.0], [1.0, 0.3]])
    assert not case.hopeless


def test_nothing_can_be_told_where_no_controller_gets_anywhere():
    (case,) = make_cases(SHOWN, SCORES, {HEALTHY: 0, "left:lost": 1}, min_objective=0.9)
    assert case.hopeless


def test_binding_damages_are_those_that_need_adaptation():
    world = make_world()
    np.testing.assert_allclose(world.unadapted, np.array([0.1, 0.2, 0.3, 1.15, 1.05, 0.6]) / 1.2, rtol=1e-6)
    assert world.binding.tolist() == [True, True, True, False, True, True]
    assert world.scope("all").all()
