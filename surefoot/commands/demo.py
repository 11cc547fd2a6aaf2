"""`surefoot demo`."""

import time
from dataclasses import dataclass, replace
from pathlib import Path

import click

from adapt.damage.damage import Damage
from adapt.records import Recovery, diagnosis_words
from adapt.rehearsal.table import Table
from repertoire.repertoire import Repertoire, format_cell
from repertoire.storage.files import RunFiles
from surefoot.commands.console import AnyPath, Positive, console, print_rendering_note, seed_option
from surefoot.commands.recover import print_performances, print_trial
from surefoot.progress import ProgressBar, training_bar


@dataclass(frozen=True)
class DemoSettings:
    """What a demo breaks and films.

    Attributes:
        robot: name of the robot.
        damage: text of what breaks.
        trials: how many gaits may be tried.
        seconds: length of the videos.
        oracle: whether to try all gaits in the end, to tell the best that there is.
    """

    robot: str
    damage: str
    trials: int
    seconds: float
    oracle: bool = False


@dataclass(frozen=True)
class TrainingDemoSettings(DemoSettings):
    """What the demo that starts from nothing trains.

    Smaller networks, shorter episodes and larger first steps than the paper's: within two minutes they find
    gaits that walk upright, where the paper's settings, made for a million evaluations, have hardly begun.

    Attributes:
        algorithm: name of the algorithm.
        evaluations: episodes to train for.
        sigma0: initial step size.
        episode_steps: control steps of an episode.
        hidden: sizes of the networks' hidden layers.
        corrections: episodes in which every gait is evaluated again.
        kept: how many gaits are then rehearsed, the best ones.
    """

    algorithm: str = "sep-cma-mae"
    evaluations: int = 16_000
    sigma0: float = 0.1
    episode_steps: int = 300
    hidden: tuple[int, ...] = (32, 32)
    corrections: int = 2
    kept: int = 250


TRAINED_HERE = TrainingDemoSettings("ant", "back_right:dead", trials=10, seconds=6.0)
INCLUDED = {
    "ant": DemoSettings("ant", "joint=front_left_ankle:locked", trials=10, seconds=5.0, oracle=True),
    "hexapod": DemoSettings("hexapod", "left_front:lost", trials=10, seconds=5.0),
}


@click.command()
@click.argument("robot", required=False)
@click.option("--out", type=AnyPath, help="Folder for the results.  [default: demo, or demo-ROBOT]")
@click.option("--damage", metavar="DAMAGE", help="What breaks; see `surefoot damages`.  [default: a leg]")
@click.option(
    "--evaluations",
    type=Positive,
    help=f"Without ROBOT: episodes to train for.  [default: {TRAINED_HERE.evaluations}]",
)
@seed_option("all random numbers")
@click.option("--overwrite", is_flag=True, help="Without ROBOT: replace a run that the folder holds.")
def demo(
    robot: str | None,
    out: Path | None,
    damage: str | None,
    evaluations: int | None,
    seed: int,
    overwrite: bool,
) -> None:
    """Break a leg, walk on.

    Without ROBOT, gaits of the ant are trained first, which takes a few minutes on two cores. ROBOT is ant or
    hexapod, whose trained and rehearsed gaits are included: damage, diagnosis and recovery in a minute.
    """
    from robots.errors import UnknownNameError
    from robots.files.atomic import make_folder

    started = time.monotonic()
    if robot is None:
        settings = replace(
            TRAINED_HERE,
            damage=TRAINED_HERE.damage if damage is None else damage,
            evaluations=evaluations or TRAINED_HERE.evaluations,
        )
        folder = out or Path("demo")
        _train_and_recover(folder, settings, seed, overwrite)
    elif robot not in INCLUDED:
        raise UnknownNameError("robot to demonstrate", robot, [*INCLUDED])
    elif evaluations is not None or overwrite:
        raise click.UsageError(
            f"--evaluations and --overwrite are for training, but the gaits of the {robot} exist already"
        )
    else:
        folder = out or Path(f"demo-{robot}")
        chosen = INCLUDED[robot]
        chosen = replace(chosen, damage=chosen.damage if damage is None else damage)
        story = _include(chosen)
        make_folder(folder)
        _recover(folder, chosen, seed, *story)
    console.print(f"\nDone in {time.monotonic() - started:.0f} s. The results are in {folder}/:")
    for path in sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")):
        console.print(f"  {path}")


def _train_and_recover(out: Path, settings: TrainingDemoSettings, seed: int, overwrite: bool) -> None:
    """Train a small repertoire, rehearse its best gaits, break the robot, and recover."""
    from adapt.damage.text import parse_damage
    from repertoire.plots import draw_repertoire
    from robots.robot import load_robot

    damage = parse_damage(settings.damage, load_robot(settings.robot))  # before training: it may be misspelt
    repertoire = _train(out, settings, seed, overwrite)
    draw_repertoire(repertoire, out / "repertoire.png")
    repertoire = _correct(out, settings, repertoire)
    _recover(out, settings, seed, repertoire, _rehearse(out, repertoire), damage)


def _train(out: Path, settings: TrainingDemoSettings, seed: int, overwrite: bool) -> Repertoire:
    """Train a small repertoire, showing progress."""
    from repertoire.storage.repertoires import read_repertoire
    from repertoire.training.runs import start_training

    console.print(
        f"1. Train a small repertoire of gaits for the {settings.robot}: {settings.evaluations} episodes."
    )
    opening = start_training(
        settings.robot,
        settings.algorithm,
        out=out,
        overwrite=overwrite,
        evaluations=settings.evaluations,
        seed=seed,
        hidden=settings.hidden,
        sigma0=settings.sigma0,
        episode_steps=settings.episode_steps,
    )
    with opening as training, training_bar(settings.evaluations) as show:
        training.run(RunFiles.of(out).repertoire, on_progress=show)
    repertoire = read_repertoire(RunFiles.of(out).repertoire)
    metrics = repertoire.metrics
    console.print(
        f"{metrics.elites} gaits, coverage {metrics.coverage:.1%}, QD score {metrics.qd_score:,.0f}, "
        f"best {metrics.best:.0f}"
    )
    return repertoire


def _correct(out: Path, settings: TrainingDemoSettings, repertoire: Repertoire) -> Repertoire:
    """Evaluate every gait again, because the best ones may have been lucky, and keep the best."""
    from repertoire.evaluation.correction import correct, keep_best, reevaluation
    from repertoire.storage.repertoires import write_repertoire

    console.print(f"\nEvaluate each gait again in {settings.corrections} episodes, and keep the best.")
    with (
        reevaluation(repertoire, episodes=settings.corrections, seed=0) as evaluation,
        ProgressBar("episodes", evaluation.total) as show,
    ):
        evaluation.run(on_progress=show)
        repertoire = keep_best(correct(evaluation).repertoire, settings.kept)
    write_repertoire(RunFiles.of(out).corrected, repertoire)
    return repertoire


def _rehearse(out: Path, repertoire: Repertoire) -> Table:
    """Try every gait with each leg lost and dead, with weak motors, and on a slippery floor."""
    from adapt.damage.kinds.ground import Friction
    from adapt.damage.kinds.limbs import Lost
    from adapt.damage.kinds.motors import Dead, Weak
    from adapt.rehearsal.rehearsal import rehearsal, rehearsed_table
    from adapt.rehearsal.storage import read_table, write_table

    legs = repertoire.robot.description.legs
    damages = (*map(Lost, legs), *map(Dead, legs), Weak("all", 0.5), Friction("floor", 0.4))
    path = RunFiles(RunFiles.of(out).corrected).rehearsal
    console.print(f"\n2. Rehearse: try each of {len(repertoire)} gaits under each of {len(damages)} damages.")
    with (
        rehearsal(repertoire, damages, episodes=1, seed=0) as evaluation,
        ProgressBar("episodes", evaluation.total) as show,
    ):
        evaluation.run(on_progress=show)
        write_table(path, rehearsed_table(evaluation), evaluation.identity)
    return read_table(path, repertoire)  # what others will read, which is rounded


def _include(settings: DemoSettings) -> tuple[Repertoire, Table, Damage]:
    """An included repertoire with its rehearsal, and what is to break."""
    from adapt.damage.text import parse_damage
    from adapt.rehearsal.storage import read_table
    from repertoire.storage.repertoires import read_repertoire
    from surefoot.shipped import repertoire_path

    file = repertoire_path(settings.robot)
    repertoire = read_repertoire(file)
    table = read_table(RunFiles(file).rehearsal, repertoire)
    damage = parse_damage(settings.damage, repertoire.robot)
    console.print(
        f"1. Take the included repertoire of the {settings.robot}: {len(repertoire):,} gaits.\n\n"
        f"2. Each was rehearsed in {table.episodes} episodes under each of {len(table)} conditions, healthy "
        "and damaged."
    )
    return repertoire, table, damage


def _recover(
    out: Path, settings: DemoSettings, seed: int, repertoire: Repertoire, table: Table, damage: Damage
) -> None:
    """Break the robot, recover, and film it."""
    from adapt.recovery import recover
    from adapt.report import save_recovery

    console.print(
        f"\n3. Break the robot: {damage} ({damage.summary}). The robot is not told what broke: it tries at "
        f"most {settings.trials} gaits, and infers the damage from what they do."
    )
    recovery = recover(
        repertoire,
        damage,
        seed=seed,
        trials=settings.trials,
        table=table,
        oracle=settings.oracle,
        on_trial=print_trial,
    )
    print_performances(recovery)
    save_recovery(recovery, out)
    console.print(f"diagnosis: {diagnosis_words(recovery.diagnosis.items())}; it was {damage}")
    _film(out, settings, seed, repertoire, damage, recovery)


def _film(
    out: Path,
    settings: DemoSettings,
    seed: int,
    repertoire: Repertoire,
    damage: Damage,
    recovery: Recovery,
) -> None:
    """Film the robot healthy, broken with the old gait, and broken with the new one."""
    from robots.deployment.film import film

    console.print("\n4. Film it: healthy, broken with the old gait, broken with the new one.")
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
            caption=f"{scene}: cell\u00a0{format_cell(repertoire.cell(row))}",
        )
        console.print(f"{name}: {telemetry.summary()}")
