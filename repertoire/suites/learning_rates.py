"""A picture of QD score over the archive learning rate."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from repertoire.plots import save_figure
from repertoire.statistics import mean_interval
from repertoire.suites.trials import Trials

_LINE, _PAPER, _GRID = "#0072b2", "#777777", "#e4e4e4"
_MILLIONTH = 1e-6


def draw_learning_rates(trials: Trials, path: Path) -> None:
    """Draw the mean QD score and its 95% interval over learning rates, one panel a domain.

    Learning rates are evenly spread whatever they are: 0 has no place on a logarithmic axis. The paper's
    means have an axis of their own, since its scores are not comparable.

    Args:
        trials: whose results have a learning rate.
        path: of the PNG.

    Raises:
        InvalidValueError: the path does not end in .png.
        InvalidFileError: the file cannot be written.
    """
    columns = len(trials.domains)
    figure = Figure(figsize=(4.0 * columns + 0.4, 3.3), layout="constrained")
    panels = figure.subplots(1, columns, squeeze=False)[0]
    for axes, domain in zip(panels, trials.domains, strict=True):
        _draw_domain(axes, trials, domain)
    panels[0].set_ylabel("QD score [10⁶]", color=_LINE)
    save_figure(figure, path)


def _draw_domain(axes: Axes, trials: Trials, domain: str) -> None:
    """Draw the panel of a domain."""
    rates = {name: trials.values(domain, name, "learning_rate")[0] for name in trials.algorithms_in(domain)}
    names = sorted(rates, key=rates.__getitem__)
    found = [mean_interval(_MILLIONTH * np.array(trials.values(domain, name, "qd_score"))) for name in names]
    axes.errorbar(
        range(len(names)),
        [one.mean for one in found],
        yerr=[np.nan_to_num(one.half_width) for one in found],
        color=_LINE,
        marker="o",
        capsize=3,
    )
    axes.set_xticks(range(len(names)), [f"{rates[name]:g}" for name in names])
    axes.set_title(domain, loc="left", fontsize=11)
    axes.set_xlabel("archive learning rate α")  # noqa: RUF001
    axes.set_ylim(bottom=0)
    axes.grid(color=_GRID)
    means = trials.published.means
    there = [(place, means[domain, name]) for place, name in enumerate(names) if (domain, name) in means]
    if there:
        beside = axes.twinx()
        scores = [printed["qd_score"] for _, printed in there]
        beside.plot([place for place, _ in there], scores, color=_PAPER, linestyle="--", marker="s", ms=4)
        beside.set_ylim(bottom=0)
        beside.tick_params(axis="y", labelcolor=_PAPER)
        beside.set_ylabel(trials.published.label, color=_PAPER, fontsize=9)
