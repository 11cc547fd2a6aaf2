"""`surefoot recover`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

import surefoot
from adapt.records import LIMPING, TRUSTED, Recovery, Trial, diagnosis_words, format_objective
from adapt.requests import RecoveryRequest
from repertoire.repertoire import format_cell
from robots.files.atomic import new_folder
from surefoot.commands.console import (
    AnyPath,
    RepertoireFile,
    cluster_options,
    console,
    rehearsal_option,
    threads_option,
)
from surefoot.commands.options import request_options, selector_option
from surefoot.resuming import check_output
from surefoot.shipped import recovery_folder, result_files

if TYPE_CHECKING:
    from robots.simulation.backend import Backend


@click.command()
@click.argument("file", type=RepertoireFile)
@click.option(
    "--damage",
    "damage_text",
    required=True,
    metavar="DAMAGE",
    help="E.g. front_left:lost or all:weak@0.5+torso:payload@2; see `surefoot damages`.",
)
@rehearsal_option
@click.option(
    "--no-rehearsal",
    is_flag=True,
    help="Begin without a rehearsal. By default, where there is none, each leg is first rehearsed dead and "
    "lost, if that takes some minutes at most.",
)
@click.option(
    "--calibration",
    type=AnyPath,
    metavar="FILE",
    help="What `surefoot calibrate` found: a model of the real robot breaks, and self-model thinks with it.  "
    "[default: FILE-calibration if it is there]",
)
@request_options(RecoveryRequest, selector=selector_option)
@click.option(
    "--out",
    type=AnyPath,
    help="Folder in which to save the gaits, recovery.h5, the record and a picture of the trials.  [default: "
    "the folder of FILE; of an included repertoire NAME-recovery]",
)
@click.option("--overwrite", is_flag=True, help="Replace a recovery that the folder holds.")
@threads_option
@cluster_options
def recover(
    file: Path,
    damage_text: str,
    rehearsal: Path | None,
    no_rehearsal: bool,
    calibration: Path | None,
    request: RecoveryRequest,
    out: Path | None,
    overwrite: bool,
    threads: "int | Backend | None",
) -> None:
    """Break the robot of the repertoire FILE and find a gait that still works."""
    from adapt.damage.text import parse_damage
    from adapt.report import result_paths, save_recovery
    from adapt.selectors.catalogue import find_selector, find_table
    from robots.files.locks import locked
    from robots.simulation.threads import backend_of
    from surefoot.api import find_calibration

    repertoire = surefoot.load(file)
    damage = parse_damage(damage_text, repertoire.robot)
    if no_rehearsal and rehearsal is not None:
        raise click.UsageError("--rehearsal and --no-rehearsal cannot go together")
    entry = find_selector(request.selector)
    table, found = (None, None) if no_rehearsal else find_table(repertoire, file, entry, rehearsal)
    models = find_calibration(calibration, repertoire, result_files(file))
    choice = f"selector: {entry.name}"
    if table is not None:
        choice += f", with {len(table)} conditions of {found}"
    elif entry.thinks:
        choice += (
            ", without a rehearsal" if no_rehearsal else ", with a rehearsal of dead and lost legs alone"
        )
    if models is not None:
        choice += "; the robot is one of the models of the calibration"
    folder = out or recovery_folder(file)

    def show(trial: Trial) -> None:
        if trial.number == 1:  # whatever may be wrong with the input, nothing was printed before
            console.print(choice)
        print_trial(trial)

    gaits, record, picture = result_paths(folder)
    with new_folder(folder), locked(record):
        for path in (record, picture, gaits):
            check_output(file, path, overwrite)
        recovery = surefoot.recover(
            repertoire,
            damage,
            **dict(request) | {"selector": entry},
            rehearsal=False if no_rehearsal else table,
            calibration=models,
            threads=threads,
            on_trial=show,
            progress=True,
        )
        print_performances(recovery)
        for path in save_recovery(recovery, repertoire, folder, backend=backend_of(threads)):
            console.print(f"saved {path}")
    row = f"--row {recovery.row} --damage {shlex.quote(recovery.damage)}"
    console.print(f"see its gait: surefoot deploy {shlex.quote(str(gaits))} {row}")


def print_trial(trial: Trial) -> None:
    """A line per trial, in metres unless a recovery is after another objective."""
    predicted, measured = (format_objective(value) for value in (trial.predicted, trial.measured))
    went = f"predicted {predicted:>8}  measured {measured:>8}  {trial.distance:6.2f} m"
    if trial.objective == "progress":
        went = f"expected {trial.predicted:6.2f} m  went {trial.distance:6.2f} m"
    fell = "  fell" if trial.fell else "      " if trial.diagnosis else ""
    diagnosis = f"  {diagnosis_words(trial.diagnosis.items())}" if trial.diagnosis else ""
    kind = "  refined" * trial.refined + "  confirmation" * trial.confirms
    thought = f"  ({trial.thought.words})" if trial.thought else ""
    place = f"row {trial.row}" if trial.specialist else f"cell {format_cell(trial.cell)}"
    console.print(f"trial {trial.number:2d}  {place}  {went}{fell}{kind}{diagnosis}{thought}")


def print_performances(recovery: Recovery) -> None:
    """Say how the search ended, how the gaits walk before and after the damage, and the verdict."""
    console.print(f"stopped after {recovery.effort}: {recovery.stop}")
    if recovery.confirmation:
        console.print(f"confirmation: {recovery.confirmation.words}")
    for name, one in recovery.performances().items():
        worth = ""
        if recovery.objective != "progress":
            worth = f"{format_objective(one.objective):>8} ± {format_objective(one.standard_error)}  "
        console.print(f"{name:>10}  {worth}{one.words(recovery.healthy.distance)}")
    if recovery.recovered.way:
        console.print(f"{'its way':>10}  {recovery.recovered.way}")
    if advice := _advice(recovery):
        console.print(advice)
    console.print(recovery.verdict)


def _advice(recovery: Recovery) -> str:
    """What may help where little was found; nothing where there is no need."""
    thoughts = [trial.thought for trial in recovery.trials if trial.thought]
    walked = max((trial.distance for trial in recovery.trials), default=0.0)
    if walked <= LIMPING * recovery.healthy.distance:
        return (
            "nothing that was tried walks; what may help: surefoot rehearse and surefoot strengthen, with "
            "this damage among their --damages, or a larger --refine"
        )
    if thoughts and thoughts[-1].explained < TRUSTED:
        return (
            "what is wrong may not have been found, since the best guess explains "
            f"{thoughts[-1].explained:.0%}: a larger --think-episodes may find it"
        )
    return ""
