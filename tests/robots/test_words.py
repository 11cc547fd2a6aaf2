import math

import pytest

from robots.words import duration, short


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.8765, "0.88"),
        (-9.5, "-9.50"),
        (56.74, "56.7"),
        (1234.5, "1,234"),
        (-235.2, "-235"),
        (math.nan, "-"),
    ],
)
def test_numbers_have_about_three_digits(value: float, text: str) -> None:
    assert short(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (59, "59 s"),
        (59.6, "1 min"),
        (3569, "59 min"),
        (3599, "1 h 0 min"),
        (12_000, "3 h 20 min"),
        (187_200, "2 d 4 h"),
    ],
)
def test_time_spans_are_told_in_human_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text
