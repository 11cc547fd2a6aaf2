"""What a recovery leaves behind: its record as JSON, and a picture of its trials and of the diagnosis."""

import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from adapt.records import Recovery, Trial, format_objective
from adapt.relearning.refinement import keep_gaits
from repertoire.repertoire import Repertoire, format_cell
from repertoire.storage.repertoires import write_repertoire
from robots.files.atomic import write_text
from robots.rendering.figures import BLUE, COLORS, GREEN, GREY, PLAIN, VERMILION, save_figure
from robots.simulation.backend import Backend
from robots.simulation.threads import ALL_CORES

_PREDICTED, _MEASURED, _CHOSEN = GREY, BLUE, VERMILION
_CAUSE_COLORS = COLORS[:6]
_REST = "#cccccc"
_WIDEST_CAUSE = 40  # letters of a line of a cause next to the picture
_QUIET, _CONFIRMING = "#dddddd", "#f4f4f4"
_LEVELS = (  # label, colour and dashes, in the order of `Recovery.performances`
    ("healthy", GREEN, "--"),
    ("damaged", "black", ":"),
    ("recovered", _CHOSEN, "-"),
)
_MOST_UPRIGHT = 80  # letters of the trials' labels that fit next to each other


def result_paths(folder: Path) -> tuple[Path, Path, Path]:
    """Where `save_recovery` writes the gaits, the record and the picture."""
    return folder / "recovery.h5", folder / "recovery.json", folder / "recovery.png"


def save_recovery(
    recovery: Recovery, repertoire: Repertoire, folder: Path, *, backend: Backend = ALL_CORES
) -> list[Path]:
    """Write what a recovery found to a folder that is there; returns the paths.

    `recovery.h5` is the repertoire with the gaits that were refined, of which `Recovery.row` and the rows of
    the trials are rows; `recovery.json` also says if workers of a cluster differed; and `recovery.png`.
    """
    gaits, record, picture = result_paths(folder)
    write_repertoire(gaits, keep_gaits(repertoire, recovery.refined, seed=recovery.seed, backend=backend))
    write_text(record, json.dumps(recovery.to_json() | backend.differences, indent=2) + "\n")
    draw_recovery(recovery, picture)
    return [gaits, record, picture]


@PLAIN
def draw_recovery(recovery: Recovery, path: Path) -> None:
    """Draw the trials of a recovery, the levels to compare them with, and the diagnosis if there is one."""
    two = bool(recovery.diagnosis)
    figure = Figure(figsize=(9.2, 6.4) if two else (8.2, 4.6), layout="constrained")
    panels = figure.subplots(1 + two, sharex=True, height_ratios=(3, 2)[: 1 + two], squeeze=False)
    axes, below = panels[0, 0], panels[-1, 0]  # one and the same without a diagnosis
    _draw_trials(axes, recovery)
    for level, (name, color, dashes) in zip(recovery.performances().values(), _LEVELS, strict=True):
        label = f"{name} {format_objective(level.objective)}"
        axes.axhline(level.objective, color=color, linestyle=dashes, linewidth=1.5, zorder=0, label=label)
    if two:
        draw_diagnosis(below, [trial.diagnosis for trial in recovery.trials])
    _label_trials(below, [_place(trial) for trial in recovery.trials])
    title = f"{recovery.robot} with {recovery.damage}\n{recovery.effort}, {recovery.selector}"
    axes.set_title(title, loc="left", fontsize=11)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=4, frameon=False, fontsize=9)
    save_figure(figure, path)


def _place(trial: Trial) -> str:
    if trial.refined:
        return "refined"
    return f"row {trial.row}" if trial.specialist else format_cell(trial.cell)


def _draw_trials(axes: Axes, recovery: Recovery) -> None:
    trials = recovery.trials
    predicted, measured = np.array([(trial.predicted, trial.measured) for trial in trials]).T
    chosen = np.array([trial.row == recovery.row for trial in trials])
    fell = np.array([trial.fell for trial in trials])
    numbers = np.arange(1, len(trials) + 1)
    confirming = [trial.number for trial in trials if trial.confirms]
    for number in confirming:
        label = "confirmation trials" if number == confirming[0] else None
        axes.axvspan(number - 0.5, number + 0.5, color=_CONFIRMING, linewidth=0, zorder=-1, label=label)
    axes.vlines(numbers, predicted, measured, color=_QUIET, linewidth=3, zorder=1)
    axes.plot(numbers, predicted, "o", mfc="white", mec=_PREDICTED, mew=1.5, ms=7, label="predicted")
    axes.plot(numbers, measured, "o", color=_MEASURED, ms=7, label="measured, one episode")
    axes.plot(
        numbers[chosen], measured[chosen], "*", color=_CHOSEN, ms=17, mec="white", label="the chosen gait"
    )
    if fell.any():
        axes.plot(numbers[fell], measured[fell], "x", color="black", ms=11, mew=1.5, label="it fell")
    axes.margins(y=0.08)
    progress = recovery.objective == "progress"
    axes.set_ylabel("progress while up [m]" if progress else "objective [sum of rewards]")
    axes.yaxis.set_major_formatter("{x:,.4g}")
    axes.spines[["top", "right"]].set_visible(False)


def _label_trials(axes: Axes, cells: Sequence[str]) -> None:
    numbers = range(1, len(cells) + 1)
    crowded = len(cells) * max(map(len, cells)) > _MOST_UPRIGHT
    between = ": " if crowded else "\n"
    labels = [f"{number}{between}{cell}" for number, cell in zip(numbers, cells, strict=True)]
    axes.set_xticks(numbers, labels, fontsize=8, rotation=90 if crowded else 0)
    axes.set_xlim(0.4, len(cells) + 0.6)
    axes.set_xlabel("trial, and the cell of its controller")


@PLAIN
def draw_diagnosis(axes: Axes, diagnoses: Sequence[Mapping[str, float]]) -> None:
    """Draw what the selector held to be wrong after each trial: a bar per trial, cut into probabilities."""
    numbers = np.arange(1, len(diagnoses) + 1)
    floor = np.zeros(len(diagnoses))
    for cause, color in zip(leading_causes(diagnoses, len(_CAUSE_COLORS)), _CAUSE_COLORS, strict=False):
        heights = np.array([diagnosis.get(cause, 0.0) for diagnosis in diagnoses])
        axes.bar(numbers, heights, 0.8, bottom=floor, color=color, label=_wrapped(cause))
        floor += heights
    axes.bar(numbers, 1 - floor, 0.8, bottom=floor, color=_REST, label="all else")
    axes.set_ylim(0, 1)
    axes.set_yticks([0, 0.5, 1])
    axes.set_ylabel("what is wrong [probability]")
    axes.spines[["top", "right"]].set_visible(False)
    bars = axes.containers
    labels = [str(bar.get_label()) for bar in bars]  # all of them: Matplotlib omits those with a _
    axes.legend(bars, labels, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)


def leading_causes(diagnoses: Sequence[Mapping[str, float]], count: int) -> list[str]:
    """At most so many causes that are the most probable after any trial, those of the end first."""
    highest: dict[str, float] = {}
    for diagnosis in diagnoses:
        for cause, p in diagnosis.items():
            highest[cause] = max(p, highest.get(cause, 0.0))
    leading = sorted(highest, key=lambda cause: -highest[cause])[:count]
    return sorted(leading, key=lambda cause: -diagnoses[-1].get(cause, 0.0))


def _wrapped(cause: str) -> str:
    """A cause in lines that fit next to the picture, broken between damages where possible."""
    parts = cause.replace("+", "+ ")
    return "\n".join(line.replace("+ ", "+") for line in textwrap.wrap(parts, _WIDEST_CAUSE))
