"""`Rehearsed`: infers what is wrong from all that a trial shows, and expects what was rehearsed under it."""

import numpy as np

from adapt.records import Outcome
from adapt.selectors.catalogue import register
from adapt.selectors.multi_prior.hypotheses import rehearsed_hypotheses
from adapt.selectors.multi_prior.multi_prior import MultiPrior
from adapt.selectors.multi_prior.settings import RehearsedSettings
from adapt.selectors.selector import Context
from robots.errors import InvalidValueError


@register(
    "rehearsed", "infers the damage by a rehearsal and tries what works best under it", needs_table=True
)
class Rehearsed(MultiPrior):
    """`MultiPrior` whose hypotheses are the conditions of a rehearsal, and pairs of its single damages.

    Args:
        context: the largest objective of its table is the unit.
        settings: see `RehearsedSettings`.

    Raises:
        InvalidValueError: its table is of another number of controllers.
    """

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
