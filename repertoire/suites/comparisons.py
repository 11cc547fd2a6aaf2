"""Whether algorithms differ: tests of a quantity in each domain, and tables beside what was published."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from repertoire.statistics import Comparison, MeanInterval, compare
from repertoire.statistics import Pair as TestedPair
from repertoire.suites.document import Cell, Table
from repertoire.suites.formats import NOTHING, format_anova, format_mean, format_number, format_p
from repertoire.suites.published import PublishedStudy, Quantity
from repertoire.suites.trials import Trials


@dataclass(frozen=True)
class Contest:
    """A quantity put to the test in one domain.

    Attributes:
        quantity: which.
        domain: where.
        comparison: of all algorithms that ran there, those of the publication first and in its order.
    """

    quantity: Quantity
    domain: str
    comparison: Comparison


def put_to_test(trials: Trials, quantity: Quantity) -> list[Contest]:
    """Put a quantity to the test in each domain of a study."""
    tests = []
    for domain in trials.domains:
        there = trials.algorithms_in(domain)
        names = sorted(there, key=(*trials.published.order, *there).index)
        comparison = compare({name: trials.values(domain, name, quantity.field) for name in names})
        tests.append(Contest(quantity, domain, comparison))
    return tests


def anova_table(tests: Sequence[Contest]) -> Table:
    """The omnibus test of each quantity in each domain, beside the published one."""
    rows = []
    for one in tests:
        anova = one.comparison.anova
        here = format_anova(anova) if anova else f"not tested: {one.comparison.untested}"
        effects = (f"{anova.eta_squared:.3f}", f"{anova.omega_squared:.3f}") if anova else (NOTHING, NOTHING)
        there = one.quantity.anovas.get(one.domain, NOTHING)
        rows.append(tuple(Cell(text) for text in (one.quantity.name, one.domain, here, there, *effects)))
    return Table(("quantity", "domain", "test", "paper", "η²", "ω²"), tuple(rows), texts=4)


def checks_table(tests: Sequence[Contest], algorithms: Sequence[str]) -> Table:
    """The checks that choose between the tests, as p of each."""
    rows = []
    for one in tests:
        comparison = one.comparison
        probabilities = [comparison.normality.get(name) for name in algorithms]
        probabilities += [comparison.residual_normality, comparison.levene]
        cells = [Cell(format_p(p), strong=p is not None and p <= comparison.alpha) for p in probabilities]
        rows.append((Cell(one.quantity.name), Cell(one.domain), *cells))
    return Table(
        ("quantity", "domain", *algorithms, "residuals", "Levene"),
        tuple(rows),
        caption="p of the Shapiro-Wilk test of each algorithm and of the residuals, and of Levene's test. "
        "Bold: at most 0.05, so that normality, or equality of variances, is doubtful.",
        texts=2,
    )


def signs_table(tests: Sequence[Contest], published: PublishedStudy) -> Table:
    """How every two algorithms compare in each domain, here and in the paper, for one quantity."""
    ran = {name for one in tests for name in one.comparison.groups}
    names = [name for name in published.order if name in ran]
    names += sorted(ran.difference(names))
    rows = [
        (Cell(f"{first} vs {second}"), *(sign_cell(one, first, second) for one in tests))
        for first, second in combinations(names, 2)
        if any({first, second} <= set(one.comparison.groups) for one in tests)
    ]
    return Table(
        (tests[0].quantity.name, *(one.domain for one in tests)),
        tuple(rows),
        caption="< or >: the first is significantly below or above the second. -: there is no significant "
        "difference. After the stroke: what the paper finds, where it is one of its domains; bold "
        "where that differs.",
    )


def matrix_table(tested: Contest, rows: Sequence[str]) -> Table:
    """How some algorithms, a row each, compare with every other in one domain, here and in the paper."""
    names = tested.comparison.groups
    return Table(
        (f"{tested.quantity.name}, {tested.domain}", *names),
        tuple(
            (
                Cell(first),
                *(Cell("∅") if first == second else sign_cell(tested, first, second) for second in names),
            )
            for first in rows
            if first in names
        ),
    )


def findings_kept(tests: Sequence[Contest]) -> list[bool]:
    """Whether each published finding, where both algorithms were put to the test, is found here too."""
    return [
        one.comparison.sign(*pair) == sign
        for one in tests
        if not one.comparison.untested
        for pair, sign in one.quantity.findings.get(one.domain, {}).items()
        if set(pair) <= set(one.comparison.groups)
    ]


def pairs_table(tests: Sequence[Contest]) -> Table:
    """Every comparison of two algorithms in full, for one quantity."""
    quantity = tests[0].quantity
    rows = [
        (
            Cell(one.domain),
            Cell(f"{pair.first} {pair.sign} {pair.second}"),
            Cell(format_mean(_scaled(pair, quantity.scale), quantity.decimals)),
            Cell(format_p(pair.p)),
            Cell(format_number(pair.hedges_g)),
        )
        for one in tests
        for pair in one.comparison.pairs
    ]
    header = ("domain", quantity.name, f"difference [{quantity.unit}]", "p", "Hedges' g")
    return Table(header, tuple(rows), texts=2)


def sign_cell(one: Contest, first: str, second: str) -> Cell:
    """A sign, and after a stroke the published one; bold where they differ."""
    if not {first, second} <= set(one.comparison.groups):
        return Cell("")
    untested = one.comparison.untested
    here = "not tested" if untested else one.comparison.sign(first, second)
    there = one.quantity.sign(one.domain, first, second)
    text = f"{here} / {there}" if there else here
    return Cell(text, strong=not untested and there not in (None, here))


def _scaled(pair: TestedPair, scale: float) -> MeanInterval:
    """The difference of a pair in another unit."""
    return MeanInterval(scale * pair.difference, scale * pair.low, scale * pair.high)
