"""`Search`: quality-diversity optimisation of a function of one's own by asking and telling."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from repertoire.algorithms.catalogue import AnyAlgorithm, configure
from repertoire.execution.resources import one_blas_thread
from repertoire.metrics import Metrics
from repertoire.problems.problem import Custom
from repertoire.repertoire import Repertoire
from repertoire.state import check_shape
from repertoire.training.training import Training
from robots.arrays import any_array, real_array
from robots.errors import InvalidValueError
from robots.evaluations import Evaluations

_UNLIMITED = 10**12  # evaluations


class Search:
    """Any algorithm on a function of the user's: `ask` for solutions, evaluate them, `tell` their results.

    The solutions are a pure function of the arguments and of what was told.

    Args:
        solution_dim: length of a solution, n.
        measure_ranges: lowest and highest value of each of the m measures.
        min_objective: floor of every threshold and offset of the QD score; worse objectives do not count.
        algorithm: what `surefoot.train` takes; one emitter of each kind makes a search of several kinds.
        archive: cells, as text such as "100,100" for a grid or "cvt:1000".
        seed: from which every random number derives.
        name: of the problem, as in files and pictures.
        measure_names: of each measure, all different, and none that `Repertoire.to_pandas` has another
            column for.
        initial: solution from which the search starts, (n,); all zeros by default.
        **settings: of the algorithm, e.g. `sigma0`, `emitters`, `batch_size` or `learning_rate`.

    Raises:
        UnknownNameError: there is no such algorithm or archive.
        InvalidValueError: an argument or a setting is wrong.
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
        self._fields: dict[str, dict[int, object]] | None = None  # of elites, by name and cell
        self._objectives: dict[int, float] = {}  # of these elites, by cell

    def ask(self) -> np.ndarray:
        """Return the solutions to evaluate next, (batch, n) float32; the array is the caller's own.

        Raises:
            RuntimeError: the previous solutions were not told.
        """
        with one_blas_thread():
            self._asked = self._training.ask()
        return self._asked.copy()  # the search reads its own when it is told

    @property
    def needs_gradients(self) -> bool:
        """Whether the solutions of the last `ask` are to be told with gradients, as cma-mega asks for."""
        return len(self._asked) > 0 and self._training.search.request.gradients

    def tell(
        self,
        objectives: np.ndarray,
        measures: np.ndarray,
        *,
        gradients: np.ndarray | None = None,
        failed: np.ndarray | None = None,
        fields: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        """Take in the results of the solutions of the last `ask`.

        Args:
            objectives: (batch,), larger is better.
            measures: (batch, m).
            gradients: (batch, 1 + m, n), of the objective and of each measure, where `needs_gradients`.
            failed: (batch,) bool, evaluations without a result, whose objectives and measures do not count.
            fields: (batch, ...) each, what else to keep of solutions that become elites, by name; the same
                names every time.

        Raises:
            InvalidValueError: a shape is wrong, or a value that did not fail is not a finite real number.
            RuntimeError: there was no ask, or it was told already.
        """
        count, columns = len(self._asked), self._checked_fields(fields)
        lost = np.zeros(count, np.bool_) if failed is None else any_array(failed)
        if lost.dtype != np.bool_:
            raise InvalidValueError(f"failed must be booleans, not {lost.dtype}")
        if self.needs_gradients:
            check_shape("failed", lost, (count,))
            gradients = self._checked_gradients(gradients, lost)
        steps = np.ones(count, np.int64)
        with one_blas_thread():
            self._training.tell(Evaluations(objectives, measures, lost, steps, gradients))
        told = np.flatnonzero(~lost)
        objectives, measures = (np.asarray(values, np.float64)[told] for values in (objectives, measures))
        self._keep(columns, objectives, measures, told)

    def _checked_gradients(self, given: np.ndarray | None, lost: np.ndarray) -> np.ndarray:
        """Gradients of the solutions that were asked, of which those that are lost do not count."""
        problem = self._training.problem
        dims = len(lost), 1 + len(problem.measure_ranges), problem.solution_dim
        gradients = real_array("gradients", np.nan if given is None else given)
        if gradients.shape != dims or not np.isfinite(gradients[~lost]).all():
            raise InvalidValueError(
                f"these solutions need gradients, which must be finite and have shape {dims}, not "
                f"{gradients.shape}"
            )
        return gradients

    def _checked_fields(self, fields: Mapping[str, np.ndarray] | None) -> dict[str, np.ndarray]:
        """Fields of the solutions that were asked."""
        columns = {name: any_array(values) for name, values in (fields or {}).items()}
        known = columns if self._fields is None else self._fields
        if columns.keys() != known.keys():
            raise InvalidValueError(
                f"fields must be the same as at first, {', '.join(known) or 'none'}, "
                f"not {', '.join(columns) or 'none'}"
            )
        for name, values in columns.items():
            if values.shape[:1] != (len(self._asked),):
                raise InvalidValueError(
                    f"the field {name!r} must hold a value for each of the {len(self._asked)} solutions, but "
                    f"has shape {values.shape}"
                )
        return columns

    def _keep(
        self, columns: dict[str, np.ndarray], objectives: np.ndarray, measures: np.ndarray, told: np.ndarray
    ) -> None:
        """Note the fields of the solutions told, by their rows, that have become elites."""
        self._fields = self._fields or {name: {} for name in columns}
        if not columns or not len(told):
            return
        result = self._training.search.result
        elites, cells = result.elites(), result.cells_of(measures)
        places = np.searchsorted(elites.cells, cells).clip(max=len(elites) - 1)
        before = np.array([self._objectives.get(cell, -np.inf) for cell in cells.tolist()])
        stayed = (objectives > before) & (elites.objectives[places] == objectives)
        stayed &= (elites.cells[places] == cells) & (elites.measures[places] == measures).all(axis=1)
        stayed &= (elites.solutions[places] == self._asked[told]).all(axis=1)
        kept = np.flatnonzero(stayed)[::-1]  # of equal ones the first is the elite, and noted last
        self._objectives.update(zip(cells[kept].tolist(), objectives[kept].tolist(), strict=True))
        for name, values in columns.items():
            self._fields[name].update(zip(cells[kept].tolist(), values[told[kept]], strict=True))

    @property
    def fields(self) -> dict[str, np.ndarray]:
        """The fields that were told of the elites, (k, ...) each, in the order of `repertoire.elites`.

        Files do not hold them. Fields of shape (k,) are put into a table by
        `repertoire.to_pandas().assign(**search.fields)`.
        """
        cells = self._training.search.result.elites().cells.tolist()
        return {name: np.array([of[cell] for cell in cells]) for name, of in (self._fields or {}).items()}

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
        """Write the repertoire to an HDF5 file, which `surefoot.load` and `surefoot show` read.

        Raises:
            InvalidFileError: the file cannot be written.
        """
        from repertoire.storage.repertoires import write_repertoire

        write_repertoire(Path(path), self.repertoire)

    def draw(self, path: str | Path) -> None:
        """Draw the archive to a PNG.

        Raises:
            InvalidFileError: the file cannot be written.
        """
        from repertoire.plots import draw_repertoire

        draw_repertoire(self.repertoire, Path(path))
