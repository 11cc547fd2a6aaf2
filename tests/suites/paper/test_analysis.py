"""Tests, verdicts and tables from trials with known means."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from robots.errors import InvalidValueError
from suites.paper.analysis import Analysis
from suites.paper.published import Hypothesis
from suites.paper.report import overall_verdict
from suites.paper.results import TrialResult
from suites.paper.tables import (
    agreement_table,
    anova_table,
    equal_time_table,
    results_table,
)
from tests.suites.paper.made_results import PAPER, WIGGLE, analyse, cells, make_result, make_results, row

DOMAINS = ("sphere-100", "arm-100")
QD_SCORE, COVERAGE, BEST, TIME = PAPER.metrics
H1, _ = PAPER.hypotheses


def ladder(domain: str, steps: Sequence[float], spread: float = 0.1) -> list[TrialResult]:
    """Trials whose QD scores rise by steps, in the order of the hypothesis."""
    return [
        make_result(domain, name, trial, qd_score=1e6 * (step + spread * WIGGLE[trial]))
        for name, step in zip(PAPER.order, steps, strict=True)
        for trial in range(5)
    ]


# Between algorithms


@pytest.mark.parametrize("hypothesis", PAPER.hypotheses, ids=lambda hypothesis: hypothesis.name)
def test_trials_like_the_papers_give_its_findings(hypothesis: Hypothesis):
    study = analyse(make_results(DOMAINS, PAPER.algorithms))
    metric = hypothesis.metric
    for domain, (verdict, _) in study.judge(hypothesis).items():
        for pair, sign in metric.findings[domain].items():
            ours = study.tests[metric.name, domain].sign(*pair)
            assert ours == {"?": "≈"}.get(sign, sign), (domain, pair)
        assert verdict == hypothesis.verdict


@pytest.mark.parametrize(
    ("steps", "spread", "verdict", "reason"),
    [
        ([1, 2, 3, 4], 0.1, "supported", ""),
        ([1, 3, 2, 4], 0.1, "not supported", "contradicted by: sep-cma-mae > lm-ma-mae"),
        ([1, 2, 2, 4], 0.05, "not supported", "contradicted by: sep-cma-mae ≈ lm-ma-mae"),
        ([1, 2, 2, 4], 0.5, "not answerable", "not answerable: sep-cma-mae ? lm-ma-mae"),
    ],
)
def test_a_verdict_is_given_where_the_trials_permit_one(steps, spread, verdict, reason):
    assert analyse(ladder("arm-100", steps, spread)).judge(H1) == {"arm-100": (verdict, reason)}


def test_a_hypothesis_is_judged_by_the_pairs_that_ran():
    study = analyse(make_results(["arm-100"], ["openai-mae", "cma-mae", "map-elites"]))
    reason = "did not run: sep-cma-mae, lm-ma-mae"
    assert study.judge(H1)["arm-100"] == ("supported as far as tested", reason)
    assert study.tests["QD score", "arm-100"].groups == ("openai-mae", "cma-mae", "map-elites")
    words = "supported in 1 of 1 domains tested, as far as its algorithms ran, of 5 in the paper"
    assert overall_verdict(study, H1) == words
    none = analyse(make_results(["arm-100"], ["cma-mae", "map-elites"]))
    assert none.judge(H1)["arm-100"] == ("not tested", "did not run: openai-mae, sep-cma-mae, lm-ma-mae")


def test_after_equal_time_the_slower_of_two_may_be_below():
    quick, slow = np.array([10.0, 20.0]), np.array([15.0, 60.0])
    history = {"evaluations": np.array([1, 2]), "qd_score": np.array([1e6, 2e6])}
    results = [
        make_result("maze", name, trial, history=history | {"cpu_seconds": seconds + trial})
        for name, seconds in (("lm-ma-mae", slow), ("openai-mae", quick))
        for trial in (0, 1)
    ]
    study = analyse(results)
    seconds, values = study.at_equal_time("maze", ("lm-ma-mae", "openai-mae"), QD_SCORE)
    assert seconds == 20
    assert values["openai-mae"] == pytest.approx([2.0, 1.9])
    assert values["lm-ma-mae"] == pytest.approx([1 + 5 / 45, 1 + 4 / 45])
    assert "| 0.33 | " in equal_time_table(study)  # minutes


def test_tests_stand_next_to_the_papers():
    table = cells(anova_table(analyse(make_results(DOMAINS, PAPER.algorithms))))
    assert table[0] == ["metric", "domain", "test", "paper"]
    # means 0.787, 0.784, 0.789, 0.770, five trials each with a variance of 22.5e-6: 5 * 73.67e-6 / 22.5e-6 is
    # 16.37. Welch divides it by 1 + 4 / 15 * 9 / 16 = 1.15; 15 / (3 * 9 / 16) = 8.89 degrees of freedom
    here, paper = "Welch's F(3, 8.89) = 14.24, p < 0.001", "F(3, 36) = 5.46, p < 0.005"
    assert table[2] == ["QD score", "arm-100", here, paper]


# Next to the paper's means


def test_a_mean_agrees_differs_or_cannot_be_told():
    def found(score: float, spread: float, domain: str = "sphere-100") -> tuple[float, float, str]:
        results = ladder(domain, [0.007, 0.55, 0.55, score], spread)
        interval, sign = analyse(results).difference(domain, "cma-mae", QD_SCORE)
        return interval.mean, interval.half_width, sign

    # our spread, 0.79 of the wiggle, stands for the paper's: t(0.975, 4) * 0.00791 * sqrt(1/5 + 1/10)
    assert found(0.551, 0.01) == (pytest.approx(0.010), pytest.approx(0.01203 + 0.0005, abs=2e-5), "≈")
    assert found(0.571, 0.01)[2] == ">"
    assert found(0.511, 0.01)[2] == "<"
    assert found(0.551, 0.1)[2] == "?"
    # in the maze the paper's is known: 0.1775 of 36 degrees of freedom, which is nearly all there is
    _, reach, sign = found(0.663, 0.001, "maze")
    assert (reach, sign) == (pytest.approx(2.03 * 0.1775 / math.sqrt(10) + 0.0005, abs=1e-3), "?")
    assert found(0.8, 0.001, "maze")[2] == ">"


def test_means_are_counted_and_shown_in_percent():
    study = analyse(make_results(DOMAINS, PAPER.algorithms))
    assert dict(study.agreement(QD_SCORE)) == {"≈": 7, "?": 1}  # openai-mae's 0.007 has a single digit
    assert study.agreement(TIME).total() == 0
    table = agreement_table(study)
    assert row(table, "sphere-100")[:2] == ["cma-mae", "+0.0 ± 1.4 % (agrees)"]
    other = analyse(make_results(["sphere-100"], ["cma-mae"], qd_score=0.57e6))
    assert row(agreement_table(other), "sphere-100")[1] == "**+5.4 ± 0.1 % (above)**"
    assert agreement_table(analyse(make_results(["sphere-100"], ["cma-mae"], evaluations=400))) == ""


def test_results_stand_next_to_the_papers():
    table = results_table(analyse(make_results(["sphere-100"], PAPER.algorithms)), "sphere-100")
    assert cells(table)[0][:3] == ["sphere-100", "QD score [10⁶]", "paper"]
    assert [line[0] for line in cells(table)[1:]] == list(PAPER.algorithms)
    # t(0.975, 4) * 0.006 * sqrt(0.625 / 5) = 0.00589
    assert row(table, "cma-mae")[:2] == ["0.5410 ± 0.0059", "0.541"]
    assert row(table, "lm-ma-mae")[7] == "1.35 (x1.00)"
    other = analyse(make_results(["sphere-100"], ["cma-mae"], qd_score=0.57e6))
    assert row(results_table(other, "sphere-100"), "cma-mae")[1] == "**0.541**"


def test_the_best_of_a_column_is_bold():
    table = results_table(analyse(make_results(["arm-100"], PAPER.algorithms)), "arm-100")
    bold = [{line[0] for line in cells(table)[1:] if line[column].startswith("*")} for column in (1, 3, 7)]
    # as in the paper, whose means these are
    assert bold == [{"sep-cma-mae"}, {"cma-mae", "lm-ma-mae", "sep-cma-mae"}, {"openai-mae"}]
    assert "**" not in results_table(analyse(make_results(["arm-100"], ["cma-mae"])), "arm-100")


# The trials


@pytest.mark.parametrize(("scores", "median"), [([5.0], 5), ([3.0, 1.0, 2.0], 2), ([4.0, 1.0, 2.0, 3.0], 2)])
def test_the_median_trial_is_one_of_them(scores: list[float], median: float):
    study = analyse(make_result("maze", "cma-mae", i, qd_score=score) for i, score in enumerate(scores))
    assert study.median_trial("maze", "cma-mae").qd_score == median


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([], "no results"),
        ([make_result("maze", "cma-mae", 1)] * 2, "trial 1 of cma-mae in maze occurs more than once"),
        ([make_result("maze", "cma-mae", 1, qd_score=math.nan)], "trial 1 .* finite"),
    ],
)
def test_what_is_no_study_is_refused(results: list, message: str):
    with pytest.raises(InvalidValueError, match=message):
        Analysis(results, PAPER)
