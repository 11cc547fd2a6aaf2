"""Picture of a mission: its path, and what happened when."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from adapt.mission.log import DONE, HAPPENED, Event
from adapt.mission.plan import Plan
from robots.rendering.figures import PLAIN, save_figure
from robots.rendering.palette import GREEN, QUIET

_MARKERS = {"change": "X", "alarm": "^", "fall": "v", "assistance": "s", "relearned": "*"}


@PLAIN
def draw_mission(events: Sequence[Event], plan: Plan, title: str, path: Path) -> None:
    """Draw the path of a mission over the floor and its timeline.

    Raises:
        InvalidValueError: the path does not end in .png.
        InvalidFileError: the file cannot be written.
    """
    figure = Figure(figsize=(9.0, 6.5), layout="constrained")
    top, bottom = figure.subplots(2, 1, height_ratios=(5.0, 1.0))
    _draw_path(top, events, plan)
    _draw_times(bottom, events)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    figure.legend(loc="outside lower left", ncols=5, frameon=False, fontsize=9)
    save_figure(figure, path)


def _draw_path(axes: Axes, events: Sequence[Event], plan: Plan) -> None:
    last = (0.0, 0.0)
    for event in events:
        if path := event.facts.get("path"):
            places = [last, *(place[1:3] for place in path)]
            axes.plot(*zip(*places, strict=True), color=DONE[event.kind][0], lw=1.6)
            last = places[-1]
    for number, goal in enumerate(plan.goals, 1):
        axes.add_patch(Circle(goal, plan.within, fill=False, color=GREEN, lw=1.6))
        axes.annotate(f"goal {number}", goal, color=GREEN, ha="center", va="center", fontsize=8)
    for kind, (color, label) in HAPPENED.items():
        found = [event.pose for event in events if event.kind == kind]
        if found:
            x, y = [pose.x for pose in found], [pose.y for pose in found]
            axes.plot(x, y, _MARKERS[kind], color=color, mec="white", ms=9, ls="", label=label, zorder=3)
    axes.plot(0, 0, "o", color=QUIET, ms=6)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("ahead [m]")
    axes.set_ylabel("to the left [m]")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_times(axes: Axes, events: Sequence[Event]) -> None:
    labels = {label for _, label in DONE.values()}
    for event in events:
        if event.kind in DONE:
            color, label = DONE[event.kind]
            seconds = float(event.facts["seconds"])
            axes.barh(
                0, seconds, left=event.time - seconds, color=color, label=label if label in labels else None
            )
            labels.discard(label)
        elif event.kind in HAPPENED:
            color, _ = HAPPENED[event.kind]
            axes.plot(event.time, 0.62, _MARKERS[event.kind], color=color, ms=6)
    axes.set_yticks([])
    axes.set_ylim(-0.5, 0.9)
    axes.set_xlabel("time [s]")
    axes.spines[["top", "right", "left"]].set_visible(False)
