"""What the report of a study says, from top to bottom."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from repertoire.suites.comparisons import (
    Contest,
    anova_table,
    checks_table,
    findings_kept,
    matrix_table,
    pairs_table,
    put_to_test,
    signs_table,
)
from repertoire.suites.completeness import completeness, gaps
from repertoire.suites.document import Block, Bullets, Heading, Paragraph, Picture, Table
from repertoire.suites.hypotheses import Judgement, judge, overall_verdict, verdicts_table
from repertoire.suites.tables import agreements, cost_table, results_table, trials_table
from repertoire.suites.trials import Trials

_SIGNS = (
    "< or >: the row is significantly below or above the column. -: there is no significant difference. "
    "After the stroke: what the paper finds; bold where that differs."
)
Tests = Mapping[str, Sequence[Contest]]  # by quantity


def sections(
    trials: Trials,
    *,
    title: str,
    notes: Sequence[str],
    curves: Path,
    archives: Path,
    extras: Sequence[Block] = (),
) -> list[Block]:
    """Return the report as a document.

    Args:
        trials: of the study.
        title: of the report.
        notes: one bullet each, below the title.
        curves: picture of QD score over evaluations.
        archives: picture of archives.
        extras: what one study has that others have not, after the results.
    """
    published = trials.published
    tests = {quantity.name: put_to_test(trials, quantity) for quantity in published.quantities}
    judgements = [judge(one, tests[one.quantity.name]) for one in published.hypotheses]
    verdicts = (_verdict(trials, each) for each in judgements)
    return [
        Heading(title, 1),
        *([Bullets(tuple(notes))] if notes else []),
        Heading("In short"),
        Bullets((completeness(trials), _agreement(trials, tests), *verdicts)),
        Heading("What was run"),
        trials_table(trials),
        *gaps(trials),
        *_results(trials, curves, archives),
        *extras,
        *_costs(trials),
        *_tests(trials, tests),
        *_hypotheses(trials, judgements),
        *_pairs(tests),
    ]


def _agreement(trials: Trials, tests: Tests) -> str:
    """How much of what is published is found here."""
    published = trials.published
    if published.incomparable:
        kept = {name: findings_kept(each) for name, each in tests.items()}
        counts = ", ".join(f"{name} {sum(found)} of {len(found)}" for name, found in kept.items() if found)
        pairs = (
            f"; of its findings on pairs of algorithms these are found here too: {counts}" if counts else ""
        )
        return f"Agreement with the paper's means is not judged: {published.incomparable}{pairs}."
    judged = {metric.name: agreements(trials, metric) for metric in published.judged}
    if not any(judged.values()):
        return "None of the paper's means can be compared: nothing ran with its number of evaluations."
    counts = ", ".join(f"{name} {sum(agree)} of {len(agree)}" for name, agree in judged.items())
    return f"Of the paper's means that can be compared, these agree with ours: {counts}."


def _verdict(trials: Trials, judgements: Sequence[Judgement]) -> str:
    """A hypothesis, and whether it holds."""
    hypothesis = judgements[0].hypothesis
    verdict = overall_verdict(judgements, trials.published)
    absent = [name for name in trials.published.unavailable if name in chain.from_iterable(hypothesis.pairs)]
    cannot = f" It cannot be tested on {' and '.join(absent)}, which cannot be run here." if absent else ""
    return f"{hypothesis.name}, {hypothesis.claim}: {verdict}.{cannot} In the paper: {hypothesis.verdict}."


def _results(trials: Trials, curves: Path, archives: Path) -> Iterator[Block]:
    """The tables of results and the pictures."""
    words = trials.published.words
    yield Heading(words.results)
    yield from (Paragraph(text) for text in words.reading)
    yield from (results_table(trials, domain) for domain in trials.domains)
    yield Picture(curves, words.curves)
    yield Picture(archives, words.archives)


def _costs(trials: Trials) -> Iterator[Block]:
    """Time and memory."""
    yield Heading("Time and memory")
    yield Paragraph(trials.published.words.costs)
    yield from (cost_table(trials, domain) for domain in trials.domains)


def _tests(trials: Trials, tests: Tests) -> Iterator[Block]:
    """Whether there are differences, and between which algorithms."""
    everything = list(chain.from_iterable(tests.values()))
    yield Heading(trials.published.words.tests)
    yield Paragraph(
        "As in the paper: where Levene's test (about the medians) finds no difference between variances, "
        "a one-way ANOVA and Tukey's HSD; elsewhere Welch's ANOVA and the Games-Howell test. The level is "
        "0.05 for all pairs of a quantity in a domain together; there is no further correction for the "
        "number of domains."
    )
    yield anova_table(everything)
    yield Heading("Checks", 3)
    yield checks_table(everything, trials.algorithms)
    yield Heading("Pairs of algorithms", 3)
    for each in tests.values():
        quantity = each[0].quantity
        if quantity.words:
            yield Paragraph(f"The paper on {quantity.name}: {quantity.words}")
        if trials.published.rows:
            yield Paragraph(_SIGNS)
            yield from (matrix_table(one, trials.published.rows) for one in each)
        else:
            yield _or_none(signs_table(each, trials.published))


def _hypotheses(trials: Trials, judgements: Sequence[Sequence[Judgement]]) -> Iterator[Block]:
    """The verdicts."""
    yield Heading("Hypotheses", 3)
    yield Paragraph(trials.published.words.supported)
    yield verdicts_table(list(chain.from_iterable(judgements)))


def _pairs(tests: Tests) -> Iterator[Block]:
    """Every comparison in full."""
    yield Heading("Pairs in full", 3)
    yield Paragraph(
        "Difference of means (first - second) ± half the width of its simultaneous 95% interval; p "
        "adjusted for the number of algorithms; Hedges' g, the difference in pooled standard deviations."
    )
    yield from (_or_none(pairs_table(each)) for each in tests.values())


def _or_none(table: Table) -> Block:
    """A table of pairs, or a sentence where there is none."""
    return table if table.rows else Paragraph("There are no two algorithms to compare.")
