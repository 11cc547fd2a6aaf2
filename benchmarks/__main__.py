"""`python -m benchmarks`: speed and memory, some of it next to peers, and what takes many runs to see."""

import json
from pathlib import Path
from typing import Any

import click

from robots.errors import UnknownNameError
from robots.files.atomic import check_writable
from surefoot.commands.console import AnyPath, Commands, Names, Number, Positive, Seed, Sizes, console
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
    """Measure speed and memory on this machine, and what takes many runs to see."""


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


@benchmarks.command("paper-size")
@click.argument("run", type=AnyPath)
@click.option("--out", type=AnyPath, required=True, help="Folder for tables and pictures.")
@click.option(
    "--episodes", type=Positive, default=10, show_default=True, help="Of each elite, for the correction."
)
def bench_paper_size(run: Path, out: Path, episodes: int) -> None:
    """Tables and pictures of the run RUN, as trained and corrected."""
    from benchmarks.paper_size import report_run

    _deliver(report_run(run, out, episodes=episodes, say=console.print), None)


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


@benchmarks.command("selectors")
@_out_option
def bench_selectors(out: Path | None) -> None:
    """How long selectors take to choose a trial, and to take in what it showed."""
    from benchmarks.selectors import measure_selectors

    _deliver(measure_selectors(say=console.print), out)


@benchmarks.command("cluster")
@click.option("--repeats", type=Positive, default=10, show_default=True, help="Generations, each way.")
@click.option("--threads", type=Sizes(), default="8,32,100,400", show_default=True, help="That sleep.")
@_out_option
def bench_cluster(repeats: int, threads: tuple[int, ...], out: Path | None) -> None:
    """What a cluster costs next to threads, and with many workers that sleep for their episodes."""
    from benchmarks.cluster import measure_overhead, measure_scaling

    figures = {f"workers of {n}": measure_scaling(threads, n, say=console.print) for n in (1, 25)}
    _deliver(figures | {"overhead": measure_overhead(repeats, say=console.print)}, out)


@benchmarks.command("recoveries")
@click.option(
    "--folder", type=AnyPath, default=Path("recoveries"), show_default=True, help="For trained repertoires."
)
@click.option(
    "--out", type=AnyPath, default=Path("recoveries.csv"), show_default=True, help="A row per recovery."
)
@click.option("--mild", type=AnyPath, help="recoveries.csv of a study, whose faults that do not bind to run.")
@click.option(
    "--library",
    type=Names(),
    help="Included repertoires, to run every damage that they were rehearsed under.",
)
def bench_recoveries(folder: Path, out: Path, mild: Path | None, library: tuple[str, ...] | None) -> None:
    """Whether recoveries hand over worse gaits than the robot had; goes on where it was interrupted."""
    from benchmarks.recoveries import run_library, run_mild, run_recoveries
    from robots.files.atomic import make_folder

    check_writable(out)
    if library:
        _deliver(run_library(library, out, say=console.print), None)
        return
    if mild:
        _deliver(run_mild(mild, out, say=console.print), None)
        return
    make_folder(folder)
    _deliver(run_recoveries(out, folder, say=console.print), None)


@benchmarks.command("randomised")
@click.argument("robot", default="hexapod")
@click.option("--algorithm", default="sep-cma-mae", show_default=True, help="What it is trained with.")
@click.option("--evaluations", type=Positive, default=20_000, show_default=True, help="Of each training.")
@click.option("--seeds", type=Positive, default=3, show_default=True, help="Trainings of each kind.")
@click.option(
    "--small", is_flag=True, help="Networks of two layers of 32, step size 0.1, episodes of 500 steps."
)
@click.option(
    "--out", type=AnyPath, default=Path("randomised.csv"), show_default=True, help="A row per training."
)
def bench_randomised(
    robot: str, algorithm: str, evaluations: int, seeds: int, small: bool, out: Path
) -> None:
    """What training on randomised models is worth on robots that differ; goes on where it was interrupted."""
    from benchmarks.randomised import measure_randomised

    check_writable(out)
    settings = {"hidden": (32, 32), "sigma0": 0.1, "episode_steps": 500} if small else {}
    measure_randomised(
        robot,
        out,
        algorithm=algorithm,
        evaluations=evaluations,
        seeds=seeds,
        settings=settings,
        say=console.print,
    )


@benchmarks.command("calibration")
@click.argument("source", type=AnyPath, default=Path("hexapod"))
@click.option("--robots", type=Positive, default=8, show_default=True, help="That differ from the model.")
@click.option("--refined", type=Seed, default=4, show_default=True, help="On how many gaits are refined.")
@click.option("--episodes", type=Positive, default=2000, show_default=True, help="Of each refinement.")
@click.option(
    "--out", type=AnyPath, default=Path("calibration.csv"), show_default=True, help="A row per robot."
)
def bench_calibration(source: Path, robots: int, refined: int, episodes: int, out: Path) -> None:
    """What a calibration is worth across the reality gap: parameters, diagnoses and refined gaits."""
    from benchmarks.calibration import measure_calibrations
    from repertoire.storage.repertoires import read_repertoire
    from surefoot.shipped import repertoire_path

    check_writable(out)
    repertoire = read_repertoire(repertoire_path(source))
    measure_calibrations(
        repertoire, out, robots=robots, refined=refined, episodes=episodes, say=console.print
    )


@benchmarks.command("searches")
@click.argument("source", type=AnyPath, default=Path("hexapod"))
@click.option(
    "--damages",
    type=Names(),
    default="left_front:lost,left_rear:dead,right_front:lost+right_middle:lost",
    show_default=True,
    help="That are known to the searches.",
)
@click.option(
    "--strategies",
    type=Names(),
    default="cma-es,sep-cma-es,lm-ma-es,openai-es,cma-mae",
    show_default=True,
    help="Default is the one of recoveries.",
)
@click.option("--seeds", type=Positive, default=2, show_default=True, help="Searches of each kind.")
@click.option("--episodes", type=Positive, default=4000, show_default=True, help="Of each search.")
@click.option(
    "--out",
    type=AnyPath,
    default=Path("searches.csv"),
    show_default=True,
    help="A row per search of one repertoire and budget; those that it has are not run again.",
)
def bench_searches(
    source: Path, damages: tuple[str, ...], strategies: tuple[str, ...], seeds: int, episodes: int, out: Path
) -> None:
    """What searches find from the same gaits, on robots whose damage is known."""
    from benchmarks.searches import measure_searches
    from repertoire.storage.repertoires import read_repertoire
    from surefoot.shipped import repertoire_path

    check_writable(out)
    measure_searches(
        read_repertoire(repertoire_path(source)),
        out,
        damages=damages,
        strategies=strategies,
        seeds=seeds,
        episodes=episodes,
        say=console.print,
    )


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
