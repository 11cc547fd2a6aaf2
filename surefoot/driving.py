"""`drive`: one gait on a robot behind a link; `serve`: a simulated robot to drive."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from repertoire.repertoire import Repertoire, Which
from robots.arrays import real_number
from robots.errors import InvalidValueError
from robots.robot import Robot, find_robot
from surefoot.shipped import chosen, included, repertoire_path

if TYPE_CHECKING:
    from robots.link.driving import DrivenStep
    from robots.link.server import RobotServer


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
        source: a repertoire, or what `load` takes.
        gait: see `deploy`.
        robot: its address, tcp://HOST:PORT.
        seconds: how long.
        keys: folder with the keys of an encrypted link, see `robots.link.sockets`.
        csv: .csv to write the telemetry to in the end.
        mcap: .mcap to write it to as it comes.
        command: see `deploy`; needed for a gait that follows one.

    Returns:
        How it went, in a line.

    Raises:
        InvalidValueError: there is no such gait, or an argument is wrong.
        InvalidFileError: a file cannot be read or written.
        robots.link.link.LinkError: no robot answers, it is another one, or it went silent.
        SurefootError: pyzmq or mcap-ros2-support is not installed.
    """
    import numpy as np

    from robots.files.atomic import check_writable
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
            "damping": "it damped itself, since commands came late",
        }[done.ended]
        return f"{done.steps * machine.control_step:.1f} s: {way}, {end}; {link.words}"


def serve(
    source: str,
    address: str,
    *,
    damage: str | None = None,
    changes: Sequence[str] = (),
    helped: bool = False,
    keys: str | Path | None = None,
    seed: int = 1,
    odometry: bool = True,
    stop: Callable[[], bool] = lambda: False,
    on_start: Callable[["RobotServer"], None] | None = None,
    say: Callable[[str], object] = print,
) -> str:
    """Simulate a robot in real time that others drive over ZeroMQ, until `stop()`.

    Args:
        source: a robot, or what `load` takes, whose robot it is then.
        address: tcp://HOST:PORT; the two ports after it are used too.
        damage: of the robot, of which it does not tell.
        changes: what happens, DAMAGE@SECONDS or repaired@SECONDS after the first command, likewise.
        helped: whether somebody sets it on its feet where it lies in damping for two seconds.
        keys: folder of keys, which are made if they are not there; needed where others reach the address.
        seed: of its first pose.
        odometry: whether it knows where it is.
        stop: asked in every control step.
        on_start: called with the server once it listens.
        say: told once of each fault that it survives, in a thread of its own.

    Returns:
        How well it kept time, in a line.

    Raises:
        UnknownNameError: there is no such robot, part or kind of damage.
        InvalidValueError: an argument is wrong, or the address is in use.
        SurefootError: pyzmq is not installed.
    """
    from adapt.damage.text import parse_damage
    from adapt.mission.plan import read_changes
    from robots.link.server import RobotServer
    from robots.link.simulated import SimulatedRobot

    whole = _robot(source)
    broken = whole if damage is None else parse_damage(damage, whole).apply(whole)
    before = [] if damage is None else [f"{damage}@0"]  # to which what happens is added
    happens = [(one.time, one.damage.apply(whole)) for one in read_changes([*before, *changes], whole)]
    if happens and happens[0][0] < 0:
        raise InvalidValueError(
            f"what happens at {happens[0][0]:g} s is before the first command: name a later time"
        )
    del happens[: len(before)]
    simulated = SimulatedRobot(broken, whole, seed=seed, odometry=odometry, changes=happens, helped=helped)
    server = RobotServer(simulated, address, keys=None if keys is None else Path(keys), say=say)
    try:
        if on_start:
            on_start(server)
        server.run(stop)
    finally:
        server.close()
    return server.timing.words


def _robot(source: str) -> Robot:
    """The robot of a repertoire, or the one of that name."""
    from repertoire.storage.repertoires import read_repertoire

    path = Path(source)
    if source in included() or path.suffix == ".h5" or (path / "repertoire.h5").exists():
        return read_repertoire(repertoire_path(source)).robot
    return find_robot(source)
