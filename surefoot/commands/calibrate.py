"""`surefoot calibrate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import surefoot
from adapt.requests import CalibrationRequest
from surefoot.commands.console import AnyPath, RepertoireFile, check_different, console, threads_option
from surefoot.commands.options import request_options
from surefoot.printing import print_table
from surefoot.shipped import result_files

if TYPE_CHECKING:
    from adapt.self_model.calibration import Calibration


@click.command()
@click.argument("file", type=RepertoireFile)
@click.option(
    "--traces",
    type=AnyPath,
    multiple=True,
    required=True,
    metavar="PATH",
    help="A .csv that `surefoot deploy --csv` wrote, or that a robot of your own did with the same "
    "columns; or a folder of such files. May be given several times; use about three different gaits.",
)
@request_options(CalibrationRequest)
@click.option("--out", type=AnyPath, help="File for the calibration.  [default: FILE-calibration.h5]")
@click.option("--overwrite", is_flag=True, help="Replace the output file.")
@threads_option
def calibrate(
    file: Path, traces: tuple[Path, ...], request: CalibrationRequest, out: Path | None, **options: Any
) -> None:
    """Fit models of the robot of the repertoire FILE to what the real one did while it was intact.

    They differ from the model as built in masses, friction, motors, damping, delay and sensors. `recover`
    uses the calibration next to the repertoire, or the one named with --calibration; `train`, `evaluate` and
    `rehearse` take it by --randomization.
    """
    out = out or result_files(file).calibration
    for path in traces:
        check_different(path, out)
    calibration = surefoot.calibrate(file, traces, **dict(request), out=out, **options, progress=True)
    print_calibration(calibration, odometry="odometry" in request.sensors)
    console.print(f"saved {out}")


def print_calibration(calibration: "Calibration", *, odometry: bool) -> None:
    """What the traces tell, and how well they are reproduced; how far a robot got is known by odometry."""
    rows = []
    for one in calibration.intervals:
        ranges = (f"{low:.3g} to {high:.3g}" for low, high in (one.prior, (one.low, one.high)))
        remark = "" if one.constrained else "hardly constrained by these traces"
        rows.append((one.name, *ranges, f"{one.middle:.3g}", remark))
    print_table(("in 9 of 10 cases", "before", "now", "median", ""), rows)
    for gait in calibration.gaits:
        (built, built_std), (now, now_std) = gait.as_built, gait.calibrated
        measured = f"{gait.distance:.2f} m" if odometry else "an unknown distance"
        console.print(
            f"{gait.name}: {measured} in {gait.steps} control steps; as built {built:.2f} ± "
            f"{built_std:.2f} m, calibrated {now:.2f} ± {now_std:.2f} m; sensors of {gait.joint} "
            f"are off by {gait.off:.2f} standard deviations, as built by up to {gait.off_as_built:.2f}"
        )
