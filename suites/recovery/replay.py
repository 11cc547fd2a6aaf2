"""`replay`: a recovery that reads its trials from a table of true outcomes instead of simulating them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from adapt.damage import HEALTHY
from adapt.records import Outcome
from adapt.rehearsal.table import Table
from adapt.selectors.selector import Selector
from robots.errors import InvalidValueError

BINDING = 0.9  # a damage is binding if the incumbent has less than this share of the oracle's score


@dataclass(frozen=True)
class Noise:
    """Measurement noise of a trial's objective, in addition to the variation between episodes.

    A trial measures f (1 + share n₁) + offset n₂ + s n₃, with standard normal n, where f is the controller's
    mean and s the standard deviation of its episodes.

    Attributes:
        share: standard deviation, as a share of the objective.
        offset: standard deviation, in units of the objective.
    """

    share: float = 0.05
    offset: float = 0.02


@dataclass(frozen=True, eq=False)
class Truth:
    """What each of k controllers does on the damaged robot.

    Attributes:
        objectives: means, (k,).
        objective_std: standard deviations of single trials, (k,).
        falls: probabilities, (k,).
        evidence: means, (k, e).
        evidence_std: standard deviations of single trials, (k, e).
    """

    objectives: np.ndarray
    objective_std: np.ndarray
    falls: np.ndarray
    evidence: np.ndarray
    evidence_std: np.ndarray

    @classmethod
    def of(cls, table: Table, condition: str) -> "Truth":
        """What a table says about one of its conditions.

        Raises:
            UnknownNameError: the table has no such condition.
        """
        one = table.take([condition])
        return cls(one.objectives[0], one.noise[0], one.falls[0], one.evidence[0], one.evidence_std[0])


@dataclass(frozen=True, eq=False)
class Case:
    """A damage to recover from, and the true outcomes of every controller under it.

    There are two sets of episodes with different seeds. Trials show the first one. Recommended controllers
    and the oracle, which is chosen by episodes of its own, are scored by the second one: so no score is
    flattered by the noise that its controller was selected by. Scores are objectives minus the minimum
    objective.

    Attributes:
        damage: its text.
        truth: what trials show.
        scores: mean of every controller in the second set, (k,).
        oracle: score of the best controller, see `find_oracle`; ratios are defined if it is positive.
        intact: score of the best controller of the intact robot.
        incumbent: row of the controller that the intact robot uses: the best objective of the repertoire.
    """

    damage: str
    truth: Truth
    scores: np.ndarray
    oracle: float
    intact: float
    incumbent: int

    def ratio(self, rows: np.ndarray | int) -> np.ndarray:
        """Recovery ratios of some controllers: scores as shares of the oracle's, clipped to [0, 1]."""
        return np.clip(self.scores[rows] / self.oracle, 0.0, 1.0)

    @property
    def unadapted(self) -> float:
        """Recovery ratio of the incumbent, RR_0."""
        return float(self.ratio(self.incumbent))

    @property
    def binding(self) -> bool:
        """Whether the damage needs adaptation: RR_0 is below 0.9."""
        return self.unadapted < BINDING


def make_cases(
    shown: Table, scored: Table, oracles: Mapping[str, int], *, min_objective: float, incumbent: int
) -> list[Case]:
    """The cases of two tables with the same conditions, of which the first is the healthy robot.

    Args:
        shown: what trials show.
        scored: what recommendations are scored by.
        oracles: row of the best controller by condition.
        min_objective: of the repertoire.
        incumbent: see `Case`.
    """
    scores = scored.objectives.astype(float) - min_objective  # (1 + d, k)
    intact = float(scores[0, oracles[HEALTHY]])
    return [
        Case(
            damage,
            Truth.of(shown, damage),
            own,
            float(own[oracles[damage]]),
            intact=intact,
            incumbent=incumbent,
        )
        for damage, own in zip(shown.conditions, scores, strict=True)
        if damage != HEALTHY
    ]


@dataclass(frozen=True, eq=False)
class Replay:
    """A replayed recovery of B trials.

    Attributes:
        rows: tried, (B,).
        objectives: measured, (B,).
        fell: (B,) bool.
        recommendations: row recommended after each trial, (B,).
        stop: number of trials after which the selector would have stopped, from 1 to B.
        reason: why.
    """

    rows: np.ndarray
    objectives: np.ndarray
    fell: np.ndarray
    recommendations: np.ndarray
    stop: int
    reason: str


def replay(
    make: Callable[[], Selector], truth: Truth, *, seed: int, trials: int, noise: Noise | None = None
) -> Replay:
    """Let a selector recover, for all trials even if it would have stopped earlier.

    It is the selector that is compared here: it begins as it likes, not with the incumbent, and nothing that
    it recommends is confirmed as by `ConfirmedSearch` on a robot. The noise of a trial depends on the seed
    and the number of the trial alone, so that it is the same for all selectors.

    Args:
        make: starts the selector, for at least as many trials.
        truth: outcomes of all controllers.
        seed: of the noise, at least 0.
        trials: B, at most the number of controllers.
        noise: of the objective.

    Raises:
        InvalidValueError: `trials` is out of range.
    """
    if not 1 <= trials <= len(truth.objectives):
        raise InvalidValueError(
            f"trials must be from 1 to the {len(truth.objectives)} controllers there are, not {trials}"
        )
    draws = _Draws(truth, noise or Noise(), seed, trials)
    selector = make()
    rows, objectives, fell, recommended = [], [], [], []
    stop, reason = trials, f"all {trials} trials are used up"
    for trial in range(trials):
        row = selector.ask()
        outcome = draws.outcome(trial, row)
        selector.tell(row, outcome)
        rows.append(row)
        objectives.append(outcome.objective)
        fell.append(outcome.fell)
        recommended.append(selector.recommendation())
        if stop == trials and (why := selector.done()):
            stop, reason = trial + 1, why
    return Replay(np.array(rows), np.array(objectives), np.array(fell), np.array(recommended), stop, reason)


class _Draws:
    """The random numbers of all trials, drawn before the first one."""

    def __init__(self, truth: Truth, noise: Noise, seed: int, trials: int) -> None:
        rng = np.random.default_rng(seed)
        self._truth = truth
        self._share = 1 + noise.share * rng.standard_normal(trials)
        self._offset = noise.offset * rng.standard_normal(trials)
        self._falls = rng.random(trials)
        self._evidence = rng.standard_normal((trials, truth.evidence.shape[1]))
        self._episode = rng.standard_normal(trials)

    def outcome(self, trial: int, row: int) -> Outcome:
        """What a trial of a controller measures."""
        truth = self._truth
        objective = truth.objectives[row] * self._share[trial] + self._offset[trial]
        return Outcome(
            float(objective + truth.objective_std[row] * self._episode[trial]),
            bool(self._falls[trial] < truth.falls[row]),
            truth.evidence[row] + truth.evidence_std[row] * self._evidence[trial],
        )
