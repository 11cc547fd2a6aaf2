"""`surefoot export`."""

from pathlib import Path

import click

from repertoire.repertoire import Which
from surefoot.commands.console import AnyPath, RepertoireFile, check_different, console, gait_options


@click.command()
@click.argument("file", type=RepertoireFile)
@gait_options("export")
@click.option(
    "--onnx",
    type=AnyPath,
    metavar="GAIT.onnx",
    help="Write the gait as ONNX, from what sensors read to what motors are told.",
)
@click.option(
    "--unitree",
    type=AnyPath,
    metavar="FOLDER",
    help="Write the folder that Unitree's RL deployment loads: params/deploy.yaml and exported/policy.onnx.",
)
@click.option("--overwrite", is_flag=True, help="Replace files that are there.")
def export(file: Path, gait: Which, onnx: Path | None, unitree: Path | None, overwrite: bool) -> None:
    """Write one gait of the repertoire FILE for the computer of a robot."""
    from robots.files.atomic import check_writable, file_exists, make_folder
    from robots.link.export import onnx_model, unitree_files, write_deploy_yaml, write_onnx
    from surefoot.shipped import chosen

    if onnx is None and unitree is None:
        raise click.UsageError("say what to write: --onnx GAIT.onnx, --unitree FOLDER or both")
    if onnx is not None and onnx.suffix.lower() != ".onnx":
        raise click.UsageError(f"{onnx} must end in .onnx")
    policy, described = (
        (unitree / "exported/policy.onnx", unitree / "params/deploy.yaml") if unitree else (None, None)
    )
    check_different(file, onnx, policy, described)
    repertoire, row, _ = chosen(file, gait)
    robot, name, parameters = repertoire.robot, repertoire.label(row), repertoire.gaits.solutions[row]
    written = [path for path in (onnx, policy, described) if path]
    for path in written:
        if file_exists(path) and not overwrite:
            raise click.UsageError(f"{path} exists already: choose another file, or use --overwrite")
    model = onnx_model(robot, parameters, gait=name) if onnx else None
    files = unitree_files(robot, parameters, gait=name) if unitree else None
    for path in written:
        if path is not onnx:
            make_folder(path.parent)
        check_writable(path)
    if onnx and model:
        write_onnx(onnx, model)
    if policy and described and files:
        write_onnx(policy, files[0])
        write_deploy_yaml(described, files[1])
    for path in written:
        console.print(f"saved {path}: {name} of the {robot.name}, {robot.control_step:g} s a control step")
