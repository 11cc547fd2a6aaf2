"""`surefoot robots`."""

from collections.abc import Sequence
from pathlib import Path

import click

from surefoot.commands.console import AnyPath, console, print_rendering_note
from surefoot.printing import print_facts


@click.command()
@click.argument("name", required=False)
@click.option("--zoo", is_flag=True, help="List real robots, whose models are part of other packages.")
@click.option("--picture", type=AnyPath, help="Draw the robot NAME to this PNG.")
@click.option(
    "--check",
    is_flag=True,
    help="Try the robot NAME out, say what looks wrong, and draw it next to its YAML.",
)
@click.option(
    "--draft",
    type=AnyPath,
    metavar="XML|URDF",
    help="Write a first YAML for this MJCF, into its folder; for a URDF, the MJCF too.",
)
@click.option(
    "--package",
    "packages",
    multiple=True,
    metavar="NAME=FOLDER",
    help="Where package://NAME of a URDF is; may be given repeatedly.  [default: the folder NAME around it]",
)
@click.option("--overwrite", is_flag=True, help="Replace what --draft writes if it is there.")
def robots(
    name: str | None,
    zoo: bool,
    picture: Path | None,
    check: bool,
    draft: Path | None,
    packages: tuple[str, ...],
    overwrite: bool,
) -> None:
    """List the included robots, describe, draw and check the robot NAME, or draft the YAML of your own.

    NAME may also be the path of the YAML of your own robot: --draft writes a first one of its MJCF or URDF.
    """
    if zoo:
        if name is not None or check or picture is not None or draft is not None:
            raise click.UsageError("--zoo lists robots and does nothing else: leave out the rest")
        _list_zoo()
    elif draft is not None:
        if name is not None or check or picture is not None:
            raise click.UsageError("--draft writes a YAML and does nothing else: leave out the rest")
        _draft(draft, packages, overwrite)
    elif overwrite or packages:
        raise click.UsageError("--overwrite and --package belong to --draft")
    elif name is not None:
        _show(name, picture, check)
    elif picture is not None or check:
        raise click.UsageError("say which robot to check or draw: surefoot robots NAME ...")
    else:
        _list()


def _list() -> None:
    from robots.catalogue import robot_names
    from robots.facts import size_words
    from robots.robot import load_robot

    for name in robot_names():
        robot = load_robot(name)
        print_facts({name: [robot.description.title, size_words(robot)]})


def _list_zoo() -> None:
    from robots.catalogue import ZOO, zoo_names
    from robots.robot import read_description

    for name in zoo_names():
        found, _ = read_description(ZOO / f"{name}.yaml")
        package = found.package
        assert package is not None, "no other robot is in the zoo"
        about = f"{found.title}: {len(found.joints)} joints, {package.mass:g} kg, gaits and their rehearsal"
        model = f"by {package.maker}; model in {package.name}, licence: {package.license}"
        print_facts({name: [about, model]})


def _draft(path: Path, packages: Sequence[str], overwrite: bool) -> None:
    from robots.importing.draft import draft_robot
    from robots.mjcf.urdf import convert_urdf

    folders = dict(_split(text) for text in packages)
    if path.suffix.lower() == ".urdf":
        path, remarks = convert_urdf(path, packages=folders, overwrite=overwrite)
        _print_remarks(remarks)
        console.print(f"written to {path}: the MJCF of the URDF")
    elif folders:
        raise click.UsageError(f"--package is for a URDF, which {path} is not")
    draft = draft_robot(path, overwrite=overwrite)
    _print_remarks(draft.remarks)
    console.print(f"written to {draft.path}: look through it, and then: surefoot robots {draft.path} --check")


def _split(text: str) -> tuple[str, Path]:
    name, equals, folder = text.partition("=")
    if not (name and equals and folder):
        raise click.UsageError(f"--package must be NAME=FOLDER, not {text!r}")
    return name, Path(folder)


def _show(name: str, picture: Path | None, check: bool) -> None:
    from robots.catalogue import known_robots
    from robots.facts import robot_facts
    from robots.importing.checks import check_robot
    from robots.rendering.pictures import check_picture, draw_robot
    from robots.robot import find_robot

    robot = find_robot(name)
    if check and picture is None and name not in known_robots():
        picture = Path(name).with_suffix(".png")
    if picture is not None:
        check_picture(picture)
    print_facts(robot_facts(robot))
    if check:
        findings = check_robot(robot)
        print_facts(findings.facts)
        _print_remarks(findings.remarks)
        if not findings.remarks:
            console.print("nothing looks wrong")
    if picture is not None:
        draw_robot(robot, picture)
        print_rendering_note()
        console.print(f"drawn to {picture}")


def _print_remarks(remarks: Sequence[str]) -> None:
    for remark in remarks:
        console.print(f"note: {remark}")
