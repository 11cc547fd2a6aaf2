"""Requests: what a recovery or the work before it is to do, as frozen records.

The keywords of `surefoot.recover` and its like, the options of the commands, their defaults and their help
texts derive from the fields and their descriptions here.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from robots.files.records import Record, Seed, Several
from robots.simulation.trace import SENSORS

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Whole = Annotated[int, Field(ge=0, strict=True)]


class RecoveryRequest(Record):
    """What a recovery is to do; its result is a function of this, the repertoire, damage and rehearsal.

    Attributes:
        selector: what chooses the trials: a name; or in Python a class of your own, or anything else that
            makes a `Selector` in a `Context`.
        trials: trials at most, confirmation trials included.
        confirmations: repeat the new and the old gait so many times each, and switch only if the new one is
            better by more than one standard error; if it is better by less than three, leftover trials are
            used for more. At most a quarter of the trials, so that with fewer than 4 the old gait stays; with
            0 the robot switches without any.
        think: how long self-model simulates after the first trial of each gait [s], for robots that must be
            quick: what it finds then depends on the machine. By default as long as its episodes take.
        think_episodes: the same as a number of episodes, which finds the same on every machine. Each
            rehearsed damage is simulated in any case. By default 800.
        refine: episodes of each search for a better gait on what self-model believes to be wrong, of which
            there are at most three; 0 for none. By default 4000 for gaits of up to 100 parameters, and 2000
            for others.
        objective: what gaits are selected, refined, confirmed and reported by: progress while up [m], less a
            quarter of the healthy distance for a fall at once; or the reward of the training.
        sensors: sensors that the robot has for self-model.
        max_falls: stop after so many falls; by default after any number.
        seed: seed from which all random numbers derive.
        oracle: also find the best gait of the repertoire, by trying all of them many times.
    """

    selector: Any = "self-model"
    trials: Several = 20
    confirmations: _Whole = 3
    think: _Positive | None = None
    think_episodes: Several | None = None
    refine: _Whole | None = None
    objective: Literal["progress", "reward"] = "progress"
    sensors: tuple[str, ...] = SENSORS
    max_falls: Several | None = None
    seed: Seed = 1
    oracle: bool = False

    @property
    def thinks(self) -> bool:
        """Whether it says how a selector thinks."""
        return any(one is not None for one in (self.think, self.think_episodes, self.refine)) or (
            self.sensors != SENSORS
        )
