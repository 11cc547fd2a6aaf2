"""The paper's Tables III, IV and VII were copied without slips: they agree with what it says of them."""

import pytest

from repertoire.suites.published import PublishedStudy
from repertoire.suites.published_ablation import ABLATION
from repertoire.suites.published_locomotion import ALGORITHMS, DOMAINS, LOCOMOTION, VARIANTS

H3, H4, H5, H6 = LOCOMOTION.hypotheses

# What the tables print in bold, per domain and column; of equals in the digits printed, all
BOLD_3 = {
    "ant": ("lm-ma-mae", "cma-mega-td3-es", "pga-me", "openai-mae", "cma-mega-es map-elites"),
    "half_cheetah": ("sep-cma-mae", "sep-cma-mae", "pga-me", "sep-cma-mae", "cma-mega-es map-elites"),
    "hopper": ("sep-cma-mae", "map-elites", "sep-cma-mae", "sep-cma-mae", "cma-mega-es map-elites"),
    "walker": ("pga-me", "cma-mega-td3-es", "pga-me", "cma-mega-es", "cma-mega-es map-elites"),
}
BOLD_7 = {
    "ant": ("alpha-0.001", "alpha-0.01", "alpha-0"),
    "half_cheetah": ("alpha-0.1", "alpha-0.001 alpha-0.1 alpha-1", "alpha-1"),
    "hopper": ("alpha-0.001", "alpha-0.1", "alpha-0.001"),
    "walker": ("alpha-0.01", "alpha-0.1", "alpha-0.01"),
}


@pytest.mark.parametrize(("paper", "bold"), [(LOCOMOTION, BOLD_3), (ABLATION, BOLD_7)])
@pytest.mark.parametrize("domain", DOMAINS)
def test_the_best_are_those_in_bold(paper: PublishedStudy, bold: dict, domain: str):
    for names, metric in zip(bold[domain], paper.metrics, strict=True):
        column = {name: paper.means[domain, name][metric.field] for name in paper.algorithms}
        assert {name for name, mean in column.items() if mean == metric.best(column.values())} == set(
            names.split()
        )


@pytest.mark.parametrize("paper", [LOCOMOTION, ABLATION])
def test_there_are_no_more_decimals_than_are_printed(paper: PublishedStudy):
    assert set(paper.means) == {(domain, name) for domain in DOMAINS for name in paper.algorithms}
    for means in paper.means.values():
        for metric in paper.metrics:
            assert round(means[metric.field], metric.decimals) == means[metric.field]


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_ablation_has_the_studys_own_trials_at_its_learning_rate(domain: str):
    ours = LOCOMOTION.means[domain, "sep-cma-mae"]
    assert {name: ours[name] for name in ("qd_score", "coverage", "best")} == ABLATION.means[
        domain, "alpha-0.001"
    ]


@pytest.mark.parametrize("quantity", LOCOMOTION.quantities, ids=lambda quantity: quantity.name)
@pytest.mark.parametrize("domain", DOMAINS)
def test_findings_fit_means(quantity, domain: str):
    for (first, second), sign in quantity.findings[domain].items():
        one, other = (LOCOMOTION.means[domain, name][quantity.field] for name in (first, second))
        assert sign == "-" or sign == ("<" if one < other else ">")
        assert quantity.sign(domain, second, first) == {"<": ">", ">": "<", "-": "-"}[sign]
    assert quantity.sign(domain, "me-es", "map-elites") is None


def test_every_variant_is_compared_with_everything():
    signs = LOCOMOTION.quantities[0].findings["ant"]
    assert len(signs) == 3 + 3 * 5
    assert {first for first, _ in signs} == set(VARIANTS)
    assert {second for _, second in signs} == set(ALGORITHMS[1:])


def test_findings_fit_the_verdicts_of_the_text():
    assert [H4.supported_in(domain) for domain in DOMAINS] == [False, False, True, False]
    assert all(H6.supported_in(domain) for domain in DOMAINS)
    assert not any(one.supported_in(domain) for one in (H3, H5) for domain in DOMAINS)


def test_hypotheses_speak_of_the_pairs_they_should():
    order = [("openai-mae", "sep-cma-mae"), ("openai-mae", "lm-ma-mae"), ("sep-cma-mae", "lm-ma-mae")]
    assert list(H3.pairs) == list(H5.pairs) == order
    assert len(H4.pairs) == 15
    assert ("map-elites", "openai-mae") in H4.pairs
    assert len(H6.pairs) == 6
    assert ("openai-mae", "pga-me") in H6.pairs
