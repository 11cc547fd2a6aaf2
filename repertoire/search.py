"""`Search`: an algorithm under way, as archives and emitters that are asked and told together."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from repertoire.archives import Archive
from repertoire.emitters import Emitter
from repertoire.problems import Evaluations
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
        self._bounds = np.cumsum([0, *(emitter.batch_size for emitter in self.emitters)])
        self._solutions = np.empty((self._bounds[-1], soft.solution_dim), np.float32)
        self._asked = False
        self._pool = (
            ThreadPoolExecutor(threads) if threads > 1 and self._solutions.size >= _WORTH_THREADS else None
        )

    def close(self) -> None:
        """End the threads."""
        if self._pool:
            self._pool.shutdown()

    @property
    def batch_size(self) -> int:
        """Solutions a batch, of all emitters together."""
        return len(self._solutions)

    def ask(self) -> np.ndarray:
        """Return what to evaluate next, (batch_size, solution_dim) float32, good until the next ask.

        Raises:
            RuntimeError: the previous solutions were not told.
        """
        tasks: list[Callable[[], object]] = []
        for emitter, part in zip(self.emitters, self._split(self._solutions), strict=True):
            tasks += emitter.tasks(part, self.soft)
        self._run(tasks)
        self._asked = True
        return self._solutions

    def tell(self, evaluations: Evaluations) -> None:
        """Add what succeeded to both archives, and tell each emitter the improvements of its own.

        Raises:
            InvalidValueError: the shapes are wrong, or a value that did not fail is not finite.
            RuntimeError: there was no ask, or it was told already.
        """
        if not self._asked:
            raise RuntimeError("tell was called before ask: there are no solutions to tell of")
        improvements = self._add(evaluations)
        self._asked = False
        self._run(
            lambda emitter=emitter, part=part: emitter.tell(part, self.soft)  # type: ignore[misc]
            for emitter, part in zip(self.emitters, self._split(improvements), strict=True)
        )

    def _add(self, evaluations: Evaluations) -> np.ndarray:
        """Add a batch to the archives, and return the soft one's improvements; what failed ranks last."""
        kept = self._solutions, evaluations.objectives, evaluations.measures
        ok = ~evaluations.failed
        if not ok.all():
            kept = tuple(column[ok] for column in kept)
        improvements = np.full(self.batch_size, -np.inf)
        archives = [self.soft] if self.result is self.soft else [self.soft, self.result]
        improvements[ok] = self._run([lambda archive=archive: archive.add(*kept) for archive in archives])[0]  # type: ignore[misc]
        return improvements

    def _split(self, array: np.ndarray) -> list[np.ndarray]:
        """The parts of a batch that belong to each emitter."""
        return [array[a:b] for a, b in zip(self._bounds[:-1], self._bounds[1:], strict=True)]

    def _run(self, tasks: Iterable[Callable[[], object]]) -> list[object]:
        """Call independent functions, and return what they return."""
        if self._pool is None:
            return [task() for task in tasks]
        return list(self._pool.map(lambda task: task(), tasks))

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
