"""Verdicts from trials with known means."""

from collections.abc import Sequence

import pytest
from synthetic import collect, make_result, make_results

from repertoire.suites.comparisons import (
    Contest,
    anova_table,
    checks_table,
    findings_kept,
    matrix_table,
    pairs_table,
    put_to_test,
    signs_table,
)
from repertoire.suites.hypotheses import Judgement, judge, overall_verdict, verdicts_table
from repertoire.suites.published import Hypothesis
from repertoire.suites.published_optimization import OPTIMIZATION as PAPER
from repertoire.suites.result import TrialResult

DOMAINS = ("sphere-100", "arm-100")
H1, _ = PAPER.hypotheses


def contests(results: Sequence[TrialResult]) -> list[Contest]:
    return put_to_test(collect(results), H1.quantity)


def judged(results: Sequence[TrialResult], hypothesis: Hypothesis = H1) -> list[Judgement]:
    return judge(hypothesis, put_to_test(collect(results), hypothesis.quantity))


def ladder(domain: str, steps: Sequence[float]) -> list[TrialResult]:
    """Trials whose QD scores rise by steps, in the order of the hypothesis."""
    return [
        make_result(domain, name, trial, qd_score=step + 0.1 * trial)
        for name, step in zip(PAPER.order, steps, strict=True)
        for trial in range(5)
    ]


@pytest.mark.parametrize("hypothesis", PAPER.hypotheses, ids=lambda hypothesis: hypothesis.name)
def test_trials_like_the_papers_give_its_findings(hypothesis: Hypothesis):
    for one in judged(make_results(DOMAINS, PAPER.algorithms), hypothesis):
        findings = hypothesis.quantity.findings[one.tested.domain]
        assert {pair: one.tested.comparison.sign(*pair) for pair in findings} == findings
        assert one.expectation.verdict == hypothesis.verdict


def test_a_changed_algorithm_changes_the_verdict():
    (rising,) = judged(ladder("arm-100", [1, 2, 3, 4]))
    assert (rising.expectation.verdict, rising.reason) == ("supported", "")
    (swapped,) = judged(ladder("arm-100", [1, 3, 2, 4]))
    assert swapped.expectation.verdict == "not supported"
    assert swapped.reason == "contradicted by: sep-cma-mae > lm-ma-mae"
    (tied,) = judged(ladder("arm-100", [1, 2, 2, 4]))
    assert tied.reason == "not significant: sep-cma-mae - lm-ma-mae"


def test_a_hypothesis_is_judged_by_the_pairs_that_ran():
    (one,) = judged(make_results(["arm-100"], ["openai-mae", "cma-mae", "map-elites"]))
    assert one.expectation.verdict == "supported as far as tested"
    assert one.reason == "did not run: sep-cma-mae, lm-ma-mae"
    assert one.tested.comparison.groups == ("openai-mae", "cma-mae", "map-elites")
    assert one.tested.comparison.sign("openai-mae", "cma-mae") == "<"
    overall = overall_verdict([one], PAPER)
    assert overall == "supported in the 1 of 5 domains tested, as far as its algorithms ran"
    (none,) = judged(make_results(["arm-100"], ["cma-mae", "map-elites"]))
    assert none.expectation.verdict == "not tested"
    assert none.reason == "did not run: openai-mae, sep-cma-mae, lm-ma-mae"


def test_one_trial_each_is_not_tested():
    results = make_results(["arm-100"], PAPER.algorithms, trials=1)
    (judgement,), (one,) = judged(results), contests(results)
    assert judgement.expectation.verdict == "not tested"
    assert judgement.reason == "openai-mae has a single value"
    assert anova_table([one]).rows[0][2].text == "not tested: openai-mae has a single value"
    assert {row[1].text for row in signs_table([one], PAPER).rows} == {"not tested / <", "not tested / -"}
    assert pairs_table([one]).rows == ()


def test_as_a_whole_a_hypothesis_must_hold_in_every_domain():
    rising, falling = [1, 2, 3, 4], [4, 3, 2, 1]
    everywhere = [one for domain in PAPER.domains for one in ladder(domain, rising)]
    assert overall_verdict(judged(everywhere), PAPER) == "supported"
    assert overall_verdict(judged(ladder("maze", rising)), PAPER) == "supported in the 1 of 5 domains tested"
    mixed = ladder("maze", rising) + ladder("arm-100", falling)
    assert overall_verdict(judged(mixed), PAPER) == "not supported (it is in 1 of 2 domains tested)"
    assert overall_verdict(judged(ladder("zoo", rising)), PAPER) == "not tested"


def test_table_2_stands_beside_the_papers():
    table = anova_table(contests(make_results(DOMAINS, PAPER.algorithms)))
    assert table.header == ("quantity", "domain", "test", "paper", "η²", "ω²")
    row = [one.text for one in table.rows[1]]
    # means 0.787, 0.784, 0.789, 0.770 with a variance of 22.5e-6: F = 5 * 73.67e-6 / 22.5e-6
    assert row[:3] == ["QD score", "arm-100", "F(3, 16) = 16.37, p < 0.001"]
    assert row[3] == "F(3, 36) = 5.46, p < 0.005"
    assert row[4:] == ["0.754", "0.697"]


def test_unequal_variances_are_tested_as_such():
    results = make_results(["arm-100"], ["cma-mae"])
    results += [
        make_result("arm-100", "openai-mae", i, qd_score=7e5 + 50_000 * (-1) ** i * (i + 1)) for i in range(5)
    ]
    (one,) = contests(results)
    assert one.comparison.levene < 0.05
    assert anova_table([one]).rows[0][2].text.startswith("Welch's F(1, 4.0")
    checks = checks_table([one], ["cma-mae", "openai-mae"])
    assert checks.header == ("quantity", "domain", "cma-mae", "openai-mae", "residuals", "Levene")
    assert [cell.strong for cell in checks.rows[0]][-2:] == [False, True]
    assert checks.rows[0][4].text == "-"


def test_signs_that_differ_from_the_papers_are_bold():
    table = signs_table(contests(ladder("sphere-100", [1, 3, 2, 4])), PAPER)
    signs = {row[0].text: (row[1].text, row[1].strong) for row in table.rows}
    assert signs == {
        "openai-mae vs sep-cma-mae": ("< / <", False),
        "openai-mae vs lm-ma-mae": ("< / <", False),
        "openai-mae vs cma-mae": ("< / <", False),
        "sep-cma-mae vs lm-ma-mae": ("> / -", True),
        "sep-cma-mae vs cma-mae": ("< / >", True),
        "lm-ma-mae vs cma-mae": ("< / -", True),
    }


def test_a_matrix_has_the_same_signs_in_its_rows():
    (one,) = contests(ladder("sphere-100", [1, 3, 2, 4]))
    table = matrix_table(one, ["cma-mae", "sep-cma-mae", "novelty"])
    assert table.header == ("QD score, sphere-100", "openai-mae", "sep-cma-mae", "lm-ma-mae", "cma-mae")
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["cma-mae", "> / >", "> / <", "> / -", "∅"],
        ["sep-cma-mae", "> / >", "∅", "> / -", "< / >"],
    ]
    assert [cell.strong for cell in table.rows[0]] == [False, False, True, True, False]
    assert findings_kept([one]) == [True, True, True, False, False, False]


def test_algorithms_that_did_not_run_together_have_no_sign():
    results = make_results(["arm-100"], ["cma-mae", "openai-mae"]) + make_results(
        ["zoo"], ["cma-mae", "novelty"]
    )
    table = signs_table(contests(results), PAPER)
    assert table.header == ("QD score", "arm-100", "zoo")
    signs = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
    assert signs == {
        "openai-mae vs cma-mae": ["< / <", ""],
        "cma-mae vs novelty": ["", "-"],
    }


def test_pairs_are_given_in_full():
    table = pairs_table(contests(make_results(["arm-100"], PAPER.algorithms)))
    assert table.header == ("domain", "QD score", "difference [10⁶]", "p", "Hedges' g")
    row = [one.text for one in table.rows[0]]
    assert row[:2] == ["arm-100", "openai-mae < sep-cma-mae"]
    # half width q(0.95; 4, 16) * sqrt(22.5e-6 / 5) = 4.046 * 0.002121
    assert row[2] == "-0.0190 ± 0.0086"
    assert row[3] == "<0.001"
    assert row[4] == "-3.62"  # -0.019 / 0.004743, times 0.9032


def test_verdicts_stand_beside_the_papers():
    results = ladder("sphere-100", [1, 2, 3, 4]) + ladder("zoo", [1, 2, 3, 4])
    rows = [[cell.text for cell in row] for row in verdicts_table(judged(results)).rows]
    assert rows == [
        ["H1", "sphere-100", "supported", "not supported", ""],
        ["H1", "zoo", "supported", "-", ""],
    ]
