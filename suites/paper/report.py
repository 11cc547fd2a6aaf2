"""The report of a study: tables, tests and verdicts in Markdown, pictures, and every trial in a CSV."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from repertoire.algorithms.catalogue import ALGORITHMS
from robots.files.atomic import write_text
from suites.markdown import bullets, fill, join, paragraph, picture
from suites.paper import tables
from suites.paper.analysis import DECIDED, Analysis
from suites.paper.figures import draw_archives, draw_curves
from suites.paper.published import Hypothesis, PublishedMetric
from suites.paper.results import SCALARS

_TEMPLATE = Path(__file__).parent / "tjanaka2023" / "report.md"
_TIMES = "The same QD score over the processor time of training."


def write_report(study: Analysis, folder: Path) -> list[Path]:
    """Write `trials.csv`, `curves.png`, `times.png`, `archives.png` and `report.md`.

    The same results give the same files, in whatever order they come. A study need be neither complete nor
    restricted to the published algorithms and domains: the report says what is missing.

    Returns:
        The files, in the order above; `times.png` only if the trials recorded times.
    """
    names = ("trials.csv", "curves.png", "times.png", "archives.png", "report.md")
    paths = trials, curves, times, archives, report = [folder / name for name in names]
    write_text(trials, study.trials[SCALARS].to_csv(index=False, na_rep="nan", lineterminator="\n"))
    draw_curves(study, curves)
    if _records_times(study):
        draw_curves(study, times, over="cpu_seconds")
    draw_archives(study, archives)
    write_text(report, report_text(study))
    return [path for path in paths if path != times or _records_times(study)]


def report_text(study: Analysis) -> str:
    """Return `report.md` of a study."""
    published, domains = study.published, study.domains
    words = published.words
    verdicts = (
        f"{one.name}, {one.statement}: {overall_verdict(study, one)}. In the paper: {one.verdict}."
        for one in published.hypotheses
    )
    timed = _records_times(study)
    corrected = (study.trials.episodes > 0).any()
    blocks = {
        "title": published.title,
        "notes": bullets(_notes(study)),
        "summary": bullets([_completeness(study), *_agreement(study), *verdicts]),
        "trials": tables.trials_table(study),
        "results_heading": words["results"],
        "reading": join(map(paragraph, published.reading)),
        "results": join(tables.results_table(study, domain) for domain in domains),
        "curves": picture("curves.png", words["curves"]),
        "archives": picture("archives.png", words["archives"]),
        "times": picture("times.png", _TIMES) if timed else "",
        "equal_time": tables.equal_time_table(study) if timed else "",
        "correction": join(tables.correction_table(study, domain) for domain in domains) if corrected else "",
        "costs": join([paragraph(words["costs"]), *(tables.cost_table(study, domain) for domain in domains)]),
        "tests_heading": words["tests"],
        "anovas": tables.anova_table(study),
        "signs": join(
            block
            for metric in published.tested
            for block in (
                paragraph(f"The paper on {metric.name}: {metric.words}"),
                tables.signs_table(study, metric),
            )
        ),
        "verdicts": join([paragraph(words["supported"]), tables.verdicts_table(study)]),
        "pairs": join(tables.pairs_table(study, metric) for metric in published.tested),
    }
    return fill(_TEMPLATE, blocks)


def _notes(study: Analysis) -> Iterator[str]:
    trials = study.trials

    def values(column: str) -> str:
        return "; ".join(map(str, sorted(trials[column].unique())))

    yield (
        f"Trials ran on: {values('machine')}. Threads of each trial: {values('threads')}. "
        f"Software: {values('versions')}."
    )
    yield study.published.words["settings"]
    for options in filter(None, sorted(trials.options.unique())):
        setting = options.split()[0]
        users = [name for name in study.algorithms if setting in ALGORITHMS[name].own_settings()]
        yield (
            f"This is a variant of the study: {options} in {' and '.join(users) or 'no algorithm'}; "
            "the other algorithms have no such setting."
        )
    if (trials.episodes > 0).any():
        yield (
            f"Metrics are corrected with {values('episodes')} episodes of every elite, the same for all "
            "elites of an archive. QD scores count from the minimum objective in each robot's description: "
            f"{_minimum_objectives(trials[trials.episodes > 0])}."
        )


def _minimum_objectives(trials: pd.DataFrame) -> str:
    return ", ".join(
        f"{one.domain} {one.min_objective:,.2f} (episodes of at most {one.episode_steps:,} control steps)"
        for one in trials.drop_duplicates(["domain", "min_objective"]).itertuples()
    )


def _completeness(study: Analysis) -> str:
    published = study.published
    ran = [key for key in published.means if len(study.of(*key))]
    full = [key for key in ran if study.has_full_budget(*key) and len(study.of(*key)) >= published.trials]
    budget = f"{published.trials} trials of {published.evaluations:,} evaluations"
    if len(full) == len(published.means):
        return f"The study is complete: at least {budget} for every algorithm in every domain of the paper."
    most = int(study.trials.evaluations.max())
    short = f" Findings and verdicts are about at most {most:,} evaluations, not about longer searches."
    return (
        f"The study is incomplete: of the paper's {len(published.means)} combinations of algorithm and "
        f"domain {len(ran)} ran, {len(full)} of them with at least {budget}."
        f"{short if most < published.evaluations else ''}"
    )


def _agreement(study: Analysis) -> Iterator[str]:
    published = study.published
    if published.incomparable:
        yield f"Our means are not compared with the paper's, because {published.incomparable}."
    else:
        counts = {metric.name: study.agreement(metric) for metric in published.metrics}
        words = [
            f"{name}, {found.total()} means: {found['≈']} agree, {found['<'] + found['>']} differ, "
            f"{found['?']} not answerable"
            for name, found in counts.items()
            if found
        ]
        unable = "none can be compared, because no trial has the paper's number of evaluations"
        yield f"Our means and the paper's: {'; '.join(words) or unable}."
    for metric in published.tested:
        found = study.findings(metric)
        if found:
            yield _findings_line(metric, found)


def _findings_line(metric: PublishedMetric, found: list[tuple[str, str]]) -> str:
    here, there = ([sign in DECIDED for sign in signs] for signs in zip(*found, strict=True))
    both = [one for one, *decided in zip(found, here, there, strict=True) if all(decided)]
    same = sum(ours == paper for ours, paper in both)
    return (
        f"Findings on pairs of algorithms, {metric.name}: of {len(found)} pairs, {len(both)} can be decided "
        f"by both the paper and our trials; in {same} of these the findings are the same. "
        f"{here.count(False)} cannot be decided here, {there.count(False)} cannot in the paper."
    )


def overall_verdict(study: Analysis, hypothesis: Hypothesis) -> str:
    """Return the verdict on a hypothesis as a whole: supported where it is in every published domain.

    One published domain that does not support it is enough against it; domains that were not published do not
    count.
    """
    total = len(study.published.domains)
    judged = study.judge(hypothesis)
    found = Counter(judged[name][0] for name in study.published.domains if name in judged)
    del found["not tested"]
    partly = ", as far as its algorithms ran" if found["supported as far as tested"] else ""
    supported = found["supported"] + found["supported as far as tested"]
    where = f"supported in {supported} of {found.total()} domains tested{partly}"
    if unanswered := found["not answerable"]:
        where += f", not answerable in {unanswered}"
    if not found.total():
        return "not tested"
    if supported < found.total():
        return f"{'not supported' if found['not supported'] else 'not answerable'} ({where})"
    return f"supported{partly}" if supported == total else f"{where}, of {total} in the paper"


def _records_times(study: Analysis) -> bool:
    """Whether a trial recorded processor times along its course, which those of older versions did not."""
    return any("cpu_seconds" in history for history in study.trials.history)
