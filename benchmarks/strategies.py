"""How fast the CMA-MAE variants are, compared with pyribs and with what bounds them."""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg.blas import dgemm, dsyrk

from benchmarks.pyribs import PyribsSearch, check_pyribs, numpy_sphere, pyribs_version
from repertoire.execution.running import array_bytes, one_blas_thread, processor_name, software_versions
from repertoire.problems.benchmarks import Sphere
from repertoire.strategies.noise import Noise
from robots.simulation.threads import available_cores
from suites.paper.published import published_study
from suites.paper.suite import algorithm_variants, paper_suite
from suites.study import Study

Figures = dict[str, Any]
VARIANTS = ("cma-mae", "lm-ma-mae", "sep-cma-mae", "openai-mae")
_TRIAL = 10_000  # iterations of 200 evaluations: the paper's 2 million
_MILLISECONDS = 1000
_TRIALS = 10  # of the paper's study


@dataclass(frozen=True)
class _Effort:
    """How long to measure at a dimension: batches before the clock starts, batches a block, and blocks."""

    warm_up: int
    block: int
    blocks: int


def _effort(n: int, algorithm: str) -> _Effort:
    """Blocks are multiples of the 24 iterations between eigendecompositions in 1000 dimensions."""
    if algorithm == "cma-mae" and n > 500:
        return _Effort(24, 24, 3)
    return _Effort(200, 120, 5) if n <= 500 else _Effort(24, 24, 5) if n <= 5000 else _Effort(4, 3, 5)


def measure_strategies(
    *, dimensions: Sequence[int], peer: str | None, say: Callable[[str], object]
) -> Figures:
    """Measure everything there is to say about the speed and memory of the variants.

    Args:
        dimensions: of the sphere problem.
        peer: "pyribs" to measure it too, or None.
        say: told what is being measured.
    """
    if peer is not None:
        check_pyribs()
    machine = {"cores": available_cores(), "processor": processor_name(), **software_versions()}
    figures: Figures = {"machine": machine, "iterations": _TRIAL}
    if peer is not None:
        figures["pyribs"] = pyribs_version()
    with one_blas_thread():
        for n in dimensions:
            for algorithm in VARIANTS:
                if n > 5000 and algorithm == "cma-mae":
                    continue  # its matrices alone are gigabytes there
                say(f"{algorithm}, {n} parameters")
                figures[f"{algorithm} {n}"] = _measure_variant(algorithm, n, peer)
    return figures


class _Ours:
    """A search of ours, timed."""

    def __init__(self, algorithm: str, n: int) -> None:
        self.problem = Sphere(n)
        paper = published_study("optimization")
        variants = algorithm_variants([algorithm])
        settings = paper_suite(paper, domains=[self.problem.name], variants=variants, trials=1)
        (trial,) = settings.plan()
        self.search = trial.training().search
        self._seeds = np.zeros(self.search.batch_size, np.int64)
        self._solutions: np.ndarray | None = None

    def iterate(self, count: int) -> tuple[float, float]:
        """Seconds an iteration spends in ask and tell, and in evaluating."""
        return _time_iterations(
            self._ask,
            lambda solutions: self.problem.evaluate(solutions, self._seeds),
            self.search.tell,
            count,
        )

    def _ask(self) -> np.ndarray:
        """What to evaluate next, in the same memory every time as in training."""
        self._solutions = self.search.ask(reuse=self._solutions)
        return self._solutions


class _Theirs:
    """pyribs, timed."""

    def __init__(self, algorithm: str, n: int) -> None:
        self._search = PyribsSearch(algorithm, Sphere(n), emitters=5, batch_size=40, sigma0=0.02)

    def iterate(self, count: int) -> tuple[float, float]:
        """See `_Ours.iterate`."""
        search = self._search
        return _time_iterations(search.ask, numpy_sphere, lambda values: search.tell(*values), count)


def _time_iterations(
    ask: Callable[[], np.ndarray],
    evaluate: Callable[[np.ndarray], Any],
    tell: Callable[[Any], object],
    count: int,
) -> tuple[float, float]:
    """Seconds an iteration spends in ask and tell, and in evaluating."""
    algorithm = evaluation = 0.0
    for _ in range(count):
        started = time.perf_counter()
        solutions = ask()
        asked = time.perf_counter()
        values = evaluate(solutions)
        evaluated = time.perf_counter()
        tell(values)
        algorithm += time.perf_counter() - evaluated + asked - started
        evaluation += evaluated - asked
    return algorithm / count, evaluation / count


def _measure_variant(algorithm: str, n: int, peer: str | None) -> Figures:
    """One variant in one dimension: ours and the peer in turn, in blocks, of which the median counts."""
    effort = _effort(n, algorithm)
    runs: list[_Ours | _Theirs] = [_Ours(algorithm, n)]
    if peer is not None:
        runs.append(_Theirs(algorithm, n))
    for run in runs:
        run.iterate(effort.warm_up)
    blocks = np.array([[run.iterate(effort.block) for run in runs] for _ in range(effort.blocks)])
    ours = np.median(blocks[:, 0], axis=0)  # (2,) algorithm, evaluation
    figures = {
        "algorithm_ms": _round(ours[0]),
        "evaluation_ms": _round(ours[1]),
        "trial_s": round(float(ours.sum()) * _TRIAL, 2),
        "memory_mb": round(array_bytes(*runs[0].search.emitters) / 1e6, 2),  # type: ignore[union-attr]
    }
    if peer is not None:
        theirs = np.median(blocks[:, 1], axis=0)
        ratios = blocks[:, 1] / blocks[:, 0]
        whole = blocks[:, 1].sum(axis=1) / blocks[:, 0].sum(axis=1)
        figures |= {
            "pyribs_algorithm_ms": _round(theirs[0]),
            "pyribs_trial_s": round(float(theirs.sum()) * _TRIAL, 2),
            "algorithm_ratio": round(float(np.median(ratios[:, 0])), 2),
            "trial_ratio": round(float(np.median(whole)), 2),
        }
    return figures | _bounds(algorithm, n, float(ours[0]))


def _round(seconds: float) -> float:
    """Milliseconds."""
    return round(float(seconds) * _MILLISECONDS, 4)


def _bounds(algorithm: str, n: int, seconds: float) -> Figures:
    """What an iteration cannot do without, measured alone, and how much of it that is.

    The numbers are those of 5 emitters that ask for 40 solutions each: their random numbers, reading and
    writing the arrays that they must touch, their matrix products and decompositions, and the interpreter's
    time, which is that of the same search in 2 dimensions.
    """
    small = _Ours(algorithm, 2)
    small.iterate(50)
    numbers = 100 * n if algorithm == "openai-mae" else 200 * n
    bounds = {
        "interpreter_ms": _round(min(small.iterate(50)[0] for _ in range(5))),
        "random_numbers_ms": _round(_noise_seconds(numbers)),
        "memory_ms": _round(_copy_seconds(_touched_bytes(algorithm, n))),
        "matrices_ms": _round(_matrix_seconds(algorithm, n)),
    }
    return {**bounds, "bound_share": round(sum(bounds.values()) / (seconds * _MILLISECONDS), 2)}


def _best(function: Callable[[], object], repeats: int) -> float:
    """Shortest time of a call [s]."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


def _noise_seconds(numbers: int) -> float:
    """Time to draw so many standard normals, an emitter's at a time."""
    noise, out = Noise(np.random.Generator(np.random.SFC64(1))), np.empty(numbers // 5, np.float32)
    noise.fill(out, draw=1)
    return 5 * _best(lambda: noise.fill(out, draw=2), 20)


def _touched_bytes(algorithm: str, n: int) -> int:
    """Bytes that an iteration must write once to arrays that outgrow the cache: solutions, noise, vectors."""
    written = 200 * n * 4 + (100 if algorithm == "openai-mae" else 200) * n * 4
    return written + (5 * 40 * n * 8 if algorithm == "lm-ma-mae" else 0)


def _copy_seconds(size: int) -> float:
    """Time to copy so many bytes."""
    source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
    return _best(lambda: np.copyto(target, source), 20)


def _matrix_seconds(algorithm: str, n: int) -> float:
    """Time of the matrix products and decompositions alone."""
    if algorithm == "cma-mae":
        return _covariance_seconds(n)
    if algorithm == "lm-ma-mae":
        vectors, noise = np.ones((min(40, n), n)), np.ones((40, n))
        return 5 * 2 * _best(lambda: noise @ vectors.T, 10)
    return 0.0


def _covariance_seconds(n: int) -> float:
    """Sampling, the update of C, and the share of a decomposition."""
    rng = np.random.default_rng(1)
    steps = rng.standard_normal((40, n))
    matrix = np.asfortranarray(np.cov(rng.standard_normal((n, 2 * n))))
    product = _best(lambda: dgemm(1.0, matrix, steps.T), 10)
    update = _best(
        lambda: dsyrk(1.0, steps[:21].T, beta=0.9, c=matrix.copy(order="F"), lower=1, overwrite_c=1), 10
    )
    update -= _best(lambda: matrix.copy(order="F"), 10)
    every = _generations_between_decompositions(n)
    return 5 * (product + update + _best(lambda: np.linalg.eigh(matrix), 3) / every)


def _generations_between_decompositions(n: int) -> int:
    """See `repertoire.strategies.CMAES`."""
    search = _Ours("cma-mae", n).search
    patience: float = search.emitters[0].strategy._patience  # type: ignore[attr-defined]
    return int(patience) + 1


def measure_study() -> Figures:
    """Wall clock of the paper's Sphere 100 domain: trials of all variants, on all cores."""
    with tempfile.TemporaryDirectory() as folder:
        settings = paper_suite(published_study("optimization"), domains=["sphere-100"], trials=_TRIALS)
        study = Study(settings, Path(folder))
        started = time.perf_counter()
        study.run(processes=available_cores())
        return {
            "sphere_100_trials": _TRIALS,
            "sphere_100_minutes": round((time.perf_counter() - started) / 60, 2),
        }
