"""`Rehearsed`: infers what is wrong from all that a trial shows, and expects what was rehearsed under it."""

import numpy as np

from adapt.damage import HEALTHY
from adapt.records import Outcome
from adapt.selectors.catalogue import register
from adapt.selectors.multi_prior.fall_risk import FallRisk
from adapt.selectors.multi_prior.hypotheses import Hypotheses, Traced, hypotheses_of
from adapt.selectors.multi_prior.mixture import Belief, Mixture, believe
from adapt.selectors.multi_prior.settings import RehearsedSettings
from adapt.selectors.selector import Context, Selector
from robots.errors import InvalidValueError

UNKNOWN = "unknown"  # in a diagnosis: like nothing that was rehearsed


@register(
    "rehearsed", "infers the damage by a rehearsal and tries what works best under it", needs_table=True
)
class Rehearsed(Selector):
    """Multi-prior (model-averaged) map-based Bayesian optimisation.

    Each rehearsed damage is a prior for Intelligent Trial and Error (Cully et al. 2015), and the posterior
    averages over all of them and over how far the truth may be from them.

    After each trial it updates the probabilities of all hypotheses with everything that was measured, see
    `Mixture` and `docs/adaptation.md`. It tries the controller with the largest

        EI(x) (1 - p(x))^exponent - cost p(x)

    where EI is the expected improvement over the best expectation of a tried controller, and p the
    probability of a fall, see `FallRisk` and `Caution`. It recommends the tried controller with the
    largest expectation, not the one with the luckiest trial, and stops when the largest of those values is
    less than `tolerance` of the expectation of the recommended one.

    Where no hypothesis fits, the levels with a large residual take over, around the hypothesis that fits
    best. The healthy condition at the last level represents damage unlike anything rehearsed: under it the
    search is map-based Bayesian optimisation. A diagnosis calls it `UNKNOWN`; a table without the healthy
    condition has none.

    Args:
        context: its prior's measures are what residuals are smooth over, its prior's minimum objective is the
            zero, and the largest objective of its table is the unit.
        settings: see `RehearsedSettings`.
        traced: what traces are expected to show, if they are the evidence instead of that of the table.

    Raises:
        InvalidValueError: there is no table, or it is of another number of controllers.
    """

    def __init__(
        self, context: Context, *, settings: RehearsedSettings | None = None, traced: Traced | None = None
    ) -> None:
        super().__init__(context)
        self.settings = settings or RehearsedSettings()
        prior, table = context.prior, context.table
        if table is None:
            raise InvalidValueError("the rehearsed selector needs a rehearsal of the repertoire")
        if (k := table.objectives.shape[1]) != len(prior):
            raise InvalidValueError(
                f"the rehearsal must be of the repertoire's {len(prior)} controllers, not of {k}"
            )
        self._measures = np.asarray(prior.measures, np.float64)
        height = float(np.max(table.objectives)) - prior.min_objective
        self._unit = height if height > 0 else 1.0
        pairs = self.settings.pairs > 0
        hypotheses = hypotheses_of(table, prior, unit=self._unit, pairs=pairs, traced=traced)
        self._channels = hypotheses.channels
        self._risk = FallRisk(hypotheses, self._measures, self.settings.caution)
        self._mixture = Mixture(
            hypotheses,
            prior=_probabilities(hypotheses, self.settings),
            levels=self.settings.levels,
            measures=self._measures,
            tolerances=self.settings.tolerances,
        )
        self._believed: Belief | None = None

    @property
    def predicted(self) -> np.ndarray:
        """See `Selector.predicted`."""
        return np.asarray(self.prior.min_objective + self._unit * self._belief.mean)

    @property
    def fall_probability(self) -> np.ndarray:
        """Probability of a fall of every controller, (k,)."""
        return self._risk.of(self._belief.fall)

    def diagnosis(self) -> list[tuple[str, float]]:
        """See `Selector`: the hypotheses, and `UNKNOWN`, with their probabilities."""
        weights, names = self._mixture.weights, self._mixture.hypotheses.names
        found = dict(zip(names, weights.sum(axis=0).tolist(), strict=True))
        if HEALTHY in found:
            found[UNKNOWN] = float(weights[-1, names.index(HEALTHY)])
            found[HEALTHY] -= found[UNKNOWN]
        return sorted(found.items(), key=lambda cause: -cause[1])

    def recommendation(self) -> int:
        """Row with the highest expectation of those that were tried."""
        tried = list(self._told)
        return tried[int(np.argmax(self._belief.mean[tried]))]

    @property
    def _belief(self) -> Belief:
        """What is believed by now."""
        if self._believed is None:
            self._believed = believe(self._mixture, list(self._told))
        return self._believed

    @property
    def gain(self) -> np.ndarray:
        """What a trial of every controller is worth, normalised, (k,)."""
        fall, caution = self.fall_probability, self.settings.caution
        return np.asarray(self._belief.gain * (1 - fall) ** caution.exponent - caution.cost * fall)

    def _choose(self, untried: np.ndarray) -> int:
        return int(np.argmax(np.where(untried, self.gain, -np.inf)))

    def _learn(self, row: int, outcome: Outcome) -> None:
        if len(outcome.evidence) not in (0, self._channels):
            raise InvalidValueError(
                f"the evidence of a trial must be {self._channels} numbers, as in the rehearsal, or none, "
                f"not {len(outcome.evidence)}"
            )
        self._believed = None
        self._mixture.learn(row, (outcome.objective - self.prior.min_objective) / self._unit, outcome)
        self._risk.learn(row, outcome)

    def _satisfied(self) -> str | None:
        belief, settings = self._belief, self.settings
        untried = np.ones(len(self.prior), np.bool_)
        untried[self.rows] = False
        gain = float(np.max(self.gain, where=untried, initial=0.0))
        if belief.best > 0 and gain < settings.tolerance * belief.best:
            return (
                f"one more trial is expected to gain {gain / belief.best:.1%} of the best gait's objective, "
                f"less than {settings.tolerance:.1%}"
            )
        if settings.enough is not None and belief.best >= settings.enough * belief.mean.max() > 0:
            return f"the best gait tried reached {settings.enough:.0%} of the best prediction"
        return None


def _probabilities(hypotheses: Hypotheses, settings: RehearsedSettings) -> np.ndarray:
    """Probabilities of levels and hypotheses before the first trial, (l, h)."""
    d, p = hypotheses.rehearsed, len(hypotheses) - hypotheses.rehearsed
    healthy = np.array([name == HEALTHY for name in hypotheses.names[:d]])
    single = np.where(healthy, settings.healthy, (1 - settings.healthy) / max(1, (~healthy).sum()))
    single /= single.sum()
    if hypotheses.fitted:  # the library's conditions have what these leave
        library = d - hypotheses.fitted
        further = np.array([name.count("+") for name in hypotheses.names[library:d]])
        single[library:] = settings.fitted / hypotheses.fitted * np.exp(-settings.price * further)
        single[:library] *= (1 - single[library:].sum()) / single[:library].sum()
    share = settings.pairs if p else 0.0
    known = np.concatenate([(1 - share) * single, np.full(p, share / max(1, p))])
    levels = len(settings.levels)
    probabilities = np.tile((1 - settings.unknown) / levels * known, (levels, 1))
    probabilities[-1, :d] += settings.unknown * healthy
    return probabilities / probabilities.sum()
