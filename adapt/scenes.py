"""What demos tell and film of a recovery: healthy, broken with the old gait, broken with the new one."""

from collections.abc import Callable
from pathlib import Path

from adapt.damage.damage import Damage
from adapt.record import Recovery, format_objective
from adapt.report import film
from repertoire.repertoire import Repertoire, format_cell
from robots.rendering.camera import rendering_note

Say = Callable[[str], object]


def tell_levels(recovery: Recovery, say: Say) -> None:
    """Say what the damage did and what recovery made of it.

    Args:
        recovery: how it went.
        say: prints a line.
    """
    say(f"stopped after {recovery.effort}: {recovery.stop}")
    cell = format_cell(recovery.cell)
    scenes = (
        ("healthy, old gait:", recovery.healthy, ""),
        ("broken, old gait:", recovery.broken, ""),
        ("broken, new gait:", recovery.recovered, f", cell {cell}"),
    )
    for scene, level, where in scenes:
        say(f"{scene:<18} {format_objective(level.objective):>8} (walks {level.distance:5.2f} m){where}")


def film_scenes(
    repertoire: Repertoire,
    damage: Damage,
    recovery: Recovery,
    out: Path,
    *,
    seconds: float,
    seed: int,
    say: Say,
) -> None:
    """Film the three scenes, and say how where that is particular.

    Args:
        repertoire: of the intact robot.
        damage: what broke.
        recovery: from it.
        out: folder for the videos.
        seconds: length of each.
        seed: of the episodes.
        say: prints a line.
    """
    note = rendering_note()
    if note is not None:
        say(f"note: {note}")
    whole, solutions = repertoire.robot, repertoire.elites.solutions
    damaged = damage.apply(whole)
    scenes = (
        ("1_healthy", "healthy", whole, recovery.in_use),
        ("2_broken_old_gait", f"{damage}, old gait", damaged, recovery.in_use),
        ("3_broken_new_gait", f"{damage}, new gait", damaged, recovery.row),
    )
    for name, scene, robot, row in scenes:
        telemetry = film(
            robot,
            solutions[row],
            seconds=seconds,
            seed=seed,
            video=out / f"{name}.mp4",
            caption=f"{scene}: cell {format_cell(repertoire.cell(row))}",
        )
        say(f"{name}: {telemetry.summary()}")


def tell_files(out: Path, say: Say) -> None:
    """Say what there is to look at in a folder."""
    say(f"Look into {out}/:")
    for path in sorted(path.name for path in out.iterdir() if not path.name.startswith(".")):
        say(f"  {path}")
