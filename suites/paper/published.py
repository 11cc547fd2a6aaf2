"""Studies that somebody else published, read from YAML, with which ours are compared."""

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml

from suites.statistics import MIRRORED, Deviation

Pair = tuple[str, str]
Findings = Mapping[Pair, str]
_FOLDER = Path(__file__).parent / "tjanaka2023"


@dataclass(frozen=True)
class PublishedMetric:
    """A number per trial: a column of the tables of results, and perhaps tested for differences.

    Attributes:
        name: in words.
        field: of `TrialResult`.
        decimals: that the publication prints.
        unit: in which it is printed; empty if it has none.
        scale: factor from the field's unit to the printed one.
        judged: whether our mean is compared with the printed one; otherwise their ratio is given.
        lowest_is_best: whether lower means are better.
        words: the published findings in the report's words; empty unless algorithms are tested for it.
        anovas: the published test of all algorithms by domain; may be empty.
        findings: the published sign between two algorithms by domain, "?" where it found no significant
            difference, which does not say that they are alike; every pair in both orders.
    """

    name: str
    field: str
    decimals: int
    unit: str = ""
    scale: float = 1.0
    judged: bool = True
    lowest_is_best: bool = False
    words: str = ""
    anovas: Mapping[str, str] = dataclasses.field(default_factory=dict)
    findings: Mapping[str, Findings] = dataclasses.field(default_factory=dict)

    @property
    def label(self) -> str:
        """Heading of its column."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    def finding(self, domain: str, pair: Pair) -> str | None:
        """The published sign between two algorithms; None if there is none."""
        return self.findings.get(domain, {}).get(pair)


@dataclass(frozen=True)
class Hypothesis:
    """The published hypothesis that in each of some pairs of algorithms the first is below the second."""

    name: str
    statement: str
    metric: PublishedMetric
    pairs: tuple[Pair, ...]
    verdict: str

    def supported_in(self, domain: str) -> bool:
        """Whether the published findings in a published domain support the hypothesis."""
        return all(self.metric.finding(domain, pair) == "<" for pair in self.pairs)


@dataclass(frozen=True)
class PublishedStudy:
    """A published study: what it ran, what it found, and how a report compares with it.

    Attributes:
        name: as on the command line.
        title: of a report that compares with it.
        domains: in the order of the tables.
        algorithms: in the order of the tables.
        order: of algorithms in comparisons.
        trials: of each algorithm in each domain.
        evaluations: of each trial.
        metrics: columns of the results.
        means: printed mean of each metric, by domain and algorithm and then by the metric's field.
        hypotheses: about metrics.
        words: other texts of the report that only hold for this study, by their place in it.
        reading: paragraphs on how to read the results.
        settings: that all algorithms have which know them, by name.
        episodes: of each elite, for the correction; 0 for benchmarks.
        learning_rates: of the archive, which the study compares; empty where it compares algorithms.
        objectives: range of the objective in every domain; None where each domain has its own.
        label: heading of the published numbers.
        incomparable: why our means are not compared with the printed ones; empty where they are.
    """

    name: str
    title: str
    domains: tuple[str, ...]
    algorithms: tuple[str, ...]
    order: tuple[str, ...]
    trials: int
    evaluations: int
    metrics: tuple[PublishedMetric, ...]
    means: Mapping[Pair, Mapping[str, float]]
    hypotheses: tuple[Hypothesis, ...]
    words: Mapping[str, str]
    reading: tuple[str, ...]
    settings: Mapping[str, object] = dataclasses.field(default_factory=dict)
    episodes: int = 0
    learning_rates: tuple[float, ...] = ()
    objectives: tuple[float, float] | None = None
    label: str = "paper"
    incomparable: str = ""

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
    found = studies[name] | {"name": name}
    metrics = {one["name"]: _metric(one, found["order"]) for one in found["metrics"]}
    built = {key: tuple(value) for key, value in found.items() if isinstance(value, list)} | {
        "metrics": tuple(metrics.values()),
        "means": {
            (domain, algorithm): dict(zip((one.field for one in metrics.values()), row, strict=True))
            for domain, rows in found["means"].items()
            for algorithm, row in rows.items()
        },
        "hypotheses": tuple(_hypothesis(one, metrics) for one in found["hypotheses"]),
    }
    return PublishedStudy(**found | built)


def _metric(found: dict[str, Any], order: Sequence[str]) -> PublishedMetric:
    """Build a metric; `findings` has a row of signs per algorithm and a column per algorithm of `order`."""
    findings = {domain: _signs(rows, order) for domain, rows in found.get("findings", {}).items()}
    scale = float(Fraction(str(found.get("scale", 1))))  # may be written as 1/60
    return PublishedMetric(**found | {"scale": scale, "findings": findings})


def _signs(rows: Mapping[str, str], order: Sequence[str]) -> dict[Pair, str]:
    """Read a table of signs, every pair in both orders."""
    found: dict[Pair, str] = {}
    for first, signs in rows.items():
        for second, sign in zip(order, signs, strict=True):
            if sign in "<->":
                decided = "?" if sign == "-" else sign
                found |= {(first, second): decided, (second, first): MIRRORED.get(decided, decided)}
    return found


def _hypothesis(found: dict[str, Any], metrics: Mapping[str, PublishedMetric]) -> Hypothesis:
    """Build a hypothesis: a ranking, or one group of algorithms below another."""
    if "ranking" in found:
        pairs = tuple(combinations(found["ranking"], 2))
    else:
        pairs = tuple(product(found["lower"], found["higher"]))
    return Hypothesis(found["name"], found["statement"], metrics[found["metric"]], pairs, found["verdict"])
