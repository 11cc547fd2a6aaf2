"""Tables from trials with known means."""

import math

import pytest
from made_results import PAPER, WIGGLE, cells, collect, make_result, make_results, row

from repertoire.suites.tables import agreements, agrees, cost_table, results_table, trials_table
from robots.errors import InvalidValueError

JUDGED = PAPER.judged
QD_SCORE, _, _, TIME = PAPER.metrics


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.53, 0.55], True),
        ([0.541], True),
        ([0.5406], True),  # 0.541 may stand for it
        ([0.5404], False),
        ([0.5414, 0.6], True),
        ([0.5416, 0.6], False),
        ([0.5, 0.5404], False),
    ],
)
def test_a_mean_agrees_if_what_rounds_to_it_lies_among_the_trials(values: list[float], expected: bool):
    assert agrees(values, 0.541, decimals=3) is expected
    assert agrees(values, 0.54, decimals=2) is (min(values) <= 0.545)  # fewer decimals are easier


def test_results_stand_next_to_the_papers():
    table = results_table(collect(make_results(["sphere-100"], PAPER.algorithms)), "sphere-100")
    assert cells(table)[0][:3] == ["sphere-100", "QD score [10⁶]", "paper"]
    assert [line[0] for line in cells(table)[1:]] == list(PAPER.algorithms)
    # t(0.975, 4) * 0.006 * sqrt(0.625 / 5) = 0.00589
    assert row(table, "cma-mae")[:2] == ["0.5410 ± 0.0059", "0.541 (agrees)"]
    assert row(table, "lm-ma-mae")[7] == "1.35 (x1.00)"


@pytest.mark.parametrize(("score", "deviation"), [(0.552, "+2.0%"), (0.44, "-19%"), (1.9, "+251%")])
def test_deviations_are_percents_of_the_papers_mean(score: float, deviation: str):
    results = make_results(["sphere-100"], ["cma-mae"])
    assert agreements(collect(results), QD_SCORE) == [True]
    study = collect(make_results(["sphere-100"], ["cma-mae"], qd_score=1e6 * score))
    assert agreements(study, QD_SCORE) == [False]
    assert row(results_table(study, "sphere-100"), "cma-mae")[1] == f"**0.541 ({deviation})**"


def test_the_best_of_a_column_is_bold():
    table = results_table(collect(make_results(["arm-100"], PAPER.algorithms)), "arm-100")
    bold = [{line[0] for line in cells(table)[1:] if line[column].startswith("*")} for column in (1, 3, 7)]
    # as in the paper, whose means these are
    assert bold == [{"sep-cma-mae"}, {"cma-mae", "lm-ma-mae", "sep-cma-mae"}, {"openai-mae"}]
    assert "**" not in results_table(collect(make_results(["arm-100"], ["cma-mae"])), "arm-100")


def test_what_there_is_not_is_a_dash():
    study = collect(make_results(["sphere-20"], ["map-elites"]))
    assert row(results_table(study, "sphere-20"), "map-elites")[1::2] == ["-"] * 4
    assert row(cost_table(study, "sphere-20"), "map-elites")[5] == "-"
    empty = collect([make_result("arm-100", "cma-mae", 0, best=math.nan)])
    assert row(results_table(empty, "arm-100"), "cma-mae")[4:6] == ["-", "99.98"]
    assert agreements(empty, JUDGED[2]) == []


def test_numbers_of_trials_that_are_not_the_papers_are_bold():
    results = make_results(["arm-100"], ["cma-mae"], trials=10)
    results += make_results(["arm-100"], ["openai-mae"], trials=3)
    results += [make_result("arm-100", "map-elites", 0, evaluations=200)]
    results += [make_result("arm-100", "map-elites", 1, evaluations=5_000)]
    table = trials_table(collect(results))
    assert cells(table)[0] == ["trials", *PAPER.domains]
    names = ("cma-mae", "openai-mae", "sep-cma-mae", "map-elites")
    expected = ["10", "**3**", "**none**", "**2 (200 to 5,000 evaluations)**"]
    assert [row(table, name)[2] for name in names] == expected
    assert row(table, "map-elites")[0] == "none"  # the paper has none there either


def test_results_are_put_in_order():
    results = make_results(["zoo", "maze", "arm-100"], ["map-elites", "openai-mae", "cma-mae"], trials=2)
    study = collect(reversed(results))
    assert study.domains == ("arm-100", "maze", "zoo")
    assert study.algorithms == ("cma-mae", "openai-mae", "map-elites")
    assert [one.trial for one in study.of("maze", "cma-mae")] == [0, 1]
    assert study.values("zoo", "map-elites", "restarts") == [0, 1]
    assert sum(WIGGLE) == 0


@pytest.mark.parametrize(("scores", "median"), [([5.0], 5), ([3.0, 1.0, 2.0], 2), ([4.0, 1.0, 2.0, 3.0], 2)])
def test_the_median_trial_is_one_of_them(scores: list[float], median: float):
    study = collect(make_result("maze", "cma-mae", i, qd_score=score) for i, score in enumerate(scores))
    assert study.median_trial("maze", "cma-mae").qd_score == median


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([], "no results"),
        ([make_result("maze", "cma-mae", 1)] * 2, "trial 1 of cma-mae in maze occurs more than once"),
        ([make_result("maze", "cma-mae", 1, qd_score=math.nan)], "trial 1 .* finite"),
        ([make_result("maze", "cma-mae", 1, seconds=math.inf)], "trial 1 .* finite"),
    ],
)
def test_what_is_no_study_is_refused(results: list, message: str):
    with pytest.raises(InvalidValueError, match=message):
        collect(results)
