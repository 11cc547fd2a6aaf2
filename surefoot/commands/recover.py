"""`surefoot recover`."""

import shlex
from pathlib import Path

import click

from adapt.confirmation import CONFIRMATIONS
from adapt.objective import OBJECTIVES
from adapt.records import LIMPING, TRUSTED, Recovery, Trial, diagnosis_words, format_objective
from adapt.rehearsal.table import Table
from adapt.self_model.twin import EPISODES, SMALL, RefinementSettings
from repertoire.repertoire import Repertoire, format_cell
from repertoire.storage.files import RunFiles
from robots.simulation.trace import SENSORS
from surefoot.commands.console import (
    AnyPath,
    Names,
    Number,
    Positive,
    RepertoireFile,
    Whole,
    cluster_options,
    console,
    seed_option,
    threads_option,
)


class SelectorOption(click.Option):
    """An option whose help lists the selectors that there are, once help is asked for."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option and its help."""
        from adapt.selectors.catalogue import DEFAULT_SELECTOR, selector_entries

        known = "; ".join(f"{name}: {entry.summary}" for name, entry in selector_entries().items())
        default = f"[default: {DEFAULT_SELECTOR}]"
        self.help = f"How trials are chosen: {known}.  {default}"
        return super().get_help_record(ctx)


@click.command()
@click.argument("file", type=RepertoireFile)
@click.option(
    "--damage",
    "damage_text",
    required=True,
    metavar="DAMAGE",
    help="E.g. front_left:lost or all:weak@0.5+torso:payload@2; see `surefoot damages`.",
)
@click.option("--selector", cls=SelectorOption, metavar="NAME")
@click.option(
    "--rehearsal",
    type=AnyPath,
    metavar="TABLE",
    help="What `surefoot rehearse` found.  [default: FILE-rehearsal if it is there; else each leg is first "
    "rehearsed dead and lost, if that takes some minutes at most]",
)
@click.option("--no-rehearsal", is_flag=True, help="Begin without a rehearsal.")
@click.option(
    "--calibration",
    type=AnyPath,
    metavar="FILE",
    help="What `surefoot calibrate` found: a model of the real robot breaks, and self-model thinks with it.  "
    "[default: FILE-calibration if it is there]",
)
@click.option(
    "--trials", type=Positive, default=20, show_default=True, help="Trials at most, confirmation included."
)
@click.option(
    "--confirmations",
    type=Whole(min=0),
    default=CONFIRMATIONS,
    show_default=True,
    help="Confirmation trials of the gait found, and as many of the old one, at most a quarter of --trials: "
    "with fewer than 4 trials the old gait stays. "
    "The robot changes to the new gait only if its mean in them exceeds that of the old one by more than the "
    "standard error. If it does by less than three of these, trials that the search left are used for more. "
    "With 0 it changes without any.",
)
@click.option(
    "--think",
    type=Number(min=0, min_open=True),
    metavar="SECONDS",
    help="How long self-model simulates after the first trial of each gait, for robots that must be quick: "
    "what it finds then depends on the machine.  [default: as long as --think-episodes takes]",
)
@click.option(
    "--think-episodes",
    type=Positive,
    help="The same as a number of episodes, which finds the same on every machine. Each rehearsed damage is "
    f"simulated in any case.  [default: {EPISODES}]",
)
@click.option(
    "--refine",
    type=Whole(min=0),
    metavar="EPISODES",
    help="Episodes of each search for a better gait on what self-model believes to be wrong, of which there "
    f"are at most three; 0 for none.  [default: 4000 for gaits of up to {SMALL} parameters, 2000 for others]",
)
@click.option(
    "--objective",
    type=click.Choice(OBJECTIVES),
    default=OBJECTIVES[0],
    show_default=True,
    help="What gaits are selected, refined, confirmed and reported by: progress while up [m], less a quarter "
    "of the healthy distance for a fall at once, or the reward of the training.",
)
@click.option(
    "--sensors",
    type=Names(),
    help=f"Sensors that the robot has for self-model.  [default: {','.join(SENSORS)}]",
)
@click.option("--max-falls", type=Positive, help="Stop after so many falls.  [default: any number]")
@seed_option("the seeds of all episodes")
@click.option("--oracle", is_flag=True, help="Also find the best gait there is, by trying all.")
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
    selector: str | None,
    rehearsal: Path | None,
    no_rehearsal: bool,
    calibration: Path | None,
    trials: int,
    confirmations: int,
    think: float | None,
    think_episodes: int | None,
    refine: int | None,
    objective: str,
    sensors: tuple[str, ...] | None,
    max_falls: int | None,
    seed: int,
    oracle: bool,
    out: Path | None,
    overwrite: bool,
    threads: int | None,
) -> None:
    """Break the robot of the repertoire FILE and find a gait that still works."""
    import surefoot
    from adapt.damage.text import parse_damage
    from adapt.report import result_paths, save_recovery
    from adapt.self_model.features import check_sensors
    from adapt.self_model.twin import Thinking
    from robots.files.atomic import new_folder
    from robots.files.locks import locked
    from surefoot.api import find_calibration
    from surefoot.resuming import check_output
    from surefoot.shipped import recovery_folder, result_files

    repertoire = surefoot.load(file)
    damage = parse_damage(damage_text, repertoire.robot)
    if no_rehearsal and rehearsal is not None:
        raise click.UsageError("--rehearsal and --no-rehearsal cannot go together")
    name, table, choice = _choose(file, repertoire, selector, rehearsal)
    if no_rehearsal:
        table, choice = False, f"selector: {name}, without a rehearsal"
    models = find_calibration(calibration, repertoire, result_files(file))
    if models is not None:
        choice += "; the robot is one of the models of the calibration"
    thinking = None
    if (think, think_episodes, sensors, refine) != (None, None, None, None):
        thinking = Thinking(
            repertoire,
            think,
            think_episodes,
            check_sensors(SENSORS if sensors is None else sensors),
            refinement=None if refine == 0 else RefinementSettings.of(repertoire, refine),
            threads=threads,
        )
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
            seed=seed,
            trials=trials,
            selector=name,
            rehearsal=table,
            calibration=models,
            objective=objective,
            max_falls=max_falls,
            confirmations=confirmations,
            threads=threads,
            oracle=oracle,
            thinking=thinking,
            on_trial=show,
            progress=True,
        )
        print_performances(recovery)
        for path in save_recovery(recovery, repertoire, folder, threads=threads):
            console.print(f"saved {path}")
    row = f"--row {recovery.row} --damage {shlex.quote(recovery.damage)}"
    console.print(f"see its gait: surefoot deploy {shlex.quote(str(gaits))} {row}")


def _choose(
    file: Path, repertoire: Repertoire, selector: str | None, rehearsal: Path | None
) -> tuple[str, Table | bool | None, str]:
    """Name of the selector, the rehearsal that `surefoot.recover` is given, and a line that says so."""
    from adapt.selectors.catalogue import DEFAULT_SELECTOR, find_selector, find_table

    entry = find_selector(selector or DEFAULT_SELECTOR)
    table, found = find_table(repertoire, file, selector, rehearsal)
    if table is not None:
        return entry.name, table, f"selector: {entry.name}, with {len(table)} conditions of {found}"
    more = f": surefoot rehearse would make {RunFiles(file).rehearsal.name}"
    without = f", without a rehearsal of other damage than dead and lost legs{more}" if entry.thinks else ""
    return entry.name, None, f"selector: {entry.name}{without}"


def print_trial(trial: Trial) -> None:
    """A line per trial, in metres unless a recovery is after another objective."""
    predicted, measured = (format_objective(value) for value in (trial.predicted, trial.measured))
    went = f"predicted {predicted:>8}  measured {measured:>8}  {trial.distance:6.2f} m"
    if trial.objective == OBJECTIVES[0]:
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
        if recovery.objective != OBJECTIVES[0]:
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
