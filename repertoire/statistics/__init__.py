"""Statistics of trials: groups of numbers, how they differ, and what that says of a hypothesis.

* `samples`: the values of a group, checked.
* `intervals`: `MeanInterval`, a mean and how well it is known.
* `comparison`: `compare`, which tests groups, and `Comparison`, what it finds out; `assumptions`, `anova` and
  `pairs` are its tests.
* `expectation`: `judge_expectation`, the verdict on a hypothesis.
"""

from repertoire.statistics.anova import Anova
from repertoire.statistics.comparison import Comparison, compare
from repertoire.statistics.expectation import Expectation, judge_expectation
from repertoire.statistics.intervals import MeanInterval, mean_interval
from repertoire.statistics.pairs import MIRRORED, Pair, Sign

__all__ = [
    "MIRRORED",
    "Anova",
    "Comparison",
    "Expectation",
    "MeanInterval",
    "Pair",
    "Sign",
    "compare",
    "judge_expectation",
    "mean_interval",
]
