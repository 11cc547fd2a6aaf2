"""Studies that somebody else published, read from YAML, with which ours are compared."""

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import yaml
from pydantic import BeforeValidator

from robots.files.records import Record
from suites.statistics import MIRRORED, Deviation

Pair = tuple[str, str]
_FOLDER = Path(__file__).parent / "tjanaka2023"


class PublishedMetric(Record):
    """A number per trial: a column of the tables of results, and perhaps tested for differences."""

    name: str  # in words
    field: str  # of `TrialResult`
    decimals: int  # that the publication prints
    unit: str = ""  # in which it is printed; empty if it has none
    # factor from the field's unit to the printed one; in the YAML it may be written as 1/60
    scale: Annotated[float, BeforeValidator(lambda text: float(Fraction(str(text))))] = 1.0
    judged: bool = True  # whether our mean is compared with the printed one; otherwise their ratio is given
    lowest_is_best: bool = False  # whether lower means are better
    words: str = ""  # the published findings in the report's words; empty unless algorithms are tested for it
    anovas: Mapping[str, str] = {}  # the published test of all algorithms by domain; may be empty
    # the published sign between two algorithms by domain, "?" where it found no significant difference,
    # which does not say that they are alike; every pair in both orders
    findings: Mapping[str, Mapping[Pair, str]] = {}

    @property
    def label(self) -> str:
        """Heading of its column."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    def finding(self, domain: str, pair: Pair) -> str | None:
        """The published sign between two algorithms; None if there is none."""
        return self.findings.get(domain, {}).get(pair)


class Hypothesis(Record):
    """The published hypothesis that in each of some pairs of algorithms the first is below the second."""

    name: str
    statement: str
    metric: PublishedMetric
    pairs: tuple[Pair, ...]
    verdict: str


class PublishedStudy(Record):
    """A published study: what it ran, what it found, and how a report compares with it."""

    name: str  # as on the command line
    title: str  # of a report that compares with it
    domains: tuple[str, ...]  # in the order of the tables, as are `algorithms`
    algorithms: tuple[str, ...]
    order: tuple[str, ...]  # of algorithms in comparisons
    trials: int  # of each algorithm in each domain
    evaluations: int  # of each trial
    metrics: tuple[PublishedMetric, ...]  # columns of the results
    # printed mean of each metric, by domain and algorithm and then by the metric's field
    means: Mapping[Pair, Mapping[str, float]]
    hypotheses: tuple[Hypothesis, ...]  # about metrics
    words: Mapping[str, str]  # other texts of the report that only hold for this study, by their place in it
    reading: tuple[str, ...]  # paragraphs on how to read the results
    settings: Mapping[str, Any] = {}  # that all algorithms have which know them, by name
    episodes: int = 0  # of each elite, for the correction; 0 for benchmarks
    # of the archive, which the study compares; empty where it compares algorithms
    learning_rates: tuple[float, ...] = ()
    # range of the objective in every domain; None where each domain has its own
    objectives: tuple[float, float] | None = None
    label: str = "paper"  # heading of the published numbers
    incomparable: str = ""  # why our means are not compared with the printed ones; empty where they are

    @property
    def tested(self) -> tuple[PublishedMetric, ...]:
        """The metrics for which algorithms are compared."""
        return tuple(metric for metric in self.metrics if metric.words)

    def spread(self, metric: PublishedMetric, domain: str) -> Deviation | None:
        """The standard deviation of a metric's trials, if its one-way ANOVA tells it; in the printed unit."""
        anova = re.match(r"F\(\d+, (\d+)\) = ([\d.]+)", metric.anovas.get(domain, ""))
        if anova is None:
            return None
        means = [self.means[domain, name][metric.field] for name in self.algorithms]
        # F is the variance between groups as a multiple of that within them
        return Deviation(math.sqrt(self.trials * np.var(means, ddof=1) / float(anova[2])), int(anova[1]))


@cache
def published_study(name: Literal["optimization", "locomotion", "ablation"]) -> PublishedStudy:
    """Read a study of Tjanaka et al. 2023."""
    studies: dict[str, Any] = {}
    for path in sorted(_FOLDER.glob("*.yaml")):
        studies |= yaml.safe_load(path.read_text(encoding="utf-8"))
    found = studies[name]
    metrics = {one["name"]: _metric(one, found["order"]) for one in found["metrics"]}
    fields = [metric.field for metric in metrics.values()]
    means = {
        (domain, algorithm): dict(zip(fields, row, strict=True))
        for domain, rows in found["means"].items()
        for algorithm, row in rows.items()
    }
    hypotheses = [_hypothesis(one, metrics) for one in found["hypotheses"]]
    built = {"name": name, "metrics": [*metrics.values()], "means": means, "hypotheses": hypotheses}
    return PublishedStudy(**found | built)


def _metric(found: dict[str, Any], order: Sequence[str]) -> PublishedMetric:
    """Build a metric; `findings` has a row of signs per algorithm and a column per algorithm of `order`."""
    signs: dict[str, dict[Pair, str]] = {}
    for domain, rows in found.get("findings", {}).items():
        known = signs[domain] = {}
        for first, row in rows.items():
            for second, sign in zip(order, row.replace("-", "?"), strict=True):
                if sign in "<?>":
                    known |= {(first, second): sign, (second, first): MIRRORED.get(sign, sign)}
    return PublishedMetric(**found | {"findings": signs})


def _hypothesis(found: dict[str, Any], metrics: Mapping[str, PublishedMetric]) -> Hypothesis:
    """Build a hypothesis: a ranking, or one group of algorithms below another."""
    if "ranking" in found:
        pairs = tuple(combinations(found["ranking"], 2))
    else:
        pairs = tuple(product(found["lower"], found["higher"]))
    named = {key: found[key] for key in ("name", "statement", "verdict")}
    return Hypothesis(**named, metric=metrics[found["metric"]], pairs=pairs)
