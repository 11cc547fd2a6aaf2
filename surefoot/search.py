"""`Search`: quality-diversity optimisation of a function of one's own by asking and telling."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from repertoire.algorithms.catalogue import AnyAlgorithm, configure
from repertoire.execution.running import one_blas_thread
from repertoire.metrics import Metrics
from repertoire.problems.problem import Custom
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import write_repertoire
from repertoire.training.training import Training
from robots.arrays import any_array
from robots.errors import InvalidValueError
from robots.evaluations import Evaluations

_UNLIMITED = 10**12  # evaluations


class Search:
    """Any algorithm on a function of the user's: `ask` for solutions, evaluate them, `tell` their results.

    The solutions are a pure function of the arguments and of what was told.

    Args:
        solution_dim: length of a solution, n.
        measure_ranges: lowest and highest value of each of the m measures.
        min_objective: floor of every threshold and offset of the QD score, from which worse ones subtract.
        algorithm: what `surefoot.train` takes; one emitter of each kind makes a search of several kinds.
        archive: cells, as text such as "100,100" for a grid or "cvt:1000".
        seed: from which every random number derives.
        name: of the problem, as in files and pictures.
        measure_names: of each measure, all different, and none that `Repertoire.to_pandas` has another
            column for.
        initial: solution from which the search starts, (n,); all zeros by default.
        **settings: of the algorithm, e.g. `sigma0`, `emitters`, `batch_size` or `learning_rate`.
    """

    def __init__(
        self,
        solution_dim: int,
        measure_ranges: Sequence[tuple[float, float]],
        *,
        min_objective: float,
        algorithm: AnyAlgorithm = "cma-mae",
        archive: str | Sequence[int] = "cvt:1000",
        seed: int = 1,
        name: str = "custom",
        measure_names: Sequence[str] = (),
        initial: np.ndarray | None = None,
        **settings: object,
    ) -> None:
        problem = Custom(
            solution_dim,
            measure_ranges,
            min_objective=min_objective,
            name=name,
            measure_names=measure_names,
            initial=initial,
        )
        chosen = {"archive": archive, "seed": seed, "evaluations": _UNLIMITED, **settings}
        self._training = Training(problem, configure(problem, algorithm, chosen))
        self._asked = np.empty((0, solution_dim), np.float32)

    def ask(self) -> np.ndarray:
        """Return the solutions to evaluate next, (batch, n) float32; the array is the caller's own.

        Raises:
            RuntimeError: the previous solutions were not told.
        """
        with one_blas_thread():
            self._asked = self._training.ask()
        return self._asked.copy()  # the search reads its own when it is told

    def tell(self, objectives: np.ndarray, measures: np.ndarray, *, failed: np.ndarray | None = None) -> None:
        """Take in the results of the solutions of the last `ask`.

        Args:
            objectives: (batch,), larger is better.
            measures: (batch, m).
            failed: (batch,) bool, evaluations without a result, whose objectives and measures do not count.

        Raises:
            InvalidValueError: a shape is wrong, or a value that did not fail is not a finite real number.
            RuntimeError: there was no ask, or it was told already.
        """
        count = len(self._asked)
        lost = np.zeros(count, np.bool_) if failed is None else any_array(failed)
        if lost.dtype != np.bool_:
            raise InvalidValueError(f"failed must be booleans, not {lost.dtype}")
        steps = np.ones(count, np.int64)
        with one_blas_thread():
            self._training.tell(Evaluations(objectives, measures, lost, steps))

    @property
    def metrics(self) -> Metrics:
        """How good the elites found so far are."""
        return self._training.metrics

    @property
    def repertoire(self) -> Repertoire:
        """The elites found so far."""
        found = self._training.repertoire()
        done = max(self._training.evaluations, 1)
        return replace(found, settings=found.settings.model_copy(update={"evaluations": done}))

    def save(self, path: str | Path) -> None:
        """Write the repertoire to an HDF5 file, which `surefoot.load` and `surefoot show` read."""
        write_repertoire(Path(path), self.repertoire)

    def draw(self, path: str | Path) -> None:
        """Draw the archive to a PNG."""
        from repertoire.plots import draw_repertoire

        draw_repertoire(self.repertoire, Path(path))
