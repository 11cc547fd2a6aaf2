"""Studies that somebody else published, read from YAML, with which ours are compared."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any, Literal

import yaml

from repertoire.statistics import MIRRORED, Sign

Pair = tuple[str, str]
_FOLDER = Path(__file__).parent / "tjanaka2023"


@dataclass(frozen=True)
class Metric:
    """A column of the tables of results.

    Attributes:
        label: heading of the column, with its unit.
        field: of `TrialResult`.
        decimals: that the publication prints.
        scale: factor from the field's unit to the printed one.
        judged: whether agreement with the printed mean is judged; otherwise the ratio to it is given.
        lowest_is_best: whether lower means are better.
    """

    label: str
    field: str
    decimals: int
    scale: float = 1.0
    judged: bool = True
    lowest_is_best: bool = False

    @property
    def name(self) -> str:
        """The label without its unit."""
        return self.label.split(" [")[0]


@dataclass(frozen=True)
class Quantity:
    """A number per trial that is tested for differences between algorithms.

    Attributes:
        name: in words.
        field: of `TrialResult`.
        unit: in which it is shown.
        scale: factor from the field's unit to that one.
        decimals: smallest number of decimals that is shown.
        words: the published findings in the report's words; may be empty.
        anovas: the published test of all algorithms by domain; may be empty.
        findings: the published sign between two algorithms by domain; every pair once.
    """

    name: str
    field: str
    unit: str
    scale: float
    decimals: int
    words: str = ""
    anovas: Mapping[str, str] = dataclasses.field(default_factory=dict)
    findings: Mapping[str, Mapping[Pair, Sign]] = dataclasses.field(default_factory=dict)

    def sign(self, domain: str, first: str, second: str) -> Sign | None:
        """The published sign between two algorithms, if there is one."""
        findings = self.findings.get(domain, {})
        mirrored = findings.get((second, first))
        return findings.get((first, second)) or (mirrored and MIRRORED[mirrored])


@dataclass(frozen=True)
class Hypothesis:
    """The published hypothesis that in each of some pairs of algorithms the first is below the second."""

    name: str
    statement: str
    quantity: Quantity
    pairs: tuple[Pair, ...]
    verdict: str

    def supported_in(self, domain: str) -> bool:
        """Whether the published findings in a published domain support the hypothesis."""
        return all(self.quantity.sign(domain, *pair) == "<" for pair in self.pairs)


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
        quantities: that are tested.
        hypotheses: about these.
        words: other texts of the report that only hold for this study, by their place in it.
        reading: paragraphs on how to read the results.
        rule: how thresholds are updated within a batch.
        episodes: of each elite, for the correction; 0 for benchmarks.
        learning_rates: of the archive, which the study compares; empty where it compares algorithms.
        objectives: range of the objective in every domain; None where each domain has its own.
        label: heading of the published numbers.
        incomparable: why agreement with the means is not judged; empty where it is.
        unavailable: algorithms that cannot be run here, each with the reason.
        rows: algorithms in the rows of the tables of pairs, one table per domain; empty for one list.
    """

    name: str
    title: str
    domains: tuple[str, ...]
    algorithms: tuple[str, ...]
    order: tuple[str, ...]
    trials: int
    evaluations: int
    metrics: tuple[Metric, ...]
    means: Mapping[Pair, Mapping[str, float]]
    quantities: tuple[Quantity, ...]
    hypotheses: tuple[Hypothesis, ...]
    words: Mapping[str, str]
    reading: tuple[str, ...]
    rule: Literal["sequential", "batch"] = "sequential"
    episodes: int = 0
    learning_rates: tuple[float, ...] = ()
    objectives: tuple[float, float] | None = None
    label: str = "paper"
    incomparable: str = ""
    unavailable: Mapping[str, str] = dataclasses.field(default_factory=dict)
    rows: tuple[str, ...] = ()

    @property
    def judged(self) -> tuple[Metric, ...]:
        """The metrics whose agreement can be judged."""
        return tuple(metric for metric in self.metrics if metric.judged)

    @property
    def available(self) -> tuple[str, ...]:
        """The algorithms that can be run here."""
        return tuple(name for name in self.algorithms if name not in self.unavailable)


@cache
def published_study(name: str) -> PublishedStudy:
    """Read a study of Tjanaka et al. 2023: `optimization`, `locomotion` or `ablation`."""
    studies: dict[str, Any] = {}
    for path in sorted(_FOLDER.glob("*.yaml")):
        studies |= yaml.safe_load(path.read_text(encoding="utf-8"))
    found = studies[name] | {"name": name}
    metrics = tuple(Metric(**_scaled(one)) for one in found["metrics"])
    quantities = {one["name"]: _quantity(one, found["order"]) for one in found["quantities"]}
    built = {key: tuple(value) for key, value in found.items() if isinstance(value, list)} | {
        "metrics": metrics,
        "means": {
            (domain, algorithm): dict(zip((metric.field for metric in metrics), row, strict=True))
            for domain, rows in found["means"].items()
            for algorithm, row in rows.items()
        },
        "quantities": tuple(quantities.values()),
        "hypotheses": tuple(_hypothesis(one, quantities) for one in found["hypotheses"]),
    }
    return PublishedStudy(**found | built)


def _quantity(found: dict[str, Any], order: Sequence[str]) -> Quantity:
    """Build a quantity; `findings` has a row of signs per algorithm and a column per algorithm of `order`."""
    findings = {domain: _signs(rows, order) for domain, rows in found.get("findings", {}).items()}
    return Quantity(**_scaled(found) | {"findings": findings})


def _signs(rows: Mapping[str, str], order: Sequence[str]) -> dict[Pair, Sign]:
    """Read a table of signs, every pair once."""
    known: dict[str, Sign] = {"<": "<", "-": "-", ">": ">"}
    found: dict[Pair, Sign] = {}
    for first, signs in rows.items():
        for second, sign in zip(order, signs, strict=True):
            if sign in known and (second, first) not in found:
                found[first, second] = known[sign]
    return found


def _hypothesis(found: dict[str, Any], quantities: Mapping[str, Quantity]) -> Hypothesis:
    """Build a hypothesis: a ranking, or one group of algorithms below another."""
    if "ranking" in found:
        pairs = tuple(combinations(found["ranking"], 2))
    else:
        pairs = tuple(product(found["lower"], found["higher"]))
    return Hypothesis(
        found["name"], found["statement"], quantities[found["quantity"]], pairs, found["verdict"]
    )


def _scaled(found: dict[str, Any]) -> dict[str, Any]:
    """Make the scale, which may be a fraction such as 1/60, a number."""
    return found | {"scale": float(Fraction(str(found.get("scale", 1))))}
