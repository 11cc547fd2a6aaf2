"""`Protocol`: what breaks, when and for how long, and what robots are told to do meanwhile."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from adapt.damage.text import parse_damage
from adapt.mission.changes import REPAIRED, PlannedChange, read_changes
from robots.errors import InvalidValueError, naming
from robots.files.records import Finite, NotNegative, Positive, Record, validate
from robots.files.texts import parse_yaml, read_text
from robots.robot import Robot

STANDARD = Path(__file__).with_name("standard.yaml")
Command = Literal["ahead", "turn", "stand"]


class Fault(Record):
    """A fault of any robot.

    Attributes:
        kind: of the damage, see `surefoot damages`.
        part: a leg, joint or other part of the robot; or `each leg`, `each first joint` or `each last joint`,
            of a leg, each in a trial of its own.
        strength: of the damage; the kind's own by default.
        onset: when it begins [s].
        duration: after which all is as before [s]; None where it stays.
        every: time from one onset to the next [s]; None where it comes once.
    """

    kind: str
    part: str
    strength: Finite | None = None
    onset: NotNegative = 2.0
    duration: Positive | None = None
    every: Positive | None = None

    @model_validator(mode="after")
    def _ends_before_it_comes_again(self) -> Self:
        if self.every is not None and (self.duration is None or self.duration >= self.every):
            raise ValueError("a fault that comes again has a duration, shorter than the time between onsets")
        return self

    def texts(self, robot: Robot) -> list[str]:
        """Texts of the damages of a robot."""
        legs = robot.description.legs
        parts = {
            "each leg": list(legs),
            "each first joint": [f"joint={leg.joints[0]}" for leg in legs.values()],
            "each last joint": [f"joint={leg.joints[-1]}" for leg in legs.values()],
        }.get(self.part, [self.part])
        size = "" if self.strength is None else f"@{self.strength:g}"
        return [str(parse_damage(f"{part}:{self.kind}{size}", robot)) for part in parts]


class Case(Record):
    """A fault of a robot, as its text and the times in which it is there [s]; of none both are empty."""

    text: str = ""
    times: tuple[tuple[float, float], ...] = ()

    @cached_property
    def name(self) -> str:
        """What broke and when, for people."""
        if not self.times:
            return "intact"
        (begin, end), *others = self.times
        if others:
            return f"{self.text} at {begin:g} s for {end - begin:g} s, {1 + len(others)} times"
        return f"{self.text} at {begin:g} s" + (f" for {end - begin:g} s" if np.isfinite(end) else "")

    def changes(self, robot: Robot, seconds: float) -> tuple[PlannedChange, ...]:
        """What happens to the robot in an episode."""
        told = [f"{self.text}@{begin:g}" for begin, _ in self.times]
        told += [f"{REPAIRED}@{end:g}" for _, end in self.times if end < seconds]
        return read_changes(told, robot)


class Protocol(Record):
    """What is tried.

    Attributes:
        seconds: of an episode.
        commands: what robots are told to do; what cannot be told turns and stands walks ahead alone.
        faults: that are tried besides none.
    """

    seconds: Annotated[Positive, Field(le=600)] = 10.0
    commands: Annotated[tuple[Command, ...], Field(min_length=1)] = ("ahead", "turn", "stand")
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
            begins = np.arange(fault.onset, self.seconds, fault.every or self.seconds).tolist()
            times = tuple((begin, begin + (fault.duration or np.inf)) for begin in begins)
            found += [Case(text=text, times=times) for text in fault.texts(robot)]
        return found


def read_protocol(path: Path = STANDARD) -> Protocol:
    """Read a protocol from a YAML."""
    with naming(path):
        content: Any = parse_yaml(read_text(path))
        return validate(Protocol, content if isinstance(content, dict) else {"faults": content})


def common_cases(protocol: Protocol, robots: Sequence[Robot]) -> list[Case]:
    """The cases of robots, which must be the same for all."""
    first, *others = (protocol.cases(robot) for robot in robots)
    if any(cases != first for cases in others):
        raise InvalidValueError("policies and gaits are compared on one robot, with legs of the same names")
    return first
