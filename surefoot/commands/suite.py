"""`surefoot suite`: the studies of the field."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import surefoot
from repertoire.storage.files import FILE_NAME
from robots.errors import InvalidValueError
from robots.robot import find_robot
from suites.requests import FEW_TRIALS, RECOVERIES, MissionStudy, TransferRequest
from surefoot.commands.console import (
    AnyPath,
    Commands,
    Cores,
    Names,
    Number,
    Positive,
    RepertoireFile,
    Whole,
    cluster_options,
    console,
    randomization_option,
    rehearsal_option,
    seed_option,
)
from surefoot.commands.options import (
    MAP_HELP,
    Decorator,
    chain,
    request_options,
    selector_option,
    setting_option,
)
from surefoot.progress import study_bar
from surefoot.shipped import repertoire_path

if TYPE_CHECKING:
    from adapt.damage.damage import Damage
    from adapt.rehearsal.table import Table
    from repertoire.repertoire import Repertoire
    from suites.suite import Suite


class Budgets(click.ParamType):
    """A number for all names, numbers for some, or both: `50000,hopper=100000`; "" stands for all."""

    name = "N,NAME=N,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        budgets: dict[str, int] = {}
        for part in value.split(","):
            name, _, number = part.rpartition("=")
            if name.strip() in budgets:
                self.fail(f"it must give each name one number, not {value!r}", param, ctx)
            budgets[name.strip()] = Positive.convert(number.strip(), param, ctx)
        return budgets


class Rates(Names):
    """Different numbers from 0 to 1 with commas between them."""

    name = "RATE,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        rates = [Number(0, 1).convert(part, param, ctx) for part in super().convert(value, param, ctx)]
        if len(set(rates)) < len(rates):
            self.fail(f"it must be different numbers, not {value!r}", param, ctx)
        return tuple(rates)


def study_options(name: str, *, simulated: bool = False) -> Decorator:
    """Give a command the options of every study, see `run_study`, and a seed.

    Args:
        name: of the study, and of its folder by default.
        simulated: whether a cluster may run its episodes.
    """
    return chain(
        *([cluster_options] if simulated else []),
        seed_option("the seeds of all trials"),
        click.option(
            "--threads", "cores", type=Cores, help="Threads of all trials together.  [default: all cores]"
        ),
        click.option("--dry-run", is_flag=True, help="Only print how many trials there are."),
        click.option("--report", is_flag=True, help="Run nothing: report on the trials that are finished."),
        click.option(
            "--out",
            type=AnyPath,
            default=Path("studies") / name,
            show_default=True,
            help="Folder of the study.",
        ),
    )


def run_study(make: "Callable[..., Suite]", given: dict[str, Any], **settings: Any) -> None:
    """Say how many trials a study has, run what is not done, and report.

    Args:
        make: makes the study.
        given: options of its command: those of `study_options`, where a backend may take the place of threads
            of this machine, and others that the study has; what is None is left to it.
        **settings: what else it has.
    """
    from robots.simulation.threads import available_cores
    from suites.study import Study

    cores, dry_run, report, out, backend = (
        given.pop(name, None) for name in ("cores", "dry_run", "report", "out", "threads")
    )
    suite = make(**settings, **{name: value for name, value in given.items() if value is not None})
    remarks = suite.check()
    suite, together = suite.share_cores(cores or available_cores(), backend)
    study = Study(suite, out)
    for remark in remarks:
        console.print(f"note: {remark}")
    if not report:
        console.print(
            f"the study has {len(study.trials)} trials, {len(study.remaining())} of them not finished"
        )
    if dry_run:
        return
    if not report:
        try:
            with study_bar() as show:
                study.run(processes=together, on_progress=show)
        except KeyboardInterrupt:
            console.print("Stopped. What is saved is kept; the same command continues the study.")
            raise
    for path in study.report(study.all_results()):
        console.print(f"saved {path}")


def _repertoire_options(damages: str) -> Decorator:
    """Give a command the repertoire FILE, its rehearsal as `library`, and a list of damages; None without.

    Args:
        damages: what breaks by default, in words.
    """

    def add(command: Callable[..., None]) -> Callable[..., None]:
        @click.argument("file", type=RepertoireFile)
        @rehearsal_option
        @click.option(
            "--damages", "listed", type=AnyPath, help=f"YAML list of damages.  [default: {damages}]"
        )
        @wraps(command)
        def opened(file: Path, rehearsal: Path | None, listed: Path | None, **options: Any) -> None:
            from adapt.damage.text import read_damages
            from adapt.selectors.catalogue import find_table
            from repertoire.storage.repertoires import read_repertoire

            repertoire = read_repertoire(file)
            library, _ = find_table(repertoire, file, None, rehearsal)
            found = tuple(read_damages(listed, repertoire.robot)) if listed else None
            command(repertoire=repertoire, library=library, damages=found, **options)

        return opened

    return add


def _options(evaluations: int) -> Decorator:
    """Give a command the options of the studies of algorithms."""
    return chain(
        click.option(
            "--seeds",
            "trials",
            type=Whole(1, 1000),
            help="Trials of each algorithm in each domain, each with a seed of its own.  [default: 10]",
        ),
        click.option(
            "--evaluations",
            type=Budgets(),
            help="Number of evaluations in each trial. Single domains can have another number: "
            f"50000,NAME=100000.  [default: {evaluations}]",
        ),
    )


def _robot_options(name: str) -> Decorator:
    """Give a command the options of the studies that train robots."""
    return chain(
        click.option(
            "--robots",
            "domains",
            type=Names(),
            help="Robots to train, with commas.  [default: the paper's four]",
        ),
        click.option(
            "--episodes",
            type=Positive,
            help="Number of episodes of each elite, for the correction of metrics.  [default: 10]",
        ),
        click.option(
            "--episode-steps",
            type=Positive,
            help="Limit of an episode, in control steps.  [default: the robot's own]",
        ),
        _options(1_000_000),
        study_options(name, simulated=True),
    )


@click.group(cls=Commands)
def suite() -> None:
    """Compare algorithms or selectors over many trials, with statistics.

    The same command continues a study that was stopped; finished trials are never run again.
    """


@suite.command()
@click.option(
    "--algorithms", type=Names(), help="Algorithms to run, with commas.  [default: the paper's four]"
)
@click.option(
    "--domains",
    type=Names(),
    help="Problems to solve, for example sphere-100,arm-20,maze.  [default: the paper's five]",
)
@click.option(
    "--as-published",
    is_flag=True,
    help="Run cma-mae and sep-cma-mae with the rank-one update of the code behind the paper, which has no "
    "effect there. This is a study of its own, in studies/optimization-as-published by default.",
)
@_options(2_000_000)
@study_options("optimization")
def optimization(as_published: bool, **options: Any) -> None:
    """Run the CMA-MAE variants on Sphere, Arm and Maze, and compare with the paper's Tables I and II."""
    source = click.get_current_context().get_parameter_source("out")
    if as_published and source is ParameterSource.DEFAULT:
        options["out"] = options["out"].with_name("optimization-as-published")
    _run("optimization", options, options={"rank_one": "published"} if as_published else None)


@suite.command()
@click.option(
    "--algorithms", type=Names(), help="Algorithms to run, with commas.  [default: those of the paper]"
)
@_robot_options("locomotion")
def locomotion(**options: Any) -> None:
    """Train the paper's robots with its algorithms, and compare with its Tables III, V and VI."""
    _run("locomotion", options)


@suite.command()
@click.option(
    "--learning-rates",
    type=Rates(),
    help="Learning rates of the archive, from 0 to 1.  [default: 0,0.001,0.01,0.1,1]",
)
@_robot_options("ablation")
def ablation(**options: Any) -> None:
    """Train robots with several archive learning rates, and compare with the paper's Table VII."""
    _run("ablation", options)


def _run(name: str, given: dict[str, Any], **settings: Any) -> None:
    """Run a study of algorithms with the options of its command."""
    from suites.paper.published import published_study
    from suites.paper.suite import algorithm_variants, learning_rate_variants, paper_suite

    if algorithms := given.pop("algorithms", None):
        settings["variants"] = algorithm_variants(algorithms)
    if rates := given.pop("learning_rates", None):
        settings["variants"] = learning_rate_variants(rates)
    run_study(partial(paper_suite, published_study(name)), given, **settings)


@suite.command("recovery")
@_repertoire_options("a list for the robot")
@click.option(
    "--elites", "elites_only", is_flag=True, help="Choose among the elites, without the specialists."
)
@click.option(
    "--selectors",
    type=Names(),
    help="Selectors to compare.  [default: all but those that simulate between trials, such as self-model]",
)
@click.option(
    "--tracks",
    type=Names(),
    help="Tracks to run, e.g. T0,T3, or T3-pairs, T4, T4-left-out, T4-gap with random faults.  [default: "
    "those with listed damages]",
)
@click.option(
    "--faults",
    type=Positive,
    help="Number of faults of each track.  [default: all that are listed, or 60 random ones]",
)
@click.option("--seeds", type=Positive, help="Recoveries from each fault with each selector.  [default: 10]")
@click.option(
    "--noise",
    type=(Number(min=0), Number(min=0)),
    metavar="SHARE AMOUNT",
    help="Standard deviations of a trial's noise: as a share of the objective, and in its units.  "
    "[default: 0.05 0.02]",
)
@request_options(RECOVERIES, "trials", "think_episodes", "refine", "objective")
@study_options("recovery", simulated=True)
def recovery(
    repertoire: "Repertoire",
    library: "Table | None",
    elites_only: bool,
    selectors: tuple[str, ...] | None,
    tracks: tuple[str, ...] | None,
    **options: Any,
) -> None:
    """Break the robot of the repertoire FILE in many ways, and compare how selectors recover.

    Every trial is simulated. The seed also draws the random faults. Do not use seeds 4, 40 and 41: the
    selectors were tuned on them.
    """
    from adapt.selectors.catalogue import selector_entries
    from suites.recovery.suite import RecoverySuite
    from suites.recovery.tracks import find_tracks

    if elites_only:
        library = library and library.first(len(repertoire.elites))
        repertoire = replace(repertoire, specialists=None)
    quick = tuple(name for name, one in selector_entries().items() if not one.thinks)
    run_study(
        RecoverySuite,
        options,
        repertoire=repertoire,
        library=library,
        tracks=find_tracks(tracks),
        selectors=selectors or quick,
    )


@suite.command("transfer")
@click.argument("files", type=RepertoireFile, nargs=-1, required=True)
@request_options(
    TransferRequest,
    *("worlds", "damages", "gaits", "selector", "trials", "think_episodes", "refine"),
    selector=selector_option,
    damages=setting_option(
        TransferRequest,
        "damages",
        default="[default: the motors of one leg dead, of another weak, of a third stuck]",
    ),
)
@study_options("transfer", simulated=True)
def transfer(files: tuple[Path, ...], **options: Any) -> None:
    """Let the best gaits of the repertoires FILES walk where they were not trained, and recover there.

    Robots of gap and wide have other masses, friction, motors and delay than the model of the gaits; those of
    lag have slower motors, and those of together other physics, motors, sensors and ground. pybullet is its
    own environment of the robot (pip install pybullet). In the report a repertoire is named after its file,
    or the folder of its run.
    """
    from repertoire.storage.repertoires import read_repertoire
    from suites.transfer.suite import TransferSuite

    labels = [file.resolve().parent.name if file.name == FILE_NAME else file.stem for file in files]
    if len(set(labels)) < len(labels):
        raise InvalidValueError(f"repertoires must have different names, not {', '.join(labels)}")
    repertoires = {label: read_repertoire(file) for label, file in zip(labels, files, strict=True)}
    run_study(TransferSuite, options, repertoires=repertoires)


@suite.command("mission")
@_repertoire_options("each leg lost and dead; with six legs also pairs lost")
@request_options(MissionStudy, "tasks", "worlds", "goal", "within", "refine", "max_falls", "seeds")
@study_options("mission")
def mission(**options: Any) -> None:
    """Break the robot of the repertoire FILE on its way, and measure what becomes of its missions.

    A mission is compared with robots that are told at once what broke, that walk on as if nothing had, or
    that stay with the old gait.
    """
    from suites.mission.suite import MissionSuite

    run_study(MissionSuite, options)


@suite.command("twelve")
@_repertoire_options("twelve for the ant and the hexapod")
@click.option(
    "--rivals",
    type=Names(),
    help="Selectors to compare; self-model-without-refinement tries known gaits alone, and best-of-all is "
    "the best known gait, found by trying each.  [default: all]",
)
@click.option(
    "--prepared",
    type=RepertoireFile,
    help="Repertoire that was trained on damaged robots (train --damage-share): its best gait walks as the "
    "rival prepared-policy, without any trial.",
)
@click.option(
    "--seeds", type=Positive, default=5, show_default=True, help="Recoveries of each rival from each damage."
)
@randomization_option
@request_options(FEW_TRIALS, "trials", "confirmations", "think_episodes", "refine", "sensors", "max_falls")
@study_options("twelve", simulated=True)
def twelve(
    repertoire: "Repertoire",
    damages: "tuple[Damage, ...] | None",
    rivals: tuple[str, ...] | None,
    prepared: Path | None,
    randomization: Any,
    **options: Any,
) -> None:
    """Let the robot of the repertoire FILE recover in few trials from damages that others chose.

    What counts is the share of the intact robot's progress after at most five trials, as `surefoot recover`
    makes them. With --randomization each of them breaks a robot of its own, drawn from the ranges. One
    recovery runs at a time, on all cores.
    """
    from repertoire.storage.repertoires import read_repertoire
    from robots.randomization import read_randomization
    from suites.twelve.suite import PREPARED, RIVALS, TwelveSuite, listed_damages

    run_study(
        TwelveSuite,
        options,
        repertoire=repertoire,
        damages=damages or listed_damages(repertoire.robot),
        rivals=rivals or (*RIVALS, *([PREPARED] if prepared else [])),
        prepared=read_repertoire(prepared) if prepared else None,
        gap=read_randomization(randomization, repertoire.robot),
    )


@suite.command("faults")
@click.argument("files", metavar="POLICY|REPERTOIRE...", type=AnyPath, nargs=-1, required=True)
@click.option("--robot", help="Robot of the policies: a name, or the path of a YAML.")
@click.option(
    "--recover",
    type=Positive,
    help="Also let gaits of repertoires recover from faults that do not heal, in so many trials.",
)
@click.option("--map", "observes", default="playground", show_default=True, help=MAP_HELP)
@click.option(
    "--protocol",
    type=AnyPath,
    help="YAML that says what breaks, when and for how long.  [default: 12 kinds of faults, see the docs]",
)
@click.option(
    "--seeds", type=Whole(1, 1000), default=3, show_default=True, help="Episodes of each fault and command."
)
@click.option(
    "--films", is_flag=True, help="Film the worst episode of each: some seconds, or minutes without OpenGL."
)
@study_options("faults")
def faults(
    files: tuple[Path, ...], robot: str | None, recover: int | None, observes: str, **options: Any
) -> None:
    """Try how policies, ONNX files or functions of a plugin, and gaits walk on while something breaks.

    The gait of a repertoire is that with which a recovery begins.
    """
    from adapt.selectors.catalogue import find_table
    from robots.controllers.foreign import POLICIES
    from robots.importing.policies import with_policy
    from suites.faults.protocol import STANDARD, read_protocol
    from suites.faults.suite import FaultSuite, Walker, gait_walker, policy_walker

    walkers: dict[str, Walker] = {}
    for file in files:
        if file.stem in walkers:
            raise InvalidValueError(f"what is compared must have different names, and two are {file.stem}")
        if file.suffix != ".onnx" and str(file) not in POLICIES:
            walkers[file.stem] = gait = gait_walker(repertoire := surefoot.load(file))
            if recover:
                library, _ = find_table(repertoire, repertoire_path(file), None, None)
                walkers[f"{file.stem}-recovered"] = Walker(*gait[:3], repertoire, library, recover)
        elif robot is None:
            raise InvalidValueError(f"{file} is a policy: name its robot with --robot")
        else:
            walkers[file.stem] = policy_walker(with_policy(find_robot(robot), file, observes))
    protocol = read_protocol(options.pop("protocol") or STANDARD)
    run_study(FaultSuite, options, walkers=walkers, protocol=protocol)
