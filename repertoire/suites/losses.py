"""What correction takes away: metrics of training beside the corrected ones."""

from collections.abc import Sequence
from statistics import fmean as mean

import numpy as np

from repertoire.suites.document import Block, Cell, Heading, Paragraph, Table
from repertoire.suites.formats import NOTHING, format_number
from repertoire.suites.published import Metric
from repertoire.suites.tables import describe
from repertoire.suites.trials import Trials


def loss_blocks(trials: Trials, metrics: Sequence[Metric]) -> list[Block]:
    """A table for each domain, and how to read them.

    Args:
        trials: of a study whose results also have each metric uncorrected.
        metrics: that are corrected.
    """
    return [
        Heading("Before correction", 3),
        Paragraph(
            "Uncorrected metrics count each elite with the one episode that got it its cell. Beside them, in "
            "percent, what is lost by correction: of the mean over trials, so that a gain is negative. Left "
            "out are elites of which an episode diverged in simulation, mean number a trial."
        ),
        *(_loss_table(trials, domain, metrics) for domain in trials.domains),
    ]


def _loss_table(trials: Trials, domain: str, metrics: Sequence[Metric]) -> Table:
    """The table of one domain."""
    rows = []
    for name in trials.algorithms_in(domain):
        row = [name]
        for metric in metrics:
            raw = metric.scale * np.array(trials.values(domain, name, f"raw_{metric.field}"))
            corrected = trials.measured(domain, name, metric)
            row += [describe(raw, metric.decimals), _loss(raw, corrected)]
        rows.append((*row, format_number(mean(trials.values(domain, name, "left_out")))))
    header = [text for metric in metrics for text in (metric.label, "lost [%]")]
    return Table((domain, *header, "left out"), tuple(tuple(Cell(text) for text in row) for row in rows))


def _loss(raw: np.ndarray, corrected: np.ndarray) -> str:
    """What is lost of a mean [%]; nothing where there is none, or it does not count from zero."""
    before, after = float(raw.mean()), float(corrected.mean())
    return f"{100 * (1 - after / before):.1f}" if before > 0 and np.isfinite(after) else NOTHING
