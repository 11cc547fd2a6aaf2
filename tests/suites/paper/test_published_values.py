"""The paper's tables were copied without slips: they agree with what the paper says of them."""

import pytest

from suites.paper.published import Hypothesis, PublishedStudy, published_study

OPTIMIZATION, LOCOMOTION, ABLATION = map(published_study, ("optimization", "locomotion", "ablation"))
PAPERS = pytest.mark.parametrize("paper", [OPTIMIZATION, LOCOMOTION, ABLATION], ids=lambda paper: paper.title)
SCALABLE = "cma-mae lm-ma-mae sep-cma-mae"
H3, H4, H5, H6 = LOCOMOTION.hypotheses

# What the tables print in bold, per domain and column; all of those that are equal in the printed digits
BOLD = {
    "Optimisation benchmarks": {
        "sphere-100": ("sep-cma-mae", "sep-cma-mae", "openai-mae", "openai-mae"),
        "sphere-1000": ("lm-ma-mae sep-cma-mae", SCALABLE, f"{SCALABLE} openai-mae", "openai-mae"),
        "arm-100": ("sep-cma-mae", SCALABLE, SCALABLE, "openai-mae"),
        "arm-1000": ("lm-ma-mae", "lm-ma-mae", "lm-ma-mae", "openai-mae"),
        "maze": ("openai-mae", "openai-mae", f"{SCALABLE} openai-mae", "openai-mae"),
    },
    "Training high-dimensional controllers": {
        "ant": ("lm-ma-mae", "cma-mega-td3-es", "pga-me", "openai-mae", "cma-mega-es map-elites"),
        "half_cheetah": ("sep-cma-mae", "sep-cma-mae", "pga-me", "sep-cma-mae", "cma-mega-es map-elites"),
        "hopper": ("sep-cma-mae", "map-elites", "sep-cma-mae", "sep-cma-mae", "cma-mega-es map-elites"),
        "walker": ("pga-me", "cma-mega-td3-es", "pga-me", "cma-mega-es", "cma-mega-es map-elites"),
    },
    "Archive learning rates in sep-CMA-MAE": {
        "ant": ("alpha-0.001", "alpha-0.01", "alpha-0"),
        "half_cheetah": ("alpha-0.1", "alpha-0.001 alpha-0.1 alpha-1", "alpha-1"),
        "hopper": ("alpha-0.001", "alpha-0.1", "alpha-0.001"),
        "walker": ("alpha-0.01", "alpha-0.1", "alpha-0.01"),
    },
}


@PAPERS
def test_the_best_are_those_in_bold(paper: PublishedStudy):
    for domain in paper.domains:
        for names, metric in zip(BOLD[paper.title][domain], paper.metrics, strict=True):
            column = {name: paper.means[domain, name][metric.field] for name in paper.algorithms}
            best = min(column.values()) if metric.lowest_is_best else max(column.values())
            assert {name for name, mean in column.items() if mean == best} == set(names.split())


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


@pytest.mark.parametrize("domain", LOCOMOTION.domains)
def test_the_ablation_has_the_studys_own_trials_at_its_learning_rate(domain: str):
    ours, rates = LOCOMOTION.means[domain, "sep-cma-mae"], ABLATION.means[domain, "alpha-0.001"]
    assert {name: ours[name] for name in rates} == rates


def test_findings_on_robots_fit_the_verdicts():
    assert [H4.supported_in(domain) for domain in LOCOMOTION.domains] == [False, False, True, False]
    assert all(H6.supported_in(domain) for domain in LOCOMOTION.domains)
    assert not any(one.supported_in(domain) for one in (H3, H5) for domain in LOCOMOTION.domains)
