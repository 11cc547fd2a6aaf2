"""`Protocol`: what breaks, when and for how long, and what robots are told to do meanwhile."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from adapt.damage import HEALTHY
from adapt.damage.text import parse_damage
from adapt.mission.changes import PlannedChange
from robots.errors import InvalidValueError, naming
from robots.files.records import Finite, NotNegative, Positive, Record, validate
from robots.files.texts import parse_yaml, read_text
from robots.robot import Robot

STANDARD = Path(__file__).with_name("standard.yaml")
Command = Literal["ahead", "turn", "stand", "path"]
INTACT = "intact"
_STAGES = 20  # of a fault that grows


class Case(Record):
    """A fault of a robot: its name for people, and what is wrong from a time on [s]; of none nothing."""

    name: str = INTACT
    stages: tuple[tuple[float, str], ...] = ()

    @property
    def left(self) -> str:
        """What is wrong in the end; "" of a fault that heals, and without one."""
        texts = [text for _, text in self.stages]
        return "" if HEALTHY in texts else "".join(texts[-1:])

    def changes(self, robot: Robot) -> tuple[PlannedChange, ...]:
        """What happens to the robot in an episode."""
        return tuple(PlannedChange(time, text, parse_damage(text, robot)) for time, text in self.stages)


class Fault(Record):
    """A fault of any robot.

    Attributes:
        kind: of the damage, see `surefoot damages`.
        part: a leg, joint or other part of the robot; or `each leg`, `each first joint` or `each last joint`,
            of a leg, each in a trial of its own.
        strength: of the damage; the kind's own by default; or that at the onset and that to which it grows.
        grows: time within which it does [s].
        onset: when it begins [s].
        duration: after which all is as before [s]; None where it stays.
        every: time from one onset to the next [s]; None where it comes once.
    """

    kind: str
    part: str
    strength: Finite | tuple[Finite, Finite] | None = None
    grows: Positive | None = None
    onset: NotNegative = 2.0
    duration: Positive | None = None
    every: Positive | None = None

    @model_validator(mode="after")
    def _has_times_that_fit(self) -> Self:
        if self.every is not None and (self.duration is None or self.duration >= self.every):
            raise ValueError("a fault that comes again has a duration, shorter than the time between onsets")
        if (self.grows is not None) != isinstance(self.strength, tuple):
            raise ValueError("a fault that grows has two strengths, and the time within which it does, grows")
        if self.grows is not None and self.duration is not None and self.duration <= self.grows:
            raise ValueError("a fault that grows has a longer duration than that takes")
        return self

    def cases(self, robot: Robot, seconds: float) -> list[Case]:
        """A case for each part of a robot, in an episode of so many seconds."""
        legs = robot.description.legs
        parts = {
            "each leg": list(legs),
            "each first joint": [f"joint={leg.joints[0]}" for leg in legs.values()],
            "each last joint": [f"joint={leg.joints[-1]}" for leg in legs.values()],
        }.get(self.part, [self.part])
        return [self._case(robot, part, seconds) for part in parts]

    def _case(self, robot: Robot, part: str, seconds: float) -> Case:
        strengths: list[float | None] = [self.strength]  # type: ignore[list-item]
        if isinstance(self.strength, tuple):
            strengths = np.linspace(*self.strength, _STAGES + 1).tolist()
        sizes = ["" if strength is None else f"@{strength:g}" for strength in strengths]
        texts = [str(parse_damage(f"{part}:{self.kind}{size}", robot)) for size in sizes]
        begins = np.arange(self.onset, seconds, self.every or seconds).tolist()
        wait = (self.grows or 0.0) / _STAGES
        stages = [(begin + n * wait, text) for begin in begins for n, text in enumerate(texts)]
        if self.duration is not None:
            stages += [(begin + self.duration, HEALTHY) for begin in begins]
        name = f"{texts[0]} at {self.onset:g} s"
        name += f", growing to {sizes[-1][1:]} within {self.grows:g} s" if self.grows else ""
        name += f" for {self.duration:g} s" if self.duration else ""
        name += f", {len(begins)} times" if len(begins) > 1 else ""
        return Case(name=name, stages=tuple(sorted(stage for stage in stages if stage[0] < seconds)))


class Protocol(Record):
    """What is tried.

    Attributes:
        seconds: of an episode.
        commands: what robots are told to do; those that cannot be told turns and stands walk ahead alone, and
            along a path only those that hold a heading.
        faults: that are tried besides none.
    """

    seconds: Annotated[Positive, Field(le=600)] = 10.0
    commands: Annotated[tuple[Command, ...], Field(min_length=1)] = ("ahead", "turn", "stand", "path")
    faults: Annotated[tuple[Fault, ...], Field(min_length=1)]

    def cases(self, robot: Robot) -> list[Case]:
        """All cases of a robot, first that in which it is intact."""
        found = [Case()]
        for fault in self.faults:
            if fault.onset >= self.seconds:
                raise InvalidValueError(
                    f"{fault.part}:{fault.kind} begins at {fault.onset:g} s, when an episode of "
                    f"{self.seconds:g} s is over"
                )
            found += fault.cases(robot, self.seconds)
        return found


def read_protocol(path: Path = STANDARD) -> Protocol:
    """Read a protocol from a YAML."""
    with naming(path):
        content: Any = parse_yaml(read_text(path))
        return validate(Protocol, content if isinstance(content, dict) else {"faults": content})
