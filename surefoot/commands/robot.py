"""`surefoot robot`."""

from pathlib import Path

import click

from surefoot.commands.console import AnyPath, Number, console, seed_option

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
    import time

    from robots.link.driving import ask_for_priority
    from surefoot.driving import serve
    from surefoot.interrupts import interrupt_flag

    if address is None:
        raise click.UsageError("say where it listens: --serve, or --serve tcp://HOST:PORT")
    ask_for_priority()
    with interrupt_flag(lambda _text: None) as interrupted:
        end = float("inf")

        def start(_server: object) -> None:
            nonlocal end
            end = time.monotonic() + (seconds or float("inf"))
            console.print(f"{source} listens at {address}; Ctrl-C ends it.")

        words = serve(
            source,
            address,
            damage=damage,
            changes=changes,
            helped=set_upright,
            keys=keys,
            seed=seed,
            odometry=not no_odometry,
            stop=lambda: interrupted() or time.monotonic() >= end,
            on_start=start,
            say=console.print,
        )
    console.print(words)
