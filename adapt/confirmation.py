"""`ConfirmedSearch`: a selector's search, whose result must prove itself against the incumbent."""

import math
from collections.abc import Sequence

import numpy as np

from adapt.records import Confirmation, Outcome, RefinedGait
from adapt.selectors.selector import Selector

CONFIRMATIONS = 3
_HOPELESS = 8  # gaits that got nowhere, after which no other is tried
_CLEAR = 3.0  # standard errors of a difference that further trials would hardly turn round
_ERROR = 0.1  # probability with which a gait that is no better may be confirmed before all trials were made


class ConfirmedSearch:
    """Searches by a selector, and hands over what it recommends only if that is better than the incumbent.

    The incumbent, the gait that the robot walks with, is tried first: this is how damage is noticed. Then the
    selector chooses. Single trials are noisy: the best of many is likely to have been lucky, and the
    incumbent may have been unlucky in its only one. Once the search ends, the recommended gait and the
    incumbent are therefore tried n more times each, in turn. The incumbent is replaced only if

        mean(recommended) - mean(incumbent) > √(s_r² / n_r + s_i² / n_i)

    where the means are of these confirmation trials alone, which decided nothing before; s² are the variances
    of all trials of either gait, and the right-hand side is the standard error of the difference. If the
    difference is between one and three standard errors after n trials each, the trials that the search left
    are spent on both in turn, until it is not any more or no trial is left. A gait that mostly fell in its
    confirmation trials does not replace one that did not: where moving backwards counts less than nothing, a
    fall may count for more. If only its falls speak against it, the trials that the search left are spent on
    it, as long as they can bring its falls down to half of its trials.

    What is clear needs fewer trials. If the recommended gait were no better, any order of its m confirmation
    trials and all k trials of the incumbent would be as likely as another, and all of its own would be the
    best ones with a probability of at most 1 / C(m + k, m), whatever the distribution, over all recoveries
    (given that another gait was preferred, the incumbent's first trial was probably poor). So once they are,
    this is at most 0.1, and the difference is at least three standard errors, it is confirmed.
    Further trials can undo that they are the best ones, never bring it about: looking after each trial adds
    nothing to the error. Where only the incumbent falls, the recommended gait has its n trials first: then
    the incumbent falls once more, and not n times.

    A gait that falls behind the incumbent in its confirmation trials makes way for what the selector, which
    is told of these trials too, recommends by then. Confirmation trials count like all others, and at most
    half of all are kept for them: n is at most a quarter of the trials. With fewer than four trials nothing
    can be confirmed, and the incumbent stays. If the search must end before the incumbent had a confirmation
    trial, its first one stands for it where it got nowhere in it, with s_i = s_r: there is little to lose by
    a gait that got somewhere in all its trials. Where three falls or more are allowed the last one is kept
    too, once a gait did better than the incumbent: a search that spends it hands over nothing.

    What got nowhere in its trials is not confirmed. Once eight gaits, the incumbent among them, got nowhere
    and none got anywhere, the search ends: more of the same would only wear the robot out.

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
        confirmations: int = CONFIRMATIONS,
        nowhere: float = -math.inf,
    ) -> None:
        self.selector = selector
        self.incumbent = incumbent
        self._nowhere = nowhere
        self._wanted = confirmations > 0
        self._needed = min(confirmations, selector.trials // 4)
        self._first: list[Outcome] = []  # of the incumbent, before confirmation trials
        self._confirming: dict[int, list[Outcome]] = {}  # outcomes of confirmation trials by row
        self._candidate: int | None = None  # that is being confirmed

    @property
    def confirms(self) -> bool:
        """Whether the next trial is a confirmation trial."""
        tried, kept = (
            len(self.selector.rows),
            self._needed + max(0, self._needed - self._count(self.incumbent)),
        )
        return tried > 0 and (
            tried >= self.selector.trials - kept or self._last_fall or self.selector.done() is not None
        )

    @property
    def _last_fall(self) -> bool:
        """Whether one fall is left, after two or more, and a gait that did better waits to be confirmed."""
        selector = self.selector
        limit = selector.max_falls
        if not self._needed or limit is None or not 1 < selector.falls == limit - 1:
            return False
        means, found = selector.means(), self.found
        return found != self.incumbent and means[found] > max(self._nowhere, means[self.incumbent])

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
        selector = self.selector
        if selector.spent() or self.hopeless:
            return None
        if not self.confirms:
            return selector.ask() if selector.rows else self.incumbent
        found = self.found
        if found == self.incumbent or selector.means().get(found, math.inf) <= self._nowhere:
            return None
        if self._settled():
            return None
        if self._only_falls():
            return found
        row = self._next(found)
        return row if self._count(row) < self._needed or self._unclear() else None

    def tell(self, row: int, outcome: Outcome) -> None:
        """Learn what the controller did on the damaged robot."""
        self._candidate = self.found if self.confirms else None
        if self._candidate is None and row == self.incumbent:
            self._first.append(outcome)
        self.selector.tell(row, outcome)
        if self._candidate is None:
            return
        self._confirming.setdefault(row, []).append(outcome)
        confirmation = self.confirmation()
        if confirmation and confirmation.difference is not None and confirmation.difference < 0:
            self._candidate = None  # whatever seems best by now gets its chance

    @property
    def found(self) -> int:
        """Row of the controller that the search found, the incumbent itself if none is better."""
        return self.selector.recommendation() if self._candidate is None else self._candidate

    def confirmation(self) -> Confirmation | None:
        """How the controller that was found compares with the incumbent; None if it is the incumbent."""
        found = self.found
        if found == self.incumbent or not self._wanted:
            return None
        counts = self._count(found), self._count(self.incumbent)
        new, old = (self._confirming.get(row, []) for row in (found, self.incumbent))
        if new and not old and self._nothing_to_lose(found):
            old = self._first
        if not new or not old:
            return Confirmation(found, counts)
        means = [float(np.mean([outcome.objective for outcome in some])) for some in (new, old)]
        falls = [sum(outcome.fell for outcome in some) for some in (new, old)]
        alike = found if not counts[1] else self.incumbent
        variance = self._variance(found) / len(new) + self._variance(alike) / len(old)
        return Confirmation(found, counts, (falls[0], falls[1]), means[0] - means[1], math.sqrt(variance))

    def recommendation(self) -> int:
        """Row to walk with from now on."""
        confirmation = self.confirmation()
        if confirmation is None:
            return self.selector.recommendation()
        return confirmation.row if confirmation.passed else self.incumbent

    @property
    def hopeless(self) -> bool:
        """Whether many gaits were tried, none of which got anywhere."""
        means = self.selector.means()
        return len(means) >= _HOPELESS and max(means.values()) <= self._nowhere

    @property
    def stop(self) -> str:
        """Why the search stopped, in words."""
        if self.hopeless:
            return f"none of the {len(self.selector.means())} gaits that were tried got anywhere"
        if reason := self.selector.done():
            return reason
        if self._settled():
            return "the new gait did better than the old one in all trials, too often for chance"
        return "the trials that are left cannot confirm that another gait is better than the old one"

    def _next(self, found: int) -> int:
        """Row of the gait whose turn it is, of that found and the incumbent: the first of equals.

        Where only the incumbent fell, once is enough until the other one has all of its trials; where one
        more fall ends it all, the other one has them first.
        """
        trials = [self._confirming.get(row, []) for row in (found, self.incumbent)]
        fell, incumbent_fell = (any(outcome.fell for outcome in some) for some in trials)
        if (incumbent_fell or self._last_fall) and not fell and len(trials[0]) < self._needed:
            return found
        return min(found, self.incumbent, key=self._count)

    def _settled(self) -> bool:
        """Whether the gait that was found is clearly better, before all trials were made."""
        confirmation = self.confirmation()
        if confirmation is None or not confirmation.passed or not self._clear(confirmation):
            return False
        new = [outcome.objective for outcome in self._confirming[confirmation.row]]
        old = self._objectives(self.incumbent)
        return min(new) > max(old) and 1 / math.comb(len(new) + len(old), len(new)) <= _ERROR

    @staticmethod
    def _clear(confirmation: Confirmation) -> bool:
        """Whether a difference is large enough not to be turned round by further trials."""
        difference, error = confirmation.difference, confirmation.standard_error
        return difference is not None and error is not None and difference >= _CLEAR * error

    def _unclear(self) -> bool:
        """Whether the gait that was found would be handed over, but further trials may turn that round."""
        confirmation = self.confirmation()
        return confirmation is not None and confirmation.passed and not self._clear(confirmation)

    def _nothing_to_lose(self, found: int) -> bool:
        """Whether the incumbent got nowhere, and the gait that was found somewhere in all of its trials."""
        old = self._objectives(self.incumbent)
        return bool(old) and min(self._objectives(found)) > self._nowhere >= max(old)

    def _only_falls(self) -> bool:
        """Whether only falls speak against the gait that was found, and the trials left may change that."""
        confirmation = self.confirmation()
        if confirmation is None or not confirmation.falls_instead or not confirmation.better:
            return False
        kept = max(0, self._needed - self._count(self.incumbent))
        left = self.selector.trials - len(self.selector.rows) - kept
        return confirmation.trials[1] > 0 and 2 * confirmation.falls[0] <= confirmation.trials[0] + left

    def _count(self, row: int) -> int:
        """Number of its confirmation trials."""
        return len(self._confirming.get(row, ()))

    def _variance(self, row: int) -> float:
        """Variance of a single trial, from all trials of a controller, of which there are at least two."""
        return float(np.var(self._objectives(row), ddof=1))

    def _objectives(self, row: int) -> list[float]:
        """What all trials of a controller measured."""
        trials = zip(self.selector.rows, self.selector.objectives, strict=True)
        return [objective for tried, objective in trials if tried == row]
