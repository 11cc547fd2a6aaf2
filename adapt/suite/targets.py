"""What the benchmark on the hexapod aims at, beside what a pilot study had reached."""

from dataclasses import dataclass
from typing import Literal

Scope = Literal["binding", "all"]


@dataclass(frozen=True)
class Target:
    """A number that the `rehearsed` selector should reach.

    Attributes:
        track: name of the track.
        metric: name of the metric.
        pilot: what map-based Bayesian optimisation with the constants of 2015 had in the pilot, as text.
        best: what the best method of the pilot had.
        goal: the number to reach; None where the goal is what `rival` has here.
        rival: name of a selector.
        scope: of the damages: those that are binding, or all.
    """

    track: str
    metric: str
    pilot: str
    best: str
    goal: float | None
    rival: str | None = None
    scope: Scope = "binding"


TARGETS = (
    Target("T2", "RR@3", "0.50", "0.92", 0.95),
    Target("T2", "RR@5", "0.70", "1.00", 0.99),
    Target("T2", "solved@5", "0.12", "0.92", 0.97),
    Target("T3", "RR@10", "0.84", "0.90", 0.93),
    Target("T3", "RR@20", "0.88", "0.94", 0.96),
    Target("T3", "T90", "26", "10", 7),
    Target("T3", "solved@20", "0.47", "0.67", 0.80),
    Target("T3", "CVaR10", "0.36", "0.55", 0.70),
    Target("T3-limb", "RR@10", "0.84", "0.75", None, rival="map-bo-tuned"),
    Target("T0", "RR@10", "0.84", "0.85", 0.90),
    Target("T0", "RR@20", "0.88", "0.90", 0.94),
    Target("T1", "mean RR@10", "0.61", "0.63", 0.80, scope="all"),
    Target("T1", "mean RR@20", "0.67", "0.72", 0.88, scope="all"),
    Target("T3", "falls@10", "1.6", "1.4", 0.7),
    Target("T3", "stop", "3", "-", 6, scope="all"),
    Target("T3", "RR@stop", "0.75", "-", 0.90, scope="all"),
)
