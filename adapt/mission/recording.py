"""`RecordedWorld` notes what a mission observes; `ReplayedWorld` has it observe the same again."""

import base64
import json
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adapt.mission.events import Event, log_records
from adapt.mission.pose import Pose
from adapt.mission.world import BackgroundSearch, Stretch, Until, World, go_on
from adapt.self_model.features import check_sensors
from robots.errors import InvalidFileError, SurefootError
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from robots.simulation.trace import TraceColumns

KIND = "observed"  # of such a line of a log
_ASKED = ("row", "steps", "towards", "abrupt", "gait")  # of a stretch, which a replay must ask for again
_WRONG = (KeyError, TypeError, ValueError, AttributeError, OverflowError, zlib.error)  # in a damaged line
_WHO = {  # decides what, by the kind of event
    "walk": "the planner", "trial": "the planner", "alarm": "the monitor", "stumble": "the monitor",
    "thought": "the selector", "relearned": "the search",
}  # fmt: skip


class DepartureError(SurefootError):
    """A mission that is replayed decides something that it did not when it was recorded."""


class LogEndsError(SurefootError):
    """A mission that is replayed went on to where its log ends."""


class RecordedWorld:
    """Another world, of which each call is noted; see `World`.

    Args:
        world: the other one.
        write: called with each line of the log.
    """

    def __init__(self, world: World, write: Callable[[str], object]) -> None:
        self._world, self._write = world, write
        self.stands, self.sensors, self.close = world.stands, world.sensors, world.close
        self._note("begin", stands=world.stands, sensors=world.sensors)

    @property
    def driving(self) -> int | None:
        """See `World.driving`."""
        return self._world.driving

    @property
    def clock(self) -> float:
        """See `World.clock`."""
        return self._world.clock

    @property
    def pose(self) -> Pose:
        """See `World.pose`."""
        return self._world.pose

    @property
    def upright(self) -> bool:
        """See `World.upright`."""
        return self._world.upright

    def drive(
        self,
        row: int,
        parameters: np.ndarray,
        steps: int,
        *,
        towards: float = 0.0,
        abrupt: bool = False,
        until: Until = go_on,
    ) -> Stretch:
        """See `World.drive`."""
        seen: list[tuple[float, ...]] = []
        over = False

        def watched(trace: np.ndarray, made: int) -> bool:
            nonlocal over
            seen.append((self.clock, *self.pose))
            over = until(trace, made)
            return over

        found = self._world.drive(row, parameters, steps, towards=towards, abrupt=abrupt, until=watched)
        self._note(
            "drive",
            **dict(zip(_ASKED, (row, steps, towards, abrupt, _checksum(parameters)), strict=True)),
            over=over,
            seen=_packed(np.array(seen, "<f8")),
            trace=_packed(found.trace.astype("<f4")),
            start=found.start,
            end=found.end,
            fell=found.fell,
            episodes={name: values.tolist() for name, values in found.episodes.columns.items()},
        )
        return found

    def stand(self, steps: int) -> None:
        """See `World.stand`."""
        self._world.stand(steps)
        self._note("stand")

    def set_upright(self) -> None:
        """See `World.set_upright`."""
        self._world.set_upright()
        self._note("set_upright")

    def think(self, seconds: float, row: int | None, parameters: np.ndarray) -> bool:
        """See `World.think`."""
        fell = self._world.think(seconds, row, parameters)
        self._note("think", fell=fell)
        return fell

    def search(self, work: Callable[[], Any], seconds: float) -> BackgroundSearch:
        """See `World.search`."""
        search = self._world.search(work, seconds)

        def done() -> bool:
            if over := search.done():
                self._note("searched")
            return over

        return BackgroundSearch(done, search.result)

    def _note(self, call: str, **gave: Any) -> None:
        now = {"driving": self.driving, "clock": self.clock, "pose": self.pose, "upright": self.upright}
        self._write(json.dumps({"kind": KIND, "call": call, **now, **gave}))


class ReplayedWorld:
    """What a log says that a world was like; see `World`.

    Its calls raise `DepartureError` where the mission asks for something else than it did, and
    `LogEndsError` where the log ends.

    Args:
        path: the log.
        robot: whole.

    Raises:
        InvalidFileError: it cannot be read, or has no such lines.
    """

    def __init__(self, path: Path, robot: Robot) -> None:
        self._path, self._robot = path, robot
        self.clock, self.pose, self.upright = 0.0, Pose(), True
        self.driving: int | None = None
        self._calls = [record for record in log_records(path) if record.get("kind") == KIND]
        if not self._calls:
            raise InvalidFileError(
                f"{path} does not tell what the robot observed: write it with this version"
            )
        self._calls.reverse()
        begin = self._next("begin")
        try:
            self.stands, self.sensors = bool(begin["stands"]), check_sensors(begin["sensors"])
        except _WRONG as error:
            raise self._damaged() from error

    def drive(
        self,
        row: int,
        parameters: np.ndarray,
        steps: int,
        *,
        towards: float = 0.0,
        abrupt: bool = False,
        until: Until = go_on,
    ) -> Stretch:
        """See `World.drive`."""
        record, before = self._calls[-1] if self._calls else {}, self.clock
        found = self._next("drive", show=False)
        asked = dict(zip(_ASKED, (row, steps, towards, abrupt, _checksum(parameters)), strict=True))
        for name, value in asked.items():
            if record.get(name) != value:
                raise DepartureError(
                    f"at {before:.2f} s the planner chooses gait {row} for {steps} control steps, not gait "
                    f"{record.get('row')} for {record.get('steps')}: they differ in {name}"
                )
        seen, stretch, ended = self._stretch(found)
        for made, (clock, *pose) in enumerate(seen.tolist(), 1):
            self.clock, self.pose = clock, Pose(*pose)
            over = until(stretch.trace, made)
            if over != (ended and made == len(seen)):
                ends = "ends" if over else "does not end"
                raise DepartureError(f"at {clock:.2f} s the monitor {ends} the stretch, unlike in the log")
        self._show(found)
        return stretch

    def stand(self, steps: int) -> None:
        """See `World.stand`."""
        self._next("stand")

    def set_upright(self) -> None:
        """See `World.set_upright`."""
        self._next("set_upright")

    def think(self, seconds: float, row: int | None, parameters: np.ndarray) -> bool:
        """See `World.think`."""
        return bool(self._next("think").get("fell"))

    def search(self, work: Callable[[], Any], seconds: float) -> BackgroundSearch:
        """See `World.search`."""

        def done() -> bool:
            over = bool(self._calls) and self._calls[-1].get("call") == "searched"
            if over:
                self._next("searched")
            return over

        return BackgroundSearch(done, work)

    def close(self) -> None:
        """See `World.close`."""

    def _next(self, call: str, *, show: bool = True) -> dict[str, Any]:
        """The next line, which must be of this call."""
        if not self._calls:
            raise LogEndsError(f"the log ends at {self.clock:.2f} s, before the mission does")
        record = self._calls.pop()
        if record.get("call") != call:
            raise DepartureError(f"at {self.clock:.2f} s the mission does {call}, not {record.get('call')}")
        if show:
            self._show(record)
        return dict(record)

    def _show(self, record: dict[str, Any]) -> None:
        try:
            self.clock, self.pose = _finite(record["clock"]), Pose(*map(_finite, record["pose"]))
            self.upright = bool(record["upright"])
            self.driving = None if record["driving"] is None else int(record["driving"])
        except _WRONG as error:
            raise self._damaged() from error

    def _stretch(self, record: dict[str, Any]) -> tuple[np.ndarray, Stretch, bool]:
        """Clock and pose after each control step, (n, 4), the stretch, and whether the mission ended it."""
        try:
            seen = _unpacked(record["seen"], "<f8", 4)
            trace = _unpacked(record["trace"], "<f4", TraceColumns.of(self._robot).end)
            if not len(seen) <= len(trace) > 0:
                raise ValueError("another number of rows")
            start, end = (Pose(*map(_finite, record[name])) for name in ("start", "end"))
            episodes = self._episodes(record["episodes"])
            found = Stretch(int(record["row"]), start, end, trace, episodes, bool(record["fell"]))
            return seen, found, bool(record["over"])
        except _WRONG as error:
            raise self._damaged() from error

    def _episodes(self, columns: dict[str, Any]) -> Episodes:
        """What the lists of a line say of an episode; an error of `_WRONG` if they cannot."""
        known = Episodes.unknown(1, self._robot).columns
        found = {
            name: np.array(values).astype(known[name].dtype, casting="same_kind")
            for name, values in columns.items()
        }
        if {name: values.shape for name, values in found.items()} != {
            name: values.shape for name, values in known.items()
        }:
            raise ValueError("other columns")
        return Episodes(**found)

    def _damaged(self) -> InvalidFileError:
        return InvalidFileError(f"{self._path} holds observations that are damaged")


def check_decisions(events: Iterable[Event], recorded: Sequence[Event]) -> Counter[str]:
    """Have a mission decide again, and compare each event with the recorded one.

    Args:
        events: of a mission in a `ReplayedWorld`.
        recorded: of its log; what broke is left out, since the robot was not told.

    Returns:
        How many events of each kind were the same.

    Raises:
        DepartureError: one differs.
    """
    same: Counter[str] = Counter()
    known = iter([event for event in recorded if event.kind != "change"])
    try:
        for event in events:
            then = next(known, None)
            if then is None:
                break
            if event.line() != then.line():
                raise DepartureError(
                    f"at {then.time:.2f} s {_WHO.get(then.kind, 'it')} {_difference(event, then)}"
                )
            same[event.kind] += 1
    except LogEndsError:
        pass
    return same


def _difference(event: Event, then: Event) -> str:
    """What differs between an event and that of the log, in words."""
    if event.words != then.words:
        return f"says {event.words!r}, not {then.words!r} as in the log"
    names = [name for name in vars(then) if vars(event)[name] != vars(then)[name]]
    facts = [name for name in then.facts if event.facts.get(name) != then.facts[name]]
    return f"says {event.words!r} as in the log, with other {', '.join(facts or names)}"


def _finite(value: Any) -> float:
    if not math.isfinite(number := float(value)):
        raise ValueError("not all numbers are finite")
    return number


def _checksum(parameters: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(parameters, "<f4").tobytes())


def _packed(rows: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(rows.tobytes(), 6)).decode("ascii")


def _unpacked(text: str, kind: str, columns: int) -> np.ndarray:
    content = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), 100_000_000)
    rows = np.frombuffer(content, kind).reshape(-1, columns)
    if not np.isfinite(rows).all():
        raise ValueError("not all numbers are finite")
    return rows.copy()
