"""Missions of a few gaits, each walked once for all tests of a session."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import pytest

from adapt.mission import mission as module
from adapt.mission.log import Event, MissionResult
from adapt.mission.mission import Mission
from adapt.mission.monitor import Monitor
from adapt.mission.states import TRANSITIONS, Outcome, State
from adapt.rehearsal.table import Table
from adapt.requests import MissionRequest
from repertoire.repertoire import Repertoire
from robots.simulation.threads import Threads
from tests.adapt.mission.small import small_ant, small_hexapod

GOAL = (2.5, 0.5)
MISSIONS: dict[str, dict[str, Any]] = {
    "whole": {"goals": ((1.0, 0.8), (0.5, 1.2)), "seconds": 60.0},
    "motors": {"goals": (GOAL,), "changes": ["left_front:lost@2"], "seconds": 40.0},
    "trial": {"goals": (GOAL,), "changes": ["left_front:lost@2"], "seconds": 40.0, "listens": False},
    "fallen": {"changes": ["left_rear:lost@2"], "seconds": 60.0, "listens": False, "max_falls": 9},
    "repaired": {
        "changes": ["left_front:lost@2", "repaired@8", "left_front:lost@12", "repaired@20"],
        "seconds": 30.0,
    },
    "told": {"changes": ["left_rear:lost@2"], "seconds": 10.0, "response": "told"},
    "plain": {"changes": ["left_rear:lost@2"], "seconds": 10.0, "response": "none"},
}


class Walked(NamedTuple):
    """A mission that is over: its events, its result, and the transitions that it made."""

    events: list[Event]
    result: MissionResult
    transitions: set[tuple[State, Outcome]]

    def kinds(self, *some: str, after: float = -1.0) -> list[str]:
        """Kinds of events, of these or of all, after a time."""
        return [one.kind for one in self.events if one.time > after and (not some or one.kind in some)]

    def first(self, kind: str) -> Event:
        return next(event for event in self.events if event.kind == kind)


class Noting(dict):
    """The table of transitions, which notes what is looked up."""

    def __init__(self) -> None:
        super().__init__(TRANSITIONS)
        self.seen: set[tuple[State, Outcome]] = set()

    def __getitem__(self, key: tuple[State, Outcome]) -> State:
        self.seen.add(key)
        return super().__getitem__(key)


@cache
def walked(name: str, threads: int | None = None) -> Walked:
    asked = dict(MISSIONS[name])
    gaits, table = small_hexapod()
    listens, response = asked.pop("listens", True), asked.pop("response", "diagnosis")
    request = MissionRequest(selector="rehearsed", refine=0, **asked)
    with pytest.MonkeyPatch.context() as patch:
        table_of_states = Noting()
        patch.setattr(module, "TRANSITIONS", table_of_states)
        if not listens:  # motors do not tell that they give no torque
            patch.setattr(Monitor, "listen", lambda *_: False)
        mission = Mission(gaits, request, table=table, response=response, backend=Threads(threads))
        events = list(mission)
    return Walked(events, mission.result, table_of_states.seen)


@pytest.fixture(scope="session")
def missions() -> Callable[..., Walked]:
    return walked


@pytest.fixture(scope="session")
def hexapod() -> tuple[Repertoire, Table]:
    return small_hexapod()


@pytest.fixture(scope="session")
def ant() -> tuple[Repertoire, Table]:
    return small_ant()
