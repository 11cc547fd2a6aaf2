"""`MissionSettings`: how a robot on a mission thinks, and how often it may fall."""

from typing import Annotated, Any

from pydantic import Field

from robots.files.records import Record, Seed, Several


class MissionSettings(Record):
    """How a robot on a mission thinks, and how often it may fall.

    A mission is a function of this, its plan, the repertoire and the rehearsal.

    Attributes:
        selector: what finds out what is wrong after an alarm or a fall: `self-model` by default, or
            `rehearsed`; or in Python one of your own.
        episodes: episodes that self-model simulates after each trial, while the mission's clock runs.
        refinement: episodes of 5 s of a search for a better gait while the robot walks; 0 for none.
        cores: cores that the robot thinks with, each as fast as one that the included robots were
            measured on.
        max_falls: how often the robot may fall; then it is damped, and the mission is over.
        seed: seed from which all random numbers derive.
    """

    selector: Any = None
    episodes: Several = 400
    refinement: Annotated[int, Field(ge=0, strict=True)] = 800
    cores: Several = 2
    max_falls: Several = 3
    seed: Seed = 1


DEFAULTS = MissionSettings()
