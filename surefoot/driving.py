"""`drive`: one gait on a robot behind a link."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from repertoire.repertoire import Repertoire, Which
from robots.arrays import real_number
from robots.errors import InvalidValueError
from robots.files.atomic import check_writable
from surefoot.keywords import takes
from surefoot.shipped import chosen

if TYPE_CHECKING:
    from robots.link.driving import DrivenStep


@takes()
def drive(
    source: Repertoire | str | Path,
    gait: Which = "best",
    *,
    robot: str,
    seconds: float = 10.0,
    keys: str | Path | None = None,
    csv: str | Path | None = None,
    mcap: str | Path | None = None,
    command: tuple[float, float] | None = None,
) -> str:
    """Play one gait on the robot at an address; in the end, and upon any error, the robot is damped.

    Args:
        gait: see `deploy`.
        robot: its address, tcp://HOST:PORT.
        seconds: how long.
        keys: folder with the keys of an encrypted link, see `robots.link.sockets`.
        csv: .csv to write the telemetry to in the end.
        mcap: .mcap to write it to as it comes.
        command: see `deploy`; needed for a gait that follows one.

    Returns:
        How it went, in a line.
    """
    from robots.link.driving import drive as play
    from robots.link.remote import RemoteLink
    from robots.link.telemetry import McapLog, Reading, write_link_csv

    seconds = real_number("seconds", seconds, 0, above=True, unit="s")
    if seconds > 3600:
        raise InvalidValueError(f"seconds must be above 0 and at most 3600, not {seconds:g}")
    repertoire, row, _ = chosen(source, gait)
    label, machine = repertoire.label(row), repertoire.robot
    names = machine.description.joints, tuple(machine.description.feet)
    if csv is not None:
        check_writable(csv)
    solution = repertoire.gaits.solutions[row]
    moments: list[DrivenStep] = []
    # compiled now: a robot that is not told anything soon can be driven by another computer
    machine.controller.act(solution, np.zeros(machine.observation_dim, np.float32), 0)
    with ExitStack() as stack:
        link = RemoteLink(machine, robot, keys=None if keys is None else Path(keys))
        stack.callback(link.close)
        log = stack.enter_context(McapLog(Path(mcap), *names, gait=label)) if mcap is not None else None

        def save() -> None:
            if csv is not None and moments:
                write_link_csv(moments, Path(csv), *names, gait=label)

        stack.callback(save)  # even if the link fails

        def note(moment: "DrivenStep") -> None:
            moments.append(moment)
            if log is not None:
                log.write(Reading.of(moment))

        told = note if csv is not None or log else None
        done = play(link, solution, seconds, told, command)
        way = "it does not know where it is" if done.ahead is None else f"{done.ahead:.2f} m ahead"
        end = {
            "time": "still on its feet",
            "fall": "it fell, and is damped",
            "damping": "it damped itself: commands came late, or another computer drives it",
        }[done.ended]
        return f"{done.steps * machine.control_step:.1f} s: {way}, {end}; {link.words}"
