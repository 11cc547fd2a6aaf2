"""`surefoot demo`: other commands, one after the other."""

import json
import shlex
import time
from pathlib import Path

import click

from surefoot.commands.console import AnyPath, Positive, console, seed_option

ROBOT = "quadruped-policy"
_EVALUATIONS = 2_000
RECOVERY = "--trials 5 --refine 1500"
SECONDS = 8.0  # of a film


@click.command()
@click.option("--out", type=AnyPath, default=Path("demo"), show_default=True, help="Folder for the results.")
@click.option(
    "--damage",
    default="back_left:dead",
    show_default=True,
    metavar="DAMAGE",
    help="What breaks; see `surefoot damages`.",
)
@click.option(
    "--evaluations", type=Positive, default=_EVALUATIONS, show_default=True, help="Episodes to train for."
)
@seed_option("all random numbers")
@click.option("--overwrite", is_flag=True, help="Replace a run that the folder holds.")
def demo(out: Path, damage: str, evaluations: int, seed: int, overwrite: bool) -> None:
    """Train gaits around a policy of the Quadruped, break a leg and walk on.

    This takes a few minutes on two cores, and prints each command that it runs.
    """
    from adapt.damage.text import parse_damage
    from adapt.report import result_paths
    from surefoot import load

    started = time.monotonic()
    broken = str(parse_damage(damage, load(ROBOT).robot))
    _run(f"train {ROBOT} --evaluations {evaluations} --seed {seed} {'--overwrite' * overwrite} --out", out)
    _run("show", out, "--picture", out / "repertoire.png")
    _run(f"recover --seed {seed} {RECOVERY} --overwrite", out, "--damage", broken)
    repertoire, record, _ = result_paths(out)
    found = json.loads(record.read_text("utf-8"))
    for name, row, damages in (
        ("1_healthy", found["incumbent"], []),
        ("2_damaged_policy_alone", found["incumbent"], ["--damage", broken]),
        ("3_damaged_new_gait", found["row"], ["--damage", broken]),
    ):
        film = out / f"{name}.mp4"
        _run(f"deploy --row {row} --seconds {SECONDS} --seed {seed} --video", film, repertoire, *damages)
    console.print(f"\nDone in {time.monotonic() - started:.0f} s. The results are in {out}/:")
    for path in sorted(path.name for path in out.iterdir() if not path.name.startswith(".")):
        console.print(f"  {path}")


def _run(line: str, *words: object) -> None:
    from surefoot.commands.main import cli

    name, *given = [*shlex.split(line), *map(str, words)]
    console.print(f"\n$ surefoot {shlex.join([name, *given])}")
    command = cli.get_command(click.get_current_context(), name)
    assert command is not None
    with command.make_context(name, given) as context:
        command.invoke(context)
