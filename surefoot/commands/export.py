"""`surefoot export`."""

from pathlib import Path
from typing import NoReturn

import click

from repertoire.repertoire import Which
from robots.errors import InvalidFileError
from robots.files.atomic import check_writable, file_exists, make_folder
from robots.files.texts import MOST, read_bytes
from surefoot.commands.console import AnyPath, Number, RepertoireFile, check_different, console, gait_options
from surefoot.shipped import chosen


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
@click.option(
    "--rate",
    type=Number(min=0, min_open=True),
    help="Have the targets of servos in GAIT.onnx change no faster than this [rad/s or m/s].  [default: no "
    "limit]",
)
@click.option("--overwrite", is_flag=True, help="Replace files that are there.")
@click.option(
    "--check",
    "log",
    type=AnyPath,
    metavar="LOG",
    help="Write nothing: replay this .csv or .mcap of a robot through the gait, or the GAIT.onnx that is "
    "there, and name what differs. The exit code is 1 then.",
)
def export(
    file: Path,
    gait: Which,
    onnx: Path | None,
    unitree: Path | None,
    rate: float | None,
    overwrite: bool,
    log: Path | None,
) -> None:
    """Write one gait of the repertoire FILE for the computer of a robot."""
    from robots.link.export import onnx_model, unitree_files, write_deploy_yaml, write_onnx

    if log is not None:
        if unitree is not None or rate is not None or overwrite:
            raise click.UsageError("--check writes nothing: leave out --unitree, --rate and --overwrite")
        _check(file, gait, onnx, log)
    if onnx is None and unitree is None:
        raise click.UsageError(
            "say what to write: --onnx GAIT.onnx, --unitree FOLDER or both; or what to compare: --check LOG"
        )
    if rate is not None and onnx is None:
        raise click.UsageError("--rate is of the file of --onnx: Unitree's runtime has no such limit")
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
    limit = float("inf") if rate is None else rate
    model = onnx_model(robot, parameters, gait=name, rate=limit) if onnx else None
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


def _check(file: Path, gait: Which, onnx: Path | None, log: Path) -> NoReturn:
    """Compare a log with a gait, or with its file."""
    from robots.link.check import Exported, differences
    from robots.link.export import onnx_model
    from robots.link.interface import Interface
    from robots.link.logs import read_log

    repertoire, row, _ = chosen(file, gait)
    robot, name = repertoire.robot, repertoire.label(row)
    if onnx is None:
        content = onnx_model(robot, repertoire.gaits.solutions[row], gait=name).SerializeToString()
    else:
        content = read_bytes(onnx, MOST)
    exported = Exported(content, str(onnx or name))
    if exported.told["model"] != Interface.of(robot).model_hash:
        raise InvalidFileError(f"{onnx} is of another robot than {file}: they differ in their models")
    wrong, words = differences(exported, read_log(log, robot, exported.told), robot)
    for sentence in wrong or [f"{log} fits {onnx or name}"]:
        console.print(sentence)
    console.print(words)
    click.get_current_context().exit(bool(wrong))
