"""The report of a study: tables, tests and verdicts in Markdown, two pictures, and every trial in a CSV."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from pathlib import Path

from repertoire.suites.comparisons import (
    DomainTest,
    Judgement,
    anova_table,
    assumptions_table,
    compare_in_domains,
    findings_reproduced,
    judge,
    matrix_table,
    overall_verdict,
    pairs_table,
    signs_table,
    verdicts_table,
)
from repertoire.suites.figures import draw_archives, draw_curves
from repertoire.suites.report import bullets, heading, paragraph, picture, write_csv, write_document
from repertoire.suites.results import StudyResults, TrialResult
from repertoire.suites.tables import agreements, correction_table, cost_table, results_table, trials_table
from robots.files import make_folder

Tests = Mapping[str, Sequence[DomainTest]]  # by the name of the quantity


def write_report(results: StudyResults, folder: Path, *, extras: Sequence[str] = ()) -> list[Path]:
    """Write `trials.csv`, `curves.png`, `archives.png` and `report.md` to a folder.

    The same results give the same files, in whatever order they come. A study need be neither complete nor
    restricted to the published algorithms and domains: the report says what is missing.

    Args:
        results: of the study.
        folder: made if it is missing.
        extras: further Markdown blocks, after the results.

    Returns:
        The files, in the order above.

    Raises:
        InvalidFileError: the folder cannot be written to.
    """
    make_folder(folder)
    paths = [folder / name for name in ("trials.csv", "curves.png", "archives.png", "report.md")]
    trials, curves, archives, report = paths
    scalars = [field.name for field in fields(TrialResult) if field.type in (str, int, float)]
    write_csv(trials, scalars, ([getattr(one, name) for name in scalars] for one in results.results))
    draw_curves(results, curves)
    draw_archives(results, archives)
    write_document(report, _blocks(results, curves, archives, extras))
    return paths


def _blocks(results: StudyResults, curves: Path, archives: Path, extras: Sequence[str]) -> Iterator[str]:
    """Return the report from top to bottom."""
    published = results.published
    tests = {one.name: compare_in_domains(results, one) for one in published.quantities}
    judgements = [judge(one, tests[one.quantity.name]) for one in published.hypotheses]
    yield heading(published.title, 1)
    yield bullets(_notes(results))
    yield heading("Summary")
    verdicts = (_verdict(results, each) for each in judgements)
    yield bullets([_completeness(results), _agreement(results, tests), *verdicts])
    yield heading("Trials")
    yield trials_table(results)
    yield bullets(_gaps(results))
    yield heading(published.words.results)
    yield from map(paragraph, published.words.reading)
    yield from (results_table(results, domain) for domain in results.domains)
    yield picture(curves, published.words.curves)
    yield picture(archives, published.words.archives)
    yield from _correction(results)
    yield from extras
    yield heading("Time and memory")
    yield paragraph(published.words.costs)
    yield from (cost_table(results, domain) for domain in results.domains)
    yield from _tests(results, tests)
    yield heading("Hypotheses", 3)
    yield paragraph(published.words.supported)
    yield verdicts_table(list(chain.from_iterable(judgements)))
    yield heading("All pairs", 3)
    yield paragraph(
        "Difference of means (first - second) ± half the width of its 95% interval, which holds for all "
        "pairs together; p adjusted for the number of algorithms; and Hedges' g, the difference in pooled "
        "standard deviations."
    )
    yield from (pairs_table(each) or _NO_PAIRS for each in tests.values())


_NO_PAIRS = "There are no two algorithms to compare."


def _notes(results: StudyResults) -> Iterator[str]:
    """Return how the study was run."""
    trials = results.results

    def list_of(field: str) -> str:
        return "; ".join(str(value) for value in sorted({getattr(one, field) for one in trials}))

    yield (
        f"Trials ran on: {list_of('machine')}. Threads of each trial: {list_of('threads')}. "
        f"Software: {list_of('versions')}."
    )
    yield results.published.words.settings
    corrected = [one for one in trials if one.episodes]
    if corrected:
        limits = {(one.domain, one.min_objective): one.episode_steps for one in corrected}
        minimum = ", ".join(
            f"{robot} {objective:,.2f} (episodes of at most {steps:,} control steps)"
            for (robot, objective), steps in limits.items()
        )
        yield (
            f"Metrics are corrected with {list_of('episodes')} episodes of every elite, the same for all "
            "elites of an archive. QD scores count from the minimum objective in each robot's description: "
            f"{minimum}."
        )


def _completeness(results: StudyResults) -> str:
    """Return how much of the published study this one covers."""
    published = results.published
    ran = [key for key in published.means if results.of(*key)]
    full = [
        key for key in ran if results.has_published_budget(*key) and len(results.of(*key)) >= published.trials
    ]
    budget = f"{published.trials} trials of {published.evaluations:,} evaluations"
    if len(full) == len(published.means):
        return f"The study is complete: at least {budget} for every algorithm in every domain of the paper."
    return (
        f"The study is incomplete: of the paper's {len(published.means)} combinations of algorithm and "
        f"domain {len(ran)} ran, {len(full)} of them with at least {budget}."
    )


def _agreement(results: StudyResults, tests: Tests) -> str:
    """Return how much of the published results is reproduced here."""
    published = results.published
    if published.incomparable:
        kept = {name: findings_reproduced(each) for name, each in tests.items()}
        counts = ", ".join(f"{name} {sum(found)} of {len(found)}" for name, found in kept.items() if found)
        pairs = (
            f" Of its findings on pairs of algorithms, these are found here too: {counts}." if counts else ""
        )
        return f"Agreement with the paper's means is not judged, because {published.incomparable}.{pairs}"
    judged = {metric.name: agreements(results, metric) for metric in published.judged}
    if not any(judged.values()):
        return "None of the paper's means can be compared: no trial has its number of evaluations."
    counts = ", ".join(f"{name} {sum(agree)} of {len(agree)}" for name, agree in judged.items())
    return f"Of the paper's means that can be compared, these agree with ours: {counts}."


def _verdict(results: StudyResults, judgements: Sequence[Judgement]) -> str:
    """Return a hypothesis and the verdict on it, here and in the paper."""
    hypothesis, published = judgements[0].hypothesis, results.published
    absent = [name for name in published.unavailable if name in chain.from_iterable(hypothesis.pairs)]
    cannot = f" It cannot be tested on {' and '.join(absent)}, which cannot be run here." if absent else ""
    return (
        f"{hypothesis.name}, {hypothesis.statement}: {overall_verdict(judgements, published)}.{cannot} "
        f"In the paper: {hypothesis.verdict}."
    )


def _gaps(results: StudyResults) -> Iterator[str]:
    """Return what the study lacks, and what it has that the published one has not."""
    published, size = results.published, f"{results.published.evaluations:,}"
    other_budget = [
        f"{algorithm} in {domain}"
        for domain, algorithm in published.means
        if results.of(domain, algorithm) and not results.has_published_budget(domain, algorithm)
    ]
    reduced = [_reduced_budget(results, domain) for domain in results.domains]
    gaps = {
        "Missing, so that nothing can be said about it": [
            _missing(results, one) for one in published.domains
        ],
        f"Not of {size} evaluations, so that agreement with the paper is not judged": (
            [] if published.incomparable else other_budget
        ),
        f"Less than the paper's {published.trials} trials of {size} evaluations": (
            reduced if published.incomparable else []
        ),
        "Domains not in the paper": [name for name in results.domains if name not in published.domains],
        "Algorithms not in the paper, which the tests include, so that F has other degrees of freedom": [
            name for name in results.algorithms if name not in published.algorithms
        ],
    }
    for gap, names in gaps.items():
        if any(names):
            yield f"{gap}: {', '.join(filter(None, names))}."
    yield from (f"{name} cannot be run here: {reason}." for name, reason in published.unavailable.items())


def _missing(results: StudyResults, domain: str) -> str:
    """Return a domain, with the algorithms that did not run there unless none did; empty if all ran."""
    algorithms = [name for name in results.published.algorithms if name not in results.published.unavailable]
    names = [name for name in algorithms if not results.of(domain, name)]
    if len(names) == len(algorithms):
        return domain
    return f"{domain} ({', '.join(names)})" if names else ""


def _reduced_budget(results: StudyResults, domain: str) -> str:
    """Return a domain with its trials and evaluations; empty if they are at least the published ones."""
    names, published = results.algorithms_in(domain), results.published
    numbers = sorted({len(results.of(domain, name)) for name in names})
    sizes = sorted({int(size) for name in names for size in results.values(domain, name, "evaluations")})
    if numbers[0] >= published.trials and sizes[0] >= published.evaluations:
        return ""
    number, size = (
        " to ".join(f"{value:,}" for value in dict.fromkeys((values[0], values[-1])))
        for values in (numbers, sizes)
    )
    return f"{domain} ({number} of {size})"


def _correction(results: StudyResults) -> Iterator[str]:
    """Return what the correction took away, if there was one."""
    if any(one.episodes for one in results.results):
        yield heading("Before correction", 3)
        yield paragraph(
            "Uncorrected metrics count each elite with the one episode by which it entered the archive. Next "
            "to each, in percent, is the share of its mean that is lost by the correction; a gain is "
            "negative. Left out are elites of which an episode diverged in simulation, as a mean number per "
            "trial."
        )
        yield from (correction_table(results, domain) for domain in results.domains)


def _tests(results: StudyResults, tests: Tests) -> Iterator[str]:
    """Return whether there are differences, and between which algorithms."""
    published, everything = results.published, list(chain.from_iterable(tests.values()))
    yield heading(published.words.tests)
    yield paragraph(
        "As in the paper: where Levene's test (about the medians) finds no difference between variances, a "
        "one-way ANOVA and Tukey's HSD; otherwise Welch's ANOVA and the Games-Howell test. The level is 0.05 "
        "for all pairs of a quantity in a domain together; there is no further correction for the number of "
        "domains."
    )
    yield anova_table(everything)
    yield heading("Assumptions", 3)
    yield assumptions_table(everything, results.algorithms)
    yield heading("Pairs of algorithms", 3)
    for each in tests.values():
        quantity = each[0].quantity
        if quantity.words:
            yield paragraph(f"The paper on {quantity.name}: {quantity.words}")
        if published.rows:
            yield paragraph(
                "< or >: the row is significantly below or above the column. -: there is no significant "
                "difference. After the slash: the paper's finding; bold where that differs."
            )
            yield from (matrix_table(one, published.rows) for one in each)
        else:
            yield signs_table(each, published) or _NO_PAIRS
