"""A diagnosis, which is what may be wrong and how probable that is, in words and as a picture."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

_NEGLIGIBLE = 0.005  # probability that rounds to 0.00
# Of the palette of Okabe and Ito, which colour-blind people can tell apart.
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
_REST = "#cccccc"
_LONGEST = 34  # letters of a cause that fit beside the picture


def in_words(diagnosis: Iterable[tuple[str, float]], count: int = 3) -> str:
    """The first causes in a line, e.g. "front_left:dead 0.83, front_left:lost 0.10".

    Args:
        diagnosis: causes and their probabilities, the most probable first.
        count: of causes that are named at most.
    """
    likely = [(name, p) for name, p in list(diagnosis)[:count] if p >= _NEGLIGIBLE]
    return ", ".join(f"{name} {p:.2f}" for name, p in likely)


def draw_diagnosis(axes: Axes, diagnoses: Sequence[Mapping[str, float]]) -> None:
    """Draw what was held to be wrong after each trial: a bar per trial, cut into the probabilities.

    Args:
        axes: to draw on; trial i is at i, from 1.
        diagnoses: probabilities of causes by their texts, at least one and not necessarily all of them.
    """
    numbers = np.arange(1, len(diagnoses) + 1)
    floor = np.zeros(len(diagnoses))
    for cause, color in zip(leading_causes(diagnoses, len(_COLORS)), _COLORS, strict=False):
        heights = np.array([diagnosis.get(cause, 0.0) for diagnosis in diagnoses])
        axes.bar(numbers, heights, 0.8, bottom=floor, color=color, label=_shortened(cause))
        floor += heights
    axes.bar(numbers, 1 - floor, 0.8, bottom=floor, color=_REST, label="all else")
    axes.set_ylim(0, 1)
    axes.set_yticks([0, 0.5, 1])
    axes.set_ylabel("what is wrong [probability]")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)


def leading_causes(diagnoses: Sequence[Mapping[str, float]], count: int) -> list[str]:
    """The causes that are the most probable after any trial, those of the end first.

    Args:
        diagnoses: probabilities of causes by their texts.
        count: how many at most.
    """
    highest: dict[str, float] = {}
    for diagnosis in diagnoses:
        for cause, p in diagnosis.items():
            highest[cause] = max(p, highest.get(cause, 0.0))
    leading = sorted(highest, key=lambda cause: -highest[cause])[:count]
    return sorted(leading, key=lambda cause: -diagnoses[-1].get(cause, 0.0))


def _shortened(cause: str) -> str:
    """A cause that fits beside the picture."""
    return cause if len(cause) <= _LONGEST else cause[: _LONGEST - 1] + "…"
