"""`PublishedStudy`: what somebody else reports of a study, as data that ours is held against."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from repertoire.statistics import MIRRORED, Sign

Pair = tuple[str, str]
Key = tuple[str, str]  # a domain and an algorithm


@dataclass(frozen=True)
class Metric:
    """A column of a table of results.

    Attributes:
        label: with its unit.
        field: of `TrialResult`.
        decimals: that are printed.
        scale: from the field's unit to the printed one.
        judged: whether agreement with what is printed can be judged; else the ratio to it is given.
        best: of several means.
    """

    label: str
    field: str
    decimals: int
    scale: float = 1.0
    judged: bool = True
    best: Callable[..., float | None] = max

    @property
    def name(self) -> str:
        """The label without its unit."""
        return self.label.split(" [")[0]


@dataclass(frozen=True)
class Quantity:
    """What is tested for differences between algorithms, and what was found there.

    Attributes:
        name: in words.
        field: of `TrialResult` that holds it.
        unit: in which it is shown.
        scale: from the field's unit to that one.
        decimals: at least so many are shown.
        anovas: by domain, the published test of all algorithms; may be empty.
        findings: by domain, the published sign between two algorithms.
        words: those findings in the report's words; may be empty.
    """

    name: str
    field: str
    unit: str
    scale: float
    decimals: int
    anovas: Mapping[str, str]
    findings: Mapping[str, Mapping[Pair, Sign]]
    words: str

    def sign(self, domain: str, first: str, second: str) -> Sign | None:
        """The published sign between two algorithms, whichever way round it is kept, if any."""
        findings = self.findings.get(domain, {})
        mirrored = findings.get((second, first))
        return findings.get((first, second)) or (mirrored and MIRRORED[mirrored])


@dataclass(frozen=True)
class Hypothesis:
    """That in each of some pairs of algorithms the first is below the second.

    Attributes:
        name: as published.
        claim: in words.
        quantity: that is compared.
        pairs: first expected below second.
        verdict: the published one.
    """

    name: str
    claim: str
    quantity: Quantity
    pairs: tuple[Pair, ...]
    verdict: str

    def supported_in(self, domain: str) -> bool:
        """Whether the published findings in a domain of the publication support the hypothesis."""
        return all(self.quantity.sign(domain, *pair) == "<" for pair in self.pairs)


@dataclass(frozen=True)
class Words:
    """What a report says of one study in particular.

    Attributes:
        results: heading of the tables of results.
        tests: heading of the tests.
        supported: when a domain supports a hypothesis.
        reading: paragraphs on how to read the results.
        costs: how to read the tables of costs.
        curves: caption of the picture of curves.
        archives: caption of the picture of archives.
    """

    results: str
    tests: str
    supported: str
    reading: tuple[str, ...]
    costs: str
    curves: str
    archives: str


@dataclass(frozen=True)
class PublishedStudy:
    """A study as somebody else reports it. It may be empty, but for the metrics.

    Attributes:
        domains: in the order of the tables.
        algorithms: likewise.
        order: of algorithms in comparisons.
        trials: of each algorithm in each domain.
        evaluations: of each trial.
        metrics: columns of the results.
        means: by domain and algorithm, the printed mean of metrics by their field.
        quantities: that are tested.
        hypotheses: on these.
        words: of the report.
        objectives: limits to which every domain scales its objective; None where each has its own.
        label: above the published numbers.
        incomparable: why agreement with the means is not judged; empty where it is.
        unavailable: algorithms that cannot be run here, each with the reason.
        rows: algorithms in the rows of the tables of pairs, one a domain; empty for one list of all pairs.
    """

    domains: tuple[str, ...]
    algorithms: tuple[str, ...]
    order: tuple[str, ...]
    trials: int
    evaluations: int
    metrics: tuple[Metric, ...]
    means: Mapping[Key, Mapping[str, float]]
    quantities: tuple[Quantity, ...]
    hypotheses: tuple[Hypothesis, ...]
    words: Words
    objectives: tuple[float, float] | None = None
    label: str = "paper"
    incomparable: str = ""
    unavailable: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[str, ...] = ()

    @property
    def judged(self) -> tuple[Metric, ...]:
        """The metrics whose agreement can be judged."""
        return tuple(metric for metric in self.metrics if metric.judged)


def read_table(
    domains: tuple[str, ...],
    fields: tuple[str, ...],
    rows: Mapping[str, tuple[tuple[float, ...], ...]],
) -> dict[Key, dict[str, float]]:
    """The means of a table with a row an algorithm, and in it for each domain its fields."""
    return {
        (domain, algorithm): dict(zip(fields, means, strict=True))
        for algorithm, row in rows.items()
        for domain, means in zip(domains, row, strict=True)
    }
