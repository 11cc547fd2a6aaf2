"""`DeterministicProblem`: the base of the benchmarks, and elementary functions for their compiled loops.

The functions are made of polynomials, which vectorise in a compiled loop, unlike those of the C library.
"""

import math
from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from repertoire.problems.problem import Problem
from repertoire.state import checked_batch
from robots.compilation import compiled
from robots.evaluations import OBJECTIVES_AND_MEASURES, Evaluations, Request

MAX_DIM = 1_000_000

# 2π as a number of 33 bits, whose multiples up to the 2^20th are exact in float64, and the rest of it
_TURN = 6.2831853069365025
_TURN_REST = 2.430840202602477e-10
_PER_TURN = 1 / (2 * math.pi)
# cos(x) = C(x²) and sin(x) = x S(x²) for |x| <= π, within 3e-14: 1 and Chebyshev series of the rest, so that
# both are exact at 0
_C = (
    1.0,
    -0.4999999999999975,
    0.041666666666625295,
    -0.0013888888887769284,
    2.4801587184884966e-05,
    -2.755731312629381e-07,
    2.0876577823463324e-09,
    -1.1467647391200772e-11,
    4.7481335445426785e-14,
    -1.389295864045495e-16,
)
_S = (
    1.0,
    -0.16666666666666655,
    0.008333333333331345,
    -0.00019841269840732077,
    2.7557319167942042e-06,
    -2.505210545785894e-08,
    1.6058957846675989e-10,
    -7.645677498121378e-13,
    2.796434082712476e-15,
    -7.394624842874917e-18,
)
# exp(-x) = E(x) for 0 <= x <= 5/4, within 1e-14, made alike
_E = (
    1.0,
    -0.9999999999999932,
    0.4999999999986927,
    -0.1666666666245994,
    0.041666666138054934,
    -0.00833332992098156,
    0.001388876007085166,
    -0.00019838226922075754,
    2.4755147793752425e-05,
    -2.7097200542373964e-06,
    2.466634401918552e-07,
    -1.4248770516814104e-08,
)


class DeterministicProblem(Problem):
    """A problem whose results do not depend on seeds, and of which no evaluation fails.

    Its thresholds start at 0 and its archive is a 100 x 100 grid, as in Tjanaka et al. 2023. Evaluations run
    on the calling thread, without the interpreter's lock.
    """

    stochastic = False
    archive = (100, 100)
    min_objective = 0.0

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """The origin, (solution_dim,) float32 zeros, whatever the generator."""
        return np.zeros(self.solution_dim, np.float32)

    def evaluate(
        self,
        solutions: np.ndarray,
        seeds: np.ndarray,
        *,
        request: Request = OBJECTIVES_AND_MEASURES,
        on_finished: Callable[[int], None] | None = None,
    ) -> Evaluations:
        """See `Problem.evaluate`; the seeds are ignored."""
        self._check_request(request)
        solutions = self._checked(solutions)
        n, gradients = len(solutions), None
        if request.gradients:
            gradients = np.zeros((n, 3, self.solution_dim))
            self._differentiate(solutions, gradients)
        objectives, measures, steps = np.empty(n), np.empty((n, 2)), np.ones(n, np.int64)
        self._evaluate(solutions, objectives, measures, steps)
        if on_finished:
            on_finished(n)
        return Evaluations(objectives, measures, np.zeros(n, np.bool_), steps, gradients=gradients)

    def _checked(self, solutions: np.ndarray) -> np.ndarray:
        """Bring solutions into the form that kernels use: (n, solution_dim) float32, C-contiguous."""
        return checked_batch("solutions", solutions, (len(solutions), self.solution_dim), np.float32)

    @abstractmethod
    def _evaluate(
        self, solutions: np.ndarray, objectives: np.ndarray, measures: np.ndarray, steps: np.ndarray
    ) -> None:
        """Fill in the objectives (n,), measures (n, 2) and, unless each took 1, steps (n,) of solutions."""

    def _differentiate(self, solutions: np.ndarray, gradients: np.ndarray) -> None:
        """Fill in the gradients, (n, 3, solution_dim) zeros, of solutions; for a problem that knows them."""
        raise NotImplementedError


@compiled(fastmath={"contract"})
def cosine_sine(angle: float) -> tuple[float, float]:
    """Cosine and sine of an angle [rad], within 3e-14 up to 6 million rad either way."""
    turns = np.rint(angle * _PER_TURN)
    x = (angle - turns * _TURN) - turns * _TURN_REST
    cosine, ratio = cosine_ratio(x * x)
    return cosine, x * ratio


@compiled(fastmath={"contract"})
def cosine_ratio(t: float) -> tuple[float, float]:
    """cos(x) and sin(x)/x from t = x² <= π², within 3e-14."""
    c = _C[5] + t * (_C[6] + t * (_C[7] + t * (_C[8] + t * _C[9])))
    s = _S[5] + t * (_S[6] + t * (_S[7] + t * (_S[8] + t * _S[9])))
    cosine = _C[0] + t * (_C[1] + t * (_C[2] + t * (_C[3] + t * (_C[4] + t * c))))
    ratio = _S[0] + t * (_S[1] + t * (_S[2] + t * (_S[3] + t * (_S[4] + t * s))))
    return cosine, ratio


@compiled(fastmath={"contract"})
def tanh(x: float) -> float:
    """The hyperbolic tangent, within 1e-14; NumPy's error model spares the division a check."""
    t = min(abs(x), 20.0) / 16  # beyond 20 the tangent rounds to 1
    e = _E[6] + t * (_E[7] + t * (_E[8] + t * (_E[9] + t * (_E[10] + t * _E[11]))))
    e = _E[0] + t * (_E[1] + t * (_E[2] + t * (_E[3] + t * (_E[4] + t * (_E[5] + t * e)))))
    e *= e  # exp(-|x|/8)
    e *= e
    e *= e
    e *= e
    e *= e  # exp(-2|x|)
    y = (1 - e) / (1 + e)
    return y if x >= 0 else -y
