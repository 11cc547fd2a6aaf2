"""Tables from trials with known means."""

import math

import pytest
from synthetic import WIGGLE, collect, make_result, make_results

from repertoire.suites.document import Table
from repertoire.suites.published_optimization import OPTIMIZATION as PAPER
from repertoire.suites.tables import agreements, cost_table, results_table, trials_table
from robots.errors import InvalidValueError

JUDGED = PAPER.judged
QD_SCORE, _, _, TIME = PAPER.metrics


def cell(table: Table, row: str, column: int):
    """A cell, by the text its row begins with."""
    return {line[0].text: line for line in table.rows}[row][column]


def test_results_stand_beside_the_papers():
    table = results_table(collect(make_results(["sphere-100"], PAPER.algorithms)), "sphere-100")
    assert table.header[:3] == ("sphere-100", "QD score [10⁶]", "paper")
    assert [row[0].text for row in table.rows] == list(PAPER.algorithms)
    # t(0.975, 4) * 0.006 * sqrt(0.625 / 5) = 0.00589
    assert cell(table, "cma-mae", 1).text == "0.5410 ± 0.0059"
    assert cell(table, "cma-mae", 2).text == "0.541 (agrees)"
    assert cell(table, "lm-ma-mae", 8).text == "1.35 (x1.00)"


def test_a_changed_trial_changes_the_agreement():
    results = make_results(["sphere-100"], ["cma-mae"])
    assert agreements(collect(results), QD_SCORE) == [True]
    raised = make_results(["sphere-100"], ["cma-mae"], qd_score=0.552e6)
    trials = collect(raised)
    assert agreements(trials, QD_SCORE) == [False]
    beside = cell(results_table(trials, "sphere-100"), "cma-mae", 2)
    assert (beside.text, beside.strong) == ("0.541 (+2.0%)", True)


def test_the_best_of_a_column_is_bold():
    table = results_table(collect(make_results(["arm-100"], PAPER.algorithms)), "arm-100")
    bold = {column: {row[0].text for row in table.rows if row[column].strong} for column in (1, 3, 5, 7)}
    # as in the paper, whose means these are
    assert bold[1] == {"sep-cma-mae"}
    assert bold[3] == {"cma-mae", "lm-ma-mae", "sep-cma-mae"}
    assert bold[7] == {"openai-mae"}


def test_a_single_algorithm_is_not_called_the_best():
    table = results_table(collect(make_results(["arm-100"], ["cma-mae"])), "arm-100")
    assert not any(one.strong for one in table.rows[0])


def test_what_is_printed_as_zero_is_still_compared():
    results = [make_result("tiny", name, 0, qd_score=score) for name, score in {"a": 10.0, "b": 20.0}.items()]
    table = results_table(collect(results), "tiny")
    assert [row[1].strong for row in table.rows] == [False, True]


def test_another_number_of_evaluations_is_not_judged():
    trials = collect(make_results(["arm-100"], ["cma-mae"], evaluations=20_000))
    table = results_table(trials, "arm-100")
    assert [cell(table, "cma-mae", column).text for column in (2, 4, 6, 8)] == [
        "0.787",
        "0.79",
        "99.98",
        "2.00",
    ]
    assert all(agreements(trials, metric) == [] for metric in JUDGED)


def test_what_the_paper_lacks_is_a_dash():
    trials = collect(make_results(["sphere-20"], ["map-elites"]))
    table = results_table(trials, "sphere-20")
    assert [cell(table, "map-elites", column).text for column in (2, 4, 6, 8)] == ["-"] * 4
    assert cell(cost_table(trials, "sphere-20"), "map-elites", 6).text == "-"


def test_the_best_of_an_empty_archive_is_a_dash():
    trials = collect([make_result("arm-100", "cma-mae", 0, best=math.nan)])
    table = results_table(trials, "arm-100")
    assert [cell(table, "cma-mae", column).text for column in (5, 6)] == ["-", "99.98"]
    assert agreements(trials, JUDGED[2]) == []


def test_numbers_of_trials_that_are_not_the_papers_are_bold():
    results = make_results(["arm-100"], ["cma-mae"], trials=10)
    results += make_results(["arm-100"], ["openai-mae"], trials=3)
    results += [make_result("arm-100", "map-elites", 0, evaluations=200)]
    results += [make_result("arm-100", "map-elites", 1, evaluations=5_000)]
    table = trials_table(collect(results))
    assert table.header == ("trials", *PAPER.domains)
    found = {name: cell(table, name, 3) for name in ("cma-mae", "openai-mae", "sep-cma-mae", "map-elites")}
    assert {name: (one.text, one.strong) for name, one in found.items()} == {
        "cma-mae": ("10", False),
        "openai-mae": ("3", True),
        "sep-cma-mae": ("none", True),
        "map-elites": ("2 (200 to 5,000 evaluations)", True),
    }
    assert not cell(table, "map-elites", 1).strong  # the paper has none there either


def test_costs_are_split_and_compared_within_the_study():
    trials = collect(
        make_results(["sphere-1000"], PAPER.algorithms, seconds=120.0, cpu_seconds=90.0, search_seconds=30.0)
    )
    table = cost_table(trials, "sphere-1000")
    assert table.header[5:7] == ("time / openai-mae", "paper")
    row = [one.text for one in table.rows[0]]
    assert row[:4] == ["cma-mae", "2.00 ± 0.00", "1.50 ± 0.00", "0.50 ± 0.00"]
    assert row[5:] == ["1.00", "73.3", "3.00", "2.00"]  # 195.60 / 2.67


def test_times_are_in_minutes():
    trials = collect([make_result("maze", "cma-mae", 0, cpu_seconds=90.0)])
    assert trials.measured("maze", "cma-mae", TIME) == pytest.approx([1.5])


def test_trials_are_put_in_order():
    results = make_results(["zoo", "maze", "arm-100"], ["map-elites", "openai-mae", "cma-mae"], trials=2)
    trials = collect(reversed(results))
    assert trials.domains == ("arm-100", "maze", "zoo")
    assert trials.algorithms == ("cma-mae", "openai-mae", "map-elites")
    assert [one.trial for one in trials.of("maze", "cma-mae")] == [0, 1]
    assert trials.values("zoo", "map-elites", "restarts") == [0, 1]
    assert sum(WIGGLE) == 0


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([], "no results"),
        ([make_result("maze", "cma-mae", 1)] * 2, "trial 1 of cma-mae in maze occurs twice"),
        ([make_result("maze", "cma-mae", 1, qd_score=math.nan)], "trial 1 .* finite"),
        ([make_result("maze", "cma-mae", 1, seconds=math.inf)], "trial 1 .* finite"),
    ],
)
def test_what_is_no_study_is_refused(results: list, message: str):
    with pytest.raises(InvalidValueError, match=message):
        collect(results)
