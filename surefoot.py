"""The command line: it reads arguments, calls the packages, and prints what they return."""

import sys

import click

from commands.algorithms import algorithms
from commands.bench import bench
from commands.console import Commands, complaints
from commands.demo import demo
from commands.deploy import deploy
from commands.recover import recover
from commands.show import show
from commands.suite import suite
from commands.train import train
from robots.errors import SurefootError


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="surefoot")
def cli() -> None:
    """Train repertoires of gaits, and get a damaged walking robot going again."""


for command in (train, show, recover, deploy, demo, algorithms, suite, bench):
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


if __name__ == "__main__":
    main()
