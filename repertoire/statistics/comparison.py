"""Comparing groups: one group per algorithm, one number per trial. The tests themselves are scipy's.

The procedure is that of Tjanaka et al. 2023, Section IV: Shapiro-Wilk and Levene's test; then a one-way ANOVA
and Tukey's HSD where variances may be taken as equal, Welch's ANOVA and the Games-Howell test where not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repertoire.statistics.anova import Anova, analyse_variance
from repertoire.statistics.assumptions import levene_p, shapiro_p
from repertoire.statistics.pairs import MIRRORED, Pair, Sign, compare_pairs
from repertoire.statistics.samples import as_sample, is_constant
from robots.errors import InvalidValueError, UnknownNameError


@dataclass(frozen=True)
class Comparison:
    """All that `compare` finds out.

    Attributes:
        groups: names, in the order given.
        alpha: level of significance.
        normality: p of the Shapiro-Wilk test of each group; None for fewer than three values, or equal ones.
        residual_normality: p of the same test of all deviations from their group's mean; None where variances
            differ, since then they come from no one distribution.
        levene: p of Levene's test for equal variances; None where it cannot be done, as for fewer than three
            values or values all equally far from the median.
        anova: None where nothing was tested.
        pairs: every two groups once, in order; whatever the ANOVA says, since their p are adjusted.
        untested: why nothing was tested; None where it was.
    """

    groups: tuple[str, ...]
    alpha: float
    normality: dict[str, float | None]
    residual_normality: float | None
    levene: float | None
    anova: Anova | None
    pairs: tuple[Pair, ...]
    untested: str | None

    def sign(self, first: str, second: str) -> Sign:
        """How the first group compares with the second, whichever way round the pair is kept.

        Raises:
            UnknownNameError: no such groups were compared.
        """
        for pair in self.pairs:
            if (pair.first, pair.second) == (first, second):
                return pair.sign
            if (pair.second, pair.first) == (first, second):
                return MIRRORED[pair.sign]
        known = (f"{pair.first} and {pair.second}" for pair in self.pairs)
        raise UnknownNameError("pair of groups", f"{first} and {second}", known)


def compare(groups: Mapping[str, Sequence[float] | np.ndarray], alpha: float = 0.05) -> Comparison:
    """Test whether groups differ, and which.

    Variances are taken as equal where Levene's test about the medians gives p > alpha, and as different where
    it cannot be done. Nothing is tested, and `untested` says why, if there is only one group, or a group has
    a single value or equal ones: no spread to compare with.

    Args:
        groups: values by name of the group.
        alpha: level of significance.

    Raises:
        InvalidValueError: there is no group, a group has no values, a value is not finite, or alpha is not
            within (0, 1).
    """
    if not groups:
        raise InvalidValueError("there are no groups to compare")
    if not 0 < alpha < 1:
        raise InvalidValueError(f"alpha must be between 0 and 1, not {alpha}")
    samples = {name: as_sample(name, values) for name, values in groups.items()}
    normality = {name: shapiro_p(sample) for name, sample in samples.items()}
    untested = _obstacle(samples)
    if untested:
        return Comparison(tuple(samples), alpha, normality, None, None, None, (), untested)
    levene = levene_p(list(samples.values()))
    equal = levene is not None and levene > alpha
    residuals = np.concatenate([sample - sample.mean() for sample in samples.values()])
    return Comparison(
        groups=tuple(samples),
        alpha=alpha,
        normality=normality,
        residual_normality=shapiro_p(residuals) if equal else None,
        levene=levene,
        anova=analyse_variance(list(samples.values()), equal),
        pairs=compare_pairs(samples, equal, alpha),
        untested=None,
    )


def _obstacle(samples: Mapping[str, np.ndarray]) -> str | None:
    """Why groups cannot be tested."""
    if len(samples) < 2:
        return f"{next(iter(samples))} is the only group"
    for name, sample in samples.items():
        if len(sample) < 2:
            return f"{name} has a single value"
        if is_constant(sample):
            return f"all values of {name} are equal"
    return None
