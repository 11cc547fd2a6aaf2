"""Whether algorithms differ: tests in each domain, tables of them, and verdicts on hypotheses."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from repertoire.statistics import ALPHA, Comparison, Expectation, MeanInterval, compare, judge_expectation
from repertoire.suites.published import Hypothesis, PublishedStudy, Quantity
from repertoire.suites.report import (
    NOTHING,
    bold_if,
    format_anova,
    format_mean,
    format_number,
    format_p,
    table,
)
from repertoire.suites.results import StudyResults


@dataclass(frozen=True)
class DomainTest:
    """The test of a quantity in one domain.

    Attributes:
        quantity: that was tested.
        domain: in which.
        comparison: of all algorithms that ran there, the published ones first and in their order.
    """

    quantity: Quantity
    domain: str
    comparison: Comparison

    def sign_cell(self, first: str, second: str) -> str:
        """A sign, and after a slash the published one; bold where they differ."""
        if first == second:
            return "∅"
        if not {first, second} <= set(self.comparison.groups):
            return ""
        untested = self.comparison.untested
        here = "not tested" if untested else self.comparison.sign(first, second)
        there = self.quantity.sign(self.domain, first, second)
        return bold_if(not untested and there not in (None, here), f"{here} / {there}" if there else here)


@dataclass(frozen=True)
class Judgement:
    """A hypothesis judged by the trials of one domain."""

    hypothesis: Hypothesis
    test: DomainTest
    expectation: Expectation

    @property
    def reason(self) -> str:
        """Why the hypothesis is not supported or not tested; empty where it is supported."""
        found = self.expectation
        parts = {
            "contradicted by": [f"{one} > {other}" for one, other in found.contradicted],
            "not significant": [f"{one} - {other}" for one, other in found.undecided],
            "did not run": found.missing,
        }
        reasons = [f"{why}: {', '.join(names)}" for why, names in parts.items() if names]
        return "; ".join(filter(None, [self.test.comparison.untested, *reasons]))


def compare_in_domains(results: StudyResults, quantity: Quantity) -> list[DomainTest]:
    """Test a quantity in each domain of a study."""
    tests = []
    for domain in results.domains:
        there = results.algorithms_in(domain)
        names = sorted(there, key=(*results.published.order, *there).index)
        comparison = compare({name: results.values(domain, name, quantity.field) for name in names})
        tests.append(DomainTest(quantity, domain, comparison))
    return tests


def judge(hypothesis: Hypothesis, tests: Sequence[DomainTest]) -> list[Judgement]:
    """Judge a hypothesis by the tests of its quantity, one per domain."""
    return [Judgement(hypothesis, one, judge_expectation(one.comparison, hypothesis.pairs)) for one in tests]


def overall_verdict(judgements: Sequence[Judgement], published: PublishedStudy) -> str:
    """Return the verdict on a hypothesis as a whole: supported where it is in every published domain.

    Args:
        judgements: of one hypothesis; domains that were not published do not count.
        published: the study whose hypothesis it is.
    """
    verdicts = [
        one.expectation.verdict
        for one in judgements
        if one.test.domain in published.domains and one.expectation.verdict != "not tested"
    ]
    partly = ", as far as its algorithms ran" if "supported as far as tested" in verdicts else ""
    supported, total = len(verdicts) - verdicts.count("not supported"), len(published.domains)
    if not verdicts:
        return "not tested"
    if supported < len(verdicts):
        return f"not supported (supported in {supported} of {len(verdicts)} domains tested{partly})"
    where = "" if supported == total else f" in the {supported} of {total} domains tested"
    return f"supported{where}{partly}"


def findings_reproduced(tests: Sequence[DomainTest]) -> list[bool]:
    """Return whether each published finding on two algorithms that were tested is found here too."""
    return [
        one.comparison.sign(*pair) == sign
        for one in tests
        if not one.comparison.untested
        for pair, sign in one.quantity.findings.get(one.domain, {}).items()
        if set(pair) <= set(one.comparison.groups)
    ]


def anova_table(tests: Sequence[DomainTest]) -> str:
    """Return the test of all algorithms, by quantity and domain, next to the published one."""
    rows = []
    for one in tests:
        anova = one.comparison.anova
        here = format_anova(anova) if anova else f"not tested: {one.comparison.untested}"
        effects = (f"{anova.eta_squared:.3f}", f"{anova.omega_squared:.3f}") if anova else (NOTHING, NOTHING)
        published = one.quantity.anovas.get(one.domain, NOTHING)
        rows.append((one.quantity.name, one.domain, here, published, *effects))
    return table(("quantity", "domain", "test", "paper", "η²", "ω²"), rows, text_columns=4)


def assumptions_table(tests: Sequence[DomainTest], algorithms: Sequence[str]) -> str:
    """Return p of the tests of normality and of equal variances, by quantity and domain."""
    rows = []
    for one in tests:
        found = one.comparison
        probabilities = [*map(found.normality.get, algorithms), found.residual_normality, found.levene]
        cells = [bold_if(p is not None and p <= ALPHA, format_p(p)) for p in probabilities]
        rows.append((one.quantity.name, one.domain, *cells))
    return table(
        ("quantity", "domain", *algorithms, "residuals", "Levene"),
        rows,
        caption="p of the Shapiro-Wilk test of each algorithm and of the residuals, and p of Levene's test. "
        "Where p is bold, it is at most 0.05, so that normality, or equality of variances, is doubtful.",
        text_columns=2,
    )


def signs_table(tests: Sequence[DomainTest], published: PublishedStudy) -> str:
    """Return how every two algorithms compare in each domain, for one quantity; empty without pairs."""
    ran = {name for one in tests for name in one.comparison.groups}
    names = [name for name in published.order if name in ran]
    names += sorted(ran.difference(names))
    rows = [
        (f"{first} vs {second}", *(one.sign_cell(first, second) for one in tests))
        for first, second in combinations(names, 2)
        if any({first, second} <= set(one.comparison.groups) for one in tests)
    ]
    if not rows:
        return ""
    return table(
        (tests[0].quantity.name, *(one.domain for one in tests)),
        rows,
        caption="< or >: the first is significantly below or above the second. -: there is no significant "
        "difference. After the slash: the paper's finding, where it reports one; bold where that differs.",
    )


def matrix_table(test: DomainTest, rows: Sequence[str]) -> str:
    """Return how some algorithms, a row each, compare with every other one in a domain."""
    names = test.comparison.groups
    return table(
        (f"{test.quantity.name}, {test.domain}", *names),
        [(first, *(test.sign_cell(first, second) for second in names)) for first in rows if first in names],
    )


def pairs_table(tests: Sequence[DomainTest]) -> str:
    """Return every comparison of two algorithms in full, for one quantity; empty without pairs."""
    quantity, rows = tests[0].quantity, []
    for one in tests:
        for pair in one.comparison.pairs:
            scaled = (quantity.scale * value for value in (pair.difference, pair.low, pair.high))
            difference = format_mean(MeanInterval(*scaled), quantity.decimals)
            names = f"{pair.first} {pair.sign} {pair.second}"
            rows.append((one.domain, names, difference, format_p(pair.p), format_number(pair.hedges_g)))
    header = ("domain", quantity.name, f"difference [{quantity.unit}]", "p", "Hedges' g")
    return table(header, rows, text_columns=2) if rows else ""


def verdicts_table(judgements: Sequence[Judgement]) -> str:
    """Return the verdict on each hypothesis in each domain, here and in the paper."""
    words = {True: "supported", False: "not supported"}
    rows = []
    for one in judgements:
        domain, findings = one.test.domain, one.test.quantity.findings
        published = words[one.hypothesis.supported_in(domain)] if domain in findings else NOTHING
        verdict = bold_if(True, one.expectation.verdict)
        rows.append((one.hypothesis.name, domain, verdict, published, one.reason))
    return table(("hypothesis", "domain", "verdict", "paper", "reason"), rows, text_columns=5)
