"""Progress of work of which only the share that is done is known."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from surefoot.commands.console import console


@contextmanager
def share_bar(name: str) -> Iterator[Callable[[float], None]]:
    """A bar to be told the share; a line now and then where there is no terminal."""
    started, last_line = time.monotonic(), 0.0
    bar = Progress(
        TextColumn(name),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:.0f}%"),
        TimeRemainingColumn(compact=True),
        console=console,
        disable=not console.is_terminal,
    )
    task = bar.add_task("", total=1.0)

    def show(share: float) -> None:
        nonlocal last_line
        bar.update(task, completed=share)
        elapsed = time.monotonic() - started
        if not console.is_terminal and elapsed - last_line >= 10:
            last_line = elapsed
            left = elapsed * (1 - share) / share if share else math.nan
            console.print(f"{name}: {share:.0%}, {left:.0f} s left")

    with bar:
        yield show
