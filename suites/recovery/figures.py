"""The picture of a recovery study: recovery ratios over trials."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from robots.rendering.figures import PLAIN
from suites.figures import Panels, draw_curve, finish
from suites.recovery.metrics import RecoveryMetric, interquartile_mean
from suites.recovery.table import Results
from suites.recovery.tracks import Track

_MARGIN = 0.04


@PLAIN
def draw_curves(results: Results, tracks: Sequence[Track], path: Path) -> None:
    """Draw the interquartile mean of the recovery ratio over trials with its interval, a panel per track."""
    panels = Panels(len(tracks), (6.4, 3.6))
    for axes, track in zip(panels.axes, tracks, strict=True):
        _draw_track(axes, results, track)
    panels.save(path)


def _draw_track(axes: Axes, results: Results, track: Track) -> None:
    """Draw the curves of a track, that of the selector with the highest end first."""
    trials, curves = np.arange(1, results.trials + 1), {}
    for name, runs in results.of(track).groupby("selector", sort=False):
        metrics = [RecoveryMetric(f"rr_{trial}", interquartile_mean) for trial in trials]
        curves[str(name)] = np.transpose([metric.of(runs) for metric in metrics])
    for name in sorted(curves, key=lambda name: -curves[name][0, -1]):
        label = f"{name} {curves[name][0, -1]:.2f}"
        draw_curve(axes, trials, curves[name], number=results.selectors.index(name), label=label)
    top = max([1.0, *(curve[0].max() for curve in curves.values())]) + _MARGIN
    axes.axhline(0.9, color="black", linewidth=0.8, linestyle=(0, (1, 3)))
    axes.set(xlabel="trials", ylabel="recovery ratio", ylim=(0, top))
    axes.set_xticks([1, *range(5, results.trials + 1, 5)])
    finish(axes, f"{track.name}: {track.title}", "in the end")
