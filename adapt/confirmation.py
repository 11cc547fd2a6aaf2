"""`ConfirmedSearch`: a selector's search, whose result must prove itself against the incumbent."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from adapt.records import Confirmation, Outcome, RefinedGait
from adapt.selectors.selector import Selector


@dataclass(frozen=True)
class ConfirmationSettings:
    """When a search ends, and what settles a comparison."""

    hopeless: int = 8  # gaits that got nowhere, after which no other is tried
    clear: float = 3.0  # standard errors of a difference that further trials would hardly turn round
    error: float = 0.1  # probability with which a gait that is no better may be confirmed before all trials
    further: float = 1.3  # how much more is to be expected of another gait than of one with confirmations
    likely: float = 0.5  # probability from which a fall is expected


CONFIRMATION = ConfirmationSettings()


class _Told(NamedTuple):
    """A trial that was told."""

    row: int
    outcome: Outcome
    confirms: bool


class ConfirmedSearch:
    """Searches by a selector, and hands over what it finds only if that is better than the incumbent.

    The incumbent, the gait that the robot walks with, is tried first: this is how damage is noticed. Then the
    selector chooses. Single trials are noisy: the best of many is likely to have been lucky. Before a gait
    replaces the incumbent it is therefore tried n more times. These confirmation trials begin when the
    selector is satisfied or only as many trials are left as they take, and follow one list:

    * **The list** holds the gaits that were tried and walked upright, and of which more is expected than of
      the incumbent. Those that fell in the smallest share of their trials come first, and of equals the one
      that the selector recommends, then those of which most is expected. It is made anew after each trial, so
      that whoever falls makes way for the next. A gait that has confirmation trials gives way to one that
      fell as rarely only if 1.3 times as much is expected of that.
    * **The comparison.** The incumbent has n confirmation trials too, in turn. The gait replaces it if

          mean(gait) - mean(incumbent) > √(s_g² / n_g + s_i² / n_i)

      where the means are of confirmation trials alone, which decided nothing before, and s² are the variances
      of all trials of either. It does not if it mostly falls where the incumbent does not. A gait that never
      falls replaces an incumbent that always does.
    * **An incumbent that fails** fell in all of its trials, and is expected to fall again or to get nowhere.
      It is not tried again: its trials so far are the comparison, and where it has a single one, s_i = s_g.
      While the incumbent falls and nothing on the list stays up, the search goes on whether the selector is
      satisfied or not, as long as more is expected of a gait that was not tried; refined ones come first.
      Once something stays up, only a refined gait that is expected to get further and to stay up is tried.
      A gait that never fell is handed over even if no trial is left to confirm it: there is nothing to lose.

    If the difference is between one and three standard errors after n trials each, or only falls speak
    against a gait and may still turn out to be less than half of its trials, the remaining trials are spent
    on that. What is clear needs fewer trials. If the gait were no better, any order of its m confirmation
    trials and all k trials of the incumbent would be as likely as another, and all of its own would be the
    best ones with a probability of at most 1 / C(m + k, m), whatever the distribution. So once they are, this
    is at most 0.1, and the difference is at least three standard errors, it is confirmed. A later trial can
    only break this ordering, so checking early does not raise the error rate.

    Confirmation trials count like all others, and at most half of all are kept for them: n is at most a
    quarter of the trials. Where three falls or more are allowed the last one is kept too, once a gait is on
    the list. Once eight gaits, the incumbent among them, got nowhere and none got anywhere, the search ends:
    more of the same would only wear the robot out.

    Args:
        selector: that was told nothing yet.
        incumbent: row of the controller that the robot walks with.
        confirmations: n; 0 for none, so that what the selector recommends is handed over as it is.
        nowhere: objective up to which a robot got nowhere.
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
        self.incumbent = incumbent
        self._nowhere = nowhere
        self._wanted = confirmations > 0
        self._needed = min(confirmations, selector.trials // 4)
        self._told: list[_Told] = []

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
        if not self._told:
            return self.incumbent
        if self.confirms:
            return self._turn(self.found)
        if not self.failing and self._reserved:
            return None
        return self._hope() if self.selector.done() else self.selector.ask()

    def tell(self, row: int, outcome: Outcome) -> None:
        """Learn what the controller did on the damaged robot."""
        confirms = self.confirms
        self.selector.tell(row, outcome)
        self._told.append(_Told(row, outcome, confirms))

    @property
    def confirms(self) -> bool:
        """Whether the next trial is a confirmation trial."""
        selector, found = self.selector, self.found
        if found == self.incumbent:
            return False
        if self._reserved or self._last_fall:
            return True
        return selector.done() is not None and self._hope() is None

    @property
    def failing(self) -> bool:
        """Whether the incumbent fell in all of its trials, and is expected to fall again or get nowhere."""
        if self._falls(self.incumbent) != 1:
            return False
        return self._expects_fall(self.incumbent) or bool(self.predicted[self.incumbent] <= self._nowhere)

    @property
    def found(self) -> int:
        """Row of the first gait on the list that was not found wanting; the incumbent if there is none."""
        if not self._wanted:
            return self.incumbent
        waiting = (row for row in self._list() if self._comparison(row).passed or self._turn(row) is not None)
        return next(waiting, self.incumbent)

    def confirmation(self) -> Confirmation | None:
        """How the gait handed over, or else the first on the list, compares with the incumbent, if any is."""
        if not self._wanted:
            return None
        rows = [self.recommendation(), *self._list()]
        return next((self._comparison(row) for row in rows if row != self.incumbent), None)

    def recommendation(self) -> int:
        """Row to walk with from now on."""
        if not self._wanted:
            return self.selector.recommendation()
        return next((row for row in self._list() if self._comparison(row).passed), self.incumbent)

    @property
    def hopeless(self) -> bool:
        """Whether many gaits were tried, none of which got anywhere."""
        means = self.selector.means()
        return len(means) >= CONFIRMATION.hopeless and max(means.values()) <= self._nowhere

    @property
    def stop(self) -> str:
        """Why the search stopped, in words."""
        if self.hopeless:
            return f"none of the {len(self.selector.means())} gaits that were tried got anywhere"
        if reason := self.selector.done():
            return reason
        found = self.found
        if found == self.incumbent or not self._comparison(found).passed:
            return "the trials that are left cannot confirm that another gait is better than the old one"
        if self._settled(found):
            return "the new gait did better than the old one in all trials, too often for chance"
        if not self._comparison(found).better:
            return "the new gait stays up, and the old one always fell"
        return "the new gait is confirmed"

    def _list(self) -> list[int]:
        """Rows of the gaits that may replace the incumbent, the first to be confirmed first."""
        means, predicted, old = self.selector.means(), self.predicted, self.incumbent
        rows = [row for row in means if row != old and means[row] > self._nowhere]
        rows = [row for row in rows if self._falls(old) == 1 or self._falls(row) < 1]
        recommended = self.selector.recommendation() if rows else old

        def promises(row: int) -> bool:
            holds = self._confirming(row) and (self._comparison(row).difference or 0.0) >= 0
            return bool(holds or row == recommended or predicted[row] > predicted[old] or self._stays_up(row))

        rows = [row for row in rows if promises(row)]
        least, most = self.selector.prior.min_objective, max(predicted[rows], default=0.0)

        def place(row: int) -> tuple[float, float]:
            expected = float((most if row == recommended else predicted[row]) - least)
            return self._falls(row), -expected * (CONFIRMATION.further if self._confirming(row) else 1.0)

        return sorted(rows, key=place)

    def _hope(self) -> int | None:
        """An untried gait to go on with while the incumbent falls, though the selector is satisfied."""
        old, found, predicted = self.incumbent, self.found, self.predicted
        if self._falls(old) != 1 and not self._expects_fall(old):
            return None
        untried = set(range(len(predicted))).difference(self.selector.means())
        better = [row for row in sorted(untried) if predicted[row] > predicted[found]]
        refined = [gait.row for gait in self.refined if gait.row in better]
        if found != old:
            refined = better = [row for row in refined if not self._expects_fall(row)]
        if better and not refined and (asked := self.selector.ask()) in better:
            return asked
        return max(refined or better, key=lambda row: predicted[row], default=None)

    def _turn(self, found: int) -> int | None:
        """Row of the gait whose turn it is, of one on the list and the incumbent; None if that is decided."""
        comparison = self._comparison(found)
        if self._settled(found):
            return None
        if self._only_falls(comparison):
            return found
        row = self._next(found)
        return row if self._count(row) < self._needed or self._unclear(comparison) else None

    def _next(self, found: int) -> int:
        """The gait that has fewer confirmation trials, the first of equals.

        Where only the incumbent fell, once is enough until the other one has all of its trials; where one
        more fall ends it all, the other one has them first.
        """
        if self.failing:
            return found
        fell, incumbent_fell = (any(o.fell for o in self._confirming(row)) for row in (found, self.incumbent))
        if (incumbent_fell or self._last_fall) and not fell and self._count(found) < self._needed:
            return found
        return min(found, self.incumbent, key=self._count)

    def _comparison(self, row: int) -> Confirmation:
        """How a gait that was tried compares with the incumbent."""
        counts = self._count(row), self._count(self.incumbent)
        new, old = self._confirming(row), self._confirming(self.incumbent)
        if self.failing and not old:
            old = self._outcomes(self.incumbent)
        falls = sum(outcome.fell for outcome in new), sum(outcome.fell for outcome in old)
        stays_up = self._stays_up(row)
        if not new or not old:
            return Confirmation(row, counts, falls, stays_up=stays_up)
        difference = float(np.mean([o.objective for o in new]) - np.mean([o.objective for o in old]))
        alike = row if len(self._outcomes(self.incumbent)) < 2 else self.incumbent
        error = math.sqrt(self._variance(row) / len(new) + self._variance(alike) / len(old))
        return Confirmation(row, counts, falls, difference, error, stays_up)

    def _settled(self, row: int) -> bool:
        """Whether a gait is clearly better than the incumbent, before all trials were made."""
        comparison = self._comparison(row)
        if not comparison.passed or not self._clear(comparison):
            return False
        new = [outcome.objective for outcome in self._confirming(row)]
        old = [outcome.objective for outcome in self._outcomes(self.incumbent)]
        return min(new) > max(old) and 1 / math.comb(len(new) + len(old), len(new)) <= CONFIRMATION.error

    @staticmethod
    def _clear(comparison: Confirmation) -> bool:
        """Whether a difference is large enough not to be turned round by further trials."""
        difference, error = comparison.difference, comparison.standard_error
        return difference is not None and error is not None and difference >= CONFIRMATION.clear * error

    def _unclear(self, comparison: Confirmation) -> bool:
        """Whether a gait would be handed over, but further trials may turn that round."""
        return comparison.passed and not comparison.stays_up and not self._clear(comparison)

    def _only_falls(self, comparison: Confirmation) -> bool:
        """Whether only falls speak against a gait, and the trials left may change that."""
        if not comparison.falls_instead or not comparison.better:
            return False
        left = self._left - self._replays
        return comparison.trials[1] > 0 and 2 * comparison.falls[0] <= comparison.trials[0] + left

    @property
    def _left(self) -> int:
        """Trials that are left."""
        return self.selector.trials - len(self._told)

    @property
    def _reserved(self) -> bool:
        """Whether the trials that are left are kept for confirmation."""
        return self._wanted and self._left <= self._needed + self._replays

    @property
    def _replays(self) -> int:
        """Confirmation trials that the incumbent is still to have."""
        return 0 if self.failing else max(0, self._needed - self._count(self.incumbent))

    @property
    def _last_fall(self) -> bool:
        """Whether one fall is left that is allowed, after two or more."""
        limit = self.selector.max_falls
        return limit is not None and 1 < self.selector.falls == limit - 1

    def _expects_fall(self, row: int) -> bool:
        """Whether the selector expects a fall of a gait."""
        falls = self.selector.fall_probability
        return falls is not None and bool(falls[row] >= CONFIRMATION.likely)

    def _stays_up(self, row: int) -> bool:
        """Whether a gait that got somewhere never fell, and the incumbent always, and not by chance."""
        if self._nowhere == -math.inf or self._falls(row) != 0 or self._falls(self.incumbent) != 1:
            return False
        return self.failing or self._count(self.incumbent) > 0

    def _falls(self, row: int) -> float:
        """Share of the trials of a gait in which it fell; nan if it was not tried."""
        outcomes = self._outcomes(row)
        return sum(outcome.fell for outcome in outcomes) / len(outcomes) if outcomes else math.nan

    def _count(self, row: int) -> int:
        """Number of the confirmation trials of a gait."""
        return len(self._confirming(row))

    def _confirming(self, row: int) -> list[Outcome]:
        """What its confirmation trials showed."""
        return [told.outcome for told in self._told if told.row == row and told.confirms]

    def _outcomes(self, row: int) -> list[Outcome]:
        """What all trials of a gait showed."""
        return [told.outcome for told in self._told if told.row == row]

    def _variance(self, row: int) -> float:
        """Variance of a single trial, from all trials of a gait, of which there are at least two."""
        return float(np.var([outcome.objective for outcome in self._outcomes(row)], ddof=1))
