"""`Faults`: what is wrong with a robot that its model cannot express."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Faults:
    """Faults of a robot's signals; observations go by the names in `Robot.observation_names`.

    Attributes:
        delay: control steps by which every action comes late; until the first has come they are 0.
        stuck: value that an observation always has, as the controller sees it: rescaled.
        noisy: standard deviation of what is added to an observation every control step, likewise.
        fixed: angle at which a joint that the model lacks is fixed [rad]: this is what the controller sees of
            it, with no speed. Of a joint that is lost it sees 0.
    """

    delay: int = 0
    stuck: Mapping[str, float] = field(default_factory=dict)
    noisy: Mapping[str, float] = field(default_factory=dict)
    fixed: Mapping[str, float] = field(default_factory=dict)

    def __add__(self, other: "Faults") -> "Faults":
        """Both; of two that say something of one observation or joint the second counts, delays add up."""
        return Faults(
            delay=self.delay + other.delay,
            stuck={**self.stuck, **other.stuck},
            noisy={**self.noisy, **other.noisy},
            fixed={**self.fixed, **other.fixed},
        )


NO_FAULTS = Faults()
