"""What Python users need; the commands of the command line call it. Everything can be an object or a name.

`takes` adds to the docstrings the arguments that many functions share, the settings, and the errors.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adapt.damage.damage import Damage
from adapt.damage.library import damage_library
from adapt.damage.text import damage_from, damaged_robots, parse_damage
from adapt.records import Recovery, Trial
from adapt.requests import (
    CalibrationRequest,
    CorrectionRequest,
    RecoveryRequest,
    RehearsalRequest,
    StrengtheningRequest,
)
from repertoire.algorithms.catalogue import AnyAlgorithm
from repertoire.archives.archive import ArchiveSpec
from repertoire.evaluation import merging
from repertoire.problems.problem import Problem
from repertoire.repertoire import Repertoire, Which
from repertoire.storage.files import RunFiles
from repertoire.storage.repertoires import fingerprint, read_repertoire, write_repertoire
from repertoire.training.runs import TrainingLog
from robots.deployment.walk import WALK_EPISODES, Walk
from robots.description import Randomization
from robots.errors import InvalidFileError, InvalidValueError
from robots.files.atomic import check_writable, file_exists
from robots.randomization import read_randomization
from robots.robot import Robot, find_robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import Backend
from robots.simulation.threads import backend_of
from surefoot.interrupts import interrupt_flag
from surefoot.keywords import asked, takes
from surefoot.printing import console, note
from surefoot.progress import phase_bars, training_bar
from surefoot.resuming import Stopped, check_output, run_to_file
from surefoot.shipped import caution, chosen, is_repertoire, opened, repertoire_path, result_files

if TYPE_CHECKING:
    from adapt.rehearsal.table import Table
    from adapt.relearning.refinement import Refiner
    from adapt.self_model.calibration import Calibration
    from adapt.strengthening import Strengthening
    from repertoire.evaluation.correction import Correction
    from repertoire.evaluation.evaluator import Evaluation
    from repertoire.training.training import Training
    from robots.deployment.deployment import Telemetry
    from robots.importing.policies import AnyPolicy

Source = Repertoire | str | Path


def load(source: str | Path) -> Repertoire:
    """Read a repertoire.

    Args:
        source: a repertoire file, the folder of a run, or the name of an included repertoire (`hexapod`).
    """
    return read_repertoire(repertoire_path(source))


@takes()
def train(
    problem: Problem | Robot | str | Path,
    algorithm: AnyAlgorithm = "sep-cma-mae",
    *,
    out: str | Path | None = None,
    evaluations: int = 20_000,
    seed: int = 1,
    overwrite: bool = False,
    threads: int | Backend | None = None,
    checkpoint_seconds: float = 60.0,
    progress: bool = False,
    on_batch: Callable[[dict[str, float]], None] | None = None,
    log_csv: str | Path | None = None,
    policy: "AnyPolicy | None" = None,
    policy_map: str | Path | None = None,
    **settings: Any,
) -> Repertoire:
    """Train a repertoire, saving it as it grows. KeyboardInterrupt tells that it was interrupted.

    Args:
        problem: a robot, or a `Problem` of your own; or the name of a robot or benchmark problem, the path of
            the YAML of your own robot, or that of a repertoire, whose robot has the same kind of controller.
        algorithm: an `Algorithm` of your own, or settings of emitters, of which there is then one each; or
            the name of an algorithm, as listed by `surefoot algorithms`.
        out: folder of the run, in which `repertoire.h5` is written; None to save nothing.
        evaluations: solutions to evaluate, rounded up to whole batches.
        seed: from which every random number derives.
        overwrite: whether to replace a run that the folder already holds.
        checkpoint_seconds: time between two checkpoints [s]; 0 for one after every batch.
        on_batch: called after every batch with a row of numbers: the metrics so far (`evaluations`, `elites`,
            `coverage`, `qd_score`, `best`), the state of each emitter, the `seconds` that this process has
            trained for, and the `evaluations_per_s` of the batch.
        log_csv: CSV file to write these rows to.
        policy: a policy that others trained for the robot, an ONNX file or a function from observations
            (n, i) to actions (n, o): gaits are trained around it.
        policy_map: what it observes: the name of a ready map, `playground` by default, or the path of a YAML.
        **settings: such as `archive`, `sigma0`, `emitters`, `batch_size`, `episode_steps`, `hidden`,
            `damage_share` or `randomization`.
    """
    from repertoire.training.runs import start_training

    folder = None if out is None else Path(out)
    if isinstance(problem, str | Path) and is_repertoire(problem):
        problem = load(problem).robot
    if policy is not None:
        from robots.importing.policies import with_policy

        if not isinstance(problem, Robot | str | Path):
            raise InvalidValueError("gaits around a policy are those of a robot, not of another problem")
        robot = problem if isinstance(problem, Robot) else find_robot(problem)
        problem = with_policy(robot, policy, policy_map or "playground")
    elif policy_map is not None:
        raise InvalidValueError("what a policy observes belongs to --policy: name the policy, too")
    with start_training(
        problem,
        algorithm,
        out=folder,
        overwrite=overwrite,
        backend=None if threads is None else backend_of(threads),
        evaluations=evaluations,
        seed=seed,
        breaker=damaged_robots,
        **settings,
    ) as training:
        if log_csv is not None and file_exists(log_csv) and not overwrite:
            raise InvalidValueError(f"{log_csv} exists already: choose another --log-csv, or use --overwrite")
        return _trained(training, folder, checkpoint_seconds, progress, on_batch, log_csv)


@takes()
def resume(
    out: str | Path,
    *,
    threads: int | Backend | None = None,
    checkpoint_seconds: float = 60.0,
    progress: bool = False,
    on_batch: Callable[[dict[str, float]], None] | None = None,
    log_csv: str | Path | None = None,
) -> Repertoire:
    """Go on with a run that was interrupted, to the same result; see `train`.

    The CSV file of an earlier part of the run is continued.
    """
    from repertoire.training.runs import resume_training

    folder = Path(out)
    with resume_training(folder, backend=backend_of(threads), breaker=damaged_robots) as training:
        if training is not None:
            return _trained(training, folder, checkpoint_seconds, progress, on_batch, log_csv)
    if progress:
        note(f"{folder} has finished already; see it with: surefoot show {folder}")
    return load(folder)


def _trained(
    training: "Training",
    folder: Path | None,
    checkpoint_seconds: float,
    progress: bool,
    on_batch: Callable[[dict[str, float]], None] | None,
    log_csv: str | Path | None,
) -> Repertoire:
    log = TrainingLog(log_csv, training.history) if log_csv else None

    def tell(row: dict[str, float]) -> None:
        if log:
            log(row)
        if on_batch:
            on_batch(row)

    path = None if folder is None else RunFiles.of(folder).repertoire
    for remark in training.changed_versions() if progress else ():
        note(f"note: {remark}")
    bar = training_bar(training.settings.evaluations) if progress else nullcontext()
    with interrupt_flag(note) if progress else nullcontext() as stop, bar as show:
        try:
            training.run(
                path, checkpoint_seconds=checkpoint_seconds, on_progress=show, on_batch=tell, stop=stop
            )
        except InvalidFileError as error:
            again = f"once that is mended: surefoot train --resume {folder}"
            if path is None or not file_exists(path):
                again = "nothing was saved: train again once that is mended"
            raise InvalidFileError(f"{error}; {again}") from error
    if not training.finished:
        saved = f" and saved. Go on with: surefoot train --resume {folder}" if folder else ""
        note(f"Stopped{saved}")
        raise Stopped
    return training.repertoire()


@takes(RecoveryRequest)
def recover(
    source: Source,
    damage: Damage | str,
    *,
    rehearsal: "Table | str | Path | bool | None" = None,
    calibration: "Calibration | str | Path | None" = None,
    refiner: "Refiner | None" = None,
    threads: int | Backend | None = None,
    progress: bool = False,
    on_trial: Callable[[Trial], None] | None = None,
    on_progress: Callable[[str, float], None] | None = None,
    **settings: Any,
) -> Recovery:
    """Break the robot of a repertoire in simulation, and find a gait that still works.

    Args:
        damage: what breaks, e.g. `front_left:lost`.
        rehearsal: what `rehearse` returned, or its file, if the selector uses one; False for none. By default
            the one next to the repertoire's file; where there is none, each leg is rehearsed dead and lost
            first, if that takes some minutes at most.
        calibration: what `calibrate` returned, or its file; by default the one next to the repertoire's file,
            if there is one. Then a model of the real robot breaks, not the robot as built.
        refiner: how gaits are refined, in place of `refine`: a `Refiner` of your own or `RefinementSettings`.
        progress: whether to show a bar for what takes time between trials. An interrupt then ends the search
            with the best gait so far: one that is confirmed, or that walked where the old one always fell or
            got nowhere.
        on_trial: called after each trial.
        on_progress: called with what takes time between trials, in words, and the share of it that is done;
            not with `progress`, which shows the same.
    """
    from adapt.recovery import recover as run_recovery
    from adapt.selectors.catalogue import find_selector, find_table

    request = asked(RecoveryRequest, settings)
    repertoire, file = opened(source)
    damage, entry = parse_damage(damage, repertoire.robot), find_selector(request.selector)
    given = None if isinstance(rehearsal, bool) else rehearsal
    table = None if rehearsal is False else find_table(repertoire, file, entry, given)[0]
    calibration = find_calibration(calibration, repertoire, None if file is None else result_files(file))
    hand_over = interrupt_flag(note, "Stopping with the best gait so far") if progress else None
    bars = phase_bars() if progress else nullcontext(on_progress)
    with hand_over or nullcontext(lambda: False) as interrupted, bars as show:
        return run_recovery(
            repertoire,
            damage,
            request.model_copy(update={"selector": entry}),
            table=table,
            rehearse=rehearsal is not False,
            calibration=calibration,
            refiner=refiner,
            backend=backend_of(threads),
            on_trial=on_trial,
            on_progress=show,
            interrupted=interrupted,
        )


@takes()
def keep(source: Source, recovery: Recovery, *, threads: int | Backend | None = None) -> Repertoire:
    """The repertoire with the gaits that a recovery refined, as specialists; `recovery.row` is a row of it.

    Args:
        source: what was recovered from.
        recovery: what `recover` returned. Each new gait then runs ten episodes on the intact robot.
    """
    from adapt.relearning.refinement import keep_gaits

    repertoire, _ = opened(source)
    first, parameters = len(repertoire), repertoire.gaits.solutions.shape[1:]
    if any(
        (gait.row, gait.solution.shape) != (first + i, parameters) for i, gait in enumerate(recovery.refined)
    ):
        raise InvalidValueError(
            f"these gaits were not refined from a repertoire of {first:,} gaits as this is"
        )
    return keep_gaits(repertoire, recovery.refined, seed=recovery.seed, backend=backend_of(threads))


@takes()
def deploy(
    source: Source,
    gait: Which = "best",
    *,
    damage: Damage | str | None = None,
    command: tuple[float, float] | None = None,
    seconds: float = 10.0,
    seed: int = 1,
    video: str | Path | None = None,
    csv: str | Path | None = None,
    mcap: str | Path | None = None,
) -> "Telemetry":
    """Run one gait on the healthy or damaged robot.

    Args:
        gait: the cell of an elite; the row of any gait; or the elite with the highest objective: of a file
            that was corrected, with the highest corrected one.
        damage: what breaks before, e.g. `front_left:lost`.
        command: speed ahead [m/s] and turn to the left [rad/s] that the robot is told; None for one drawn
            from its ranges, or for a robot that is told nothing.
        seconds: length of the run [s of simulated time].
        seed: of the episode.
        video: .mp4 or .gif to film it to.
        csv: .csv to write the telemetry to.
        mcap: .mcap to write it to, for Foxglove and Rerun.
    """
    from robots.deployment import deployment

    repertoire, row, _ = chosen(source, gait)
    robot = repertoire.robot if command is None else repertoire.robot.with_command(*command)
    if damage is not None:
        robot = parse_damage(damage, robot).apply(robot)
    for path, suffix in ((csv, ".csv"), (mcap, ".mcap")):
        if path is not None:
            if Path(path).suffix.lower() != suffix:
                raise InvalidValueError(f"telemetry is written as {suffix}, not {Path(path).name}")
            check_writable(Path(path))
    caption = ", ".join([repertoire.label(row).replace(" ", "\u00a0"), *([str(damage)] if damage else [])])
    with nullcontext() if video is None else deployment.open_film(Path(video), robot) as add:
        watch = add and partial(add, robot, caption)
        solution = repertoire.gaits.solutions[row]
        telemetry = deployment.deploy(robot, solution, seconds=seconds, seed=seed, on_frame=watch)
    if csv is not None:
        telemetry.write_csv(Path(csv), repertoire.label(row))
    if mcap is not None:
        from robots.link.telemetry import write_mcap

        write_mcap(telemetry, Path(mcap), gait=repertoire.label(row))
    return telemetry


@takes(CorrectionRequest)
def evaluate(
    source: Source,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    threads: int | Backend | None = None,
    progress: bool = False,
    **settings: Any,
) -> "Correction":
    """Measure every gait of a repertoire again over several episodes, and correct the repertoire.

    Args:
        out: file to save the corrected repertoire to; after an interruption the same call goes on.
    """
    from repertoire.evaluation.correction import correct, keep_best, reevaluation

    request = asked(CorrectionRequest, settings)
    repertoire, file = opened(source)
    drawn = read_randomization(request.randomization, repertoire.robot)
    evaluation = reevaluation(
        repertoire,
        episodes=request.episodes,
        seed=request.seed,
        randomization=drawn,
        backend=backend_of(threads),
    )

    def save() -> "Correction":
        correction = correct(evaluation)
        if request.keep is not None:
            kept = keep_best(correction.repertoire, request.keep)
            correction = replace(correction, repertoire=kept)
        if out is not None:
            write_repertoire(Path(out), correction.repertoire)
        return correction

    return run_to_file(evaluation, save, file=file, out=out, overwrite=overwrite, progress=progress)


@takes(RehearsalRequest)
def rehearse(
    source: Source,
    damages: Iterable[Damage | str] | Damage | str | None = None,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    threads: int | Backend | None = None,
    progress: bool = False,
    **settings: Any,
) -> "Table":
    """Try every gait of a repertoire under a library of damages, before anything breaks.

    Args:
        out: file to save the table to; after an interruption the same call goes on.

    Returns:
        The table, which `recover` takes; as the file holds it, which rounds, if there is one.
    """
    from adapt.rehearsal.rehearsal import rehearsed_table
    from adapt.rehearsal.storage import read_table, write_table

    repertoire, file = opened(source)
    request = asked(RehearsalRequest, settings)
    evaluation = _rehearsal(repertoire, damages, request, backend_of(threads))
    for condition in evaluation.evaluator.conditions if out is not None else ():
        damage_from(condition)  # or else the file could not be read

    def save() -> "Table":
        table = rehearsed_table(evaluation)
        if out is None:
            return table
        write_table(Path(out), table, evaluation.identity)
        return read_table(Path(out), repertoire)

    return run_to_file(evaluation, save, file=file, out=out, overwrite=overwrite, progress=progress)


def _rehearsal(
    repertoire: Repertoire,
    damages: Iterable[Damage | str] | Damage | str | None,
    request: RehearsalRequest,
    backend: Backend,
) -> "Evaluation":
    from adapt.rehearsal.rehearsal import rehearsal

    robot = repertoire.robot
    library = damage_library(robot) if damages is None else _several(damages)
    return rehearsal(
        repertoire,
        [parse_damage(one, robot) for one in library],
        episodes=request.episodes,
        seed=request.seed,
        randomization=read_randomization(request.randomization, robot),
        backend=backend,
    )


@takes(StrengtheningRequest)
def strengthen(
    source: Source,
    damages: Iterable[Damage | str] | Damage | str | None = None,
    *,
    rehearsal: "Table | str | Path | None" = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    threads: int | Backend | None = None,
    progress: bool = False,
    **settings: Any,
) -> Repertoire:
    """Refine a specialist for each damage that leaves the repertoire no good gait, before anything breaks.

    Args:
        damages: which, one or several; by default all that the repertoire was rehearsed under.
        rehearsal: what `rehearse` returned, or its file; by default the one next to the repertoire's file.
        out: file to save the result to, and a rehearsal of it next to it; after an interruption the same call
            goes on.
        overwrite: whether to replace these files.
        progress: whether to show a bar, and what came of each search.

    Returns:
        The repertoire with what was found as specialists; the same if nothing was.
    """
    from adapt.selectors.catalogue import find_table
    from adapt.strengthening import Strengthening

    request = asked(StrengtheningRequest, settings)
    repertoire, file = opened(source)
    if out is not None:
        check_output(file, Path(out), overwrite)
        if not file_exists(RunFiles.unfinished(Path(out))):  # or else it is of this work
            check_output(file, RunFiles(Path(out)).rehearsal, overwrite)
    robot = repertoire.robot
    table, _ = find_table(repertoire, file, "rehearsed", rehearsal)
    if table is None:
        raise InvalidValueError(
            "a rehearsal must say under which damages the repertoire is weak: make one with "
            "`surefoot rehearse`"
        )
    drawn = repertoire.problem.randomization
    if request.randomization is not None:
        drawn = read_randomization(request.randomization, robot)
    work = Strengthening(
        repertoire,
        table,
        request,
        damages=None if damages is None else [str(parse_damage(one, robot)) for one in _several(damages)],
        randomization=drawn,
        backend=backend_of(threads),
        on_finished=note if progress else None,
    )

    def save() -> Repertoire:
        stronger = work.strengthened()
        if out is not None:
            _save_rehearsed(stronger, work, Path(out), progress=progress, threads=threads)
        return stronger

    return run_to_file(work, save, file=file, out=out, overwrite=overwrite, progress=progress)


def _save_rehearsed(
    stronger: Repertoire, work: "Strengthening", out: Path, *, progress: bool, threads: int | Backend | None
) -> None:
    """Save a strengthened repertoire, and its rehearsal before: once the file is there all is done."""
    from adapt.rehearsal.rehearsal import rehearsed_table
    from adapt.rehearsal.storage import write_table
    from adapt.rehearsal.table import widen

    path, table = RunFiles(out).rehearsal, work.table
    if stronger is work.repertoire:
        known = {"repertoire": fingerprint(stronger), "randomization": table.randomization}
        write_table(path, table, known if table.seed is None else {**known, "seed": table.seed})
        write_repertoire(out, stronger)
        return
    new = stronger.gaits.take(np.arange(len(work.repertoire), len(stronger)))
    alone = replace(stronger, elites=new, specialists=None, spread=None)
    drawn = None if table.randomization == "none" else work.randomization
    request = RehearsalRequest(episodes=table.episodes, seed=table.seed or 0, randomization=drawn)
    evaluation = _rehearsal(alone, table.damages, request, backend_of(threads))

    def save() -> None:
        identity = {**evaluation.identity, "repertoire": fingerprint(stronger)}
        write_table(path, widen([table, rehearsed_table(evaluation)]), identity)

    run_to_file(evaluation, save, file=None, out=path, overwrite=True, progress=progress)
    write_repertoire(out, stronger)


@takes()
def merge(
    sources: Sequence[Source] | Source,
    *,
    archive: ArchiveSpec | str | Sequence[int] | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
) -> Repertoire:
    """Put repertoires of one robot or problem together: the best gait of each cell stays.

    Args:
        sources: repertoires, or what `load` takes; a single one and `archive` change the cells.
        archive: the cells; those of the first repertoire by default.
        out: file to save the result to.
    """
    inputs = [opened(source) for source in _several(sources)]
    if out is not None:
        for _, file in inputs:
            check_output(file, Path(out), overwrite)
    names = [str(file or f"repertoire {number}") for number, (_, file) in enumerate(inputs, 1)]
    merged = merging.merge([repertoire for repertoire, _ in inputs], archive=archive, names=names)
    if out is not None:
        write_repertoire(Path(out), merged)
    return merged


@takes()
def show(source: Source, *, picture: str | Path | None = None, history: str | Path | None = None) -> None:
    """Print the facts and metrics of a repertoire, and draw it.

    Args:
        picture: PNG to draw the repertoire to.
        history: PNG to draw the metrics over the evaluations of training to.
    """
    from repertoire.plots import draw_history, draw_repertoire
    from robots.rendering.pictures import check_picture

    pictures = (picture, draw_repertoire), (history, draw_history)
    drawings = [(Path(path), draw) for path, draw in pictures if path]
    for path, _ in drawings:
        check_picture(path)
    repertoire, file = opened(source)
    for name, value in repertoire.facts().items():
        console.print(f"{name:<12}{value}")
    if repertoire.problem.robot is not None and len(repertoire):
        console.print(f"{'walk':<12}{_best_walk(repertoire)}")
    if file is not None and (warning := caution(file, repertoire)):
        note(warning)
    for path, draw in drawings:
        draw(repertoire, path)
        console.print(f"drawn to {path}")


def _best_walk(repertoire: Repertoire) -> str:
    """How the best gait of a robot goes over the ground, in words."""
    seeds = derive_seeds(repertoire.settings.seed, SeedFamily.EVALUATION, 0, WALK_EPISODES)
    walk = Walk.tried(repertoire.robot, repertoire.elites.solutions[repertoire.best()], seeds)
    return f"{walk.words}; {WALK_EPISODES} episodes of the best gait" if walk else "it diverges"


@takes(CalibrationRequest)
def calibrate(
    source: Source,
    traces: "str | Path | Iterable[str | Path]",
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    threads: int | Backend | None = None,
    progress: bool = False,
    **settings: Any,
) -> "Calibration":
    """Fit models of the robot to what it did while it was whole.

    Args:
        traces: CSV files as `deploy` writes them, or folders of such; a gait or several.
        out: file to save the calibration to.

    Returns:
        The calibration, which `recover` takes, and whose `randomization` `train`, `evaluate` and
            `rehearse` take.
    """
    from adapt.self_model import calibrating
    from adapt.self_model.calibration import PRIOR, read_traces, write_calibration
    from adapt.self_model.features import check_sensors

    request = asked(CalibrationRequest, settings)
    repertoire, file = opened(source)
    if out is not None:
        check_output(file, Path(out), overwrite)
    sensors, prior = check_sensors(request.sensors), PRIOR
    before = read_traces([Path(path) for path in _several(traces)], repertoire, sensors)
    if request.prior is not None:
        prior = read_randomization(request.prior, repertoire.robot) or Randomization()
    with phase_bars() if progress else nullcontext() as show:
        calibration = calibrating.calibrate(
            repertoire,
            before,
            prior=prior,
            sensors=sensors,
            models=request.models,
            seed=request.seed,
            backend=backend_of(threads),
            on_progress=show and partial(show, "calibrating"),
        )
    if out is not None:
        write_calibration(Path(out), calibration)
    return calibration


def find_calibration(
    calibration: "Calibration | str | Path | None", repertoire: Repertoire, files: RunFiles | None
) -> "Calibration | None":
    """A calibration, which its file may stand for; by default the one next to a repertoire's file."""
    from adapt.self_model.calibration import read_calibration

    if calibration is None and files is not None and file_exists(files.calibration):
        calibration = files.calibration
    if isinstance(calibration, str | Path):
        calibration = read_calibration(calibration, repertoire.robot)
    return calibration


def _several(given: Any) -> list[Any]:
    return [given] if isinstance(given, str | Path | Damage | Repertoire) else list(given)
