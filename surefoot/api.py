"""What Python users need: load a repertoire, train one, recover with one."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from adapt.damage.damage import Damage
from adapt.records import Recovery, Trial
from repertoire.repertoire import Repertoire
from surefoot.shipped import repertoire_path

if TYPE_CHECKING:
    from adapt.self_model.twin import Thinking


def load(source: str | Path) -> Repertoire:
    """Read a repertoire.

    Args:
        source: a repertoire file, the folder of a run, or the name of an included repertoire (`hexapod`).

    Raises:
        InvalidFileError: there is no such file, or it is damaged.
    """
    from repertoire.storage.repertoires import read_repertoire

    return read_repertoire(repertoire_path(source))


def train(
    problem: str,
    *,
    out: str | Path,
    algorithm: str = "sep-cma-mae",
    evaluations: int = 20_000,
    seed: int = 1,
    overwrite: bool = False,
    threads: int | None = None,
    on_progress: Callable[..., None] | None = None,
    **settings: object,
) -> Repertoire:
    """Train a repertoire, saving it as it grows.

    Args:
        problem: name of a robot or benchmark problem, or path of the YAML of your own robot.
        out: folder of the run, in which `repertoire.h5` is written.
        algorithm: name, as listed by `surefoot algorithms`.
        evaluations: solutions to evaluate, rounded up to whole batches.
        seed: from which every random number derives.
        overwrite: whether to replace a run that the folder already holds.
        threads: of a robot's simulation; all cores by default. The result does not depend on it.
        on_progress: called with a `repertoire.training.training.Progress` after every batch and, from other
            threads, within it.
        **settings: such as `archive`, `sigma0`, `emitters`, `batch_size`, `episode_steps`, `hidden`,
            `damage_share` or `randomization`.

    Raises:
        UnknownNameError: there is no such problem or algorithm.
        InvalidValueError: a setting is wrong, or the folder already holds a run.
        InvalidFileError: the folder cannot be written to.
        InUseError: another process works in the folder.
    """
    from adapt.damage.text import damaged_robots
    from repertoire.storage.files import RunFiles
    from repertoire.training.runs import start_training

    folder = Path(out)
    with start_training(
        str(problem),
        algorithm,
        out=folder,
        overwrite=overwrite,
        threads=threads,
        evaluations=evaluations,
        seed=int(seed),
        breaker=damaged_robots,
        **settings,  # type: ignore[arg-type]
    ) as training:
        training.run(RunFiles.of(folder).repertoire, on_progress=on_progress)
        return training.repertoire()


def recover(
    source: Repertoire | str | Path,
    damage: Damage | str,
    *,
    seed: int = 1,
    trials: int = 20,
    selector: str | None = None,
    rehearsal: str | Path | None = None,
    threads: int | None = None,
    oracle: bool = False,
    thinking: "Thinking | None" = None,
    on_trial: Callable[[Trial], None] | None = None,
    on_progress: Callable[[str, float], None] | None = None,
) -> Recovery:
    """Break the robot of a repertoire in simulation, and find a gait that still works.

    Args:
        source: a repertoire, or what `load` takes.
        damage: what breaks, e.g. `front_left:lost`.
        seed: from which every random number derives.
        trials: how many there may be at most. The last ones confirm that the gait found is better than the
            old one, which it otherwise does not replace; see `adapt.confirmation`.
        selector: name of what chooses the trials; by default `rehearsed` if there is a rehearsal, and
            `map-bo-tuned` if there is none.
        rehearsal: file of the rehearsal; by default the one next to the repertoire's file, if the selector
            uses one.
        threads: of the simulation; all cores by default. The result does not depend on it.
        oracle: whether to find the repertoire's best gait by trying all of them, many times.
        thinking: what the `self-model` selector may simulate between trials; by default for ten seconds.
        on_trial: called after each trial.
        on_progress: called with what takes time between trials, in words, and the share of it that is done.

    Raises:
        UnknownNameError: the robot has no such part, or there is no such selector or kind of damage.
        InvalidValueError: the repertoire is empty or has no robot, or an argument is wrong.
        InvalidFileError: a file cannot be read.
    """
    from adapt.damage.text import parse_damage
    from adapt.recovery import recover as run_recovery
    from adapt.selectors.catalogue import find_table

    path = None if isinstance(source, Repertoire) else repertoire_path(source)
    repertoire = source if isinstance(source, Repertoire) else load(source)
    broken = damage if isinstance(damage, Damage) else parse_damage(str(damage), repertoire.robot)
    table, _ = find_table(repertoire, path, selector, None if rehearsal is None else Path(rehearsal))
    return run_recovery(
        repertoire,
        broken,
        seed=seed,
        trials=trials,
        selector=selector,
        table=table,
        threads=threads,
        oracle=oracle,
        thinking=thinking,
        on_trial=on_trial,
        on_progress=on_progress,
    )
