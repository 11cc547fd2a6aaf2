"""The paper's tables were copied without slips: they agree with what the paper says of them."""

import pytest

from suites.paper.published import Hypothesis, PublishedStudy, published_study

OPTIMIZATION, LOCOMOTION, ABLATION = map(published_study, ("optimization", "locomotion", "ablation"))
PAPERS = pytest.mark.parametrize("paper", [OPTIMIZATION, LOCOMOTION, ABLATION], ids=lambda paper: paper.title)
H3, H4, H5, H6 = LOCOMOTION.hypotheses


@PAPERS
def test_findings_fit_means(paper: PublishedStudy):
    for metric in paper.tested:
        assert set(metric.findings) == set(metric.anovas)
        for domain, findings in metric.findings.items():
            for (first, second), sign in findings.items():
                one, other = (paper.means[domain, name][metric.field] for name in (first, second))
                assert sign == "?" or sign == ("<" if one < other else ">")
                assert findings[second, first] == {"<": ">", ">": "<", "?": "?"}[sign]


def test_spreads_follow_from_the_one_way_anovas():
    score = OPTIMIZATION.metrics[0]
    found = {domain: OPTIMIZATION.spread(score, domain) for domain in OPTIMIZATION.domains}
    known = {domain: (one.deviation, one.df) for domain, one in found.items() if one}
    # F = variance of ten-trial means / pooled variance: the maze's 0.978 = 10 * 0.0030816 / 0.1775²
    assert known == {
        "arm-100": (pytest.approx(0.0116, abs=5e-5), 36),
        "arm-1000": (pytest.approx(0.00493, abs=5e-6), 36),
        "maze": (pytest.approx(0.1775, abs=5e-5), 36),
    }


@pytest.mark.parametrize("hypothesis", OPTIMIZATION.hypotheses, ids=lambda hypothesis: hypothesis.name)
def test_findings_on_the_benchmarks_fit_the_verdicts(hypothesis: Hypothesis):
    supported = {hypothesis.supported_in(domain) for domain in OPTIMIZATION.domains}
    assert supported == {hypothesis.verdict == "supported"}
    assert hypothesis.statement.endswith(" < ".join(dict.fromkeys(sum(hypothesis.pairs, ()))))


def test_findings_on_robots_fit_the_verdicts():
    assert [H4.supported_in(domain) for domain in LOCOMOTION.domains] == [False, False, True, False]
    assert all(H6.supported_in(domain) for domain in LOCOMOTION.domains)
    assert not any(one.supported_in(domain) for one in (H3, H5) for domain in LOCOMOTION.domains)
