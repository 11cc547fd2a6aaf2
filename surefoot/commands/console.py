"""The types of options, and the options that several commands have."""

import math
import os
from collections.abc import Callable, Collection
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from robots.errors import UnknownNameError
from robots.files.atomic import explain_errors
from surefoot.interrupts import INTERRUPTED
from surefoot.printing import console as console
from surefoot.printing import note
from surefoot.resuming import Stopped
from surefoot.shipped import repertoire_path

Command = TypeVar("Command", bound=Callable[..., Any])


class _PathType(click.Path):
    """A path, which the empty text is not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("a path cannot be empty", param, ctx)
        return super().convert(value, param, ctx)


class _RepertoireType(_PathType):
    """A repertoire's file, the folder of its run, or the name of an included repertoire."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return repertoire_path(super().convert(value, param, ctx))


Whole = click.IntRange


class Number(click.FloatRange):
    """A finite number in a range."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


class Sizes(click.ParamType):
    """Whole numbers of at least 1 with commas between."""

    name = "N,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return tuple(Positive.convert(part.strip(), param, ctx) for part in value.split(","))


class Names(click.ParamType):
    """Names with commas between them, each once."""

    name = "NAME,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        names = tuple(name.strip() for name in value.split(","))
        if not all(names) or len(set(names)) < len(names):
            self.fail(f"it must be different names with commas between, not {value!r}", param, ctx)
        return names


class Commands(click.Group):
    """A group that says what each command does, and lists them when it is given a name it does not know."""

    def invoke(self, ctx: click.Context) -> Any:
        """End with the exit code of interrupts where work was stopped, which was said already."""
        try:
            return super().invoke(ctx)
        except Stopped:
            ctx.exit(INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands; click's own cuts the sentences to a line."""
        rows = [(name, self.summary(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def summary(self, ctx: click.Context, name: str) -> str:
        """What a command does, in a sentence."""
        return self.commands[name].get_short_help_str(500)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Refuse an unknown name with the known ones."""
        known = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in known:
            raise UnknownNameError("command", args[0], known)
        return super().resolve_command(ctx, args)


AnyPath = _PathType(path_type=Path)
RepertoireFile = _RepertoireType(path_type=Path)
Positive = Whole(min=1)
Cores = Whole(1, 1024)
Seed = Whole(min=0)


class _Randomization(click.ParamType):
    """Text of a randomization, or the file of a calibration, whose models it then is."""

    name = "RANGES|FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value).endswith(".h5"):
            return value
        from adapt.self_model.calibration import read_randomization

        return read_randomization(value)


randomization_option = click.option(
    "--randomization",
    type=_Randomization(),
    default="none",
    show_default=True,
    help="Only for robots: run episodes on 16 models of the robot with other masses, friction, motors, delay "
    "and sensors.  none; default; or ranges: mass=0.8:1.2,friction=0.7:1.3,strength=0.85:1.15,delay=0:1,"
    "noise=0:0.02,pose=0.05:0.2,damping=0.5:2,offset=-0.05:0.05,slope=-10:10,heading=-180:180,"
    "terrain=rough:0.01:0.04,models=16; or the .h5 of a calibration",
)


rehearsal_option = click.option(
    "--rehearsal",
    type=AnyPath,
    metavar="TABLE",
    help="What `surefoot rehearse` found.  [default: FILE-rehearsal if it is there]",
)

threads_option = click.option(
    "--threads", type=Positive, help="Threads of the simulation.  [default: all cores]"
)


def gait_options(verb: str) -> Callable[[Command], Command]:
    """The options --best, --cell and --row, of which a command is given what they name as `gait`.

    Args:
        verb: what is done to the gait, for help texts and errors.
    """
    one = f"{verb.capitalize()} the gait"

    def add(command: Command) -> Command:
        @click.option(
            "--best",
            is_flag=True,
            help=f"{one} with the highest objective, corrected if there is FILE-corrected.",
        )
        @click.option("--cell", metavar="I,J,...", help=f"{one} of this cell, e.g. 1,0,3,2.")
        @click.option(
            "--row", type=Whole(min=0), help=f"{one} of this row: specialists have no cell of their own."
        )
        @wraps(command)
        def named(*given: Any, best: bool, cell: str | None, row: int | None, **options: Any) -> Any:
            from repertoire.repertoire import parse_cell

            if best + (cell is not None) + (row is not None) != 1:
                raise click.UsageError(f"say which gait to {verb}: either --best, --cell or --row")
            gait = parse_cell(cell) if cell is not None else "best" if row is None else row
            return command(*given, gait=gait, **options)

        return named  # type: ignore[return-value]

    return add


def cluster_options(command: Command) -> Command:
    """Give a command the options that have a cluster run its episodes, which is then given as `threads`."""

    @click.option(
        "--cluster",
        "address",
        metavar="ADDRESS|FILE",
        help="Run episodes on the workers of the Dask scheduler at this address, e.g. tcp://10.0.0.1:8786, "
        "or the one of the .json that `dask scheduler --scheduler-file` writes; with local:N, on N worker "
        "processes of this machine.  [default: on threads of this process]",
    )
    @wraps(command)
    def connected(*arguments: Any, address: str | None, **options: Any) -> Any:
        if address is None:
            return command(*arguments, **options)
        if options.get("threads") is not None:
            raise click.UsageError("the workers of a cluster have threads of their own: leave out --threads")
        from repertoire.execution.cluster import cluster

        with cluster(address, say=lambda text: note(f"note: {text}")) as found:
            return command(*arguments, **{**options, "threads": found})

    return connected  # type: ignore[return-value]


def seed_option(derived: str) -> Callable[[Command], Command]:
    """The option --seed, from which something derives."""
    text = f"Seed from which {derived} derive."
    return click.option("--seed", type=Seed, default=1, show_default=True, help=text)


def refuse_others(ctx: click.Context, kept: Collection[str], reason: str) -> None:
    """Refuse parameters of a command that were given, but would be ignored for a reason, except some."""
    ignored = [
        parameter.opts[0] if isinstance(parameter, click.Option) else (parameter.name or "").upper()
        for parameter in ctx.command.params
        if parameter.name not in kept
        and ctx.get_parameter_source(parameter.name or "") is click.core.ParameterSource.COMMANDLINE
    ]
    if ignored:
        raise click.UsageError(f"{reason}: leave out {', '.join(ignored)}")


def check_different(*paths: Path | None) -> None:
    """Refuse to write two things to one file, or over what is read."""
    named = [path for path in paths if path is not None]
    with explain_errors("the working directory cannot be found"):
        files = [os.path.realpath(path) for path in named]
    for number, path in enumerate(named):
        if files[number] in files[:number]:
            raise click.UsageError(f"{path} is named twice: choose different files")


def print_rendering_note() -> None:
    """Say what is particular about the pictures drawn here, if anything is."""
    from robots.rendering.camera import rendering_problem

    problem = rendering_problem()
    if problem is not None:
        console.print(f"note: drawn by ray casting, as {problem}")
