"""`surefoot robot`."""

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from robots.errors import InvalidValueError
from surefoot.commands.console import AnyPath, Number, console, seed_option
from surefoot.interrupts import interrupt_flag
from surefoot.shipped import included

if TYPE_CHECKING:
    from robots.robot import Robot

_ADDRESS = "tcp://127.0.0.1:6000"


@click.command()
@click.argument("source")
@click.option(
    "--serve",
    "address",
    is_flag=False,
    flag_value=_ADDRESS,
    metavar="[ADDRESS]",
    help=f"Listen at this address and the two ports after it.  [default: {_ADDRESS}]",
)
@click.option("--damage", metavar="DAMAGE", help="Break the robot first; who drives it is not told.")
@click.option(
    "--break",
    "changes",
    multiple=True,
    metavar="DAMAGE@SECONDS",
    help="What breaks, and when after the first command, e.g. left_front:lost@20, or repaired@40.",
)
@click.option(
    "--set-upright",
    is_flag=True,
    help="Set it on its feet where it lies in damping for two seconds, as somebody near it would.",
)
@click.option(
    "--keys",
    type=AnyPath,
    metavar="FOLDER",
    help="Encrypt the link with the keys of this folder, which are made if they are not there. Whoever "
    "drives the robot needs the folder too. An address that others can reach needs keys.",
)
@click.option("--seconds", type=Number(min=0, min_open=True), help="End after this time.  [default: Ctrl-C]")
@click.option("--no-odometry", is_flag=True, help="The robot does not know where it is, like most real ones.")
@seed_option("the joint angles of its first pose")
def robot(
    source: str,
    address: str | None,
    damage: str | None,
    changes: tuple[str, ...],
    set_upright: bool,
    keys: Path | None,
    seconds: float | None,
    no_odometry: bool,
    seed: int,
) -> None:
    """Simulate a robot in real time that others drive over ZeroMQ, see --robot of deploy and mission.

    SOURCE is a robot, or a repertoire, whose robot it is then. Each computer that connects finds it in its
    first pose, from which it sinks, since its motors are damped until the first command, and wherever
    commands are late by two control steps. Ctrl-C ends it.
    """
    from robots.link.driving import ask_for_priority
    from robots.link.server import RobotServer
    from robots.link.simulated import SimulatedRobot

    if address is None:
        raise click.UsageError("say where it listens: --serve, or --serve tcp://HOST:PORT")
    whole = _robot(source)
    broken, happens = _happening(whole, damage, changes)
    simulated = SimulatedRobot(
        broken, whole, seed=seed, odometry=not no_odometry, changes=happens, helped=set_upright
    )
    server = RobotServer(simulated, address, keys=keys, say=console.print)
    ask_for_priority()
    with closing(server), interrupt_flag(lambda _text: None) as interrupted:
        end = time.monotonic() + (seconds or float("inf"))
        console.print(f"{source} listens at {address}; Ctrl-C ends it.")
        server.run(lambda: interrupted() or time.monotonic() >= end)
    console.print(server.timing.words)


def _robot(source: str) -> "Robot":
    from robots.robot import find_robot
    from surefoot.api import load

    path = Path(source)
    if source in included() or path.suffix == ".h5" or (path / "repertoire.h5").exists():
        return load(source).robot
    return find_robot(source)


def _happening(
    whole: "Robot", damage: str | None, changes: tuple[str, ...]
) -> "tuple[Robot, list[tuple[float, Robot]]]":
    """The robot at first, and what it becomes when [s]; a damage stays when something else breaks."""
    from adapt.damage.text import parse_damage
    from adapt.mission.changes import read_changes

    broken = whole if damage is None else parse_damage(damage, whole).apply(whole)
    before = [] if damage is None else [f"{damage}@0"]
    happens = [(one.time, one.damage.apply(whole)) for one in read_changes([*before, *changes], whole)]
    if happens and happens[0][0] < 0:
        raise InvalidValueError(
            f"what happens at {happens[0][0]:g} s is before the first command: name a later time"
        )
    return broken, happens[len(before) :]
