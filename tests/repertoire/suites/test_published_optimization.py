"""The paper's tables were copied without slips: they agree with what the paper says of them."""

import pytest

from repertoire.suites.published import Hypothesis
from repertoire.suites.published_optimization import OPTIMIZATION as PAPER

# What Table I prints in bold, per domain: the best of QD score, coverage, best objective and time
BOLD = {
    "sphere-100": ({"sep-cma-mae"}, {"sep-cma-mae"}, {"openai-mae"}, {"openai-mae"}),
    "sphere-1000": (
        {"lm-ma-mae", "sep-cma-mae"},
        {"cma-mae", "lm-ma-mae", "sep-cma-mae"},
        set(PAPER.algorithms),
        {"openai-mae"},
    ),
    "arm-100": (
        {"sep-cma-mae"},
        {"cma-mae", "lm-ma-mae", "sep-cma-mae"},
        {"cma-mae", "lm-ma-mae", "sep-cma-mae"},
        {"openai-mae"},
    ),
    "arm-1000": ({"lm-ma-mae"}, {"lm-ma-mae"}, {"lm-ma-mae"}, {"openai-mae"}),
    "maze": ({"openai-mae"}, {"openai-mae"}, set(PAPER.algorithms), {"openai-mae"}),
}


@pytest.mark.parametrize("domain", PAPER.domains)
def test_the_best_are_those_in_bold(domain: str):
    for bold, metric in zip(BOLD[domain], PAPER.metrics, strict=True):
        column = {name: PAPER.means[domain, name][metric.field] for name in PAPER.algorithms}
        assert {name for name, mean in column.items() if mean == metric.best(column.values())} == bold


def test_there_are_no_more_decimals_than_are_printed():
    for means in PAPER.means.values():
        for metric in PAPER.metrics:
            assert round(means[metric.field], metric.decimals) == means[metric.field]


def test_times_have_the_ratio_of_the_text():
    ratios = [
        PAPER.means[domain, "cma-mae"]["cpu_seconds"] / PAPER.means[domain, "lm-ma-mae"]["cpu_seconds"]
        for domain in ("sphere-1000", "arm-1000")
    ]
    assert sum(ratios) / 2 == pytest.approx(14.5, abs=0.1)


@pytest.mark.parametrize("hypothesis", PAPER.hypotheses, ids=lambda hypothesis: hypothesis.name)
def test_findings_fit_means_and_verdict(hypothesis: Hypothesis):
    quantity = hypothesis.quantity
    for domain in PAPER.domains:
        for (first, second), sign in quantity.findings[domain].items():
            one, other = (PAPER.means[domain, name][quantity.field] for name in (first, second))
            assert sign == "-" or sign == ("<" if one < other else ">")
    supported = {hypothesis.supported_in(domain) for domain in PAPER.domains}
    assert supported == {hypothesis.verdict == "supported"}
    assert set(quantity.anovas) == set(PAPER.domains)


def test_the_one_exception_of_the_text():
    above = {
        (domain, *pair)
        for domain, signs in PAPER.quantities[0].findings.items()
        for pair, sign in signs.items()
        if sign == ">"
    }
    assert above == {("sphere-100", "sep-cma-mae", "cma-mae")}
