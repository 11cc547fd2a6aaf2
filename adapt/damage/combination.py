"""`Combination`: several damages at once, or none."""

from dataclasses import dataclass

from adapt.damage.anatomy import Anatomy
from adapt.damage.damage import Damage
from adapt.damage.defect import Defect
from adapt.damage.effect import Effect

HEALTHY = "healthy"  # the text of no damage


@dataclass(frozen=True)
class Combination(Damage):
    """Damages that a robot has at the same time; in which order they are given makes no difference.

    Attributes:
        defects: the damages, put in order; none of a healthy robot.
    """

    defects: tuple[Defect, ...] = ()

    def __post_init__(self) -> None:
        # locking a joint takes it out of the model, where other kinds look for the limb that it moves
        ordered = sorted(self.defects, key=lambda defect: (defect.kind == "locked", str(defect)))
        object.__setattr__(self, "defects", tuple(ordered))

    def __str__(self) -> str:
        return "+".join(map(str, self.defects)) or HEALTHY

    @property
    def summary(self) -> str:
        """See `Damage`."""
        return "; ".join(dict.fromkeys(defect.summary for defect in self.defects)) or "nothing is wrong"

    def effects(self, anatomy: Anatomy) -> tuple[Effect, ...]:
        """See `Damage`."""
        return tuple(effect for defect in self.defects for effect in defect.effects(anatomy))
