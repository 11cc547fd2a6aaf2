"""pyribs' CMA-MAE variants on the sphere problem, as a peer to be timed."""

import importlib.util
from typing import Any

import numpy as np

from repertoire.problems.benchmarks import Sphere
from robots.errors import InvalidValueError

_STRATEGIES = {
    "cma-mae": "cma_es",
    "lm-ma-mae": "lm_ma_es",
    "sep-cma-mae": "sep_cma_es",
    "openai-mae": "openai_es",
}
_OPTIONS = {"openai_es": {"lr": 0.01, "l2_coeff": 0.005}}


def check_pyribs() -> None:
    """Refuse to measure what is not there.

    Raises:
        InvalidValueError: pyribs is not installed.
    """
    if importlib.util.find_spec("ribs") is None:
        raise InvalidValueError("the peer is not installed: pip install ribs==0.12.0")


def pyribs_version() -> str:
    """The installed version."""
    import ribs

    return str(ribs.__version__)


class PyribsSearch:
    """The paper's set-up as a user of pyribs writes it: a scheduler with emitters and two archives.

    Args:
        algorithm: name of the variant.
        problem: to be solved.
        emitters: number of emitters.
        batch_size: solutions an emitter asks for at a time.
        sigma0: initial step size.
    """

    def __init__(
        self, algorithm: str, problem: Sphere, *, emitters: int, batch_size: int, sigma0: float
    ) -> None:
        from ribs.archives import GridArchive
        from ribs.emitters import EvolutionStrategyEmitter
        from ribs.schedulers import Scheduler

        strategy = _STRATEGIES[algorithm]
        shape: dict[str, Any] = {
            "solution_dim": problem.solution_dim,
            "dims": problem.archive,
            "ranges": problem.measure_ranges,
        }
        soft = GridArchive(**shape, learning_rate=problem.learning_rate, threshold_min=problem.min_objective)
        self._scheduler = Scheduler(
            soft,
            [
                EvolutionStrategyEmitter(
                    soft,
                    x0=np.zeros(problem.solution_dim),
                    sigma0=sigma0,
                    ranker="imp",
                    es=strategy,
                    es_kwargs=_OPTIONS.get(strategy, {}),
                    selection_rule="mu",
                    restart_rule="basic",
                    batch_size=batch_size,
                    seed=seed,
                )
                for seed in range(emitters)
            ],
            result_archive=GridArchive(**shape),
        )

    def ask(self) -> np.ndarray:
        """Solutions to evaluate, (n, solution_dim)."""
        return self._scheduler.ask()

    def tell(self, objectives: np.ndarray, measures: np.ndarray) -> None:
        """What they are worth."""
        self._scheduler.tell(objectives, measures)


def numpy_sphere(solutions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Objectives (n,) and measures (n, 2) of the sphere problem, as one writes it in NumPy."""
    n = solutions.shape[1]
    objectives = 100 * (1 - np.sum((solutions - 2.048) ** 2, axis=1) / (7.168**2 * n))
    folded = np.where(np.abs(solutions) > 5.12, 5.12 / np.where(solutions == 0, 1, solutions), solutions)
    return objectives, np.stack([folded[:, : n // 2].sum(axis=1), folded[:, n // 2 :].sum(axis=1)], axis=1)
