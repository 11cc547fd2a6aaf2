"""Tables of the report of a study."""

import math
from itertools import combinations, product

import numpy as np

from suites.markdown import NOTHING, bold_if, format_anova, format_mean, format_number, format_p, table
from suites.paper.analysis import DECIDED, Analysis, in_order
from suites.paper.published import PublishedMetric
from suites.statistics import MeanInterval, compare, mean_interval

_CORRECTED = ("qd_score", "coverage", "best")


def trials_table(study: Analysis) -> str:
    """Return how many trials there are of each algorithm in each domain, and of how many evaluations."""
    published = study.published
    algorithms = dict.fromkeys((*published.algorithms, *study.algorithms))
    domains = dict.fromkeys((*published.domains, *study.domains))

    def cell(domain: str, algorithm: str) -> str:
        trials = study.of(domain, algorithm)
        if trials.empty:
            return bold_if((domain, algorithm) in published.means, "none")
        sizes = sorted(set(trials.evaluations))
        if study.has_full_budget(domain, algorithm):
            return bold_if(len(trials) != published.trials, str(len(trials)))
        extremes = " to ".join(f"{size:,}" for size in dict.fromkeys((sizes[0], sizes[-1])))
        return bold_if(True, f"{len(trials)} ({extremes} evaluations)")

    return table(
        ("trials", *domains),
        [(name, *(cell(domain, name) for domain in domains)) for name in algorithms],
        caption=(
            f"The paper has {published.trials} trials of {published.evaluations:,} evaluations for each of "
            "its algorithms in each of its domains. Entries in bold differ from that."
        ),
    )


def results_table(study: Analysis, domain: str) -> str:
    """Return the results in a domain: our mean and its 95% interval, followed by the published mean."""
    metrics = study.published.metrics
    best = {metric.name: _best(study, domain, metric) for metric in metrics}
    rows = []
    for name in study.algorithms_in(domain):
        row = [name]
        for metric in metrics:
            ours = _describe(study.values(domain, name, metric), metric.decimals)
            row += [bold_if(name in best[metric.name], ours), _published_cell(study, domain, name, metric)]
        rows.append(row)
    header = [text for metric in metrics for text in (metric.label, study.published.label)]
    return table((domain, *header), rows)


def cost_table(study: Analysis, domain: str) -> str:
    """Return how the time of a domain's trials was spent, and how much memory the search took."""
    times = ("seconds", "cpu_seconds", "search_seconds", "evaluation_seconds")
    rows = []
    for name in study.algorithms_in(domain):
        trials = study.of(domain, name)
        spent = [_describe(trials[column].to_numpy() / 60, 2) for column in times]
        memory, restarts = trials.search_bytes.mean() / 2**20, trials.restarts.mean()
        rows.append((name, *spent, format_number(memory), format_number(restarts)))
    header = ("time [min]", "processor [min]", "search [min]", "evaluation [min]")
    return table((domain, *header, "search memory [MiB]", "restarts"), rows)


def equal_time_table(study: Analysis) -> str:
    """Compare QD scores for each pair of a hypothesis after equal time; empty if no time was recorded."""
    rows = []
    about_scores = [one for one in study.published.hypotheses if one.metric.field == "qd_score"]
    for hypothesis, domain in product(about_scores, study.domains):
        metric = hypothesis.metric
        for pair in hypothesis.pairs:
            if found := study.at_equal_time(domain, pair, metric):
                minutes, values = found[0] / 60, found[1]
                time = f"{minutes:.1f}" if minutes >= 1 else f"{minutes:.2g}"
                means = [_describe(np.array(one), metric.decimals) for one in values.values()]
                tests = compare(values), study.tests[metric.name, domain]
                sign, at_end = (test.sign(*pair) or "not tested" for test in tests)
                rows.append((hypothesis.name, domain, *pair, time, *means, bold_if(True, sign), at_end))
    header = ("hypothesis", "domain", "first", "second", "time [min]", "first then", "second then", "sign")
    return table((*header, "at the end"), rows, text_columns=4) if rows else ""


def correction_table(study: Analysis, domain: str) -> str:
    """Return metrics before the correction in a domain, and what the correction took away of them."""
    metrics = [metric for metric in study.published.metrics if metric.field in _CORRECTED]
    rows = []
    for name in study.algorithms_in(domain):
        row = [name]
        for metric in metrics:
            raw = study.values(domain, name, metric, prefix="raw_")
            before, after = raw.mean(), study.values(domain, name, metric).mean()
            lost = f"{100 * (1 - after / before):.1f}" if before > 0 and np.isfinite(after) else NOTHING
            row += [_describe(raw, metric.decimals), lost]
        rows.append((*row, format_number(study.of(domain, name).left_out.mean())))
    header = [text for metric in metrics for text in (metric.label, "lost [%]")]
    return table((domain, *header, "left out"), rows)


def anova_table(study: Analysis) -> str:
    """Return the test of all algorithms, by metric and domain, next to the published one."""
    rows = []
    for metric, domain in product(study.published.tested, study.domains):
        test = study.tests[metric.name, domain]
        here = format_anova(test.anova) if test.anova else f"not tested: {test.untested}"
        rows.append((metric.name, domain, here, metric.anovas.get(domain, NOTHING)))
    return table(("metric", "domain", "test", "paper"), rows, text_columns=4)


def signs_table(study: Analysis, metric: PublishedMetric) -> str:
    """Return how every two algorithms compare in each domain, for one metric; empty without pairs."""
    rows = []
    for first, second in combinations(in_order(study.algorithms, study.published.order), 2):
        cells = [_sign_cell(study, metric, domain, first, second) for domain in study.domains]
        if any(cells):
            rows.append((f"{first} vs {second}", *cells))
    return table((metric.name, *study.domains), rows) if rows else ""


def pairs_table(study: Analysis, metric: PublishedMetric) -> str:
    """Return every comparison of two algorithms in full, for one metric; empty without pairs."""
    rows = []
    for domain in study.domains:
        for pair in study.tests[metric.name, domain].pairs:
            interval = MeanInterval(pair.difference, pair.low, pair.high)
            names = f"{pair.first} {pair.sign} {pair.second}"
            rows.append((domain, names, format_mean(interval, metric.decimals), format_p(pair.p)))
    header = ("domain", metric.name, f"difference [{metric.unit}]", "p")
    return table(header, rows, text_columns=2) if rows else ""


def verdicts_table(study: Analysis) -> str:
    """Return the verdict on each hypothesis in each domain, here and in the paper."""
    rows = []
    for hypothesis in study.published.hypotheses:
        for domain, (verdict, reason) in study.judge(hypothesis).items():
            paper = NOTHING
            if domain in hypothesis.metric.findings:
                below = [hypothesis.metric.finding(domain, pair) == "<" for pair in hypothesis.pairs]
                paper = "supported" if all(below) else "not supported"
            rows.append((hypothesis.name, domain, bold_if(True, verdict), paper, reason))
    return table(("hypothesis", "domain", "verdict", "paper", "reason"), rows, text_columns=5)


def _best(study: Analysis, domain: str, metric: PublishedMetric) -> set[str]:
    """Return the algorithms with the best mean, to the digits that the paper prints."""
    means = {
        name: round(mean, metric.decimals)
        for name in study.algorithms_in(domain)
        if math.isfinite(mean := float(study.values(domain, name, metric).mean()))
    }
    if len(means) < 2:
        return set()
    top = min(means.values()) if metric.lowest_is_best else max(means.values())
    return {name for name, mean in means.items() if mean == top}


def _published_cell(study: Analysis, domain: str, algorithm: str, metric: PublishedMetric) -> str:
    """Return the published mean, bold if ours differs, and the ratio to it of what is not judged."""
    printed = study.published.means.get((domain, algorithm), {}).get(metric.field)
    if printed is None:
        return NOTHING
    text = f"{printed:,.{metric.decimals}f}"
    if not metric.judged and study.printed(domain, algorithm, metric):
        return f"{text} (x{format_number(study.values(domain, algorithm, metric).mean() / printed)})"
    return bold_if(study.against_printed(domain, algorithm, metric) in ("<", ">"), text)


def _sign_cell(study: Analysis, metric: PublishedMetric, domain: str, first: str, second: str) -> str:
    """Return a sign, and after a slash the published one; bold where both are decided and differ."""
    test = study.tests[metric.name, domain]
    if not {first, second} <= set(test.groups):
        return ""
    here = test.sign(first, second) or "not tested"
    there = metric.finding(domain, (first, second))
    differs = here in DECIDED and there in DECIDED and here != there
    return bold_if(differs, f"{here} / {there}" if there else here)


def _describe(values: np.ndarray, decimals: int) -> str:
    """Return mean and interval; a dash where there is no number, as for the best of an empty archive."""
    return format_mean(mean_interval(values), decimals) if np.isfinite(values).all() else NOTHING
