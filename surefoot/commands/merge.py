"""`surefoot merge`."""

from pathlib import Path

import click

import surefoot
from robots.words import short
from surefoot.commands.console import AnyPath, RepertoireFile, check_different, console


@click.command()
@click.argument("files", type=RepertoireFile, nargs=-1, required=True, metavar="FILE...")
@click.option("--out", type=AnyPath, required=True, help="Where to save what comes out.")
@click.option(
    "--archive", metavar="SPEC", help="Cells, as for `surefoot train --archive`.  [default: the first's]"
)
@click.option("--overwrite", is_flag=True, help="Replace what is there.")
def merge(files: tuple[Path, ...], out: Path, archive: str | None, overwrite: bool) -> None:
    """Put several repertoires of one robot together: the best gait of each cell stays.

    With one FILE and --archive it only changes the cells.
    """
    check_different(*files, out)
    repertoires = [surefoot.load(file) for file in files]
    merged = surefoot.merge(files, archive=archive, out=out, overwrite=overwrite)
    for file, one in zip(files, repertoires, strict=True):
        console.print(f"{len(one):>7,} gaits, best {short(one.metrics.best)}, of {file}")
    m = merged.metrics
    console.print(
        f"{m.elites:>7,} gaits, best {short(m.best)}, coverage {m.coverage:.1%}, "
        f"QD score {m.qd_score:,.0f}: saved {out}"
    )
