"""`surefoot demo`: other commands, one after the other."""

import json
import shlex
import time
from pathlib import Path

import click

from repertoire.storage.files import RunFiles
from robots.files.atomic import write_text
from surefoot.commands.console import AnyPath, Positive, console, seed_option

_EVALUATIONS = 14_000
# Smaller networks, shorter episodes and larger first steps than the paper's: within two minutes they find
# gaits that walk upright, where the paper's settings, made for a million evaluations, have hardly begun.
TRAINING = "--hidden 32,32 --sigma0 0.1 --episode-steps 300"
KEPT = 100  # gaits that are rehearsed, the best ones
RECOVERY = "--trials 10 --think-episodes 300 --refine 2000"
SECONDS = 6.0  # of a film
_BREAKS = "back_left:dead"
_LEGS = ("front_left", "front_right", "back_left", "back_right")
_REHEARSED = [f"{leg}:{kind}" for kind in ("lost", "dead") for leg in _LEGS] + [
    "all:weak@0.5",
    "floor:friction@0.4",
]


@click.command()
@click.option("--out", type=AnyPath, default=Path("demo"), show_default=True, help="Folder for the results.")
@click.option(
    "--damage",
    default=_BREAKS,
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
    """Train a small repertoire of gaits for the Ant, break a leg and walk on.

    This takes a few minutes on two cores, and prints each command that it runs.
    """
    from adapt.damage.text import parse_damage
    from robots.robot import load_robot

    started = time.monotonic()
    _recover(out, str(parse_damage(damage, load_robot("ant"))), evaluations, seed, overwrite)
    console.print(f"\nDone in {time.monotonic() - started:.0f} s. The results are in {out}/:")
    for path in sorted(path.name for path in out.iterdir() if not path.name.startswith(".")):
        console.print(f"  {path}")


def _recover(folder: Path, damage: str, evaluations: int, seed: int, overwrite: bool) -> None:
    """Train, rehearse, break and recover; then film the robot intact, and with the old and the new gait."""
    from adapt.report import result_paths

    gaits = RunFiles.of(folder).corrected
    library = folder / "damages.yaml"
    _run(
        f"train ant --evaluations {evaluations} --seed {seed} {TRAINING} {'--overwrite' * overwrite} --out",
        folder,
    )
    _run("show", folder, "--picture", folder / "repertoire.png")
    _run(f"evaluate --episodes 2 --seed 0 --keep {KEPT} --overwrite --out", gaits, folder)
    write_text(library, "".join(f"- {text}\n" for text in _REHEARSED))
    _run("rehearse --episodes 1 --seed 0 --overwrite", gaits, "--damages", library)
    _run(f"recover --seed {seed} {RECOVERY} --overwrite --out", folder, gaits, "--damage", damage)
    repertoire, record, _ = result_paths(folder)
    found = json.loads(record.read_text("utf-8"))
    for name, row, broken in (
        ("1_healthy", found["incumbent"], []),
        ("2_damaged_old_gait", found["incumbent"], ["--damage", damage]),
        ("3_damaged_new_gait", found["row"], ["--damage", damage]),
    ):
        film = folder / f"{name}.mp4"
        _run(f"deploy --row {row} --seconds {SECONDS} --seed {seed} --video", film, repertoire, *broken)


def _run(line: str, *words: object) -> None:
    from surefoot.commands.main import cli

    name, *given = [*shlex.split(line), *map(str, words)]
    console.print(f"\n$ surefoot {shlex.join([name, *given])}")
    command = cli.get_command(click.get_current_context(), name)
    assert command is not None
    with command.make_context(name, given) as context:
        command.invoke(context)
