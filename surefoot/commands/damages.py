"""`surefoot damages`."""

from pathlib import Path
from typing import Any

import click

from surefoot.commands.console import AnyPath, console, print_rendering_note


@click.command()
@click.argument("robot")
@click.option("--damage", "damage_text", metavar="DAMAGE", help="Say what this does, e.g. front_left:lost.")
@click.option("--picture", type=AnyPath, help="Draw the robot with that damage to this PNG.")
@click.option("--library", is_flag=True, help="Print the damages to rehearse by default, as YAML.")
def damages(robot: str, damage_text: str | None, picture: Path | None, library: bool) -> None:
    """List what can happen to ROBOT: its parts, the kinds of damage and their strengths.

    ROBOT is the name of a robot that comes with the package, or the path of the YAML of your own.
    """
    from robots.robot import find_robot

    whole = find_robot(robot)
    if picture is not None and damage_text is None:
        raise click.UsageError("say what to draw: --damage DAMAGE --picture FILE.png")
    if library and damage_text is not None:
        raise click.UsageError("--library lists damages and --damage tells of one: leave one out")
    if damage_text is not None:
        _show(whole, damage_text, picture)
    elif library:
        _print_library(whole)
    else:
        _list(whole)


def _list(robot: Any) -> None:
    """Print what can happen."""
    from adapt.damage.text import damage_facts

    for name, lines in damage_facts(robot).items():
        for number, line in enumerate(lines):
            console.print(f"{'' if number else name:<14} {line}")
    console.print(f"{'':<14} --library lists them")


def _print_library(robot: Any) -> None:
    """Print the default library, as a file of damages is written."""
    from adapt.damage.library import damage_library

    for text in damage_library(robot):
        console.print(f"- {text}")


def _show(robot: Any, text: str, picture: Path | None) -> None:
    """Say what a damage does, and draw it."""
    from adapt.damage.text import parse_damage
    from robots.rendering.pictures import draw_robot

    damage = parse_damage(text, robot)
    damaged = damage.apply(robot)
    console.print(f"{damage}: {damage.summary}")
    if picture is not None:
        draw_robot(damaged, picture)
        print_rendering_note()
        console.print(f"drawn to {picture}")
