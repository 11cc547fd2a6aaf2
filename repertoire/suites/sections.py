"""What the report of a study says, from top to bottom."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from repertoire.suites import paper
from repertoire.suites.agreement import DEFINITION
from repertoire.suites.document import Block, Bullets, Heading, Paragraph, Picture, Table
from repertoire.suites.hypotheses import (
    Judgement,
    anova_table,
    checks_table,
    judge,
    overall_verdict,
    pairs_table,
    signs_table,
    verdicts_table,
)
from repertoire.suites.tables import JUDGED, agreements, cost_table, results_table, trials_table
from repertoire.suites.trials import Trials


def sections(
    trials: Trials, *, title: str, notes: Sequence[str], curves: Path, archives: Path
) -> list[Block]:
    """Return the report as a document.

    Args:
        trials: of the study.
        title: of the report.
        notes: one bullet each, below the title.
        curves: picture of QD score over evaluations.
        archives: picture of archives.
    """
    judgements = [judge(trials, hypothesis) for hypothesis in paper.HYPOTHESES]
    return [
        Heading(title, 1),
        *([Bullets(tuple(notes))] if notes else []),
        Heading("In short"),
        Bullets((_completeness(trials), _agreement(trials), *(_verdict(each) for each in judgements))),
        Heading("What was run"),
        trials_table(trials),
        *_gaps(trials),
        *_results(trials, curves, archives),
        *_costs(trials),
        *_tests(trials, judgements),
    ]


def _completeness(trials: Trials) -> str:
    """How much of the paper's study this one covers."""
    ran = [key for key in paper.MEANS if trials.of(*key)]
    full = [key for key in ran if trials.comparable(*key) and len(trials.of(*key)) >= paper.TRIALS]
    number, budget = len(paper.MEANS), f"{paper.TRIALS} trials of {paper.EVALUATIONS:,} evaluations"
    if len(full) == number:
        return f"Complete: at least {budget} for every algorithm in every domain of the paper."
    return (
        f"Incomplete: of the paper's {number} combinations of algorithm and domain {len(ran)} ran, "
        f"{len(full)} of them with at least {budget}."
    )


def _agreement(trials: Trials) -> str:
    """How many of the paper's means agree."""
    judged = {metric.name: agreements(trials, metric) for metric in JUDGED}
    if not any(judged.values()):
        return "None of the paper's means can be compared: nothing ran with its number of evaluations."
    counts = (f"{name} {sum(agree)} of {len(agree)}" for name, agree in judged.items())
    return f"Of the paper's means that can be compared, these agree with ours: {', '.join(counts)}."


def _verdict(judgements: Sequence[Judgement]) -> str:
    """A hypothesis, and whether it holds."""
    hypothesis = judgements[0].hypothesis
    return (
        f"{hypothesis.name}, {hypothesis.quantity} ranks {' < '.join(paper.ORDER)}: "
        f"{overall_verdict(judgements)}. In the paper: {hypothesis.verdict}."
    )


def _gaps(trials: Trials) -> Iterator[Block]:
    """What the study lacks, and what it has that the paper has not."""
    other = [f"{name} in {domain}" for domain, name in paper.MEANS if not _like_there(trials, domain, name)]
    algorithms = [name for name in trials.algorithms if name not in paper.ALGORITHMS]
    consequences = {
        "Missing, so that nothing can be said of it": [_missing(trials, name) for name in paper.DOMAINS],
        f"Not of {paper.EVALUATIONS:,} evaluations, so that agreement with the paper is not judged": other,
        "Domains not in the paper": [name for name in trials.domains if name not in paper.DOMAINS],
        "Algorithms not in the paper (tests include them: F has other degrees of freedom)": algorithms,
    }
    found = {consequence: [name for name in names if name] for consequence, names in consequences.items()}
    items = tuple(f"{consequence}: {', '.join(names)}." for consequence, names in found.items() if names)
    if items:
        yield Bullets(items)


def _missing(trials: Trials, domain: str) -> str:
    """A domain of the paper, with the algorithms that did not run there unless none did; empty if all did."""
    names = [name for name in paper.ALGORITHMS if not trials.of(domain, name)]
    if len(names) == len(paper.ALGORITHMS):
        return domain
    return f"{domain} ({', '.join(names)})" if names else ""


def _like_there(trials: Trials, domain: str, algorithm: str) -> bool:
    """Whether what ran of an algorithm, if anything, had as many evaluations as in the paper."""
    return trials.comparable(domain, algorithm) or not trials.of(domain, algorithm)


def _results(trials: Trials, curves: Path, archives: Path) -> Iterator[Block]:
    """Table I and the pictures."""
    yield Heading("Results (the paper's Table I)")
    yield Paragraph(
        "Mean over trials ± half the width of its 95% interval (Student's t). Bold: the best mean of the "
        "column, with those that look the same in the paper's digits. Beside it the paper's mean; bold "
        "where it does not agree."
    )
    yield Paragraph(DEFINITION)
    yield Paragraph(
        "Time is the processor time of a trial: what the wall clock shows on a core of its own, as in the "
        "paper, whatever else a machine does meanwhile. x is ours as a multiple of the paper's: hardware "
        "differs, so that it is not judged."
    )
    yield from (results_table(trials, domain) for domain in trials.domains)
    yield Picture(curves, "QD score over evaluations: mean over trials and its 95% interval.")
    yield Picture(
        archives,
        "Archive of the trial with the median QD score; first measure to the right, second upwards.",
    )


def _costs(trials: Trials) -> Iterator[Block]:
    """Time and memory."""
    yield Heading("Time and memory")
    yield Paragraph(
        "Wall clock of a trial; its processor time, which is less where it shared its core; and "
        "what of that went into the search (ask, add, tell) and into evaluating solutions. Time as a "
        "multiple of one algorithm's depends less on the hardware than time itself; the paper evaluated "
        "the maze on a GPU. Memory is that of emitters and archives. Times are means ± as above, memory "
        "and restarts are means."
    )
    yield from (cost_table(trials, domain) for domain in trials.domains)


def _tests(trials: Trials, judgements: Sequence[Sequence[Judgement]]) -> Iterator[Block]:
    """Table II, pairs and verdicts."""
    everything = list(chain.from_iterable(judgements))
    yield Heading("Tests (the paper's Table II)")
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
    for each in judgements:
        yield Paragraph(f"The paper on {each[0].hypothesis.quantity}: {each[0].hypothesis.words}")
        yield _or_none(signs_table(each))
    yield Heading("Hypotheses", 3)
    yield Paragraph(
        "A domain supports a hypothesis if every algorithm is significantly below each later one."
    )
    yield verdicts_table(everything)
    yield Heading("Pairs in full", 3)
    yield Paragraph(
        "Difference of means (first - second) ± half the width of its simultaneous 95% interval; p "
        "adjusted for the number of algorithms; Hedges' g, the difference in pooled standard deviations."
    )
    yield from (_or_none(pairs_table(each)) for each in judgements)


def _or_none(table: Table) -> Block:
    """A table of pairs, or a sentence where there is none."""
    return table if table.rows else Paragraph("There are no two algorithms to compare.")
