"""`python -m benchmarks`: speed and memory, some of it next to peers, and a soak test."""

import json
from pathlib import Path
from typing import Any

import click

from robots.errors import UnknownNameError
from robots.files.atomic import check_writable
from surefoot.commands.console import AnyPath, Commands, Names, Number, Positive, Seed, console
from surefoot.commands.main import run_commands


def _checked(_context: click.Context, _option: click.Parameter, out: Path | None) -> Path | None:
    """Refuse a file that cannot be written before hours of work."""
    if out is not None:
        check_writable(out)
    return out


_out_option = click.option(
    "--out", type=AnyPath, callback=_checked, help="Save the numbers to this JSON file."
)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def benchmarks() -> None:
    """Measure speed and memory on this machine."""


@benchmarks.command("simulation")
@click.option("--robot", default="ant", show_default=True, help="A name, or all.")
@click.option("--episodes", type=Positive, default=20, show_default=True, help="Per measurement.")
@click.option("--repeats", type=Positive, default=40, show_default=True, help="Medians are over so many.")
@click.option(
    "--peer", type=click.Choice(["pybullet"]), help="Also run this peer, which has to be installed."
)
@_out_option
def bench_simulation(robot: str, episodes: int, repeats: int, peer: str | None, out: Path | None) -> None:
    """Closed-loop simulation against raw physics, threads, training's overhead, memory, compile time."""
    from benchmarks.simulation import measure_robots

    robots = _robots(robot)
    figures = measure_robots(robots, episodes=episodes, repeats=repeats, peer=peer, say=console.print)
    _deliver(figures, out)


@benchmarks.command("physics")
@click.option("--robot", default="ant", show_default=True, help="A name, or all.")
@_out_option
def bench_physics(robot: str, out: Path | None) -> None:
    """How far physics settings are from a fine-step reference, and what others would cost and gain."""
    from benchmarks.physics import measure_physics

    robots = _robots(robot)
    _deliver({name: measure_physics(name, say=console.print) for name in robots}, out)


@benchmarks.command("running")
@click.argument("source", type=AnyPath)
@click.option(
    "--gaits", type=Positive, default=10, show_default=True, help="Those with the highest objectives."
)
@click.option(
    "--episodes", type=Positive, default=4, show_default=True, help="Of each gait, in each simulator."
)
@click.option("--passages", type=AnyPath, default=Path(), help="Folder for passages.  [default: this one]")
@_out_option
def bench_running(source: Path, gaits: int, episodes: int, passages: Path, out: Path | None) -> None:
    """How the gaits of a repertoire run in PyBullet's environment of the robot, next to ours."""
    from benchmarks.running import measure_running
    from repertoire.storage.repertoires import read_repertoire

    repertoire = read_repertoire(source)
    _deliver(measure_running(repertoire, gaits=gaits, episodes=episodes, folder=passages), out)


@benchmarks.command("strategies")
@click.option(
    "--dimensions", type=Names(), default="100,1000,20000", show_default=True, help="Of the sphere."
)
@click.option("--peer", type=click.Choice(["pyribs"]), help="Also run this peer, which has to be installed.")
@click.option("--study", is_flag=True, help="Also run ten whole trials of all variants on Sphere 100.")
@_out_option
def bench_strategies(dimensions: tuple[str, ...], peer: str | None, study: bool, out: Path | None) -> None:
    """Speed and memory of the CMA-MAE variants, next to pyribs and to what bounds them."""
    from benchmarks.strategies import measure_strategies, measure_study

    if not all(text.isdecimal() and 2 <= int(text) <= 100_000 for text in dimensions):
        raise click.UsageError("--dimensions takes whole numbers from 2 to 100000 with commas between")
    figures = measure_strategies(dimensions=[int(text) for text in dimensions], peer=peer, say=console.print)
    if study:
        console.print("ten trials of all variants on Sphere 100, 2 million evaluations each, on all cores")
        figures |= measure_study()
    _deliver(figures, out)


@benchmarks.command("soak")
@click.option(
    "--minutes", type=Number(min=0), default=10.0, show_default=True, help="At least one case runs."
)
@click.option("--seed", type=Seed, default=1, show_default=True, help="From which all cases derive.")
@click.option("--kills", type=Positive, default=5, show_default=True, help="Of each command, at most.")
@click.option("--folder", type=AnyPath, default=Path("soak"), show_default=True, help="To work in.")
def bench_soak(minutes: float, seed: int, kills: int, folder: Path) -> None:
    """Kill runs at random moments for as long as asked, and compare what they leave with undisturbed runs."""
    from benchmarks.soak import soak

    soak(minutes=minutes, seed=seed, folder=folder, kills=kills, say=console.print)


def _robots(name: str) -> list[str]:
    """The robots that a name stands for."""
    from robots.catalogue import robot_names

    known = robot_names()
    if name != "all" and name not in known:
        raise UnknownNameError("robot", name, ["all", *known])
    return known if name == "all" else [name]


def _deliver(figures: dict[str, Any], out: Path | None) -> None:
    """Print figures, and save them if that was asked for."""
    from robots.files.atomic import write_text

    text = json.dumps(figures, indent=2)
    console.print(text)
    if out is not None:
        write_text(out, text + "\n")
        console.print(f"saved {out}")


def main() -> None:
    """Run the command line of the benchmarks."""
    run_commands(benchmarks)


if __name__ == "__main__":
    main()
