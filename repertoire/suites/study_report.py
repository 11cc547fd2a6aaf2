"""The report of a study: tables, tests and verdicts in Markdown, two pictures, and every trial in a CSV."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from pathlib import Path
from string import Template

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
from repertoire.suites.report import bullets, heading, join, paragraph, picture, write_csv
from repertoire.suites.results import StudyResults, TrialResult
from repertoire.suites.tables import agreements, correction_table, cost_table, results_table, trials_table
from repertoire.suites.videos import videos_section
from robots.files import make_folder, write_text

Tests = Mapping[str, Sequence[DomainTest]]  # by the name of the quantity
_TEMPLATE = Path(__file__).parent / "tjanaka2023" / "report.md"
_NO_PAIRS = "There are no two algorithms to compare."


def write_report(results: StudyResults, folder: Path) -> list[Path]:
    """Write `trials.csv`, `curves.png`, `archives.png` and `report.md` to a folder.

    The same results give the same files, in whatever order they come. A study need be neither complete nor
    restricted to the published algorithms and domains: the report says what is missing.

    Args:
        results: of the study.
        folder: made if it is missing; the report lists the videos there.

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
    write_text(report, report_text(results, folder))
    return paths


def report_text(results: StudyResults, folder: Path) -> str:
    """Return `report.md` of a study in a folder, whose pictures and videos it shows."""
    blocks = _blocks(results) | {"videos": join(videos_section(folder))}
    text = Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(blocks)
    return re.sub(r"\n{3,}", "\n\n", text)


def _blocks(results: StudyResults) -> dict[str, str]:
    """Return the computed parts of the report by their place in the template."""
    published, domains = results.published, results.domains
    words = published.words
    tests = {one.name: compare_in_domains(results, one) for one in published.quantities}
    judgements = [judge(one, tests[one.quantity.name]) for one in published.hypotheses]
    verdicts = (_verdict(results, each) for each in judgements)
    everything = list(chain.from_iterable(tests.values()))
    costs = (cost_table(results, domain) for domain in domains)
    return {
        "title": published.title,
        "notes": bullets(_notes(results)),
        "summary": bullets([_completeness(results), _agreement(results, tests), *verdicts]),
        "trials": trials_table(results),
        "gaps": bullets(_gaps(results)),
        "results_heading": words["results"],
        "reading": join(map(paragraph, published.reading)),
        "results": join(results_table(results, domain) for domain in domains),
        "curves": picture("curves.png", words["curves"]),
        "archives": picture("archives.png", words["archives"]),
        "correction": join(_correction(results)),
        "costs": join([paragraph(words["costs"]), *costs]),
        "tests_heading": words["tests"],
        "anovas": anova_table(everything),
        "assumptions": assumptions_table(everything, results.algorithms),
        "signs": join(chain.from_iterable(_signs(results, each) for each in tests.values())),
        "verdicts": join([paragraph(words["supported"]), verdicts_table([*chain.from_iterable(judgements)])]),
        "pairs": join(pairs_table(each) or _NO_PAIRS for each in tests.values()),
    }


def _notes(results: StudyResults) -> Iterator[str]:
    """Return how the study was run."""

    def list_of(field: str) -> str:
        return "; ".join(str(value) for value in sorted({getattr(one, field) for one in results.results}))

    yield (
        f"Trials ran on: {list_of('machine')}. Threads of each trial: {list_of('threads')}. "
        f"Software: {list_of('versions')}."
    )
    yield results.published.words["settings"]
    corrected = [one for one in results.results if one.episodes]
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
        counts = _counts({name: findings_reproduced(each) for name, each in tests.items()})
        pairs = (
            f" Of its findings on pairs of algorithms, these are found here too: {counts}." if counts else ""
        )
        return f"Agreement with the paper's means is not judged, because {published.incomparable}.{pairs}"
    counts = _counts({metric.name: agreements(results, metric) for metric in published.judged})
    if not counts:
        return "None of the paper's means can be compared: no trial has its number of evaluations."
    return f"Of the paper's means that can be compared, these agree with ours: {counts}."


def _counts(found: Mapping[str, Sequence[bool]]) -> str:
    """Return how often something holds, by name; empty if there is nothing to count."""
    return ", ".join(f"{name} {sum(held)} of {len(held)}" for name, held in found.items() if held)


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
    if published.incomparable:
        budget = f"Less than the paper's {published.trials} trials of {size} evaluations"
        reduced = [_reduced_budget(results, domain) for domain in results.domains]
    else:
        budget = f"Not of {size} evaluations, so that agreement with the paper is not judged"
        reduced = [
            f"{algorithm} in {domain}"
            for domain, algorithm in published.means
            if results.of(domain, algorithm) and not results.has_published_budget(domain, algorithm)
        ]
    missing = [_missing(results, domain) for domain in published.domains]
    gaps = {
        "Missing, so that nothing can be said about it": missing,
        budget: reduced,
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
    names = [name for name in results.published.available if not results.of(domain, name)]
    if len(names) == len(results.published.available):
        return domain
    return f"{domain} ({', '.join(names)})" if names else ""


def _reduced_budget(results: StudyResults, domain: str) -> str:
    """Return a domain with its trials and evaluations; empty if they are at least the published ones."""
    published, names = results.published, results.algorithms_in(domain)
    numbers = sorted(len(results.of(domain, name)) for name in names)
    sizes = sorted(int(size) for name in names for size in results.values(domain, name, "evaluations"))
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


def _signs(results: StudyResults, tests: Sequence[DomainTest]) -> Iterator[str]:
    """Return between which algorithms a quantity differs."""
    published, quantity = results.published, tests[0].quantity
    if quantity.words:
        yield paragraph(f"The paper on {quantity.name}: {quantity.words}")
    if published.rows:
        yield paragraph(
            "< or >: the row is significantly below or above the column. -: there is no significant "
            "difference. After the slash: the paper's finding; bold where that differs."
        )
        yield from (matrix_table(one, published.rows) for one in tests)
    else:
        yield signs_table(tests, published) or _NO_PAIRS
