"""Progress of long work, and Ctrl-C."""

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from robots.words import short
from surefoot.commands.console import console


@contextmanager
def interrupt_flag() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C into a flag, so that the batch in flight is finished; a second one interrupts."""
    seen = False

    def remember(_signal: int, _frame: FrameType | None) -> None:
        nonlocal seen
        seen = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        console.print("Finishing the batch in flight, then saving (Ctrl-C again to stop at once).")

    previous = signal.signal(signal.SIGINT, remember)
    try:
        yield lambda: seen
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def training_bar(total: int) -> Iterator[Callable[[Any], None]]:
    """A bar with the numbers that matter; a line now and then where there is no terminal."""
    started, first, last_line = time.monotonic(), None, 0.0
    bar = Progress(
        BarColumn(bar_width=24),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn(
            "QD {task.fields[qd]:,.0f}  coverage {task.fields[coverage]:.1%}  best {task.fields[best]}"
        ),
        TextColumn("{task.fields[rate]:.0f}/s"),
        TimeRemainingColumn(compact=True),
        console=console,
        disable=not console.is_terminal,
    )
    task = bar.add_task("", total=total, qd=0.0, coverage=0.0, best="-", rate=0.0)

    def show(progress: Any) -> None:
        nonlocal first, last_line
        first = progress.evaluations if first is None else first
        elapsed = time.monotonic() - started
        rate = (progress.evaluations - first) / max(elapsed, 1e-9)
        m = progress.metrics
        shown = {"qd": m.qd_score, "coverage": m.coverage, "best": short(m.best), "rate": rate}
        bar.update(task, completed=min(progress.evaluations, total), **shown)
        if not console.is_terminal and elapsed - last_line >= 10:
            last_line = elapsed
            left = max(total - progress.evaluations, 0) / max(rate, 1e-9)
            console.print(
                f"{progress.evaluations}/{total} evaluations  QD {m.qd_score:,.0f}  "
                f"coverage {m.coverage:.1%}  best {short(m.best)}  {rate:.0f}/s  {left:.0f} s left"
            )

    with bar:
        yield show


@contextmanager
def episode_bar(total: int, *, done: int) -> Iterator[Callable[[int], None]]:
    """A bar over episodes of which some were done before; a line now and then where there is no terminal."""
    started, last_line = time.monotonic(), 0.0
    bar = Progress(
        BarColumn(bar_width=24),
        TextColumn("{task.completed}/{task.total} episodes"),
        TextColumn("{task.fields[rate]:.0f}/s"),
        TimeRemainingColumn(compact=True),
        console=console,
        disable=not console.is_terminal,
    )
    task = bar.add_task("", total=total, completed=done, rate=0.0)

    def show(finished: int) -> None:
        nonlocal last_line
        elapsed = time.monotonic() - started
        rate = (finished - done) / max(elapsed, 1e-9)
        bar.update(task, completed=finished, rate=rate)
        if not console.is_terminal and elapsed - last_line >= 10:
            last_line = elapsed
            left = (total - finished) / max(rate, 1e-9)
            console.print(f"{finished}/{total} episodes  {rate:.0f}/s  {left:.0f} s left")

    with bar:
        yield show


@contextmanager
def study_bar() -> Iterator[Callable[[Any], None]]:
    """A bar over the trials of a study; a line now and then where there is no terminal."""
    last_line, finished = -math.inf, 0
    bar = Progress(
        BarColumn(bar_width=24),
        TextColumn("{task.completed:.1f}/{task.total} trials"),
        TextColumn("{task.fields[left]}"),
        console=console,
        disable=not console.is_terminal,
    )
    task = bar.add_task("", total=None, left="")

    def show(progress: Any) -> None:
        nonlocal last_line, finished
        bar.update(task, completed=progress.done, total=progress.trials, left=_time_left(progress))
        if progress.finished > finished and progress.last is not None:
            finished = progress.finished
            result = progress.last
            console.print(
                f"{result.domain:<12} {result.algorithm:<16} trial {result.trial:<3} "
                f"QD {result.qd_score:>11,.0f}  coverage {result.coverage:>6.1%}  best {result.best:>7.2f}  "
                f"{result.seconds:>7.1f} s"
            )
        if not console.is_terminal and time.monotonic() - last_line >= 60:
            last_line = time.monotonic()
            console.print(f"{progress.done:.1f}/{progress.trials} trials  {_time_left(progress)}")

    with bar:
        yield show


def _time_left(progress: Any) -> str:
    """How long a study still takes, in words."""
    seconds = progress.seconds_left()
    if math.isnan(seconds):
        return "time left not known yet"
    return f"about {timedelta(seconds=round(seconds))} left"
