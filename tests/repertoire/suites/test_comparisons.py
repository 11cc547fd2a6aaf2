"""Tests and verdicts from trials with known means."""

from collections.abc import Sequence

import pytest
from made_results import PAPER, cells, collect, make_result, make_results

from repertoire.suites.comparisons import (
    DomainTest,
    Judgement,
    anova_table,
    compare_in_domains,
    judge,
    overall_verdict,
    pairs_table,
    signs_table,
)
from repertoire.suites.published import Hypothesis
from repertoire.suites.results import TrialResult

DOMAINS = ("sphere-100", "arm-100")
H1, _ = PAPER.hypotheses


def domain_tests(results: Sequence[TrialResult]) -> list[DomainTest]:
    return compare_in_domains(collect(results), H1.quantity)


def judged(results: Sequence[TrialResult], hypothesis: Hypothesis = H1) -> list[Judgement]:
    return judge(hypothesis, compare_in_domains(collect(results), hypothesis.quantity))


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
        findings = hypothesis.quantity.findings[one.test.domain]
        assert {pair: one.test.comparison.sign(*pair) for pair in findings} == findings
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
    assert one.test.comparison.groups == ("openai-mae", "cma-mae", "map-elites")
    overall = overall_verdict([one], PAPER)
    assert overall == "supported in the 1 of 5 domains tested, as far as its algorithms ran"
    (none,) = judged(make_results(["arm-100"], ["cma-mae", "map-elites"]))
    assert none.expectation.verdict == "not tested"
    assert none.reason == "did not run: openai-mae, sep-cma-mae, lm-ma-mae"


def test_as_a_whole_a_hypothesis_must_hold_in_every_domain():
    rising, falling = [1, 2, 3, 4], [4, 3, 2, 1]
    everywhere = [one for domain in PAPER.domains for one in ladder(domain, rising)]
    assert overall_verdict(judged(everywhere), PAPER) == "supported"
    assert overall_verdict(judged(ladder("maze", rising)), PAPER) == "supported in the 1 of 5 domains tested"
    mixed = ladder("maze", rising) + ladder("arm-100", falling)
    assert overall_verdict(judged(mixed), PAPER) == "not supported (supported in 1 of 2 domains tested)"
    assert overall_verdict(judged(ladder("zoo", rising)), PAPER) == "not tested"


def test_tests_stand_next_to_the_papers():
    table = cells(anova_table(domain_tests(make_results(DOMAINS, PAPER.algorithms))))
    assert table[0] == ["quantity", "domain", "test", "paper", "η²", "ω²"]
    # means 0.787, 0.784, 0.789, 0.770 with a variance of 22.5e-6: F = 5 * 73.67e-6 / 22.5e-6
    here, paper = "F(3, 16) = 16.37, p < 0.001", "F(3, 36) = 5.46, p < 0.005"
    assert table[2] == ["QD score", "arm-100", here, paper, "0.754", "0.697"]


def test_signs_that_differ_from_the_papers_are_bold():
    assert dict(cells(signs_table(domain_tests(ladder("sphere-100", [1, 3, 2, 4])), PAPER))[1:]) == {
        "openai-mae vs sep-cma-mae": "< / <",
        "openai-mae vs lm-ma-mae": "< / <",
        "openai-mae vs cma-mae": "< / <",
        "sep-cma-mae vs lm-ma-mae": "**> / -**",
        "sep-cma-mae vs cma-mae": "**< / >**",
        "lm-ma-mae vs cma-mae": "**< / -**",
    }


def test_pairs_are_given_in_full():
    table = cells(pairs_table(domain_tests(make_results(["arm-100"], PAPER.algorithms))))
    assert table[0] == ["domain", "QD score", "difference [10⁶]", "p", "Hedges' g"]
    # half width q(0.95; 4, 16) * sqrt(22.5e-6 / 5) = 4.046 * 0.002121; g = -0.019 / 0.004743 * 0.9032

    assert table[1] == ["arm-100", "openai-mae < sep-cma-mae", "-0.0190 ± 0.0086", "<0.001", "-3.62"]
