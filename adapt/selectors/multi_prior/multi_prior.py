"""`MultiPrior`: chooses by an average over hypotheses of what is wrong, weighed by all that trials show."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from adapt.damage import HEALTHY
from adapt.records import Outcome
from adapt.selectors.multi_prior.fall_risk import FallRisk
from adapt.selectors.multi_prior.hypotheses import Hypotheses
from adapt.selectors.multi_prior.mixture import Belief, Mixture
from adapt.selectors.multi_prior.settings import RehearsedSettings
from adapt.selectors.selector import Context, Selector

UNKNOWN = "unknown"  # in a diagnosis: like nothing that was rehearsed
Read = Callable[[int, Outcome], np.ndarray]  # what of a trial of a gait counts as evidence, (e,) or (0,)


class MultiPrior(Selector):
    """Multi-prior (model-averaged) map-based Bayesian optimisation.

    Each hypothesis of what is wrong is a prior for Intelligent Trial and Error (Cully et al. 2015), and the
    posterior averages over all of them and over how far the truth may be from them.

    After each trial it updates the probabilities of all hypotheses with everything that was measured, see
    `Mixture` and `docs/explanations/recovery.md`. It tries the controller with the largest

        EI(x) (1 - p(x))^exponent - cost p(x)

    where EI is the expected improvement over the best expectation of a tried controller, and p the
    probability of a fall, see `FallRisk` and `Caution`. It recommends the tried controller with the
    largest expectation, not the one with the luckiest trial, and stops when the largest of those values is
    less than `tolerance` of the expectation of the recommended one.

    Where no hypothesis fits, the levels with a large residual take over, around the hypothesis that fits
    best. The healthy condition at the last level represents damage unlike anything known: under it the
    search is map-based Bayesian optimisation. A diagnosis calls it `UNKNOWN`; without the healthy condition
    there is none.

    Args:
        context: its prior's measures are what residuals are smooth over, its prior's minimum objective is the
            zero.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._measures = np.asarray(context.prior.measures, np.float64)
        self._outcomes: list[tuple[int, Outcome]] = []
        self._falls_shown: dict[int, float] = {}  # see `FallRisk.of`

    @abstractmethod
    def _learn(self, row: int, outcome: Outcome) -> None:
        """Take in a trial by `_weigh`, or by `_expect` once it is among the outcomes."""

    def _expect(self, hypotheses: Hypotheses, settings: RehearsedSettings, read: Read) -> None:
        """Believe in these hypotheses from now on, in the light of all trials so far."""
        self.settings, self._hypotheses, self._read = settings, hypotheses, read
        self._mixture = Mixture(
            hypotheses,
            prior=_probabilities(hypotheses, settings),
            levels=settings.levels,
            measures=self._measures,
            tolerances=settings.tolerances,
        )
        self._risk = FallRisk(hypotheses, self._measures, settings.caution)
        self._believed: Belief | None = None
        for row, outcome in self._outcomes:
            self._weigh(row, outcome)

    def _weigh(self, row: int, outcome: Outcome) -> None:
        """Update the probabilities of the hypotheses, and what is expected under them, by a trial."""
        self._believed = None
        seen = replace(outcome, evidence=self._read(row, outcome))
        self._mixture.learn(row, self._hypotheses.normalised(outcome.objective), seen)
        self._risk.learn(row, seen)

    @property
    def predicted(self) -> np.ndarray:
        """See `Selector.predicted`."""
        return np.asarray(self._hypotheses.floor + self._hypotheses.unit * self._belief.mean)

    @property
    def fall_probability(self) -> np.ndarray:
        """See `Selector`."""
        return self._risk.of(self._belief.fall, self._falls_shown)

    def diagnosis(self) -> list[tuple[str, float]]:
        """See `Selector`: the hypotheses, and `UNKNOWN`, with their probabilities."""
        weights, names = self._mixture.weights, self._hypotheses.names
        found = dict.fromkeys(names, 0.0)  # a fit may be a pair of what was rehearsed, too
        for name, weight in zip(names, weights.sum(axis=0).tolist(), strict=True):
            found[name] += weight
        if HEALTHY in found:
            found[UNKNOWN] = float(weights[-1, names.index(HEALTHY)])
            found[HEALTHY] -= found[UNKNOWN]
        return sorted(found.items(), key=lambda cause: -cause[1])

    @property
    def _tried(self) -> list[int]:
        """Rows that were tried, without repetitions."""
        return list(dict.fromkeys(row for row, _ in self._outcomes))

    @property
    def _belief(self) -> Belief:
        """What is believed by now."""
        if self._believed is None:
            self._believed = self._mixture.belief(self._tried)
        return self._believed

    @property
    def gain(self) -> np.ndarray:
        """What a trial of every controller is worth, normalised, (k,)."""
        fall, caution = self.fall_probability, self.settings.caution
        return np.asarray(self._belief.gain * (1 - fall) ** caution.exponent - caution.cost * fall)

    def _choose(self, untried: np.ndarray) -> int:
        return int(np.argmax(np.where(untried, self.gain, -np.inf)))

    def _satisfied(self) -> str | None:
        belief, settings = self._belief, self.settings
        untried = np.ones(len(self.prior), np.bool_)
        untried[self.rows] = False
        gain = float(np.max(self.gain, where=untried, initial=0.0))
        if belief.best > 0 and gain < settings.tolerance * belief.best:
            return (
                f"the selector expects one more trial to gain {gain / belief.best:.1%} of the best gait's "
                f"objective, and stops below {settings.tolerance:.1%}"
            )
        if settings.enough is not None and belief.best >= settings.enough * belief.mean.max() > 0:
            return f"the best gait tried reached {settings.enough:.0%} of the best prediction"
        return None


def _probabilities(hypotheses: Hypotheses, settings: RehearsedSettings) -> np.ndarray:
    """Probabilities of levels and hypotheses before the first trial, (l, h)."""
    n, rehearsed = len(hypotheses.single), hypotheses.rehearsed
    p, fitted = len(hypotheses) - n, n - rehearsed
    healthy = np.array([not damage.singles for damage in hypotheses.single])
    single = np.where(healthy, settings.healthy, (1 - settings.healthy) / max(1, (~healthy).sum()))
    single /= single.sum()
    if fitted:  # what was rehearsed has what these leave
        further = np.array([len(damage.singles) - 1 for damage in hypotheses.single[rehearsed:]])
        single[rehearsed:] = settings.fitted / fitted * np.exp(-settings.price * further)
        single[:rehearsed] *= (1 - single[rehearsed:].sum()) / single[:rehearsed].sum()
    share = settings.pairs if p else 0.0
    known = np.concatenate([(1 - share) * single, np.full(p, share / max(1, p))])
    levels = len(settings.levels)
    probabilities = np.tile((1 - settings.unknown) / levels * known, (levels, 1))
    probabilities[-1, :n] += settings.unknown * healthy
    return probabilities / probabilities.sum()
