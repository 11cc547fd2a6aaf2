"""The whole story in a few minutes: train a small repertoire, break a leg, find a gait that still walks."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from adapt.damage.text import parse_damage
from adapt.record import Recovery, Trial
from adapt.recovery import recover
from adapt.report import save_recovery
from adapt.scenes import Say, film_scenes, tell_files, tell_levels
from repertoire.plots import draw_repertoire
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import read_repertoire
from repertoire.training.runs import FILE_NAME, start_training
from repertoire.training.training import Progress
from robots.robot import load_robot

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
    say: Say,
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
    damage = parse_damage(
        settings.damage, load_robot(settings.robot)
    )  # a mistake in it shows before training
    repertoire = _train(out, settings, seed, overwrite, say, bar)
    draw_repertoire(repertoire, out / "repertoire.png")
    say(f"\n2. Break the robot: {damage} ({damage.summary}).")
    say(f"Try gaits until one works, {settings.trials} at most.")
    recovery = recover(repertoire, damage, seed=seed, trials=settings.trials, on_trial=on_trial)
    tell_levels(recovery, say)
    save_recovery(recovery, out)
    say("\n3. Film it: healthy, broken with the old gait, broken with the new one.")
    film_scenes(repertoire, damage, recovery, out, seconds=settings.seconds, seed=seed, say=say)
    say(f"\nDone in {time.monotonic() - started:.0f} s.")
    tell_files(out, say)
    return recovery


def _train(
    out: Path,
    settings: DemoSettings,
    seed: int,
    overwrite: bool,
    say: Say,
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
