"""Verdicts on published hypotheses."""

from collections.abc import Sequence
from dataclasses import dataclass

from repertoire.statistics import Expectation, judge_expectation
from repertoire.suites.comparisons import Contest
from repertoire.suites.document import Cell, Table
from repertoire.suites.formats import NOTHING
from repertoire.suites.published import Hypothesis, PublishedStudy


@dataclass(frozen=True)
class Judgement:
    """A hypothesis put to the trials of one domain.

    Attributes:
        hypothesis: which.
        tested: its quantity, in that domain.
        expectation: what came of it.
    """

    hypothesis: Hypothesis
    tested: Contest
    expectation: Expectation

    @property
    def reason(self) -> str:
        """What keeps the hypothesis from being supported, or tested; empty where nothing does."""
        found, untested = self.expectation, self.tested.comparison.untested
        parts = {
            "contradicted by": [f"{one} > {other}" for one, other in found.contradicted],
            "not significant": [f"{one} - {other}" for one, other in found.undecided],
            "did not run": found.missing,
        }
        reasons = [f"{why}: {', '.join(names)}" for why, names in parts.items() if names]
        return "; ".join(filter(None, [untested, *reasons]))


def judge(hypothesis: Hypothesis, tests: Sequence[Contest]) -> list[Judgement]:
    """Put a hypothesis to the tests of its quantity, a domain each."""
    return [Judgement(hypothesis, one, judge_expectation(one.comparison, hypothesis.pairs)) for one in tests]


def overall_verdict(judgements: Sequence[Judgement], published: PublishedStudy) -> str:
    """A hypothesis as a whole: supported where it is in every domain of the paper.

    Args:
        judgements: of one hypothesis; domains that are not the paper's do not count.
        published: the paper.
    """
    verdicts = [
        one.expectation.verdict
        for one in judgements
        if one.tested.domain in published.domains and one.expectation.verdict != "not tested"
    ]
    partly = ", as far as its algorithms ran" if "supported as far as tested" in verdicts else ""
    supported, total = len(verdicts) - verdicts.count("not supported"), len(published.domains)
    if not verdicts:
        return "not tested"
    if supported < len(verdicts):
        return f"not supported (it is in {supported} of {len(verdicts)} domains tested{partly})"
    where = "" if supported == total else f" in the {supported} of {total} domains tested"
    return f"supported{where}{partly}"


def verdicts_table(judgements: Sequence[Judgement]) -> Table:
    """What each domain says of each hypothesis, here and in the paper."""
    words = {True: "supported", False: "not supported"}
    rows = []
    for one in judgements:
        domain, findings = one.tested.domain, one.tested.quantity.findings
        there = words[one.hypothesis.supported_in(domain)] if domain in findings else NOTHING
        texts = (one.hypothesis.name, domain, one.expectation.verdict, there, one.reason)
        rows.append(tuple(Cell(text, strong=column == 2) for column, text in enumerate(texts)))
    return Table(("hypothesis", "domain", "verdict", "paper", "why not"), tuple(rows), texts=5)
