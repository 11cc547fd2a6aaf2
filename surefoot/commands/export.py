"""`surefoot export`."""

from pathlib import Path

import click

from surefoot.commands.console import AnyPath, RepertoireFile, Whole, check_different, console


@click.command()
@click.argument("file", type=RepertoireFile)
@click.option(
    "--best", is_flag=True, help="Export the gait with the highest objective, see `surefoot deploy`."
)
@click.option("--cell", metavar="I,J,...", help="Export the gait of this cell, e.g. 1,0,3,2.")
@click.option("--row", type=Whole(min=0), help="Export the gait of this row.")
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
    best: bool,
    cell: str | None,
    row: int | None,
    onnx: Path | None,
    deploy_yaml: Path | None,
    overwrite: bool,
) -> None:
    """Write one gait of the repertoire FILE for the computer of a robot."""
    import surefoot
    from repertoire.repertoire import parse_cell
    from robots.files.atomic import check_writable, file_exists
    from robots.link.export import export_deploy_yaml, export_gait
    from surefoot.shipped import best_known

    if best + (cell is not None) + (row is not None) != 1:
        raise click.UsageError("say which gait to export: either --best, --cell or --row")
    if onnx is None and deploy_yaml is None:
        raise click.UsageError("say what to write: --onnx GAIT.onnx, --deploy-yaml DEPLOY.yaml or both")
    for path, suffixes in ((onnx, (".onnx",)), (deploy_yaml, (".yaml", ".yml"))):
        if path is not None and path.suffix.lower() not in suffixes:
            raise click.UsageError(f"{path} must end in {suffixes[0]}")
    check_different(file, onnx, deploy_yaml)
    repertoire = surefoot.load(file)
    if best:
        repertoire, _ = best_known(file, repertoire)
    number = repertoire.find("best" if best else parse_cell(cell) if cell is not None else row or 0)
    robot, gait = repertoire.robot, repertoire.label(number)
    for path in filter(None, (onnx, deploy_yaml)):
        if file_exists(path) and not overwrite:
            raise click.UsageError(f"{path} exists already: choose another file, or use --overwrite")
        check_writable(path)
    for path in filter(None, (onnx, deploy_yaml)):
        if path is onnx:
            export_gait(robot, repertoire.gaits.solutions[number], path, gait=gait)
        else:
            export_deploy_yaml(robot, path)
        console.print(f"saved {path}: {gait} of the {robot.name}, {robot.control_step:g} s a control step")
