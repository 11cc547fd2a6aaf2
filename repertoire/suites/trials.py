"""`Trials`: the results of a study by domain and algorithm, and what they are held against."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from repertoire.suites.published import Metric, PublishedStudy
from repertoire.suites.result import TrialResult
from robots.errors import InvalidValueError


@dataclass(frozen=True, eq=False)
class Trials:
    """Results of a study, which may lack any of the published ones or have others; made by `collect_trials`.

    Attributes:
        results: ordered by domain, algorithm and trial.
        domains: those of the publication in its order, then others by name.
        algorithms: likewise.
        published: the study that was published.
    """

    results: tuple[TrialResult, ...]
    domains: tuple[str, ...]
    algorithms: tuple[str, ...]
    published: PublishedStudy

    def of(self, domain: str, algorithm: str) -> list[TrialResult]:
        """The trials of an algorithm in a domain; may be none."""
        return [one for one in self.results if (one.domain, one.algorithm) == (domain, algorithm)]

    def values(self, domain: str, algorithm: str, field: str) -> list[float]:
        """A field of each of these trials."""
        return [getattr(one, field) for one in self.of(domain, algorithm)]

    def measured(self, domain: str, algorithm: str, metric: Metric) -> np.ndarray:
        """A metric of each of these trials, in the unit that is printed."""
        return metric.scale * np.array(self.values(domain, algorithm, metric.field), float)

    def algorithms_in(self, domain: str) -> list[str]:
        """The algorithms that ran in a domain."""
        return [algorithm for algorithm in self.algorithms if self.of(domain, algorithm)]

    def as_long(self, domain: str, algorithm: str) -> bool:
        """Whether it was published for this domain, with as many evaluations as every trial has."""
        evaluations = set(self.values(domain, algorithm, "evaluations"))
        return (domain, algorithm) in self.published.means and evaluations == {self.published.evaluations}

    def comparable(self, domain: str, algorithm: str) -> bool:
        """Whether agreement with the published means can be judged."""
        return not self.published.incomparable and self.as_long(domain, algorithm)


def collect_trials(results: Iterable[TrialResult], published: PublishedStudy) -> Trials:
    """Put results in order.

    Raises:
        InvalidValueError: there are none, a trial occurs twice, or a QD score or time is not finite.
    """
    results = list(results)
    if not results:
        raise InvalidValueError("there are no results to report")
    seen = set()
    for one in results:
        name = f"trial {one.trial} of {one.algorithm} in {one.domain}"
        if (one.domain, one.algorithm, one.trial) in seen:
            raise InvalidValueError(f"{name} occurs twice")
        if not (math.isfinite(one.qd_score) and math.isfinite(one.seconds)):
            raise InvalidValueError(f"{name} must have a finite QD score and time")
        seen.add((one.domain, one.algorithm, one.trial))
    domains = _in_order((one.domain for one in results), published.domains)
    algorithms = _in_order((one.algorithm for one in results), published.algorithms)
    results.sort(key=lambda one: (domains.index(one.domain), algorithms.index(one.algorithm), one.trial))
    return Trials(tuple(results), domains, algorithms, published)


def _in_order(names: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Names once each: known ones first, in their order."""
    unique = set(names)
    return (*(name for name in known if name in unique), *sorted(unique.difference(known)))
