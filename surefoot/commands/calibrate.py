"""`surefoot calibrate`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapt.requests import CalibrationRequest
from surefoot.commands.console import AnyPath, RepertoireFile, check_different, console, threads_option
from surefoot.commands.options import request_options
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
    "columns; or a folder of such files. May be given repeatedly: three gaits tell more than one.",
)
@request_options(CalibrationRequest)
@click.option(
    "--out", type=AnyPath, help="File for the calibration.  [default: FILE with -calibration added]"
)
@click.option("--overwrite", is_flag=True, help="Replace the output file.")
@threads_option
def calibrate(
    file: Path,
    traces: tuple[Path, ...],
    request: CalibrationRequest,
    out: Path | None,
    overwrite: bool,
    threads: int | None,
) -> None:
    """Fit models of the robot of the repertoire FILE to what it did while it was whole.

    They differ from the model as built in masses, friction, motors, damping, delay and sensors. `recover`
    uses what lies next to the repertoire, or takes it by --calibration; `train`, `evaluate` and `rehearse`
    take it by --randomization.
    """
    import surefoot

    out = out or result_files(file).calibration
    for path in traces:
        check_different(path, out)
    calibration = surefoot.calibrate(
        file, traces, **dict(request), out=out, overwrite=overwrite, threads=threads, progress=True
    )
    print_calibration(calibration, odometry="odometry" in request.sensors)
    console.print(f"saved {out}")


def print_calibration(calibration: "Calibration", *, odometry: bool) -> None:
    """What the traces tell, and how well they are reproduced; how far a robot got is known by odometry."""
    intervals = calibration.intervals
    width = max(len(interval.name) for interval in intervals) + 2
    console.print(f"{'in 9 of 10 cases':<{width}}{'before':>18}{'now':>22}{'median':>9}")
    for interval in intervals:
        prior_text, now_text = (
            f"{low:.3g} to {high:.3g}" for low, high in (interval.prior, (interval.low, interval.high))
        )
        remark = "" if interval.constrained else "  hardly constrained by these traces"
        console.print(
            f"{interval.name:<{width}}{prior_text:>18}{now_text:>22}{interval.middle:>9.3g}{remark}"
        )
    for gait in calibration.gaits:
        (built, built_std), (now, now_std) = gait.as_built, gait.calibrated
        measured = f"{gait.distance:.2f} m" if odometry else "an unknown distance"
        console.print(
            f"{gait.name}: {measured} in {gait.steps} control steps; as built {built:.2f} ± "
            f"{built_std:.2f} m, calibrated {now:.2f} ± {now_std:.2f} m; sensors of {gait.joint} "
            f"are off by {gait.off:.2f} standard deviations, as built by up to {gait.off_as_built:.2f}"
        )
