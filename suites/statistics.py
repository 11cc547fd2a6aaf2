"""Statistics of trials: mean intervals, tests between groups and what can be concluded from them, with scipy.

Welch's ANOVA and the Games-Howell test compare groups whose variances may differ. Tjanaka et al. 2023 ended
with them for all robots; elsewhere they took pooled variances where Levene's test found no difference. With
three trials each that test misses standard deviations that differ a hundred times: nothing is pooled here.

A conclusion is drawn from an interval of a difference, and only where the interval permits one: see `decide`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Literal, NamedTuple

import numpy as np
from scipy import stats

from robots.errors import InvalidValueError

Sign = Literal["<", ">", "≈", "?"]
Verdict = Literal["supported", "supported as far as tested", "not supported", "not answerable", "not tested"]

MIRRORED: dict[str, str] = {"<": ">", ">": "<"}  # the signs of two groups in the other order that differ
ALPHA = 0.05  # level of significance
RELEVANT = 0.1  # the difference that matters, as a share of the larger of two means
# Values whose relative spread is smaller count as equal: sums of squares have no correct digits left there
_EQUAL = 1e-7


@dataclass(frozen=True)
class MeanInterval:
    """A mean and Student's confidence interval for it; `low` and `high` are nan for a single value."""

    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Distance from the mean to either end."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class Anova:
    """Welch's test of whether any groups differ: F with its degrees of freedom, and p."""

    statistic: float
    df_between: int
    df_within: float
    p: float


@dataclass(frozen=True)
class PairTest:
    """Whether and by how much two groups differ.

    `difference` is the mean of the first - the mean of the second. Its interval, from `low` to `high`, holds
    for all pairs together, and `p` is adjusted for the number of groups. `sign` is what `decide` says.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    sign: Sign


@dataclass(frozen=True)
class Comparison:
    """What `compare` found."""

    groups: tuple[str, ...]  # names, in the order given
    anova: Anova | None = None  # None where nothing was tested
    # every two groups once, in order, whatever the ANOVA says, since their p are adjusted
    pairs: tuple[PairTest, ...] = ()
    untested: str | None = None  # why nothing was tested; None where the groups were tested

    def sign(self, first: str, second: str) -> str:
        """How the first group compares with the second, in whichever order they were tested; "" if not."""
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair.sign if pair.first == first else MIRRORED.get(pair.sign, pair.sign)
        return ""


def decide(low: float, high: float, larger: float) -> Sign:
    """Conclude from the interval of a difference, whose ends may be nan.

    It is "<" or ">" where the interval excludes 0; "≈" where it includes 0, and no difference that matters,
    which is the share `RELEVANT` of the larger absolute mean; "?" where it includes both, so that the trials
    cannot answer.
    """
    if low > 0 or high < 0:
        return ">" if low > 0 else "<"
    return "≈" if -RELEVANT * larger <= low and high <= RELEVANT * larger else "?"


def mean_interval(values: Sequence[float] | np.ndarray) -> MeanInterval:
    """Return the mean of values and Student's 95% confidence interval for it."""
    sample = _as_sample("values", values)
    mean, n = float(sample.mean()), len(sample)
    if n == 1:
        return MeanInterval(mean, math.nan, math.nan)
    reach = float(stats.t.ppf((2 - ALPHA) / 2, n - 1) * sample.std(ddof=1) / math.sqrt(n))
    return MeanInterval(mean, mean - reach, mean + reach)


class Deviation(NamedTuple):
    """A standard deviation, and how many degrees of freedom its estimate has."""

    deviation: float
    df: int


def compare_with_printed(
    values: Sequence[float] | np.ndarray,
    printed: float,
    *,
    count: int,
    decimals: int,
    spread: Deviation | None,
) -> MeanInterval:
    """Return our mean - a printed one, and its 95% interval: all differences that both permit.

    The printed one is of `count` values of a known deviation, or else of that of ours. What its decimals may
    hide widens the interval; a single value of ours has none.
    """
    sample = _as_sample("values", values)
    difference, n = float(sample.mean()) - printed, len(sample)
    if n == 1:
        return MeanInterval(difference, math.nan, math.nan)
    own, free = float(sample.var(ddof=1)) / n, float(n - 1)
    error = own * (1 + n / count)
    if spread is not None:
        theirs = spread.deviation**2 / count
        error = own + theirs
        free = error**2 / (own**2 / (n - 1) + theirs**2 / spread.df)  # Welch and Satterthwaite
    reach = float(stats.t.ppf((2 - ALPHA) / 2, free)) * math.sqrt(error) + 0.5 * 10.0**-decimals
    return MeanInterval(difference, difference - reach, difference + reach)


def compare(groups: Mapping[str, Sequence[float] | np.ndarray]) -> Comparison:
    """Test at the level `ALPHA` whether groups differ, and which.

    Nothing is tested, and `untested` gives the reason, if there is only one group or a group has a single
    value or equal values.

    Args:
        groups: values by the name of the group, for example one value per trial by algorithm.
    """
    samples = {name: _as_sample(name, values) for name, values in groups.items()}
    names, values = tuple(samples), list(samples.values())
    if untested := _obstacle(samples):
        return Comparison(names, untested=untested)
    return Comparison(names, anova=_analyse_variance(values), pairs=_compare_pairs(samples))


def judge(comparison: Comparison, pairs: Sequence[tuple[str, str]]) -> tuple[Verdict, str]:
    """Judge the hypothesis that in each pair of groups the first is below the second.

    One pair that is not below contradicts it; otherwise one that cannot be decided leaves it open: "not
    answerable". Pairs of which a group was not compared do not count. Returns the verdict, and in words what
    speaks against the hypothesis or leaves it open, if anything does.
    """
    names = dict.fromkeys(chain.from_iterable(pairs))
    missing = [name for name in names if name not in comparison.groups]
    signs = {pair: comparison.sign(*pair) for pair in pairs if not set(missing).intersection(pair)}
    contrary = [pair for pair, sign in signs.items() if sign not in ("<", "?")]
    still_open = [pair for pair, sign in signs.items() if sign == "?"]
    verdict: Verdict
    found = {
        "contradicted by": [f"{a} {signs[a, b]} {b}" for a, b in contrary],
        "not answerable": [f"{a} {signs[a, b]} {b}" for a, b in still_open],
        "did not run": missing,
    }
    if comparison.untested or not signs:
        found, verdict = {"did not run": missing}, "not tested"
    elif contrary or still_open:
        verdict = "not supported" if contrary else "not answerable"
    else:
        verdict = "supported as far as tested" if missing else "supported"
    reasons = [f"{why}: {', '.join(names)}" for why, names in found.items() if names]
    return verdict, "; ".join(filter(None, [comparison.untested, *reasons]))


def _as_sample(name: str, values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the values as an array, (n,); raise if there are none or some are not finite."""
    sample = np.asarray(values, float)
    if sample.ndim != 1 or not len(sample):
        raise InvalidValueError(f"{name} must be a list of at least one number")
    if not np.isfinite(sample).all():
        raise InvalidValueError(f"{name} must be finite, not {sample[~np.isfinite(sample)][0]}")
    return sample


def _obstacle(samples: Mapping[str, np.ndarray]) -> str | None:
    if len(samples) < 2:
        return f"{next(iter(samples))} is the only group"
    for name, sample in samples.items():
        if np.ptp(sample) <= _EQUAL * np.abs(sample).max():
            return f"all values of {name} are equal" if len(sample) > 1 else f"{name} has a single value"
    return None


def _analyse_variance(samples: Sequence[np.ndarray]) -> Anova:
    sizes, variances = np.transpose([(len(x), x.var(ddof=1)) for x in samples])
    k, weights = len(samples), sizes / variances
    spread = np.sum((1 - weights / weights.sum()) ** 2 / (sizes - 1))  # the sum in Welch 1951
    test = stats.f_oneway(*samples, equal_var=False)
    return Anova(
        statistic=float(test.statistic),
        df_between=k - 1,
        df_within=float((k**2 - 1) / (3 * spread)),
        p=float(test.pvalue),
    )


def _compare_pairs(samples: Mapping[str, np.ndarray]) -> tuple[PairTest, ...]:
    """Test every two groups by Games and Howell (1976)."""
    test, names = stats.tukey_hsd(*samples.values(), equal_var=False), list(samples)
    ends, pairs = test.confidence_interval(1 - ALPHA), []
    for i, j in combinations(range(len(names)), 2):
        difference, low, high, p = (
            float(of[i, j]) for of in (test.statistic, ends.low, ends.high, test.pvalue)
        )
        sign = decide(low, high, max(abs(float(samples[name].mean())) for name in (names[i], names[j])))
        pairs.append(PairTest(names[i], names[j], difference, low, high, p, sign))
    return tuple(pairs)
