"""Progress of long commands."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from robots.words import duration, short
from surefoot.printing import console

if TYPE_CHECKING:
    from repertoire.training.training import TrainingProgress
    from suites.study import StudyProgress

_LINE_SECONDS = 10.0  # between two lines where there is no terminal
_PATIENCE_SECONDS = 3.0  # without any progress, after which there must be something to compile
_WINDOW_SECONDS = 60.0  # over which speed is measured, so that a slow beginning is soon forgotten


class ProgressBar:
    """A bar on a terminal; elsewhere a line now and then. Call it with how much is done.

    Args:
        unit: what is counted, e.g. `episodes`; of shares of a whole, what is going on.
        total: how much there is to do; None for a whole, of which shares are done.
        line_seconds: between two lines where there is no terminal [s].
        passing: whether the bar goes when the work is done.
    """

    def __init__(
        self,
        unit: str,
        total: float | None = None,
        *,
        line_seconds: float = _LINE_SECONDS,
        passing: bool = False,
    ) -> None:
        self._unit, self._total, self._line_seconds = unit, total, line_seconds
        self._last_line, self._reported = time.monotonic(), False
        self._bar = Progress(
            BarColumn(bar_width=24),
            TextColumn("{task.description}", markup=False),
            console=console,
            get_time=lambda: time.monotonic(),
            speed_estimate_period=_WINDOW_SECONDS,
            disable=not console.is_terminal,
            transient=passing,
        )
        self._task: TaskID = self._bar.add_task("starting", total=total or 1.0)
        self._patience = threading.Timer(_PATIENCE_SECONDS, self._tell_of_compilation)
        self._patience.daemon = True

    def __call__(
        self, done: float, *, total: float | None = None, note: str = "", timed: bool = True
    ) -> None:
        """Report how much is done, of a total that may have changed, from any thread.

        The speed only counts what is `timed`, which compilation and the work of earlier commands are not.
        """
        self._reported = True
        self._total = total or self._total
        done = min(done, self._total or 1.0)
        if not timed:
            self._bar.reset(self._task)
        # the first update since then only begins the time in which speed is measured
        self._bar.update(self._task, completed=done, total=self._total or 1.0)
        late = time.monotonic() - self._last_line >= self._line_seconds
        self._say(self._text(done, note), line=late)
        if late:
            self._last_line = time.monotonic()

    def _say(self, text: str, *, line: bool) -> None:
        self._bar.update(self._task, description=text)
        if line and self._bar.disable:
            console.print(text)

    def _text(self, done: float, note: str) -> str:
        rate, total = self._bar.tasks[0].speed or 0.0, self._total or 1.0
        left = f"{duration((total - done) / rate)} left" if rate > 0 else ""
        if self._total is None:
            return "  ".join(filter(None, (f"{self._unit}: {done:.0%}", note, left)))
        count = f"{done:,.0f}" if done == int(done) else f"{done:,.1f}"
        speed = f"{rate:,.0f}/s" if rate >= 1 else ""
        return "  ".join(filter(None, (f"{count}/{self._total:,.0f} {self._unit}", note, speed, left)))

    def _tell_of_compilation(self) -> None:
        if not self._reported:
            self._say("compiling, which is only necessary the first time", line=True)

    def __enter__(self) -> "ProgressBar":
        self._bar.start()
        self._patience.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._patience.cancel()
        self._bar.stop()


@contextmanager
def phase_bars() -> Iterator[Callable[[str, float], None]]:
    """The progress of work that takes time in between: a bar for each phase, as long as it lasts."""
    lock = threading.RLock()  # reports come from several threads
    with ExitStack() as stack:
        bars: dict[str, ProgressBar] = {}

        def show(phase: str, share: float) -> None:
            with lock:
                if phase not in bars or share >= 1:
                    stack.close()
                    bars.clear()
                if share >= 1:
                    return
                if phase not in bars:
                    bars[phase] = stack.enter_context(ProgressBar(phase, passing=True))
                bars[phase](share)

        yield show


@contextmanager
def training_bar(total: int) -> Iterator[Callable[["TrainingProgress"], None]]:
    """The progress of a training, with the metrics of its archive."""
    first_steps: int | None = None
    with ProgressBar("evaluations", total) as bar:

        def show(progress: "TrainingProgress") -> None:
            nonlocal first_steps
            first_steps = progress.steps if first_steps is None else first_steps
            m = progress.metrics
            best = f"QD score {m.qd_score:,.0f}  coverage {m.coverage:.1%}  best {short(m.best)}"
            # within the first batch, what comes after its evaluation is not compiled yet
            timed = progress.steps > first_steps
            bar(progress.evaluations, note=best if m.elites else "", timed=timed)

        yield show


@contextmanager
def study_bar() -> Iterator[Callable[["StudyProgress"], None]]:
    """The progress of a study, with a line for every trial that finishes."""
    finished: object = None
    known: set[object] = set()
    with ProgressBar("trials", line_seconds=60.0) as bar:

        def show(progress: "StudyProgress") -> None:
            nonlocal finished
            # trials that earlier commands began first report what those did
            timed = progress.last is not None or progress.running.keys() <= known
            known.update(progress.running)
            bar(progress.done, total=progress.trials, timed=timed)
            result = progress.last
            if result is not None and result is not finished:
                finished = result
                console.print(result.words)

        yield show
