"""`surefoot bench`."""

import json
from pathlib import Path

import click

from commands.console import AnyPath, Commands, Positive, console


@click.group(cls=Commands)
def bench() -> None:
    """Measure speed and memory on this machine."""


@bench.command("simulation")
@click.option("--robot", default="ant", show_default=True)
@click.option("--episodes", type=Positive, default=200, show_default=True, help="Per measurement.")
@click.option("--repeats", type=Positive, default=5, show_default=True, help="Medians are over so many.")
@click.option("--peer", type=click.Choice(["pybullet"]), help="Run this beside it, if it is installed.")
@click.option("--out", type=AnyPath, help="Save the numbers to this JSON file.")
def bench_simulation(robot: str, episodes: int, repeats: int, peer: str | None, out: Path | None) -> None:
    """Closed-loop simulation against raw physics, threads, training's overhead, memory, compile time."""
    from repertoire.benchmarks.simulation import measure_simulation
    from robots.atomic import check_writable, write_text

    if out is not None:
        check_writable(out)
    figures = measure_simulation(robot, episodes=episodes, repeats=repeats, peer=peer, say=console.print)
    text = json.dumps(figures, indent=2)
    console.print(text)
    if out is not None:
        write_text(out, text + "\n")
        console.print(f"saved {out}")
