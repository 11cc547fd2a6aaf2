"""`surefoot export`."""

from pathlib import Path

import click

from repertoire.repertoire import Which
from surefoot.commands.console import AnyPath, RepertoireFile, check_different, console, gait_options


@click.command()
@click.argument("file", type=RepertoireFile)
@gait_options("export")
@click.option("--onnx", type=AnyPath, metavar="GAIT.onnx", help="Write the gait as ONNX (opset 17, IR 8).")
@click.option(
    "--deploy-yaml",
    type=AnyPath,
    metavar="DEPLOY.yaml",
    help="Write joints, gains and rates in the shape of Unitree's RL deployment.",
)
@click.option("--overwrite", is_flag=True, help="Replace files that are there.")
def export(
    file: Path,
    gait: Which,
    onnx: Path | None,
    deploy_yaml: Path | None,
    overwrite: bool,
) -> None:
    """Write one gait of the repertoire FILE for the computer of a robot."""
    from robots.files.atomic import check_writable, file_exists
    from robots.link.export import export_deploy_yaml, export_gait
    from surefoot.shipped import chosen

    if onnx is None and deploy_yaml is None:
        raise click.UsageError("say what to write: --onnx GAIT.onnx, --deploy-yaml DEPLOY.yaml or both")
    for path, suffixes in ((onnx, (".onnx",)), (deploy_yaml, (".yaml", ".yml"))):
        if path is not None and path.suffix.lower() not in suffixes:
            raise click.UsageError(f"{path} must end in {suffixes[0]}")
    check_different(file, onnx, deploy_yaml)
    repertoire, row, _ = chosen(file, gait)
    robot, name = repertoire.robot, repertoire.label(row)
    for path in filter(None, (onnx, deploy_yaml)):
        if file_exists(path) and not overwrite:
            raise click.UsageError(f"{path} exists already: choose another file, or use --overwrite")
        check_writable(path)
    for path in filter(None, (onnx, deploy_yaml)):
        if path is onnx:
            export_gait(robot, repertoire.gaits.solutions[row], path, gait=name)
        else:
            export_deploy_yaml(robot, path)
        console.print(f"saved {path}: {name} of the {robot.name}, {robot.control_step:g} s a control step")
