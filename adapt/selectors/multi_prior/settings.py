"""`RehearsedSettings`: how far `Rehearsed` and `Fitted` trust hypotheses and measurements."""

from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from robots.errors import InvalidValueError
from robots.files.records import NotNegative, Positive

_Share = Annotated[float, Field(ge=0, le=1)]
_Probability = Annotated[float, Field(ge=0, lt=1)]
_OpenShare = Annotated[float, Field(gt=0, lt=1)]


@dataclass(frozen=True)
class ResidualLevel:
    """How far the truth may be from a hypothesis.

    Attributes:
        residual: standard deviation s of the objective around the hypothesis', normalised.
        length_scale: ρ, over which the residual changes, in units of the measures.
        evidence: standard deviation of the evidence around the hypothesis', as a share of its spread.
        fall: share of trials in which a fall is a matter of chance, whatever the hypothesis says.
    """

    residual: Positive
    length_scale: Positive
    evidence: Positive
    fall: _OpenShare


@dataclass(frozen=True)
class Tolerances:
    """What a trial's measurements may be off by, whatever the hypothesis and the level.

    Attributes:
        noise_share: standard deviation of a trial's noise, as a share of the objective measured.
        noise_offset: the same, of all trials, normalised.
        common: share of the residual's variance that all controllers have in common.
        surprise: see `log_objective`.
        channels: see `log_evidence`.
    """

    noise_share: NotNegative = 0.05
    noise_offset: NotNegative = 0.01
    common: _Share = 0.4
    surprise: _Share = 0.01
    channels: Positive = 3.0


@dataclass(frozen=True)
class Caution:
    """How a fall is foreseen, and what it costs; p is its probability.

    Attributes:
        exponent: of 1 - p, by which the expected gain of a trial is multiplied.
        cost: what a fall costs, as a share of the best objective.
        by_falls: share of p that comes from what falls alone say is wrong.
        memory: number of trials that all of that counts as, next to the falls of similar gaits.
    """

    exponent: NotNegative = 2.0
    cost: NotNegative = 0.02
    by_falls: _Share = 0.5
    memory: Positive = 4.0


LEVELS = (
    ResidualLevel(residual=0.05, length_scale=0.2, evidence=0.08, fall=0.08),
    ResidualLevel(residual=0.1, length_scale=0.2, evidence=0.15, fall=0.11),
    ResidualLevel(residual=0.2, length_scale=0.2, evidence=0.3, fall=0.17),
    ResidualLevel(residual=0.4, length_scale=0.2, evidence=0.6, fall=0.3),
)


@dataclass(frozen=True)
class RehearsedSettings:
    """Settings of `Rehearsed`.

    Attributes:
        levels: how far the truth may be from a hypothesis, at least two, in ascending order of the residual;
            equally probable a priori, except for what `unknown` adds to the last.
        tolerances: of measurements.
        unknown: prior probability that the damage is unlike anything rehearsed, which is represented by the
            healthy condition at the last level, in addition to that condition's own share.
        healthy: share of the healthy condition in the probability that `unknown` and `pairs` leave, positive:
            it is what is left when nothing fits.
        pairs: share, in the probability that `unknown` leaves, of pairs of single damages that were not
            rehearsed together; 0 for no such pairs.
        fitted: share, in what is left, of conditions that were fitted to the trials, if there are any and
            each is a single fault.
        price: log of the factor by which each further fault makes such a condition less probable.
        caution: towards falls.
        tolerance: share of the best so far that one more trial must be expected to gain.
        enough: share of the best prediction with which the search is satisfied, the rule of 2015; None for
            no such rule.
    """

    levels: tuple[ResidualLevel, ...] = LEVELS
    tolerances: Tolerances = Tolerances()
    healthy: _OpenShare = 0.1
    unknown: _Probability = 0.1
    pairs: _Probability = 0.2
    fitted: _OpenShare = 0.5
    price: NotNegative = 3.0
    caution: Caution = Caution()
    tolerance: NotNegative = 0.04
    enough: float | None = None

    def __post_init__(self) -> None:
        residuals = [level.residual for level in self.levels]
        if len(residuals) < 2 or sorted(set(residuals)) != residuals:
            raise InvalidValueError(
                f"levels must be at least two, of ascending residuals, not of {residuals}"
            )
