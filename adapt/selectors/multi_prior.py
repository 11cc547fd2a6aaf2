"""Multi-prior Bayesian optimisation: an average over hypotheses of what is wrong, weighed by the trials.

`MultiPrior` chooses; `Rehearsed` takes the hypotheses from a rehearsal, and `adapt.selectors.self_model` fits
more of them.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from adapt.damage import HEALTHY
from adapt.gaussian_process import matern_52
from adapt.records import Outcome
from adapt.selectors.catalogue import register
from adapt.selectors.hypotheses import Hypotheses, rehearsed_hypotheses
from adapt.selectors.mixture import Belief, Mixture, ResidualLevel, Tolerances, log_fall
from adapt.selectors.selector import Context, Selector
from robots.errors import InvalidValueError

UNKNOWN = "unknown"  # in a diagnosis: like nothing that was rehearsed
Read = Callable[[int, Outcome], np.ndarray]  # what of a trial of a gait counts as evidence, (e,) or (0,)
_NEARBY = 0.4  # length scale over which falls are evidence for other gaits, in units of the measures
_DOUBT = 0.1  # share of falls that happen by chance, whatever was rehearsed


LEVELS = (
    ResidualLevel(residual=0.05, length_scale=0.2, evidence=0.08, fall=0.08),
    ResidualLevel(residual=0.1, length_scale=0.2, evidence=0.15, fall=0.11),
    ResidualLevel(residual=0.2, length_scale=0.2, evidence=0.3, fall=0.17),
    ResidualLevel(residual=0.4, length_scale=0.2, evidence=0.6, fall=0.3),
)


@dataclass(frozen=True)
class RehearsedSettings:
    """Settings of `Rehearsed`; p is the probability of a fall."""

    # at least two, by ascending residual; equally probable but for what `unknown` adds to the last
    levels: tuple[ResidualLevel, ...] = LEVELS
    tolerances: Tolerances = Tolerances()  # noqa: RUF009 (it is frozen)
    # positive share of the healthy condition, which is left when nothing fits, in what the next two leave
    healthy: float = 0.1
    unknown: float = 0.1  # probability of a damage unlike anything: the healthy condition at the last level
    pairs: float = 0.2  # share in the rest of pairs of single damages; 0 for no such pairs
    fitted: float = 0.5  # share in what is left of single faults that were fitted to the trials
    price: float = 3.0  # log of the factor by which each further fault makes a fit less probable
    exponent: float = 2.0  # of 1 - p, by which the expected gain of a trial is multiplied
    cost: float = 0.02  # what a fall costs, as a share of the best objective
    by_falls: float = 0.5  # share of p that comes from what falls alone say is wrong
    memory: float = 4.0  # trials that all of that counts as, next to the falls of similar gaits
    tolerance: float = 0.04  # share of the best so far that one more trial must be expected to gain


class FallRisk:
    """Learns from falls, independently of the posterior over what is wrong.

    A wrong diagnosis predicts falls badly. So single hypotheses are also weighed by falls alone, where all
    trials of a gait count as one with their mean. Falls of gaits with similar measures, (k, m), are added.
    """

    def __init__(self, hypotheses: Hypotheses, measures: np.ndarray, settings: RehearsedSettings) -> None:
        self._single = hypotheses.falls(np.arange(len(hypotheses.single)))  # (n, k)
        self._falls: dict[int, list[bool]] = {}  # of each trial, by row
        self._logs: dict[int, np.ndarray] = {}  # log likelihoods of these, (n,)
        self._measures = measures
        self._settings = settings
        self._fallen = np.zeros(len(measures))  # falls near each controller, each weighted by how near
        self._near = np.zeros(len(measures))  # trials, the same

    def learn(self, row: int, outcome: Outcome) -> None:
        """Take in a trial."""
        falls = self._falls.setdefault(row, [])
        falls.append(outcome.fell)
        self._logs[row] = log_fall(float(np.mean(falls)), self._single[:, row], doubt=_DOUBT)
        distances = np.linalg.norm(self._measures - self._measures[row], axis=1)
        near = matern_52(distances, length_scale=_NEARBY)
        self._near += near
        self._fallen += outcome.fell * near

    def of(self, believed: np.ndarray, shown: Mapping[int, float]) -> np.ndarray:
        """Probability of a fall of every controller, (k,), from that according to the posterior, (k,).

        Controllers that ran on models of what is wrong have those shown there, by row, before any trial.
        """
        logs = sum(self._logs.values(), np.zeros(len(self._single)))
        weights = np.exp(logs - logs.max())
        by_falls = (weights / weights.sum()) @ self._single
        share, memory = self._settings.by_falls, self._settings.memory
        expected = (1 - share) * believed + share * by_falls
        expected[list(shown)] = list(shown.values())
        return np.asarray((memory * expected + self._fallen) / (memory + self._near))


class MultiPrior(Selector):
    """Multi-prior (model-averaged) map-based Bayesian optimisation, see `docs/explanations/recovery.md`.

    Each hypothesis of what is wrong is a prior for Intelligent Trial and Error (Cully et al. 2015); all
    measurements of a trial update their probabilities, see `Mixture`. The next trial maximises
    EI(x) (1 - p(x))^exponent - cost p(x), with the expected improvement EI over the best expectation of a
    tried controller and the probability p of a fall. The search stops when the maximum is less than
    `tolerance` of that expectation. The healthy condition at the last level stands for damage unlike anything
    known, which a diagnosis calls `UNKNOWN`.
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
        self._risk = FallRisk(hypotheses, self._measures, settings)
        self._believed: Belief | None = None
        for row, outcome in self._outcomes:
            self._weigh(row, outcome)

    def _weigh(self, row: int, outcome: Outcome) -> None:
        self._believed = None
        seen = replace(outcome, evidence=self._read(row, outcome))
        self._mixture.learn(row, self._hypotheses.normalised(outcome.objective), seen)
        self._risk.learn(row, seen)

    @property
    def predicted(self) -> np.ndarray:
        return np.asarray(self._hypotheses.floor + self._hypotheses.unit * self._belief.mean)

    @property
    def fall_probability(self) -> np.ndarray:
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
    def _belief(self) -> Belief:
        if self._believed is None:
            tried = list(dict.fromkeys(row for row, _ in self._outcomes))
            self._believed = self._mixture.belief(tried)
        return self._believed

    @property
    def worth(self) -> np.ndarray:
        fall, settings = self.fall_probability, self.settings
        return np.asarray(self._belief.gain * (1 - fall) ** settings.exponent - settings.cost * fall)

    def _satisfied(self) -> str | None:
        belief, settings = self._belief, self.settings
        gain = float(np.max(self.worth, where=self._untried, initial=0.0))
        if belief.best > 0 and gain < settings.tolerance * belief.best:
            return (
                f"the selector expects one more trial to gain {gain / belief.best:.1%} of the best gait's "
                f"objective, and stops below {settings.tolerance:.1%}"
            )
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


@register(
    "rehearsed", "infers the damage by a rehearsal and tries what works best under it", needs_table=True
)
class Rehearsed(MultiPrior):
    """`MultiPrior` whose hypotheses are the conditions of a rehearsal, and pairs of its single damages."""

    def __init__(self, context: Context, *, settings: RehearsedSettings | None = None) -> None:
        super().__init__(context)
        settings, prior, table = settings or RehearsedSettings(), context.prior, context.table
        assert table is not None  # see `make_selector`
        if (k := table.objectives.shape[1]) != len(prior):
            raise InvalidValueError(
                f"the rehearsal must be of the repertoire's {len(prior)} controllers, not of {k}"
            )
        self._channels = len(table.evidence_names)
        hypotheses = rehearsed_hypotheses(table, prior, pairs=settings.pairs > 0)
        self._expect(hypotheses, settings, lambda _, outcome: np.asarray(outcome.evidence))

    def _learn(self, row: int, outcome: Outcome) -> None:
        if len(outcome.evidence) not in (0, self._channels):
            raise InvalidValueError(
                f"the evidence of a trial must be {self._channels} numbers, as in the rehearsal, or none, "
                f"not {len(outcome.evidence)}"
            )
        self._outcomes.append((row, outcome))
        self._weigh(row, outcome)
