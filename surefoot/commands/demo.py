"""`surefoot demo`."""

import time
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np

from adapt.damage.damage import Damage
from adapt.records import Recovery, diagnosis_words
from adapt.rehearsal.table import Table
from repertoire.repertoire import Repertoire
from repertoire.storage.files import RunFiles
from surefoot.commands.console import AnyPath, Positive, console, print_rendering_note, seed_option
from surefoot.commands.recover import print_performances, print_trial


@dataclass(frozen=True)
class DemoSettings:
    """What a demo breaks, and how long the robot may think about it.

    Attributes:
        robot: name of the robot.
        damage: text of what breaks.
        thinking: episodes to find out what is wrong, after each trial.
        refinement: episodes of each search for a better gait.
        seconds: length of the videos.
        trials: how many gaits may be tried.
    """

    robot: str
    damage: str
    thinking: int
    refinement: int
    seconds: float
    trials: int = 10


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
    evaluations: int = 14_000
    sigma0: float = 0.1
    episode_steps: int = 300
    hidden: tuple[int, ...] = (32, 32)
    corrections: int = 2
    kept: int = 100


TRAINED_HERE = TrainingDemoSettings("ant", "back_left:dead", 300, 2000, seconds=6.0)
INCLUDED = {
    "ant": DemoSettings("ant", "back_right:lost", 300, 1000, seconds=8.0),
    "hexapod": DemoSettings("hexapod", "left_front:lost", 600, 3000, seconds=5.0),
    "quadruped": DemoSettings(
        "quadruped",
        "joint=front_right_thigh:dead+joint=back_left_shank:lost",
        600,
        3000,
        seconds=5.0,
    ),
}


MISSION = "mission"  # in the place of a robot: the Hexapod on its way to a goal


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

    Without ROBOT, gaits of the ant are trained first, which takes a few minutes on two cores. ROBOT is ant,
    hexapod or quadruped, whose trained and rehearsed gaits are included: damage, diagnosis and recovery in
    some minutes. `demo mission` sends the Hexapod to a goal 5 m ahead, breaks it on the way, and films it.
    """
    from adapt.damage.text import parse_damage
    from robots.errors import UnknownNameError
    from robots.files.atomic import make_folder
    from robots.robot import load_robot

    started = time.monotonic()
    if robot is None:
        folder = out or Path("demo")
        settings = replace(TRAINED_HERE, evaluations=evaluations or TRAINED_HERE.evaluations)
        breaks = parse_damage(settings.damage if damage is None else damage, load_robot(settings.robot))
        story = _train(folder, settings, seed, overwrite)
    elif robot not in (*INCLUDED, MISSION):
        raise UnknownNameError("robot to demonstrate", robot, [*INCLUDED, MISSION])
    elif evaluations is not None or overwrite:
        raise click.UsageError(
            f"--evaluations and --overwrite are for training, but the gaits of the {robot} exist already"
        )
    elif robot == MISSION:
        folder = out or Path("demo-mission")
        make_folder(folder)
        _send(folder, damage or INCLUDED["hexapod"].damage, seed)
    else:
        folder, chosen = out or Path(f"demo-{robot}"), INCLUDED[robot]
        story = _include(chosen)
        breaks = parse_damage(chosen.damage if damage is None else damage, story[0].robot)
        make_folder(folder)
    if robot != MISSION:
        _recover(folder, TRAINED_HERE if robot is None else INCLUDED[robot], seed, *story, breaks)
    console.print(f"\nDone in {time.monotonic() - started:.0f} s. The results are in {folder}/:")
    for path in sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")):
        console.print(f"  {path}")


def _send(out: Path, damage: str, seed: int) -> None:
    """Send the Hexapod on a mission, and film it."""
    from surefoot.commands.mission import mission
    from surefoot.shipped import repertoire_path

    click.get_current_context().invoke(
        mission,
        file=repertoire_path("hexapod"),
        goals=("5,0",),
        changes=(f"{damage}@4",),
        seconds=60.0,
        seed=seed,
        log=out / "mission.jsonl",
        plot=out / "mission.png",
        video=out / "mission.mp4",
        overwrite=True,
    )


def _train(out: Path, settings: TrainingDemoSettings, seed: int, overwrite: bool) -> tuple[Repertoire, Table]:
    """Train a small repertoire, keep what is good on average, and rehearse it."""
    import surefoot
    from adapt.damage.kinds.ground import Friction
    from adapt.damage.kinds.limbs import Lost
    from adapt.damage.kinds.motors import Dead, Weak
    from repertoire.plots import draw_repertoire

    console.print(
        f"1. Train a small repertoire of gaits for the {settings.robot}: {settings.evaluations} episodes."
    )
    trained = surefoot.train(
        settings.robot,
        settings.algorithm,
        out=out,
        overwrite=overwrite,
        evaluations=settings.evaluations,
        seed=seed,
        hidden=settings.hidden,
        sigma0=settings.sigma0,
        episode_steps=settings.episode_steps,
        progress=True,
    )
    draw_repertoire(trained, out / "repertoire.png")
    console.print(
        f"{len(trained)} gaits, coverage {trained.metrics.coverage:.1%}. Each is evaluated again in "
        f"{settings.corrections} episodes, and the best are kept."
    )
    corrected = RunFiles.of(out).corrected
    gaits = surefoot.evaluate(
        trained,
        episodes=settings.corrections,
        seed=0,
        keep=settings.kept,
        out=corrected,
        overwrite=True,
        progress=True,
    ).repertoire
    legs = gaits.robot.description.legs
    damages = (*map(Lost, legs), *map(Dead, legs), Weak("all", 0.5), Friction("floor", 0.4))
    console.print(f"\n2. Rehearse: try each of {len(gaits)} gaits under each of {len(damages)} damages.")
    table = surefoot.rehearse(
        gaits,
        damages,
        episodes=1,
        seed=0,
        out=RunFiles(corrected).rehearsal,
        overwrite=True,
        progress=True,
    )
    return gaits, table


def _include(settings: DemoSettings) -> tuple[Repertoire, Table]:
    """An included repertoire with its rehearsal."""
    import surefoot
    from adapt.rehearsal.storage import read_table
    from surefoot.shipped import repertoire_path

    repertoire = surefoot.load(settings.robot)
    table = read_table(RunFiles(repertoire_path(settings.robot)).rehearsal, repertoire)
    console.print(
        f"1. Take the included repertoire of the {settings.robot}: {len(repertoire):,} gaits.\n\n"
        f"2. Each was rehearsed in {table.episodes} episodes under each of {len(table)} conditions, healthy "
        "and damaged."
    )
    return repertoire, table


def _recover(
    out: Path, settings: DemoSettings, seed: int, repertoire: Repertoire, table: Table, damage: Damage
) -> None:
    """Break the robot, recover, and film it."""
    import surefoot
    from adapt.report import save_recovery

    console.print(
        f"\n3. Break the robot: {damage} ({damage.summary}). It is not told what broke. After each of "
        f"at most {settings.trials} trials it looks for what explains that, and refines its best gaits on it."
    )
    recovery = surefoot.recover(
        repertoire,
        damage,
        seed=seed,
        trials=settings.trials,
        selector="self-model",
        rehearsal=table,
        think_episodes=settings.thinking,
        refine=settings.refinement,
        on_trial=print_trial,
        progress=True,
    )
    print_performances(recovery)
    save_recovery(recovery, repertoire, out)
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
    """Film the robot healthy, damaged with the old gait, and damaged with the new one."""
    from robots.deployment.film import film

    console.print("\n4. Film it: healthy, damaged with the old gait, damaged with the new one.")
    print_rendering_note()
    whole, damaged = repertoire.robot, damage.apply(repertoire.robot)
    solutions = np.stack([*repertoire.gaits.solutions, *(gait.solution for gait in recovery.refined)])
    for name, scene, robot, row in (
        ("1_healthy", "healthy", whole, recovery.incumbent),
        ("2_damaged_old_gait", f"{damage}, old gait", damaged, recovery.incumbent),
        ("3_damaged_new_gait", f"{damage}, new gait", damaged, recovery.row),
    ):
        refined = row >= len(repertoire)
        origin = "refined" if refined else repertoire.label(row).replace(" ", "\u00a0")
        telemetry = film(
            robot,
            solutions[row],
            seconds=settings.seconds,
            seed=seed,
            video=out / f"{name}.mp4",
            caption=f"{scene}: {origin}",
        )
        console.print(f"{name}: {telemetry.summary()}")
