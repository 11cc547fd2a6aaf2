import math

import pytest

from robots.words import short


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
