import math

import pytest

from repertoire.statistics import Anova, MeanInterval, compare, mean_interval
from repertoire.suites.formats import format_anova, format_mean, format_number, format_p


@pytest.mark.parametrize(
    ("mean", "reach", "text"),
    [
        (0.5412, 0.0123, "0.541 ± 0.012"),
        (0.54123, 0.00123, "0.5412 ± 0.0012"),
        (0.7, 0.12, "0.700 ± 0.120"),
        (0.0070312, 0.0000201, "0.007031 ± 0.000020"),
        (1234.5, 8.0, "1,234.500 ± 8.000"),
        (100.0, 1e-9, "100.000 ± 0.000"),
        (100.0, 0.0, "100.000 ± 0.000"),
        (0.5412, math.nan, "0.5412"),
    ],
)
def test_means_have_as_many_digits_as_their_interval_supports(mean: float, reach: float, text: str):
    assert format_mean(MeanInterval(mean, mean - reach, mean + reach), 3) == text


def test_a_mean_of_one_trial_has_no_interval():
    assert format_mean(mean_interval([2.0]), 2) == "2.000"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0076812, "0.00768"),
        (-1.4, "-1.40"),
        (399.6, "400"),
        (12345, "12,345"),
        (3.0812e6, "3.08e6"),
        (2.5e-7, "2.50e-7"),
        (-4.2e12, "-4.20e12"),
    ],
)
def test_numbers_keep_three_digits(value: float, text: str):
    assert format_number(value) == text


@pytest.mark.parametrize(("p", "text"), [(None, "-"), (0.0004, "<0.001"), (0.0416, "0.042"), (1.0, "1.000")])
def test_probabilities(p: float | None, text: str):
    assert format_p(p) == text


@pytest.mark.parametrize(
    ("method", "f", "within", "p", "text"),
    [
        ("Welch", 63320.4, 15.312, 1e-30, "Welch's F(3, 15.31) = 63320, p < 0.001"),
        ("Welch", 3.084e6, 15.6, 0.0, "Welch's F(3, 15.60) = 3.08e6, p < 0.001"),
        ("one-way", 5.456, 36.0, 0.0034, "F(3, 36) = 5.46, p = 0.003"),
    ],
)
def test_tests_are_written_as_in_the_paper(method: str, f: float, within: float, p: float, text: str):
    assert format_anova(Anova(method, f, 3, within, p, 0.9, 0.9)) == text  # type: ignore[arg-type]


def test_a_test_of_data_is_written_with_its_own_numbers():
    anova = compare({"a": [1.0, 2.0, 3.0], "b": [2.0, 3.0, 4.0]}).anova
    assert anova is not None
    assert format_anova(anova) == "F(1, 4) = 1.50, p = 0.288"
