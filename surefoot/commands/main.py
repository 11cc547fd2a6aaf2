"""The command line: it finds a command, runs it, and turns what a user got wrong into one sentence."""

import atexit
import gc
import importlib
import logging
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import TextIO, cast

import click

from robots.errors import SurefootError
from robots.plugins import load_plugins
from surefoot.commands.console import Commands
from surefoot.interrupts import INTERRUPTED, raise_and_remember
from surefoot.printing import LastingStream, complaints

# Each command is a function of its name in the module of its name, imported when the command is asked for.
COMMANDS = {
    "algorithms": "List the algorithms that can train a repertoire, and their settings.",
    "calibrate": "Fit models of the real robot to what it did while it was whole.",
    "cluster": "Write the scripts that run a command on many machines under SLURM.",
    "damages": "List what can break on a robot, and how damage is written.",
    "demo": "Train a small repertoire, break a leg and walk on; or show the one that is included.",
    "deploy": "Run one gait of a repertoire on its robot, healthy or damaged.",
    "evaluate": "Measure every gait of a repertoire again over several episodes (corrected metrics).",
    "explore": "Show a repertoire in the browser: its gaits, what damage does to them, and recoveries.",
    "export": "Write one gait of a repertoire as ONNX, for the computer of a robot.",
    "merge": "Put several repertoires into one: the best gait of each cell.",
    "mission": "Walk to goals while things break: notice, recover on the spot, and walk on.",
    "recover": "Break the robot of a repertoire, and find a gait that still works.",
    "rehearse": "Try every gait of a repertoire under a library of damages, before anything breaks.",
    "robot": "Simulate a robot in real time that others drive over ZeroMQ.",
    "robots": "List, describe, draw and check robots, and draft the description of your own.",
    "show": "Summarise a repertoire file, and draw it.",
    "strengthen": "Refine gaits for damages that leave a repertoire no good one, before anything breaks.",
    "suite": "Compare algorithms or selectors over many trials, with statistics.",
    "train": "Train a repertoire for a robot or another problem.",
}


class LazyCommands(Commands):
    """Commands of which only the one that is asked for is imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command; None if there is none of that name."""
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"surefoot.commands.{name}"), name)
        _take_plugins(command)
        return command

    def summary(self, ctx: click.Context, name: str) -> str:
        """What a command does, without importing it."""
        return COMMANDS[name]


def _plugin_option() -> click.Option:
    """The option --plugin, which loads plugins before other options are looked at."""
    return click.Option(
        ["--plugin"],
        multiple=True,
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=lambda _context, _option, files: load_plugins(files),
        help="Python file that adds a damage, selector or other thing of your own; may be given repeatedly.",
    )


def _take_plugins(command: click.Command) -> None:
    """Let a command, or those of a group, be told plugins too."""
    for one in command.commands.values() if isinstance(command, click.Group) else [command]:
        if all("--plugin" not in parameter.opts for parameter in one.params):
            one.params.append(_plugin_option())


@click.group(
    cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="surefoot")
@click.pass_context
def cli(context: click.Context) -> None:
    """Train repertoires of gaits, and get a damaged walking robot going again."""
    load_plugins()  # those that the environment names, and installed ones


cli.params.append(_plugin_option())


def main() -> None:
    """Run the command line of Surefoot; see `run_commands`."""
    atexit.register(gc.freeze)  # nothing is left to collect: looking for it takes half a second
    run_commands(cli)


def run_commands(commands: click.Group) -> None:
    """Run a command line and exit; whatever a user got wrong ends in one sentence and exit code 2.

    Where nothing can be printed, the work goes on, and the exit code tells of it in the end.
    """
    for name in ("repertoire", "adapt"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO)
        logger.addHandler(_Notes())
    output, complaining = LastingStream(sys.stdout), LastingStream(sys.stderr)
    with redirect_stdout(cast(TextIO, output)), redirect_stderr(cast(TextIO, complaining)):
        _run(commands, output)


class _Notes(logging.Handler):
    """Prints what the library logs: what takes long."""

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler.emit`."""
        complaints.print(f"note: {record.getMessage()}")


def _run(commands: click.Group, output: LastingStream) -> None:
    """Run a command line and exit, printing to lasting streams."""
    with raise_and_remember() as interrupts:
        try:
            code = commands.main(standalone_mode=False)
            output.flush()
            if output.failure is not None and not isinstance(output.failure, BrokenPipeError):
                raise SurefootError(
                    f"what was printed is lost, because standard output failed ({output.failure.strerror}); "
                    "everything else was done"
                )
            sys.exit(code)
        except Exception as error:
            # libraries turn an interrupt into errors of their own, and readers these into damaged files
            if interrupts or (isinstance(error, click.exceptions.Abort) and not _ends_a_file(error)):
                complaints.print("surefoot: interrupted; files are as they were last saved")
                sys.exit(INTERRUPTED)
            complaints.print(_sentence(error))
        sys.exit(2)


def _ends_a_file(error: Exception) -> bool:
    """Whether Click took a file that ended too early for the user's wish to end."""
    return isinstance(error.__cause__, EOFError)


def _sentence(error: Exception) -> str:
    """What to print of an error; one that is no user's is raised again."""
    match error:
        case click.exceptions.NoArgsIsHelpError():
            return error.format_message()
        case click.ClickException():
            return f"surefoot: {error.format_message()}"
        case SurefootError():
            return f"surefoot: {error}"
        case MemoryError():
            return "surefoot: there is not enough memory for this: ask for less"
    raise error
