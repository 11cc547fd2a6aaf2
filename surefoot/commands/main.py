"""The command line: it finds a command, runs it, and turns what a user got wrong into one sentence."""

import ast
import atexit
import gc
import importlib
import logging
import sys
from pathlib import Path

import click

from robots.errors import SurefootError
from robots.plugins import load_plugins
from surefoot.commands.console import Commands
from surefoot.interrupts import INTERRUPTED, raise_and_remember
from surefoot.printing import complaints

# Each command is a function of its name in the module of its name, imported when the command is asked for.
COMMANDS = (
    *("algorithms", "calibrate", "damages", "demo", "deploy", "evaluate", "explore", "export"),
    *("merge", "mission", "policy", "recover", "rehearse", "robot", "robots", "show", "strengthen"),
    *("suite", "train"),
)


class LazyCommands(Commands):
    """Commands of which only the one that is asked for is imported."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command, which can be told plugins too; None if there is none of that name."""
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"surefoot.commands.{name}"), name)
        for one in command.commands.values() if isinstance(command, click.Group) else [command]:
            if all("--plugin" not in parameter.opts for parameter in one.params):
                one.params.append(_plugin_option())
        return command

    def summary(self, ctx: click.Context, name: str) -> str:
        """The first sentence of a command's docstring, read without importing the command."""
        module = ast.parse(Path(__file__).with_name(f"{name}.py").read_text("utf-8"))
        command = next(one for one in module.body if isinstance(one, ast.FunctionDef) and one.name == name)
        return (ast.get_docstring(command) or "").partition("\n\n")[0]


def _plugin_option() -> click.Option:
    return click.Option(
        ["--plugin"],
        multiple=True,
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=lambda _context, _option, files: load_plugins(files),
        help="Python file that adds a damage, selector or other thing of your own; may be given repeatedly.",
    )


@click.group(
    cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="surefoot")
def cli() -> None:
    """Train repertoires of gaits, and get a damaged walking robot going again."""
    load_plugins()  # those that the environment names, and installed ones


cli.params.append(_plugin_option())


def main() -> None:
    """Run the command line of Surefoot; see `run_commands`."""
    atexit.register(gc.freeze)  # nothing is left to collect: looking for it takes half a second
    run_commands(cli)


def run_commands(commands: click.Group) -> None:
    """Run a command line and exit; whatever a user got wrong ends in one sentence and exit code 2."""
    for name in ("repertoire", "adapt"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO)
        logger.addHandler(_Notes())
    with raise_and_remember() as interrupts:
        try:
            sys.exit(commands.main(standalone_mode=False))
        except Exception as error:
            # libraries turn an interrupt into errors of their own, and readers these into damaged files
            if interrupts or isinstance(error, click.exceptions.Abort):
                complaints.print("surefoot: interrupted; files are as they were last saved")
                sys.exit(INTERRUPTED)
            complaints.print(_sentence(error))
        sys.exit(2)


class _Notes(logging.Handler):
    """Prints what the library logs: what takes long."""

    def emit(self, record: logging.LogRecord) -> None:
        complaints.print(f"note: {record.getMessage()}")


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
