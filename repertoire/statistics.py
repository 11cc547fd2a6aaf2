"""Statistics of trials: mean intervals, tests between groups and verdicts on hypotheses, with scipy.

The procedure is that of Tjanaka et al. 2023, Section IV. Levene's test decides whether the variances of the
groups may be taken as equal. If so, a one-way ANOVA and Tukey's HSD follow; if not, Welch's ANOVA and the
Games-Howell test. The Shapiro-Wilk test says how far the assumption of normal distributions holds.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Literal

import numpy as np
from scipy import special, stats

from robots.errors import InvalidValueError, UnknownNameError

Sign = Literal["<", "-", ">"]
Verdict = Literal["supported", "supported as far as tested", "not supported", "not tested"]
MIRRORED: dict[Sign, Sign] = {"<": ">", "-": "-", ">": "<"}

ALPHA = 0.05  # level of significance
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
    """A test of whether any groups differ: F with its degrees of freedom, p, and two sizes of the effect.

    `eta_squared` is the sum of squares between groups as a fraction of the total, `omega_squared` the same
    fraction estimated for the population; it is negative where F < 1. `df_within` is not a whole number for
    Welch's test, which is used where variances may not be taken as equal.
    """

    method: Literal["one-way", "Welch"]
    statistic: float
    df_between: int
    df_within: float
    p: float
    eta_squared: float
    omega_squared: float


@dataclass(frozen=True)
class Pair:
    """Whether and by how much two groups differ.

    `difference` is the mean of the first - the mean of the second. Its interval, from `low` to `high`, holds
    for all pairs together, and `p` is adjusted for the number of groups. `hedges_g` is the difference in
    pooled standard deviations, with the exact bias correction of Hedges 1981. `sign` is "-" where p > ALPHA.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    hedges_g: float
    sign: Sign


@dataclass(frozen=True)
class Comparison:
    """What `compare` found.

    Attributes:
        groups: names, in the order given.
        normality: p of the Shapiro-Wilk test of each group; None for fewer than three values or equal ones.
        residual_normality: p of the same test of all deviations from their group's mean; None where
            variances differ, since the deviations then have no common distribution.
        levene: p of Levene's test for equal variances; None where it cannot be computed.
        anova: None where nothing was tested.
        pairs: every two groups once, in order, whatever the ANOVA says, since their p are adjusted.
        untested: why nothing was tested; None where the groups were tested.
    """

    groups: tuple[str, ...]
    normality: dict[str, float | None]
    residual_normality: float | None
    levene: float | None
    anova: Anova | None
    pairs: tuple[Pair, ...]
    untested: str | None

    def sign(self, first: str, second: str) -> Sign:
        """How the first group compares with the second, in whichever order the pair was tested.

        Raises:
            UnknownNameError: this pair of groups was not compared.
        """
        signs = {(pair.first, pair.second): pair.sign for pair in self.pairs}
        if (first, second) in signs:
            return signs[first, second]
        if (second, first) in signs:
            return MIRRORED[signs[second, first]]
        raise UnknownNameError("pair of groups", f"{first} and {second}", map(" and ".join, signs))


@dataclass(frozen=True)
class Expectation:
    """Whether groups compare as a hypothesis expects.

    Attributes:
        verdict: "supported" if in every pair the first group is significantly below the second; "as far as
            tested" if a group of some pairs is missing.
        contradicted: pairs with a significant difference in the opposite direction.
        undecided: pairs without a significant difference.
        missing: groups that were not compared, in the order of the pairs.
    """

    verdict: Verdict
    contradicted: tuple[tuple[str, str], ...] = ()
    undecided: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()


def mean_interval(values: Sequence[float] | np.ndarray) -> MeanInterval:
    """Return the mean of values and Student's 95% confidence interval for it.

    Raises:
        InvalidValueError: there are no values, or some are not finite.
    """
    sample = _as_sample("values", values)
    mean, n = float(sample.mean()), len(sample)
    if n == 1:
        return MeanInterval(mean, math.nan, math.nan)
    reach = float(stats.t.ppf((2 - ALPHA) / 2, n - 1) * sample.std(ddof=1) / math.sqrt(n))
    return MeanInterval(mean, mean - reach, mean + reach)


def compare(groups: Mapping[str, Sequence[float] | np.ndarray]) -> Comparison:
    """Test at the level `ALPHA` whether groups differ, and which.

    Variances are taken as equal where Levene's test about the medians gives p > ALPHA, and as different where
    it cannot be computed. Nothing is tested, and `untested` gives the reason, if there is only one group or a
    group has a single value or equal values.

    Args:
        groups: values by the name of the group, for example one value per trial by algorithm.

    Raises:
        InvalidValueError: there is no group, a group has no values, or a value is not finite.
    """
    if not groups:
        raise InvalidValueError("there are no groups to compare")
    samples = {name: _as_sample(name, values) for name, values in groups.items()}
    names, values = tuple(samples), list(samples.values())
    normality = {name: _shapiro_p(sample) for name, sample in samples.items()}
    untested = _obstacle(samples)
    if untested:
        return Comparison(names, normality, None, None, None, (), untested)
    levene = _levene_p(values)
    equal = levene is not None and levene > ALPHA
    left = _shapiro_p(np.concatenate([sample - sample.mean() for sample in values])) if equal else None
    anova, pairs = _analyse_variance(values, equal), _compare_pairs(samples, equal)
    return Comparison(names, normality, left, levene, anova, pairs, untested=None)


def judge_expectation(comparison: Comparison, pairs: Sequence[tuple[str, str]]) -> Expectation:
    """Judge the hypothesis that in each pair of groups the first is below the second.

    Pairs of which a group was not compared are not tested and do not count.

    Raises:
        InvalidValueError: there are no pairs, or one names the same group twice.
    """
    if not pairs or any(first == second for first, second in pairs):
        raise InvalidValueError(f"pairs must name two groups each, not {list(pairs)}")
    names = dict.fromkeys(chain.from_iterable(pairs))
    missing = tuple(name for name in names if name not in comparison.groups)
    tested = [pair for pair in pairs if not set(missing).intersection(pair)]
    if comparison.untested or not tested:
        return Expectation("not tested", missing=missing)
    signs = {pair: comparison.sign(*pair) for pair in tested}
    supported: Verdict = "supported as far as tested" if missing else "supported"
    return Expectation(
        verdict=supported if all(sign == "<" for sign in signs.values()) else "not supported",
        contradicted=tuple(pair for pair, sign in signs.items() if sign == ">"),
        undecided=tuple(pair for pair, sign in signs.items() if sign == "-"),
        missing=missing,
    )


def _as_sample(name: str, values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return the values as an array, (n,); raise if there are none or some are not finite."""
    sample = np.asarray(values, float)
    if sample.ndim != 1 or not len(sample):
        raise InvalidValueError(f"{name} must be a list of at least one number")
    if not np.isfinite(sample).all():
        raise InvalidValueError(f"{name} must be finite, not {sample[~np.isfinite(sample)][0]}")
    return sample


def _is_constant(sample: np.ndarray) -> bool:
    """Whether values are equal, to the digits that tests need."""
    return bool(np.ptp(sample) <= _EQUAL * np.abs(sample).max())


def _obstacle(samples: Mapping[str, np.ndarray]) -> str | None:
    """Return why groups cannot be tested, if so."""
    if len(samples) < 2:
        return f"{next(iter(samples))} is the only group"
    for name, sample in samples.items():
        if _is_constant(sample):
            return f"all values of {name} are equal" if len(sample) > 1 else f"{name} has a single value"
    return None


def _shapiro_p(sample: np.ndarray) -> float | None:
    """Return p of the Shapiro-Wilk test, None for fewer than three values or equal ones."""
    return None if len(sample) < 3 or _is_constant(sample) else float(stats.shapiro(sample).pvalue)


def _levene_p(samples: Sequence[np.ndarray]) -> float | None:
    """Return p of Levene's test about the medians (Brown and Forsythe 1974), None where it is undefined."""
    if min(map(len, samples)) < 3:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):  # where all values are equally far from their median
        p = float(stats.levene(*samples, center="median").pvalue)
    return None if math.isnan(p) else p


def _analyse_variance(samples: Sequence[np.ndarray], equal: bool) -> Anova:
    """Test all groups at once: one-way ANOVA if variances may be taken as equal, else Welch's."""
    sizes, means, variances = np.transpose([(len(x), x.mean(), x.var(ddof=1)) for x in samples])
    total, k = int(sizes.sum()), len(samples)
    between = np.sum(sizes * (means - np.concatenate(samples).mean()) ** 2)
    within = np.sum((sizes - 1) * variances)
    weights = sizes / variances
    spread = np.sum((1 - weights / weights.sum()) ** 2 / (sizes - 1))  # the sum in Welch 1951
    test = stats.f_oneway(*samples, equal_var=equal)
    f = float(test.statistic)
    return Anova(
        method="one-way" if equal else "Welch",
        statistic=f,
        df_between=k - 1,
        df_within=float(total - k if equal else (k**2 - 1) / (3 * spread)),
        p=float(test.pvalue),
        eta_squared=float(between / (between + within)),
        omega_squared=(k - 1) * (f - 1) / ((k - 1) * (f - 1) + total),
    )


def _compare_pairs(samples: Mapping[str, np.ndarray], equal: bool) -> tuple[Pair, ...]:
    """Test every two groups: Tukey's HSD if variances may be taken as equal, else Games-Howell."""
    test = stats.tukey_hsd(*samples.values(), equal_var=equal)
    interval, pairs = test.confidence_interval(1 - ALPHA), []
    for (i, first), (j, second) in combinations(enumerate(samples), 2):
        difference, p = float(test.statistic[i, j]), float(np.clip(test.pvalue[i, j], 0, 1))
        sign: Sign = "-" if p > ALPHA else "<" if difference < 0 else ">"
        low, high = float(interval.low[i, j]), float(interval.high[i, j])
        g = _hedges_g(samples[first], samples[second])
        pairs.append(Pair(first, second, difference, low=low, high=high, p=p, hedges_g=g, sign=sign))
    return tuple(pairs)


def _hedges_g(first: np.ndarray, second: np.ndarray) -> float:
    """Return the difference of means in pooled standard deviations, times Hedges' exact correction."""
    df = len(first) + len(second) - 2
    squares = np.sum((first - first.mean()) ** 2) + np.sum((second - second.mean()) ** 2)
    correction = np.exp(special.gammaln(df / 2) - special.gammaln((df - 1) / 2)) / math.sqrt(df / 2)
    return float(correction * (first.mean() - second.mean()) / np.sqrt(squares / df))
