"""`surefoot policy`."""

from pathlib import Path

import click

from surefoot.commands.console import AnyPath, console
from surefoot.commands.options import MAP_HELP


@click.group()
def policy() -> None:
    """Look at a policy that others trained, before gaits are trained around it."""


@policy.command()
@click.argument("file", metavar="POLICY", type=AnyPath)
@click.option(
    "--robot", "name", required=True, help="Robot that it was trained for: a name, or the path of a YAML."
)
@click.option("--map", "observes", default="playground", show_default=True, help=MAP_HELP)
def check(file: Path, name: str, observes: str) -> None:
    """Walk ten seconds of each simple command with POLICY, an ONNX file, on its healthy robot.

    Where it falls at once, this says what to look at.
    """
    from robots.controllers.policy import PolicyDescription
    from robots.importing.policies import with_policy
    from robots.importing.policy_check import check_policy, suspicions
    from robots.robot import find_robot

    robot = with_policy(find_robot(name), file, observes)
    description = robot.description.controller
    assert isinstance(description, PolicyDescription)
    follows = description.follows
    console.print(f"{robot.controller.label}, {robot.controller.action_dim} joints")
    walks = check_policy(robot)
    console.print(f"{'told':<34} {'walked':<34} falls")
    for walk in walks:
        told, made = (
            f"{x:5.2f} m/s {y:5.2f} m/s {turn:5.2f} rad/s" for x, y, turn in (walk.command, walk.made)
        )
        cells = (told if follows else "nothing: it observes no command", made)
        end = "no finite numbers" if walk.diverged else "falls"
        fall = f"{end} after {walk.seconds:.1f} s" if walk.fell else "none"
        console.print(f"{'  '.join(f'{cell:<34}' for cell in cells)} {fall}")
    for words in suspicions(robot):
        console.print(f"note: {words}")
    if walks[0].fell:
        what = "makes numbers that are not finite" if walks[0].diverged else "falls"
        console.print(
            f"note: it {what} with the command that it was given: compare its map with how it was trained"
        )
