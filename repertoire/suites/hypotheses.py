"""The paper's Table II and what follows from it: tests, pairs of algorithms, verdicts on its hypotheses."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from repertoire.statistics import Comparison, MeanInterval, Pair, Ranking, compare, ranking_supported
from repertoire.suites import paper
from repertoire.suites.document import Cell, Table
from repertoire.suites.formats import NOTHING, format_anova, format_mean, format_number, format_p
from repertoire.suites.paper import Hypothesis
from repertoire.suites.tables import JUDGED, TIME
from repertoire.suites.trials import Trials


@dataclass(frozen=True)
class Judgement:
    """A hypothesis put to the trials of one domain.

    Attributes:
        hypothesis: which.
        domain: where.
        comparison: of all algorithms that ran there, those of the hypothesis first and in its order.
        ranking: None where some algorithms of the hypothesis did not run.
    """

    hypothesis: Hypothesis
    domain: str
    comparison: Comparison
    ranking: Ranking | None

    @property
    def verdict(self) -> str:
        """In words."""
        return self.ranking.verdict if self.ranking else "not tested"

    @property
    def reason(self) -> str:
        """What keeps the hypothesis from being supported; empty where it is."""
        missing = [name for name in paper.ORDER if name not in self.comparison.groups]
        if missing or self.ranking is None:
            return f"did not run: {', '.join(missing)}"
        contradicted = [f"{one} > {other}" for one, other in self.ranking.contradicted]
        undecided = [f"{one} - {other}" for one, other in self.ranking.undecided]
        parts = (("contradicted by", contradicted), ("not significant", undecided))
        return self.comparison.untested or "; ".join(
            f"{why}: {', '.join(pairs)}" for why, pairs in parts if pairs
        )


def judge(trials: Trials, hypothesis: Hypothesis) -> list[Judgement]:
    """Put a hypothesis to each domain of a study."""
    judgements = []
    for domain in trials.domains:
        there = trials.algorithms_in(domain)
        names = sorted(there, key=(*paper.ORDER, *there).index)
        comparison = compare({name: trials.values(domain, name, hypothesis.field) for name in names})
        complete = set(paper.ORDER) <= set(names)
        ranking = ranking_supported(comparison, paper.ORDER) if complete else None
        judgements.append(Judgement(hypothesis, domain, comparison, ranking))
    return judgements


def overall_verdict(judgements: Sequence[Judgement]) -> str:
    """A hypothesis as a whole: supported where it is in every domain of the paper.

    Args:
        judgements: of one hypothesis; domains that are not the paper's do not count.
    """
    verdicts = [
        one.verdict for one in judgements if one.domain in paper.DOMAINS and one.verdict != "not tested"
    ]
    supported, total = verdicts.count("supported"), len(paper.DOMAINS)
    if not verdicts:
        return "not tested"
    if supported < len(verdicts):
        return f"not supported (it is in {supported} of {len(verdicts)} domains tested)"
    return "supported" if supported == total else f"supported in the {supported} of {total} domains tested"


def anova_table(judgements: Sequence[Judgement]) -> Table:
    """Table II: the omnibus test of each quantity in each domain, beside the paper's."""
    rows = []
    for one in judgements:
        anova = one.comparison.anova
        here = format_anova(anova) if anova else f"not tested: {one.comparison.untested}"
        effects = (f"{anova.eta_squared:.3f}", f"{anova.omega_squared:.3f}") if anova else (NOTHING, NOTHING)
        there = one.hypothesis.anovas.get(one.domain, NOTHING)
        rows.append(
            tuple(Cell(text) for text in (one.hypothesis.quantity, one.domain, here, there, *effects))
        )
    return Table(("quantity", "domain", "test", "paper", "η²", "ω²"), tuple(rows), texts=4)


def checks_table(judgements: Sequence[Judgement], algorithms: Sequence[str]) -> Table:
    """The checks that choose between the tests, as p of each."""
    rows = []
    for one in judgements:
        comparison = one.comparison
        probabilities = [comparison.normality.get(name) for name in algorithms]
        probabilities += [comparison.residual_normality, comparison.levene]
        cells = [Cell(format_p(p), strong=p is not None and p <= comparison.alpha) for p in probabilities]
        rows.append((Cell(one.hypothesis.quantity), Cell(one.domain), *cells))
    return Table(
        ("quantity", "domain", *algorithms, "residuals", "Levene"),
        tuple(rows),
        caption="p of the Shapiro-Wilk test of each algorithm and of the residuals, and of Levene's test. "
        "Bold: at most 0.05, so that normality, or equality of variances, is doubtful.",
        texts=2,
    )


def signs_table(judgements: Sequence[Judgement]) -> Table:
    """How every two algorithms compare in each domain, here and in the paper, for one hypothesis."""
    ran = {name for one in judgements for name in one.comparison.groups}
    names = [name for name in paper.ORDER if name in ran]
    names += sorted(ran.difference(names))
    rows = [
        (Cell(f"{first} vs {second}"), *(_sign_cell(one, first, second) for one in judgements))
        for first, second in combinations(names, 2)
        if any({first, second} <= set(one.comparison.groups) for one in judgements)
    ]
    return Table(
        (judgements[0].hypothesis.quantity, *(one.domain for one in judgements)),
        tuple(rows),
        caption="< or >: the first is significantly below or above the second. -: there is no significant "
        "difference. After the stroke: what the paper finds, where it is one of its domains; bold "
        "where that differs.",
    )


def pairs_table(judgements: Sequence[Judgement]) -> Table:
    """Every comparison of two algorithms in full, for one hypothesis."""
    hypothesis = judgements[0].hypothesis
    decimals = {metric.field: metric.decimals for metric in (*JUDGED, TIME)}[hypothesis.field]
    rows = [
        (
            Cell(one.domain),
            Cell(f"{pair.first} {pair.sign} {pair.second}"),
            Cell(format_mean(_scaled(pair, hypothesis.scale), decimals)),
            Cell(format_p(pair.p)),
            Cell(format_number(pair.hedges_g)),
        )
        for one in judgements
        for pair in one.comparison.pairs
    ]
    header = ("domain", hypothesis.quantity, f"difference [{hypothesis.unit}]", "p", "Hedges' g")
    return Table(header, tuple(rows), texts=2)


def verdicts_table(judgements: Sequence[Judgement]) -> Table:
    """What each domain says of each hypothesis, here and in the paper."""
    words = {True: "supported", False: "not supported"}
    rows = []
    for one in judgements:
        there = words[one.hypothesis.supported_in(one.domain)] if one.domain in paper.DOMAINS else NOTHING
        texts = (one.hypothesis.name, one.domain, one.verdict, there, one.reason)
        rows.append(tuple(Cell(text, strong=column == 2) for column, text in enumerate(texts)))
    return Table(("hypothesis", "domain", "verdict", "paper", "why not"), tuple(rows), texts=5)


def _sign_cell(judgement: Judgement, first: str, second: str) -> Cell:
    """A sign, and after a stroke the paper's."""
    if not {first, second} <= set(judgement.comparison.groups):
        return Cell("")
    untested = judgement.comparison.untested
    here = "not tested" if untested else judgement.comparison.sign(first, second)
    there = judgement.hypothesis.findings.get(judgement.domain, {}).get((first, second))
    text = f"{here} / {there}" if there else here
    return Cell(text, strong=not untested and there not in (None, here))


def _scaled(pair: Pair, scale: float) -> MeanInterval:
    """The difference of a pair in another unit."""
    return MeanInterval(scale * pair.difference, scale * pair.low, scale * pair.high)
