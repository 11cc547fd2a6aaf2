"""`surefoot robots`."""

from pathlib import Path
from typing import Any

import click

from surefoot_cli.console import AnyPath, console, print_rendering_note


@click.command()
@click.argument("name", required=False)
@click.option("--picture", type=AnyPath, help="Draw the robot NAME to this PNG.")
def robots(name: str | None, picture: Path | None) -> None:
    """List the robots that come with the package, or print the facts of the robot NAME."""
    from robots.robot import load_robot

    if name is not None:
        _show(load_robot(name), picture)
    elif picture is not None:
        raise click.UsageError("say which robot to draw: surefoot robots NAME --picture FILE.png")
    else:
        _list()


def _list() -> None:
    """Two lines a robot."""
    from robots import robot_names
    from robots.facts import size_words
    from robots.robot import load_robot

    for name in robot_names():
        robot = load_robot(name)
        console.print(f"{name:<16} {robot.description.title}")
        console.print(f"{'':<16} {size_words(robot)}")


def _show(robot: Any, picture: Path | None) -> None:
    """Print a robot's facts and draw it."""
    from robots.facts import robot_facts
    from robots.portrait import draw_robot

    for name, lines in robot_facts(robot).items():
        for number, line in enumerate(lines):
            console.print(f"{'' if number else name:<16} {line}")
    if picture is not None:
        draw_robot(robot, picture)
        print_rendering_note()
        console.print(f"drawn to {picture}")
