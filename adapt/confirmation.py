"""`ConfirmedSearch`: a selector's search, whose result must prove itself against the incumbent.

The incumbent is the gait that the robot walks with. What is tried next (`ask`), by the first line that holds:

=====================================================================  =====================================
State of the search                                                    Next trial
=====================================================================  =====================================
no trial and no fall is left, or many gaits got nowhere                none
nothing was tried                                                      the incumbent: this notices damage
a candidate is undecided, and it is time to confirm (`confirms`)       the candidate or the incumbent
a single trial is left, and the incumbent walks                        none
the selector is satisfied, and the incumbent failed or is to fall      an untried gait expected to do better
otherwise                                                              what the selector asks for, if at all
=====================================================================  =====================================

It is time once the selector is satisfied, or nothing but kept trials, or a single fall, is left. Candidates
are the gaits that walked upright, or got somewhere where the incumbent failed, and of which more is expected
than of it; the first that is not decided against is confirmed. How it stands (`_turn` and
`Confirmation.passed`), again by the first line that holds, where n is the number of confirmation trials, and
"better" means by more than the standard error:

=====================================================================  ============  ======================
Comparison of a candidate with the incumbent                           Trials go on  It is handed over
=====================================================================  ============  ======================
better by three errors, in all trials, and too often for chance        no            yes
better, but mostly falls instead; the trials left may change that      yes           not yet
better by less than three errors                                       yes, in turn  yes, if none is left
fewer than n trials of either                                          yes, in turn  if better, or safer
safer: the incumbent always failed, and the candidate never fell or,   no            yes
with no trial left, at times walked upright and did better on average
likelier: n is 1, no trial is left but the last, and the candidate     in turn, to   yes
never fell, did better on average and is expected to do better         the last
otherwise                                                              no            no
=====================================================================  ============  ======================

"Confirmation" in `docs/explanations/recovery.md` gives the reasons.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from adapt.records import Confirmation, Outcome, RefinedGait
from adapt.selectors.selector import Selector

HOPELESS = 8  # gaits that got nowhere, after which no other is tried
_CLEAR = 3.0  # standard errors of a difference that further trials would hardly turn round
_ERROR = 0.1  # probability with which a gait that is no better may be confirmed before all trials
_FURTHER = 1.3  # how much more is to be expected of another gait than of one with confirmations
_LIKELY = 0.5  # probability from which a fall is expected


@dataclass
class _Tried:
    """Trials of a gait: all of them, and those that were for confirmation."""

    outcomes: list[Outcome] = field(default_factory=list)
    confirming: list[Outcome] = field(default_factory=list)

    @property
    def falls(self) -> float:
        return _falls(self.outcomes) / len(self.outcomes) if self.outcomes else math.nan

    @property
    def variance(self) -> float:
        """Variance of the objective of a single trial, of at least two."""
        return float(np.var(_objectives(self.outcomes), ddof=1))


class ConfirmedSearch:
    """Searches by a selector, and hands over what it finds only if that is better than the incumbent.

    The head of this file tells how, in two tables. With no confirmations it hands over what the selector
    recommends.

    Attributes:
        failing: whether the incumbent fell or got nowhere in all of its trials, and is expected to do so
            again. Then it is not tried again.
        found: row of the first candidate that was not found wanting; the incumbent if there is none.
    """

    def __init__(
        self,
        selector: Selector,
        incumbent: int,
        *,
        confirmations: int = 3,
        nowhere: float = -math.inf,
    ) -> None:
        self.selector = selector
        self.incumbent = self.found = incumbent
        self.failing = self._failed = False
        self._nowhere = nowhere
        self._wanted = confirmations > 0
        self._needed = min(confirmations, selector.trials // 4)
        self._tried: defaultdict[int, _Tried] = defaultdict(_Tried)
        self._candidates: dict[int, Confirmation] = {}  # by row, the first to be confirmed first

    @property
    def predicted(self) -> np.ndarray:
        """See `Selector`."""
        return self.selector.predicted

    @property
    def refined(self) -> Sequence[RefinedGait]:
        """See `Selector`."""
        return self.selector.refined

    def ask(self) -> int | None:
        """Row of the controller to try next, or None to stop."""
        if self.selector.spent() or self.hopeless:
            return None
        if not self.selector.rows:
            return self.incumbent
        if self.confirms:
            return self._turn(self.found)
        if not self.failing and self._left <= min(1, self._needed):
            return None
        return self._hope() if self.selector.done() else self.selector.ask()

    def tell(self, row: int, outcome: Outcome) -> None:
        """Learn what the controller did on the damaged robot."""
        confirms = self.confirms
        self.selector.tell(row, outcome)
        self._tried[row].outcomes.append(outcome)
        if confirms:
            self._tried[row].confirming.append(outcome)
        old = self._tried[self.incumbent].outcomes
        self._failed = bool(old) and all(one.fell or one.objective <= self._nowhere for one in old)
        self.failing = self._failed and (
            self._expects_fall(self.incumbent) or bool(self.predicted[self.incumbent] <= self._nowhere)
        )
        if self._wanted:
            self._candidates = self._ranked()
            found = (
                row for row, one in self._candidates.items() if one.passed or self._turn(row) is not None
            )
            self.found = next(found, self.incumbent)

    @property
    def confirms(self) -> bool:
        """Whether the next trial is a confirmation trial."""
        if self.found == self.incumbent:
            return False
        return (
            self._reserved or self._last_fall or (self.selector.done() is not None and self._hope() is None)
        )

    def confirmation(self) -> Confirmation | None:
        """How the gait handed over, or else the first candidate, compares with the incumbent, if any is."""
        candidates = self._candidates.values()
        return next((one for one in candidates if one.passed), next(iter(candidates), None))

    def recommendation(self) -> int:
        """Row to walk with from now on."""
        if not self._wanted:
            return self.selector.recommendation()
        return next((row for row, one in self._candidates.items() if one.passed), self.incumbent)

    @property
    def hopeless(self) -> bool:
        """Whether many gaits were tried, none of which got anywhere."""
        means = self.selector.means()
        return len(means) >= HOPELESS and max(means.values()) <= self._nowhere

    @property
    def stop(self) -> str:
        """Why the search stopped, in words."""
        if self.hopeless:
            return f"none of the {len(self.selector.means())} gaits that were tried got anywhere"
        if reason := self.selector.done():
            return reason
        comparison = self._candidates.get(self.found)
        if comparison is None or not comparison.passed:
            return "the trials that are left cannot confirm that another gait is better than the old one"
        if self._settled(comparison):
            return "the new gait did better than the old one in all trials, too often for chance"
        if not comparison.better:
            failed = "the new gait walks, and the old one always fell or got nowhere"
            return failed if comparison.safer else "the new gait did better on average, which may be chance"
        return "the new gait is confirmed"

    def _ranked(self) -> dict[int, Confirmation]:
        """How the candidates compare with the incumbent."""
        predicted, means = self.predicted, self.selector.means()
        rows = [row for row, mean in means.items() if row != self.incumbent and mean > self._nowhere]
        rows = [row for row in rows if self._failed or self._tried[row].falls < 1]
        if not rows:
            return {}
        recommended, expected = self.selector.recommendation(), predicted[self.incumbent]
        compared = {row: self._comparison(row) for row in rows}
        promising = [
            row
            for row, one in compared.items()
            if row == recommended
            or predicted[row] > expected
            or one.safer
            or (one.trials[0] and (one.difference or 0.0) >= 0)
        ]
        least, most = self.selector.prior.min_objective, max(predicted[promising], default=0.0)

        def place(row: int) -> tuple[float, float]:
            gain = float((most if row == recommended else predicted[row]) - least)
            return self._tried[row].falls, -gain * (_FURTHER if self._tried[row].confirming else 1.0)

        return {row: compared[row] for row in sorted(promising, key=place)}

    def _comparison(self, row: int) -> Confirmation:
        """How a gait that was tried compares with the incumbent.

        The trials of an incumbent that is not tried again are the comparison. Where it has a single one, the
        variance of the gait counts for both.
        """
        gait, incumbent = self._tried[row], self._tried[self.incumbent]
        new = gait.confirming
        old = incumbent.confirming or (incumbent.outcomes if self.failing or not self._left else [])
        best_of_old = max(_objectives(incumbent.outcomes), default=math.inf)
        farther = gait.falls < 1 and float(np.mean(_objectives(gait.outcomes))) > best_of_old
        safer = (
            self._nowhere > -math.inf
            and (gait.falls == 0 or (farther and self.selector.spent() is not None))
            and self._failed
            and (self.failing or bool(incumbent.confirming))
        )
        counts, falls = (len(new), len(incumbent.confirming)), (_falls(new), _falls(old))
        if not new or not old:
            return Confirmation(row, counts, falls, safer=safer)
        means = [float(np.mean(_objectives(one.outcomes))) for one in (incumbent, gait)]
        expects_more = bool(self.predicted[row] > self.predicted[self.incumbent])
        few = self._needed <= 1 and self._left <= 1
        likelier = few and gait.falls == 0 and means[0] < means[1] and expects_more
        difference = float(np.mean(_objectives(new)) - np.mean(_objectives(old)))
        alike = gait if len(incumbent.outcomes) < 2 else incumbent
        error = math.sqrt(gait.variance / len(new) + alike.variance / len(old))
        return Confirmation(row, counts, falls, difference, error, safer, likelier)

    def _hope(self) -> int | None:
        """An untried gait to go on with while the incumbent fails, though the selector is satisfied."""
        old, predicted = self.incumbent, self.predicted
        if not self._failed and not self._expects_fall(old):
            return None
        untried = set(range(len(predicted))).difference(self.selector.means())
        better = [row for row in sorted(untried) if predicted[row] > predicted[self.found]]
        refined = [gait.row for gait in self.refined if gait.row in better]
        if self.found != old:
            refined = better = [row for row in refined if not self._expects_fall(row)]
        if better and not refined and (asked := self.selector.ask()) in better:
            return asked
        return max(refined or better, key=lambda row: predicted[row], default=None)

    def _turn(self, row: int) -> int | None:
        """Row of the gait whose turn it is, of a candidate and the incumbent; None if that is decided."""
        comparison = self._candidates[row]
        if self._settled(comparison):
            return None
        if self._only_falls(comparison):
            return row
        turn = self._next(comparison)
        unclear = comparison.passed and not comparison.safer and not _clear(comparison)
        return turn if unclear or len(self._tried[turn].confirming) < self._needed else None

    def _next(self, comparison: Confirmation) -> int:
        """The gait that has fewer confirmation trials, the candidate of equals.

        Where only the incumbent fell, once is enough until the candidate has all of its trials; where one
        more fall ends it all, the candidate has them first.
        """
        new, old = comparison.trials
        if self.failing or new <= old:
            return comparison.row
        fell, incumbent_fell = comparison.falls
        first = (incumbent_fell or self._last_fall) and not fell and new < self._needed
        return comparison.row if first else self.incumbent

    def _settled(self, comparison: Confirmation) -> bool:
        """Whether a gait is clearly better than the incumbent, before all trials were made.

        If it were no better, all of its m trials would be better than the incumbent's k with a probability of
        at most 1 / C(m + k, m), whatever their distribution.
        """
        if not comparison.passed or not _clear(comparison):
            return False
        new = _objectives(self._tried[comparison.row].confirming)
        old = _objectives(self._tried[self.incumbent].outcomes)
        return min(new) > max(old) and 1 / math.comb(len(new) + len(old), len(new)) <= _ERROR

    def _only_falls(self, comparison: Confirmation) -> bool:
        """Whether only falls speak against a gait, and the trials left may change that."""
        if not comparison.falls_instead or not comparison.better:
            return False
        left = self._left - self._replays
        compared = self.failing or comparison.trials[1] > 0
        return compared and 2 * comparison.falls[0] <= comparison.trials[0] + left

    @property
    def _left(self) -> int:
        return self.selector.trials - len(self.selector.rows)

    @property
    def _replays(self) -> int:
        """Confirmation trials that the incumbent is still to have."""
        return 0 if self.failing else max(0, self._needed - len(self._tried[self.incumbent].confirming))

    @property
    def _reserved(self) -> bool:
        return self._wanted and self._left <= self._needed + self._replays

    @property
    def _last_fall(self) -> bool:
        """Whether one fall is left that is allowed, after two or more."""
        limit = self.selector.max_falls
        return limit is not None and 1 < self.selector.falls == limit - 1

    def _expects_fall(self, row: int) -> bool:
        falls = self.selector.fall_probability
        return falls is not None and bool(falls[row] >= _LIKELY)


def _falls(outcomes: Sequence[Outcome]) -> int:
    return sum(outcome.fell for outcome in outcomes)


def _objectives(outcomes: Sequence[Outcome]) -> list[float]:
    return [outcome.objective for outcome in outcomes]


def _clear(comparison: Confirmation) -> bool:
    """Whether a difference is large enough not to be turned round by further trials."""
    difference, error = comparison.difference, comparison.standard_error
    return difference is not None and error is not None and difference >= _CLEAR * error
