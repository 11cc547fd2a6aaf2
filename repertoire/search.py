"""`Search`: an algorithm under way, as archives and emitters that are asked and told together."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.emitters.emitter import EVERYTHING, Emitter
from repertoire.emitters.outcomes import Outcomes
from repertoire.parallel import share_out
from repertoire.problems.problem import Evaluations, Request
from repertoire.state import select

# below so many numbers a batch, handing out work takes longer than doing it
_WORTH_THREADS = 200_000


class Search:
    """Archives and emitters in the loop of ask, evaluate, tell.

    Args:
        soft: the archive with thresholds that guides the emitters.
        result: the best solution of each cell, which is what is kept; may be `soft` itself.
        emitters: where solutions come from, in the order of their solutions in a batch.
        threads: to work with; the result does not depend on it.
    """

    def __init__(
        self, *, soft: Archive, result: Archive, emitters: Sequence[Emitter], threads: int = 1
    ) -> None:
        self.soft = soft
        self.result = result
        self.emitters = tuple(emitters)
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._buffer = np.empty((0, soft.solution_dim), np.float32)
        self._sizes: list[int] = []
        self._asked = False
        self._resize()

    def close(self) -> None:
        """End the threads."""
        if self._pool:
            self._pool.shutdown()

    @property
    def batch_size(self) -> int:
        """Solutions of the next batch, of all emitters together; may change from batch to batch."""
        return sum(emitter.batch_size for emitter in self.emitters)

    @property
    def request(self) -> Request:
        """What the emitters request about the solutions of the last `ask`, for `Problem.evaluate`."""
        gradients = any(emitter.request.gradients for emitter in self.emitters)
        observed = [emitter.request.observed for emitter in self.emitters]
        return Request(gradients, None if all(part is None for part in observed) else self._mask(observed))

    def ask(self) -> np.ndarray:
        """Return what to evaluate next, (batch_size, solution_dim) float32, good until the next ask.

        Raises:
            RuntimeError: the previous solutions were not told.
        """
        self._resize()
        tasks: list[Callable[[], object]] = []
        for emitter, rows in zip(self.emitters, self._rows, strict=True):
            tasks += emitter.tasks(self._solutions[rows], self.soft)
        self._run(tasks)
        self._asked = True
        return self._solutions

    def tell(self, evaluations: Evaluations) -> None:
        """Add what succeeded to both archives, and tell each emitter the outcomes of its own.

        Raises:
            InvalidValueError: the shapes are wrong, or a value that did not fail is not finite.
            RuntimeError: there was no ask, or it was told already.
        """
        if not self._asked:
            raise RuntimeError("tell was called before ask: there are no solutions to tell of")
        ok = ~evaluations.failed & self._offered()
        kept = (self._solutions, evaluations.objectives, evaluations.measures)
        if not ok.all():
            kept = (kept[0][ok], kept[1][ok], kept[2][ok])
        outcomes = self._guide(evaluations, ok, kept)
        self._asked = False
        tasks: list[Callable[[], object]] = [
            partial(emitter.tell, part, self.soft)
            for emitter, part in zip(self.emitters, outcomes, strict=True)
        ]
        if self.result is not self.soft:  # which emitters neither read nor write
            tasks.insert(0, partial(self.result.add, *kept))
        self._run(tasks)

    def _guide(
        self, evaluations: Evaluations, ok: np.ndarray, kept: tuple[np.ndarray, np.ndarray, np.ndarray]
    ) -> list[Outcomes]:
        """Add what is kept of a batch to the soft archive, and return each emitter's outcomes."""
        n = len(self._solutions)
        improvements, opened = np.full(n, -np.inf), np.zeros(n, np.bool_)
        accepted = np.empty(len(kept[1]), np.bool_)
        improvements[ok] = self.soft.add(*kept, opened=accepted)  # what failed ranks last
        opened[ok] = accepted
        return self._outcomes(evaluations, improvements, opened)

    def _outcomes(
        self, evaluations: Evaluations, improvements: np.ndarray, opened: np.ndarray
    ) -> list[Outcomes]:
        """What each emitter is told."""
        gradients = evaluations.gradients
        return [
            Outcomes(
                evaluations.objectives[rows],
                evaluations.measures[rows],
                evaluations.failed[rows],
                improvements[rows],
                opened[rows],
                None if gradients is None else gradients[rows],
                evaluations.moments,
            )
            for rows in self._rows
        ]

    def _offered(self) -> np.ndarray | bool:
        """Which solutions of a batch compete, (n,) bool, or True for all."""
        parts = [emitter.offered for emitter in self.emitters]
        return all(part is EVERYTHING for part in parts) or self._mask(parts)

    def _mask(self, parts: Sequence[np.ndarray | slice | None]) -> np.ndarray:
        """Which solutions of a batch are in the parts of it that emitters name, (n,) bool."""
        mask = np.zeros(len(self._solutions), np.bool_)
        for rows, part in zip(self._rows, parts, strict=True):
            if part is not None:
                mask[rows][part] = True
        return mask

    def _resize(self) -> None:
        """Make room for the next batch, if the emitters ask for other numbers of solutions than before."""
        sizes = [emitter.batch_size for emitter in self.emitters]
        if sizes == self._sizes:
            return
        self._sizes = sizes
        bounds = np.cumsum([0, *sizes]).tolist()
        self._rows = [slice(a, b) for a, b in itertools.pairwise(bounds)]
        if bounds[-1] > len(self._buffer):
            self._buffer = np.empty((bounds[-1], self.soft.solution_dim), np.float32)
        self._solutions = self._buffer[: bounds[-1]]
        if self._pool is None and self._threads > 1 and self._solutions.size >= _WORTH_THREADS:
            self._pool = ThreadPoolExecutor(self._threads - 1)  # besides the caller

    def _run(self, tasks: Iterable[Callable[[], object]]) -> list[object]:
        """Call independent functions, and return what they return."""
        if self._pool is None:
            return [task() for task in tasks]
        return share_out(list(tasks), self._pool, self._threads)

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must hold besides the result archive's elites; see `restore`."""
        state = {f"soft/{name}": value for name, value in self.soft.state().items()}
        for number, emitter in enumerate(self.emitters):
            state |= {f"emitter_{number}/{name}": value for name, value in emitter.state().items()}
        return state

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take up a state; the result archive is the caller's to fill."""
        self.soft.restore(select(state, "soft/"))
        for number, emitter in enumerate(self.emitters):
            emitter.restore(select(state, f"emitter_{number}/"))
