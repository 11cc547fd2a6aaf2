"""The whole story in a few minutes: train a small repertoire, break a leg, find a gait that still walks."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from adapt.damage import parse_damage
from adapt.recovery import Recovery, Trial, recover
from adapt.report import film, save_recovery
from repertoire.loop import Progress
from repertoire.plots import draw_repertoire
from repertoire.repertoire import Repertoire, format_cell
from repertoire.storage import read_repertoire
from repertoire.training import FILE_NAME, start_training
from robots.rendering import rendering_note
from robots.robot import Robot

ProgressBar = Callable[[int], AbstractContextManager[Callable[[Progress], None]]]


@dataclass(frozen=True)
class DemoSettings:
    """What the demo trains and breaks.

    Shorter episodes and larger first steps than the paper's: in two minutes they find gaits that get ahead,
    where the paper's settings, made for a million evaluations, have hardly begun.

    Attributes:
        robot: name of the robot.
        algorithm: name of the algorithm.
        evaluations: episodes to train for.
        sigma0: initial step size.
        episode_steps: control steps of an episode.
        damage: what breaks.
        trials: how many gaits may be tried.
        seconds: length of the videos.
    """

    robot: str = "ant"
    algorithm: str = "sep-cma-mae"
    evaluations: int = 18_000
    sigma0: float = 0.1
    episode_steps: int = 300
    damage: str = "front_left:lost"
    trials: int = 20
    seconds: float = 6.0


def run_demo(
    out: Path,
    settings: DemoSettings,
    *,
    seed: int,
    overwrite: bool,
    say: Callable[[str], object],
    bar: ProgressBar,
    on_trial: Callable[[Trial], None],
) -> Recovery:
    """Run the demo and leave its results in a folder.

    Args:
        out: the folder.
        settings: what to train and break.
        seed: of everything.
        overwrite: whether to replace a run that the folder already holds.
        say: prints a line.
        bar: makes a progress bar for so many evaluations.
        on_trial: told of each trial.
    """
    started = time.monotonic()
    repertoire = _train(out, settings, seed, overwrite, say, bar)
    draw_repertoire(repertoire, out / "repertoire.png")
    damage = parse_damage(settings.damage, repertoire.robot)
    say(f"\n2. Break the robot: {damage} ({damage.summary}).")
    say(f"Try gaits until one works, {settings.trials} at most.")
    recovery = recover(repertoire, damage, seed=seed, trials=settings.trials, on_trial=on_trial)
    _tell(recovery, say)
    save_recovery(recovery, out)
    say("\n3. Film it: healthy, broken with the old gait, broken with the new one.")
    _film_all(out, settings, repertoire, recovery, damage.apply(repertoire.robot), seed, say)
    say(f"\nDone in {time.monotonic() - started:.0f} s. Look into {out}/:")
    for path in sorted(path.name for path in out.iterdir() if not path.name.startswith(".")):
        say(f"  {path}")
    return recovery


def _train(
    out: Path,
    settings: DemoSettings,
    seed: int,
    overwrite: bool,
    say: Callable[[str], object],
    bar: ProgressBar,
) -> Repertoire:
    """Train, showing progress."""
    say(f"1. Train a small repertoire of gaits for the {settings.robot}: {settings.evaluations} episodes.")
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
    with training, bar(settings.evaluations) as show:
        training.run(out / FILE_NAME, on_progress=show)
    repertoire = read_repertoire(out / FILE_NAME)
    metrics = repertoire.metrics
    say(
        f"{metrics.elites} gaits, coverage {metrics.coverage:.1%}, QD score {metrics.qd_score:,.0f}, "
        f"best {metrics.best:.0f}"
    )
    return repertoire


def _tell(recovery: Recovery, say: Callable[[str], object]) -> None:
    """Say what the damage did and what recovery made of it."""
    healthy, broken, recovered = recovery.healthy, recovery.broken, recovery.recovered
    say(f"stopped after {len(recovery.trials)} trials: {recovery.stop}")
    say(f"healthy, old gait: {healthy.objective:7.1f} (walks {healthy.distance:5.2f} m)")
    say(f"broken, old gait:  {broken.objective:7.1f} (walks {broken.distance:5.2f} m)")
    say(
        f"broken, new gait:  {recovered.objective:7.1f} (walks {recovered.distance:5.2f} m), "
        f"cell {format_cell(recovery.cell)}"
    )


def _film_all(
    out: Path,
    settings: DemoSettings,
    repertoire: Repertoire,
    recovery: Recovery,
    damaged: Robot,
    seed: int,
    say: Callable[[str], object],
) -> None:
    """Film the three scenes, and say how where that is particular."""
    note = rendering_note()
    if note is not None:
        say(f"note: {note}")
    solutions = repertoire.elites.solutions
    scenes = (
        ("1_healthy", "healthy", repertoire.robot, recovery.in_use),
        ("2_broken_old_gait", f"{settings.damage}, old gait", damaged, recovery.in_use),
        ("3_broken_new_gait", f"{settings.damage}, new gait", damaged, recovery.row),
    )
    for name, scene, robot, row in scenes:
        telemetry = film(
            robot,
            solutions[row],
            seconds=settings.seconds,
            seed=seed,
            video=out / f"{name}.mp4",
            caption=f"{scene}: cell {format_cell(repertoire.cell(row))}",
        )
        say(f"{name}: {telemetry.summary()}")
