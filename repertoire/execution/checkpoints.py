"""`run_with_checkpoints`: the loop of all work that is saved from time to time and can be interrupted."""

import math
import time
from collections.abc import Callable

from repertoire.execution.resources import one_blas_thread
from robots.arrays import real_number


def run_with_checkpoints(
    step: Callable[[], object],
    save: Callable[[], None] | None,
    *,
    finished: Callable[[], bool],
    seconds: float,
    stop: Callable[[], bool] | None,
) -> None:
    """Take steps until the work is finished or `stop` says so, saving on the way and at the end.

    Args:
        step: takes a step.
        save: writes what is done; None to save nothing. The first time is after the first step: from then on
            the work can be resumed.
        finished: whether nothing is left to do.
        seconds: time between two saves [s]; 0 for one after every step.
        stop: asked before every step.
    """
    seconds = real_number("checkpoint_seconds", seconds, 0, unit="s")
    saved_at = -math.inf
    with one_blas_thread():
        while not finished() and not (stop and stop()):
            step()
            if save and not finished() and time.monotonic() - saved_at >= seconds:
                save()
                saved_at = time.monotonic()
        if save:
            save()
