"""The paper's tables were copied without slips: they agree with what the paper says of them."""

import pytest

from repertoire.suites import paper

# What Table I prints in bold, per domain: the best of QD score, coverage, best objective and time
BOLD = {
    "sphere-100": ({"sep-cma-mae"}, {"sep-cma-mae"}, {"openai-mae"}, {"openai-mae"}),
    "sphere-1000": (
        {"lm-ma-mae", "sep-cma-mae"},
        {"cma-mae", "lm-ma-mae", "sep-cma-mae"},
        set(paper.ALGORITHMS),
        {"openai-mae"},
    ),
    "arm-100": (
        {"sep-cma-mae"},
        {"cma-mae", "lm-ma-mae", "sep-cma-mae"},
        {"cma-mae", "lm-ma-mae", "sep-cma-mae"},
        {"openai-mae"},
    ),
    "arm-1000": ({"lm-ma-mae"}, {"lm-ma-mae"}, {"lm-ma-mae"}, {"openai-mae"}),
    "maze": ({"openai-mae"}, {"openai-mae"}, set(paper.ALGORITHMS), {"openai-mae"}),
}


@pytest.mark.parametrize("domain", paper.DOMAINS)
def test_the_best_are_those_in_bold(domain: str):
    fields = {"qd_score": max, "coverage": max, "best": max, "time": min}
    for bold, (field, best) in zip(BOLD[domain], fields.items(), strict=True):
        column = {name: getattr(paper.MEANS[domain, name], field) for name in paper.ALGORITHMS}
        assert {name for name, mean in column.items() if mean == best(column.values())} == bold


def test_there_are_no_more_decimals_than_are_printed():
    for means in paper.MEANS.values():
        for field, decimals in paper.DECIMALS.items():
            assert round(getattr(means, field), decimals) == getattr(means, field)


def test_times_have_the_ratio_of_the_text():
    ratios = [
        paper.MEANS[domain, "cma-mae"].time / paper.MEANS[domain, "lm-ma-mae"].time
        for domain in ("sphere-1000", "arm-1000")
    ]
    assert sum(ratios) / 2 == pytest.approx(14.5, abs=0.1)


@pytest.mark.parametrize("hypothesis", paper.HYPOTHESES, ids=lambda hypothesis: hypothesis.name)
def test_findings_fit_means_and_verdict(hypothesis: paper.Hypothesis):
    field = {"qd_score": "qd_score", "cpu_seconds": "time"}[hypothesis.field]
    for domain in paper.DOMAINS:
        for (first, second), sign in hypothesis.findings[domain].items():
            one, other = (getattr(paper.MEANS[domain, name], field) for name in (first, second))
            assert sign == "-" or sign == ("<" if one < other else ">")
    supported = {hypothesis.supported_in(domain) for domain in paper.DOMAINS}
    assert supported == {hypothesis.verdict == "supported"}
    assert set(hypothesis.anovas) == set(paper.DOMAINS)


def test_the_one_exception_of_the_text():
    above = {
        (domain, *pair)
        for domain, signs in paper.H1.findings.items()
        for pair, sign in signs.items()
        if sign == ">"
    }
    assert above == {("sphere-100", "sep-cma-mae", "cma-mae")}
