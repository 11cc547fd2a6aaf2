"""`Delay`: actions that come late."""

from dataclasses import dataclass

from adapt.damage.anatomy import Anatomy
from adapt.damage.defect import Defect, register
from adapt.damage.effect import Change, leave
from adapt.damage.strength import Strength
from adapt.damage.target import Target
from robots.faults import Faults


@register("delay")
@dataclass(frozen=True)
class Delay(Defect):
    """The motors do what the controller said some control steps ago, and before that nothing."""

    title = "the motors act late"
    family = "delay"
    sorts = ("all",)
    scale = Strength("control steps", 1, 50, default=1, whole=True)

    def _change(self, anatomy: Anatomy, target: Target) -> Change:
        """See `Defect`."""
        late = Faults(delay=int(self.strength or 0))
        return Change(frozenset({"when the motors act"}), leave, late)
