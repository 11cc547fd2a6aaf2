"""The command line: it reads arguments, calls the packages, and prints what they return."""

import sys

import click

from robots.errors import SurefootError
from surefoot.commands.algorithms import algorithms
from surefoot.commands.bench import bench
from surefoot.commands.console import Commands, complaints
from surefoot.commands.damages import damages
from surefoot.commands.demo import demo
from surefoot.commands.deploy import deploy
from surefoot.commands.evaluate import evaluate
from surefoot.commands.merge import merge
from surefoot.commands.recover import recover
from surefoot.commands.rehearse import rehearse
from surefoot.commands.robots import robots
from surefoot.commands.show import show
from surefoot.commands.suite import suite
from surefoot.commands.train import train


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="surefoot")
def cli() -> None:
    """Train repertoires of gaits, and get a damaged walking robot going again."""


for command in (
    train,
    show,
    merge,
    evaluate,
    rehearse,
    recover,
    deploy,
    demo,
    robots,
    damages,
    algorithms,
    suite,
    bench,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line; whatever a user got wrong ends in one sentence and exit code 2."""
    try:
        sys.exit(cli.main(standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        complaints.print(error.format_message())
    except click.exceptions.Abort:
        complaints.print(
            "surefoot: interrupted; files are as they were saved last, and training can be resumed"
        )
        sys.exit(130)
    except click.ClickException as error:
        complaints.print(f"surefoot: {error.format_message()}")
    except SurefootError as error:
        complaints.print(f"surefoot: {error}")
    except MemoryError:
        complaints.print("surefoot: this needs more memory than there is: ask for less")
    sys.exit(2)
