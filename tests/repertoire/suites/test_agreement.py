import pytest

from repertoire.suites.agreement import agreement


@pytest.mark.parametrize(
    ("values", "agrees"),
    [
        ([0.53, 0.55], True),
        ([0.541], True),
        ([0.5406], True),  # 0.541 may stand for it
        ([0.5404], False),
        ([0.5414, 0.6], True),
        ([0.5416, 0.6], False),
        ([0.5, 0.5404], False),
        ([0.1, 0.2], False),
    ],
)
def test_a_mean_agrees_if_what_rounds_to_it_lies_among_the_trials(values: list[float], agrees: bool):
    assert agreement(values, 0.541, decimals=3).agrees is agrees


def test_fewer_decimals_are_easier_to_agree_with():
    assert agreement([0.5404], 0.54, decimals=2).agrees
    assert not agreement([0.5404], 0.541, decimals=3).agrees


@pytest.mark.parametrize(
    ("value", "text"),
    [(99.98, "-0.020%"), (102.0, "+2.0%"), (81.4, "-19%"), (350.0, "+250%"), (100.004, "agrees")],
)
def test_deviations_are_percents_of_the_papers(value: float, text: str):
    assert str(agreement([value], 100.0, decimals=2)) == text


def test_the_deviation_is_that_of_the_mean():
    assert agreement([1.0, 4.0], 2.0, decimals=0).deviation == pytest.approx(0.25)
