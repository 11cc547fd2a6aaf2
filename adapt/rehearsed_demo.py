"""Damage, diagnosis and recovery in under a minute, from a repertoire trained and rehearsed beforehand."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from adapt.damage.text import parse_damage
from adapt.diagnosis import in_words
from adapt.record import Recovery, Trial
from adapt.recovery import recover
from adapt.rehearsal import read_table, rehearsal_path
from adapt.report import save_recovery
from adapt.scenes import Say, film_scenes, tell_files, tell_levels
from adapt.shipped import shipped_repertoire
from repertoire.storage.repertoires import read_repertoire
from robots.files import make_folder


@dataclass(frozen=True)
class RehearsedDemoSettings:
    """What the demo breaks.

    Attributes:
        robot: one of `SHIPPED`.
        damage: what breaks.
        trials: how many gaits may be tried.
        seconds: length of the videos.
    """

    robot: str = "hexapod"
    damage: str = "left_front:lost"
    trials: int = 10
    seconds: float = 5.0


def run_rehearsed_demo(
    out: Path, settings: RehearsedDemoSettings, *, seed: int, say: Say, on_trial: Callable[[Trial], None]
) -> Recovery:
    """Run the demo and leave its results in a folder.

    Args:
        out: the folder; what an earlier demo left there is replaced.
        settings: what to break.
        seed: of everything.
        say: prints a line.
        on_trial: told of each trial.
    """
    started = time.monotonic()
    file = shipped_repertoire(settings.robot)
    repertoire = read_repertoire(file)
    table = read_table(rehearsal_path(file), repertoire)
    damage = parse_damage(settings.damage, repertoire.robot)
    make_folder(out)
    say(f"1. Take a repertoire of the {settings.robot}, trained beforehand: {len(repertoire):,} gaits, each")
    say(f"rehearsed {table.episodes} times under each of {len(table)} conditions, healthy and damaged.")
    say(f"\n2. Break the robot: {damage} ({damage.summary}). It is not told what broke.")
    say(f"Try gaits, {settings.trials} at most, and find out what is wrong by what they do.")
    recovery = recover(repertoire, damage, seed=seed, trials=settings.trials, table=table, on_trial=on_trial)
    say(f"diagnosis: {in_words(recovery.diagnosis.items())}; it was {damage}")
    tell_levels(recovery, say)
    save_recovery(recovery, out)
    say("\n3. Film it: healthy, broken with the old gait, broken with the new one.")
    film_scenes(repertoire, damage, recovery, out, seconds=settings.seconds, seed=seed, say=say)
    say(f"\nDone in {time.monotonic() - started:.0f} s.")
    tell_files(out, say)
    return recovery
