"""`surefoot damages`."""

from pathlib import Path

import click

from surefoot.commands.console import AnyPath, console, print_rendering_note
from surefoot.printing import print_facts


@click.command()
@click.argument("robot")
@click.option("--damage", "damage_text", metavar="DAMAGE", help="Say what this does, e.g. front_left:lost.")
@click.option("--picture", type=AnyPath, help="Draw the robot with that damage to this PNG.")
@click.option("--library", is_flag=True, help="Print the damages to rehearse by default, as YAML.")
def damages(robot: str, damage_text: str | None, picture: Path | None, library: bool) -> None:
    """List what can happen to ROBOT: its parts, the kinds of damage and their strengths.

    ROBOT is the name of a robot that comes with the package, or the path of the YAML of your own.
    """
    from adapt.damage.library import damage_library
    from adapt.damage.text import damage_facts, parse_damage
    from robots.rendering.pictures import draw_robot
    from robots.robot import find_robot

    whole = find_robot(robot)
    if picture is not None and damage_text is None:
        raise click.UsageError("say what to draw: --damage DAMAGE --picture FILE.png")
    if library and damage_text is not None:
        raise click.UsageError("--library lists damages and --damage tells of one: leave one out")
    if damage_text is None and not library:
        print_facts({**damage_facts(whole), "": "--library lists them"}, width=14)
    elif damage_text is None:
        for text in damage_library(whole):
            console.print(f"- {text}")
    else:
        damage = parse_damage(damage_text, whole)
        damaged = damage.apply(whole)
        console.print(f"{damage}: {damage.summary}")
        if picture is None:
            return
        draw_robot(damaged, picture)
        print_rendering_note()
        console.print(f"drawn to {picture}")
