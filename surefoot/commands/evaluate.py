"""`surefoot evaluate`."""

import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from robots.numbers import short
from surefoot.commands.console import AnyPath, Positive, check_different, console
from surefoot.commands.progress import episode_bar, interrupt_flag
from surefoot.commands.resuming import check_output, take_up, unfinished_path

# of each metric: name, how it is written, and whether it is an amount, of which a share can be lost
_METRICS = {
    "elites": ("elites", "{:d}".format, True),
    "coverage": ("coverage", "{:.1%}".format, True),
    "qd_score": ("QD score", "{:,.1f}".format, True),
    "best": ("best", short, False),
    "mean": ("mean", short, False),
}
_SPREADS = {"objective std": short, "measure std": "{:.3f}".format, "reproducibility": "{:.1%}".format}


@click.command()
@click.argument("file", type=AnyPath)
@click.option("--episodes", type=Positive, default=10, show_default=True, help="Of each elite.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--keep", type=Positive, help="Leave only so many gaits, the best.  [default: all]")
@click.option(
    "--out", type=AnyPath, help="Where to save the corrected repertoire.  [default: FILE-corrected]"
)
@click.option("--picture", type=AnyPath, help="Draw both repertoires to this PNG.")
@click.option("--threads", type=Positive, help="Of the simulation.  [default: all cores]")
@click.option("--overwrite", is_flag=True, help="Replace what is there, the start of another evaluation too.")
def evaluate(
    file: Path,
    episodes: int,
    seed: int,
    keep: int | None,
    out: Path | None,
    picture: Path | None,
    threads: int | None,
    overwrite: bool,
) -> None:
    """Re-evaluate every elite of the repertoire FILE in fresh episodes, the same for all, and correct it.

    After Ctrl-C or a crash the same command goes on where it was.
    """
    from repertoire.plots import draw_correction
    from repertoire.reevaluation import Reevaluation
    from repertoire.storage.repertoires import read_repertoire, write_repertoire
    from repertoire.thinning import keep_best
    from robots.rendering.pictures import check_picture

    repertoire = read_repertoire(file)
    out = out or file.with_name(f"{file.stem}-corrected{file.suffix}")
    unfinished = unfinished_path(out)
    check_output(file, out, overwrite)
    check_different(file, out, picture)
    if picture is not None:
        check_picture(picture)
    with Reevaluation(repertoire, episodes=episodes, seed=seed, threads=threads) as evaluation:
        take_up(evaluation, unfinished, overwrite)
        with interrupt_flag() as interrupted, episode_bar(evaluation.total, done=evaluation.done) as show:
            evaluation.run(unfinished, on_progress=show, stop=interrupted)
    if not evaluation.finished:
        console.print(f"Stopped and saved to {unfinished}. The same command goes on.")
        return
    correction = evaluation.correction()
    corrected = correction.repertoire if keep is None else keep_best(correction.repertoire, keep)
    write_repertoire(out, corrected)
    with suppress(OSError):  # what was computed is safe
        unfinished.unlink()
    _print_metrics(correction)
    _print_spread(correction)
    if keep is not None:
        m = corrected.metrics
        console.print(
            f"kept the best {m.elites:,} of {correction.after.elites:,} gaits: "
            f"coverage {m.coverage:.1%}, QD score {m.qd_score:,.1f}"
        )
    console.print(f"saved {out}")
    if picture is not None:
        draw_correction(repertoire, corrected, picture)
        console.print(f"drawn to {picture}")


def _print_metrics(correction: Any) -> None:
    """A table of the metrics before and after, and what was lost."""
    before, after, losses = vars(correction.before), vars(correction.after), correction.losses
    _print_row("", "before", "corrected", "loss")
    for field, (name, write, is_amount) in _METRICS.items():
        share = losses[field] / before[field] if is_amount and before[field] > 0 else math.nan
        values = (_or_dash(value, write) for value in (before[field], after[field], losses[field]))
        _print_row(name, *values, "" if math.isnan(share) else f"{share:.1%}")
    if correction.left_out:
        console.print(f"elites left out because an episode of theirs diverged: {correction.left_out}")


def _print_spread(correction: Any) -> None:
    """How much the episodes of each original elite differ."""
    spread = correction.reassessed.spread
    _print_row("", "median", "worst 10%")
    for name, summary in spread.summaries().items():
        _print_row(name, *(_or_dash(value, _SPREADS[name]) for value in (summary.median, summary.worst)))


def _print_row(name: str, *columns: str) -> None:
    """A line of a table."""
    console.print(f"{name:<16}{''.join(f'{column:>12}' for column in columns)}".rstrip())


def _or_dash(value: float, write: Callable[[float], str]) -> str:
    """A number, or a dash where there is none."""
    return "-" if math.isnan(value) else write(value)
