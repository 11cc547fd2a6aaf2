"""`Analysis`: the trials of a study as a table, its tests, and how it compares with the published study."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd

from suites.paper.published import Hypothesis, Pair, PublishedMetric, PublishedStudy
from suites.paper.results import TrialResult
from suites.statistics import Comparison, Sign, Verdict, compare, compare_with_printed, decide, judge

DECIDED = ("<", ">", "≈")
_ROUNDED = 1000  # evaluations by which whole batches may exceed a budget
_KEY = ["domain", "algorithm", "trial"]


class Analysis:
    """Results of a study, which may lack published combinations or have others.

    Attributes:
        trials: a row per trial, by domain, algorithm and trial; the columns are the fields of `TrialResult`.
        published: the study with which they are compared.
        domains: the published ones in their order, then others by name.
        algorithms: likewise.
    """

    def __init__(self, results: Iterable[TrialResult], published: PublishedStudy) -> None:
        self.published = published
        trials = pd.DataFrame([vars(one) for one in results])
        self.domains = in_order(trials.domain, published.domains)
        self.algorithms = in_order(trials.algorithm, published.algorithms)
        places = {name: place for place, name in enumerate((*self.domains, *self.algorithms))}
        self.trials = trials.sort_values(
            _KEY, key=lambda column: column.map(places).fillna(column), ignore_index=True
        )

    def of(self, domain: str, algorithm: str) -> pd.DataFrame:
        """The trials of an algorithm in a domain; may be none."""
        return self.trials[(self.trials.domain == domain) & (self.trials.algorithm == algorithm)]

    def algorithms_in(self, domain: str) -> list[str]:
        """The algorithms that ran in a domain."""
        return [name for name in self.algorithms if len(self.of(domain, name))]

    def values(self, domain: str, algorithm: str, metric: PublishedMetric, *, prefix: str = "") -> np.ndarray:
        """A metric of each trial of an algorithm in a domain, in the printed unit."""
        return metric.scale * self.of(domain, algorithm)[f"{prefix}{metric.field}"].to_numpy(float)

    def median_trial(self, domain: str, algorithm: str) -> pd.Series:
        """The trial with the median QD score; of an even number, the lower of the two in the middle."""
        trials = self.of(domain, algorithm).sort_values("qd_score", kind="stable")
        return trials.iloc[(len(trials) - 1) // 2]

    def has_full_budget(self, domain: str, algorithm: str) -> bool:
        """Whether there are trials, all of the published number of evaluations, up to their last batch."""
        extra = self.of(domain, algorithm).evaluations - self.published.evaluations
        return len(extra) > 0 and bool(extra.between(0, _ROUNDED).all())

    def printed(self, domain: str, algorithm: str, metric: PublishedMetric) -> float | None:
        """The printed mean that ours can be compared with, if there is one."""
        if self.published.incomparable or not self.has_full_budget(domain, algorithm):
            return None
        return self.published.means.get((domain, algorithm), {}).get(metric.field)

    def against_printed(self, domain: str, algorithm: str, metric: PublishedMetric) -> Sign | None:
        """How our mean compares with the printed one, see `decide`; None where that is not to be judged."""
        printed = self.printed(domain, algorithm, metric)
        values = self.values(domain, algorithm, metric)
        if printed is None or not metric.judged or not np.isfinite(values).all():
            return None
        found = compare_with_printed(
            values,
            printed,
            count=self.published.trials,
            decimals=metric.decimals,
            spread=self.published.spread(metric, domain),
        )
        return decide(found.low, found.high, max(abs(printed), abs(values.mean())))

    def agreement(self, metric: PublishedMetric) -> Counter[str]:
        """How often each sign follows from the differences between our means and the printed ones."""
        found = (self.against_printed(*key, metric) for key in self.published.means)
        return Counter(filter(None, found))

    @cached_property
    def tests(self) -> dict[Pair, Comparison]:
        """The comparison of all algorithms that ran, by metric and domain; published ones first."""
        return {
            (metric.name, domain): compare(
                {
                    name: self.values(domain, name, metric)
                    for name in in_order(self.algorithms_in(domain), self.published.order)
                }
            )
            for metric in self.published.tested
            for domain in self.domains
        }

    def at_equal_time(
        self, domain: str, pair: Pair, metric: PublishedMetric
    ) -> tuple[float, dict[str, list[float]]] | None:
        """A metric of the trials of two algorithms after the same processor time of training.

        Returns:
            The time [s], which is that of the shortest trial of both, and by algorithm the metric of each
            trial, without correction; None if either did not run in the domain, or a trial did not record
            its times.
        """
        histories = {name: [*self.of(domain, name).history] for name in pair}
        every = [one for found in histories.values() for one in found]
        if not all(histories.values()) or not all("cpu_seconds" in one for one in every):
            return None
        seconds = min(float(one["cpu_seconds"][-1]) for one in every)
        return seconds, {
            name: [
                metric.scale * float(np.interp(seconds, one["cpu_seconds"], one[metric.field], left=0.0))
                for one in found
            ]
            for name, found in histories.items()
        }

    def findings(self, metric: PublishedMetric) -> list[tuple[str, str]]:
        """Our sign and the published one of every published pair of algorithms that was tested here."""
        found = [
            (self.tests[metric.name, domain].sign(*pair), metric.finding(domain, pair))
            for domain in self.domains
            for pair in combinations(self.published.order, 2)
        ]
        return [(here, there) for here, there in found if here and there]

    def judge(self, hypothesis: Hypothesis) -> dict[str, tuple[Verdict, str]]:
        """The verdict on a hypothesis in each domain, with its reason."""
        metric = hypothesis.metric.name
        return {domain: judge(self.tests[metric, domain], hypothesis.pairs) for domain in self.domains}


def in_order(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """Return every name once: known ones first, in their order, then others by name."""
    unique = set(names)
    return [*(name for name in known if name in unique), *sorted(unique.difference(known))]
