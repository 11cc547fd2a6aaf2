"""Which surprises a damaged robot walks on from."""

import numpy as np
import pytest

from adapt.mission.surprises import Surprises


def diagnosed(calm: int = 0, *, again: bool = False) -> Surprises:
    """A robot that walked so many stretches without a surprise since it found out what is wrong."""
    surprises = Surprises()
    surprises.diagnose(again=again)
    for _ in range(calm):
        surprises.pass_stretch(4)
    return surprises


@pytest.mark.parametrize(("calm", "expected"), [(0, False), (2, False), (3, True)])
def test_it_walks_on_from_an_alarm_and_looks_into_another_within_three_stretches(calm, expected) -> None:
    surprises = diagnosed()
    assert surprises.walks_on(4, down=False, damaged=True)
    for _ in range(calm):
        surprises.pass_stretch(4)
    assert surprises.walks_on(4, down=False, damaged=True) is expected


@pytest.mark.parametrize(("calm", "expected"), [(2, False), (3, True)])
def test_a_fall_soon_after_a_diagnosis_is_looked_into_and_a_later_one_is_not(calm, expected) -> None:
    surprises = diagnosed(calm)
    assert surprises.about_the_same(again=False, damaged=True) is not expected
    assert surprises.walks_on(4, down=True, damaged=True) is expected


def test_after_the_same_diagnosis_twice_it_walks_on_from_three_on_end() -> None:
    surprises = diagnosed(again=True)
    assert [surprises.walks_on(4, down=True, damaged=True) for _ in range(4)] == [True, True, True, False]


def test_a_trial_that_went_as_expected_ends_the_count() -> None:
    surprises = diagnosed()
    assert surprises.walks_on(4, down=False, damaged=True)
    surprises.clear(0)
    assert surprises.walks_on(4, down=False, damaged=True)
    assert surprises.risk([0], damaged=True) == 0 < surprises.risk([1], damaged=True)


def test_falls_and_gaits_not_walked_with_since_the_last_diagnosis_are_a_risk() -> None:
    surprises = Surprises()
    for row, down in ((4, True), (4, True), (7, False)):
        surprises.walks_on(row, down=down, damaged=True)
    np.testing.assert_array_equal(surprises.risk([3, 4, 7], damaged=False), [0.0, 1.0, 0.0])
    surprises.pass_stretch(3)
    surprises.diagnose(again=False)
    surprises.pass_stretch(4)
    surprises.walks_on(7, down=True, damaged=True)
    np.testing.assert_allclose(surprises.risk([3, 4, 7], damaged=True), [0.3, 0.0, 0.8])
    np.testing.assert_array_equal(surprises.risk([3, 4], damaged=False), [0.0, 0.0])
    surprises.diagnose(again=True)
    np.testing.assert_allclose(surprises.risk([3, 4], damaged=True), [0.3, 0.0])


def test_a_diagnosis_that_explains_nothing_clears_no_robot() -> None:
    surprises = Surprises()
    surprises.clear(0)
    assert not surprises.about_the_same(again=True, damaged=False)
    surprises.diagnose(again=True, unexplained=True)
    assert surprises.cleared
    assert surprises.about_the_same(again=True, damaged=False)
    for _ in range(10):
        surprises.pass_stretch(4)
    assert not surprises.cleared
    assert not surprises.about_the_same(again=True, damaged=False)


def test_a_trial_clears_a_diagnosis_until_the_next_one_or_for_ten_calm_stretches() -> None:
    surprises = Surprises()
    assert not surprises.cleared
    surprises.clear(0)
    for _ in range(2):  # a surprise in between was about the same
        for _ in range(9):
            surprises.pass_stretch(4)
        assert surprises.cleared
        surprises.walks_on(4, down=True, damaged=True)
    for _ in range(10):
        surprises.pass_stretch(4)
    assert not surprises.cleared
    surprises.clear(0)
    surprises.diagnose(again=True)
    assert not surprises.cleared
