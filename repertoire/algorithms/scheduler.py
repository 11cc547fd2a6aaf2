"""`Scheduler`: archives and emitters that are asked and told together."""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.emitters.emitter import EVERYTHING, Emitter
from repertoire.state import check_shape, check_state, nested, select
from robots.arrays import any_array, real_array
from robots.errors import InvalidValueError
from robots.evaluations import Evaluations, Request


class Scheduler:
    """Archives and emitters in the loop of ask, evaluate, tell.

    Args:
        soft: the archive with thresholds that guides the emitters.
        result: the best solution of each cell, which is what is kept; may be `soft` itself.
        emitters: where solutions come from, in the order of their solutions in a batch.
    """

    def __init__(self, *, soft: Archive, result: Archive, emitters: Sequence[Emitter]) -> None:
        self.soft = soft
        self.result = result
        self.emitters = tuple(emitters)
        self._solutions: np.ndarray | None = None  # that were asked and not told yet
        self._rows: list[slice] = []  # of each emitter in the batch

    @property
    def batch_size(self) -> int:
        """Solutions of the next batch, of all emitters together; may change from batch to batch."""
        return sum(emitter.batch_size for emitter in self.emitters)

    @property
    def request(self) -> Request:
        """What the emitters request about the solutions of the last `ask`, for `Problem.evaluate`."""
        requests = [emitter.request for emitter in self.emitters]
        observed = [request.observed for request in requests]
        return Request(
            observed=None if all(part is None for part in observed) else self._mask(observed),
            transitions=any(request.transitions for request in requests),
        )

    def ask(self, *, reuse: np.ndarray | None = None) -> np.ndarray:
        """Return what to evaluate next, (batch_size, solution_dim) float32, in a new array.

        `tell` reads the array again: it must hold the same solutions then.

        Args:
            reuse: what an earlier `ask` returned, to be written to if the batch has the same size: a large
                new array for every batch would cost up to a sixth of the time of a search.
        """
        if self._solutions is not None:
            raise RuntimeError("ask was called twice: tell the evaluations of the solutions asked before")
        bounds = [0, *itertools.accumulate(emitter.batch_size for emitter in self.emitters)]
        self._rows = [slice(start, stop) for start, stop in itertools.pairwise(bounds)]
        shape = (bounds[-1], self.soft.solution_dim)
        solutions = reuse if reuse is not None and reuse.shape == shape else np.empty(shape, np.float32)
        for emitter, rows in zip(self.emitters, self._rows, strict=True):
            emitter.ask(self.soft, out=solutions[rows])
        self._solutions = solutions
        return solutions

    def tell(self, evaluations: Evaluations) -> None:
        """Add what succeeded to both archives, and tell each emitter the outcomes of its own."""
        if self._solutions is None:
            raise RuntimeError("tell was called before ask: there are no solutions to tell of")
        solutions, evaluations = self._solutions, self._checked(evaluations)
        offered = [emitter.offered for emitter in self.emitters]
        compete = ~evaluations.diverged
        if any(part is not EVERYTHING for part in offered):
            compete &= self._mask(offered)
        candidates = (solutions, evaluations.objectives, evaluations.measures)
        if not compete.all():
            candidates = (solutions[compete], candidates[1][compete], candidates[2][compete])
        improvements = np.full(len(solutions), -np.inf)  # what diverged ranks last
        opened = np.zeros(len(solutions), np.bool_)
        accepted = np.empty(len(candidates[1]), np.bool_)
        improvements[compete] = self.soft.add(*candidates, opened=accepted)
        opened[compete] = accepted
        self._solutions = None
        if self.result is not self.soft:
            self.result.add(*candidates)
        evaluations = dataclasses.replace(evaluations, improvements=improvements, opened=opened)
        for emitter, rows in zip(self.emitters, self._rows, strict=True):
            emitter.tell(evaluations.part(rows), self.soft)

    def _checked(self, evaluations: Evaluations) -> Evaluations:
        """Return evaluations of this batch as arrays of the right types."""
        n, m = len(self._solutions if self._solutions is not None else ()), self.soft.measure_dim
        objectives = real_array("objectives", evaluations.objectives)
        measures = real_array("measures", evaluations.measures)
        diverged = any_array(evaluations.diverged)
        check_shape("objectives", objectives, (n,))
        check_shape("measures", measures, (n, m))
        check_shape("diverged", diverged, (n,))
        if diverged.dtype != np.bool_ and not np.isin(diverged, (0, 1)).all():
            raise InvalidValueError(
                f"diverged must say true or false of each of the {n} solutions, but holds {diverged.dtype} "
                "numbers other than 0 and 1"
            )
        return dataclasses.replace(
            evaluations, objectives=objectives, measures=measures, diverged=diverged.astype(np.bool_)
        )

    def _mask(self, parts: Sequence[np.ndarray | slice | None]) -> np.ndarray:
        """Which solutions of a batch are in the parts of it that emitters name, (n,) bool."""
        mask = np.zeros(self._rows[-1].stop, np.bool_)
        for rows, part in zip(self._rows, parts, strict=True):
            if part is not None:
                mask[rows][part] = True
        return mask

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must hold in addition to the elites of the result archive; see `restore`."""
        if self._solutions is not None:
            raise RuntimeError("the state was asked for between ask and tell: tell the evaluations first")
        emitters = {f"emitter_{number}": emitter.state() for number, emitter in enumerate(self.emitters)}
        return nested(soft=self.soft.state(), **emitters)

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Become the search that a state was taken from; the elites of the result archive are not in it."""
        self._solutions = None
        check_state(state, self.state())
        self.soft.restore(select(state, "soft/"))
        for number, emitter in enumerate(self.emitters):
            emitter.restore(select(state, f"emitter_{number}/"))
