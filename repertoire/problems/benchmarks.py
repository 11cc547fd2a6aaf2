"""`Sphere` and `Arm`, the optimisation benchmarks; what benchmarks share; and elementary functions for them.

The functions are made of polynomials, which vectorise in a compiled loop, unlike those of the C library.

Sources: M. C. Fontaine et al., "Covariance Matrix Adaptation for the Rapid Illumination of Behavior Space",
    GECCO 2020, sec. 5, for the sphere; A. Cully, Y. Demiris, "Quality and Diversity Optimization: A Unifying
    Modular Framework", IEEE TEVC 2018, for the arm; the objectives' scales and the number of joints are those
    of B. Tjanaka et al., "Training Diverse High-Dimensional Controllers by Scaling Covariance Matrix
    Adaptation MAP-Annealing", RA-L 2023.
"""

import math
from abc import abstractmethod

import numpy as np

from repertoire.problems.problem import OnFinished, Problem
from repertoire.problems.record import ProblemRecord
from repertoire.state import checked_batch
from robots.arrays import whole_number
from robots.compilation import compiled
from robots.evaluations import Evaluations, Request

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
_SHIFT = 2.048  # every coordinate of the optimum: 0.4 of the bound, so that it is not where searches start
_BOUND = np.float32(5.12)
_FARTHEST = 7.168  # [per coordinate] from the optimum to the farthest corner of the bounds


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

    def _run(
        self, solutions: np.ndarray, seeds: np.ndarray, request: Request, on_finished: OnFinished
    ) -> Evaluations:
        solutions = self._checked(solutions)
        n = len(solutions)
        objectives, measures, steps = np.empty(n), np.empty((n, 2)), np.ones(n, np.int64)
        self._evaluate(solutions, objectives, measures, steps)
        if on_finished:
            on_finished(n)
        return Evaluations(objectives, measures, np.zeros(n, np.bool_), steps)

    def _checked(self, solutions: np.ndarray) -> np.ndarray:
        """Bring solutions into the form that kernels use: (n, solution_dim) float32, C-contiguous."""
        return checked_batch("solutions", solutions, (len(solutions), self.solution_dim), np.float32)

    @abstractmethod
    def _evaluate(
        self, solutions: np.ndarray, objectives: np.ndarray, measures: np.ndarray, steps: np.ndarray
    ) -> None:
        """Fill in the objectives (n,), measures (n, 2) and, unless each took 1, steps (n,) of solutions."""


class Sphere(DeterministicProblem):
    """Come close to a point, and spread two sums of coordinates.

    The objective is 100 at the optimum, where every coordinate is 2.048, and falls with the squared distance
    from it, to 0 at the farthest corner of the bounds ±5.12 and below 0 beyond that. The measures sum the
    first half of the coordinates and the second, each coordinate x outside the bounds folded back to 5.12/x.
    Of an odd number of coordinates, the second half has one more.
    """

    learning_rate = 0.001

    def __init__(self, dim: int) -> None:
        dim = whole_number("dim of the sphere", dim, 2, MAX_DIM)
        first, second = dim // 2 * 5.12, (dim + 1) // 2 * 5.12
        names = ("sum of the first half of the parameters", "sum of the second half of the parameters")
        self.record = ProblemRecord(f"sphere-{dim}", dim, ((-first, first), (-second, second)), names)

    @staticmethod
    @compiled()
    def _evaluate(
        solutions: np.ndarray, objectives: np.ndarray, measures: np.ndarray, steps: np.ndarray
    ) -> None:
        n = solutions.shape[1]
        for i in range(solutions.shape[0]):
            first, measures[i, 0] = _sums(solutions[i, : n // 2])
            second, measures[i, 1] = _sums(solutions[i, n // 2 :])
            objectives[i] = 100 * (1 - (first + second) / (_FARTHEST**2 * n))


# Both sums in one loop, which then loads each parameter once; reassociation lets it keep several partial sums
# and so vectorise, and NumPy's error model spares it a check of each division.
@compiled(fastmath={"reassoc", "contract"})
def _sums(row: np.ndarray) -> tuple[float, float]:
    """Σ (x - 2.048)² and Σ fold(x) over some coordinates (k,) float32.

    Both are sums of float64. What is folded is rounded to float32 first, as dividing in that takes half the
    time: an error of at most 2.4e-7 a coordinate, 5e-8 of the bound.
    """
    squares = folded = 0.0
    for j in range(row.size):  # not over its values, which would not vectorise
        x = row[j]
        distance = np.float64(x) - _SHIFT
        squares += distance * distance
        folded += np.float64(x if abs(x) <= _BOUND else _BOUND / x)
    return squares, folded


class Arm(DeterministicProblem):
    """Reach every place with joints that bend as evenly as possible.

    A solution holds the angle of each joint relative to the link before it [rad]. The objective is 100 minus
    100 times the population variance of the angles, which may be below 0; the measures are where the last of
    the links, each of length 1, ends.
    """

    learning_rate = 0.001

    def __init__(self, dim: int) -> None:
        dim = whole_number("dim of the arm", dim, 2, MAX_DIM)
        names = ("x of the arm's end [links]", "y of the arm's end [links]")
        self.record = ProblemRecord(f"arm-{dim}", dim, ((-float(dim), float(dim)),) * 2, names)

    @staticmethod
    @compiled()
    def _evaluate(
        solutions: np.ndarray, objectives: np.ndarray, measures: np.ndarray, steps: np.ndarray
    ) -> None:
        n = solutions.shape[1]
        angles = np.empty(n)  # to the x axis [rad]
        for i in range(solutions.shape[0]):
            total = 0.0
            for j in range(n):
                total += np.float64(solutions[i, j])
                angles[j] = total
            objectives[i] = 100 * (1 - _sum_of_squares(solutions[i], total / n) / n)
            measures[i, 0], measures[i, 1] = _reach(angles)


@compiled(fastmath={"reassoc", "contract"})
def _sum_of_squares(row: np.ndarray, mean: float) -> float:
    """Σ (x - mean)² over a row (n,)."""
    total = 0.0
    for j in range(row.size):  # not over its values, which would not vectorise
        total += (row[j] - mean) ** 2
    return total


@compiled(fastmath={"reassoc", "contract"})
def _reach(angles: np.ndarray) -> tuple[float, float]:
    """Σ cos and Σ sin of angles (n,) to the x axis [rad]."""
    x = y = 0.0
    for j in range(angles.size):
        cosine, sine = cosine_sine(angles[j])
        x += cosine
        y += sine
    return x, y


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
