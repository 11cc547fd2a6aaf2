"""`surefoot demo`."""

import time
from dataclasses import dataclass, replace
from pathlib import Path

import click

from adapt.damage.damage import Damage
from adapt.records import Recovery, diagnosis_words
from adapt.rehearsal.table import Table
from repertoire.repertoire import Repertoire, format_cell
from surefoot.commands.console import AnyPath, Positive, console, print_rendering_note, seed_option
from surefoot.commands.progress import training_bar
from surefoot.commands.recover import print_performances, print_trial


@dataclass(frozen=True)
class DemoSettings:
    """What a demo breaks and films.

    Attributes:
        robot: name of the robot.
        damage: text of what breaks.
        trials: how many gaits may be tried.
        seconds: length of the videos.
    """

    robot: str
    damage: str
    trials: int
    seconds: float


@dataclass(frozen=True)
class TrainingDemoSettings(DemoSettings):
    """What the demo that starts from nothing trains.

    Shorter episodes and larger first steps than the paper's: in two minutes they find gaits that get ahead,
    where the paper's settings, made for a million evaluations, have hardly begun.

    Attributes:
        algorithm: name of the algorithm.
        evaluations: episodes to train for.
        sigma0: initial step size.
        episode_steps: control steps of an episode.
    """

    algorithm: str = "sep-cma-mae"
    evaluations: int = 18_000
    sigma0: float = 0.1
    episode_steps: int = 300


TRAINED_HERE = TrainingDemoSettings("ant", "front_left:lost", trials=20, seconds=6.0)
INCLUDED = DemoSettings("hexapod", "left_front:lost", trials=10, seconds=5.0)


@click.command()
@click.argument("robot", required=False, default=TRAINED_HERE.robot)
@click.option("--out", type=AnyPath, help="Folder for the results.  [default: demo, or demo-hexapod]")
@click.option(
    "--damage", metavar="DAMAGE", help="What breaks; see `surefoot damages`.  [default: a lost leg]"
)
@click.option(
    "--evaluations", type=Positive, help="Only for the ant: episodes to train for.  [default: 18000]"
)
@seed_option(1, "all random numbers")
@click.option("--overwrite", is_flag=True, help="Only for the ant: replace a run that the folder holds.")
def demo(
    robot: str, out: Path | None, damage: str | None, evaluations: int | None, seed: int, overwrite: bool
) -> None:
    """Break a leg, walk on.

    ROBOT is ant, the default, whose gaits are trained first, which takes a few minutes on two cores; or
    hexapod, whose trained and rehearsed gaits are included: damage, diagnosis and recovery in a minute.
    """
    from robots.errors import UnknownNameError

    started = time.monotonic()
    if robot == TRAINED_HERE.robot:
        settings = replace(
            TRAINED_HERE,
            damage=TRAINED_HERE.damage if damage is None else damage,
            evaluations=evaluations or TRAINED_HERE.evaluations,
        )
        folder = out or Path("demo")
        _train_and_recover(folder, settings, seed, overwrite)
    elif robot != INCLUDED.robot:
        raise UnknownNameError("robot to demonstrate", robot, [TRAINED_HERE.robot, INCLUDED.robot])
    elif evaluations is not None or overwrite:
        raise click.UsageError(
            f"--evaluations and --overwrite are for training, but the gaits of the {robot} exist already"
        )
    else:
        folder = out or Path(f"demo-{robot}")
        _recover(folder, replace(INCLUDED, damage=INCLUDED.damage if damage is None else damage), seed)
    console.print(f"\nDone in {time.monotonic() - started:.0f} s. The results are in {folder}/:")
    for path in sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")):
        console.print(f"  {path}")


def _train_and_recover(out: Path, settings: TrainingDemoSettings, seed: int, overwrite: bool) -> None:
    """Train a small repertoire, break the robot, and recover."""
    from adapt.damage.text import parse_damage
    from repertoire.plots import draw_repertoire
    from robots.robot import load_robot

    damage = parse_damage(settings.damage, load_robot(settings.robot))  # before training: it may be misspelt
    repertoire = _train(out, settings, seed, overwrite)
    draw_repertoire(repertoire, out / "repertoire.png")
    console.print(f"\n2. Break the robot: {damage} ({damage.summary}).")
    console.print(f"Try gaits until one works, at most {settings.trials}.")
    recovery = _try_gaits(out, settings, seed, repertoire, damage, None)
    _film(out, settings, seed, repertoire, damage, recovery)


def _train(out: Path, settings: TrainingDemoSettings, seed: int, overwrite: bool) -> Repertoire:
    """Train a small repertoire, showing progress."""
    from repertoire.storage.repertoires import read_repertoire
    from repertoire.training.runs import FILE_NAME, start_training

    console.print(
        f"1. Train a small repertoire of gaits for the {settings.robot}: {settings.evaluations} episodes."
    )
    training = start_training(
        settings.robot,
        settings.algorithm,
        out=out,
        overwrite=overwrite,
        evaluations=settings.evaluations,
        seed=seed,
        sigma0=settings.sigma0,
        episode_steps=settings.episode_steps,
    )
    with training, training_bar(settings.evaluations) as show:
        training.run(out / FILE_NAME, on_progress=show)
    repertoire = read_repertoire(out / FILE_NAME)
    metrics = repertoire.metrics
    console.print(
        f"{metrics.elites} gaits, coverage {metrics.coverage:.1%}, QD score {metrics.qd_score:,.0f}, "
        f"best {metrics.best:.0f}"
    )
    return repertoire


def _recover(out: Path, settings: DemoSettings, seed: int) -> None:
    """Break the robot of an included repertoire, and recover with its rehearsal."""
    from adapt.damage.text import parse_damage
    from adapt.rehearsal.storage import read_table, rehearsal_path
    from repertoire.storage.repertoires import read_repertoire
    from robots.files import make_folder
    from surefoot.shipped import repertoire_path

    file = repertoire_path(settings.robot)
    repertoire = read_repertoire(file)
    table = read_table(rehearsal_path(file), repertoire)
    damage = parse_damage(settings.damage, repertoire.robot)
    make_folder(out)
    console.print(
        f"1. Take the included repertoire of the {settings.robot}: {len(repertoire):,} gaits, each rehearsed "
        f"in {table.episodes} episodes under each of {len(table)} conditions, healthy and damaged."
    )
    console.print(
        f"\n2. Break the robot: {damage} ({damage.summary}). The robot is not told what broke: it tries at "
        f"most {settings.trials} gaits, and infers the damage from what they do."
    )
    recovery = _try_gaits(out, settings, seed, repertoire, damage, table)
    console.print(f"diagnosis: {diagnosis_words(recovery.diagnosis.items())}; it was {damage}")
    _film(out, settings, seed, repertoire, damage, recovery)


def _try_gaits(
    out: Path, settings: DemoSettings, seed: int, repertoire: Repertoire, damage: Damage, table: Table | None
) -> Recovery:
    """Recover, telling of each trial, and save the record."""
    from adapt.recovery import recover
    from adapt.report import save_recovery

    recovery = recover(
        repertoire, damage, seed=seed, trials=settings.trials, table=table, on_trial=print_trial
    )
    print_performances(recovery)
    save_recovery(recovery, out)
    return recovery


def _film(
    out: Path,
    settings: DemoSettings,
    seed: int,
    repertoire: Repertoire,
    damage: Damage,
    recovery: Recovery,
) -> None:
    """Film the robot healthy, broken with the old gait, and broken with the new one."""
    from adapt.film import film

    console.print("\n3. Film it: healthy, broken with the old gait, broken with the new one.")
    print_rendering_note()
    whole, damaged = repertoire.robot, damage.apply(repertoire.robot)
    for name, scene, robot, row in (
        ("1_healthy", "healthy", whole, recovery.incumbent),
        ("2_broken_old_gait", f"{damage}, old gait", damaged, recovery.incumbent),
        ("3_broken_new_gait", f"{damage}, new gait", damaged, recovery.row),
    ):
        telemetry = film(
            robot,
            repertoire.elites.solutions[row],
            seconds=settings.seconds,
            seed=seed,
            video=out / f"{name}.mp4",
            caption=f"{scene}: cell {format_cell(repertoire.cell(row))}",
        )
        console.print(f"{name}: {telemetry.summary()}")
