"""`Sphere`: the smooth optimisation benchmark whose measures distort the way to their extremes.

Source: M. C. Fontaine et al., "Covariance Matrix Adaptation for the Rapid Illumination of Behavior Space",
GECCO 2020, sec. 5; the objective's scale is that of B. Tjanaka et al., "Training Diverse High-Dimensional
Controllers by Scaling Covariance Matrix Adaptation MAP-Annealing", RA-L 2023.
"""

import numpy as np

from repertoire.problems.deterministic import MAX_DIM, DeterministicProblem
from repertoire.problems.record import ProblemRecord
from robots.arrays import whole_number
from robots.compilation import compiled

_SHIFT = 2.048  # every coordinate of the optimum: 0.4 of the bound, so that it is not where searches start
_BOUND = np.float32(5.12)
_FARTHEST = 7.168  # [per coordinate] from the optimum to the farthest corner of the bounds


class Sphere(DeterministicProblem):
    """Come close to a point, and spread two sums of coordinates.

    The objective is 100 at the optimum, where every coordinate is 2.048, and falls with the squared distance
    from it, to 0 at the farthest corner of the bounds ±5.12 and below 0 beyond that. The measures sum the
    first half of the coordinates and the second, each coordinate x outside the bounds folded back to 5.12/x.
    Of an odd number of coordinates, the second half has one more.

    Args:
        dim: number of coordinates, n.
    """

    learning_rate = 0.001
    differentiable = True

    def __init__(self, dim: int) -> None:
        dim = whole_number("dim of the sphere", dim, 2, MAX_DIM)
        first, second = dim // 2 * 5.12, (dim + 1) // 2 * 5.12
        names = ("sum of the first half of the parameters", "sum of the second half of the parameters")
        self.record = ProblemRecord(f"sphere-{dim}", dim, ((-first, first), (-second, second)), names)

    def _evaluate(
        self, solutions: np.ndarray, objectives: np.ndarray, measures: np.ndarray, steps: np.ndarray
    ) -> None:
        _evaluate(solutions, objectives, measures)

    def _differentiate(self, solutions: np.ndarray, gradients: np.ndarray) -> None:
        _differentiate(solutions, gradients)


@compiled()
def _evaluate(solutions: np.ndarray, objectives: np.ndarray, measures: np.ndarray) -> None:
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


@compiled()
def _differentiate(solutions: np.ndarray, gradients: np.ndarray) -> None:
    """Write the gradients of the objective and both sums to zeros, (rows, 3, n)."""
    n = solutions.shape[1]
    scale = -200 / (_FARTHEST**2 * n)
    for i in range(solutions.shape[0]):
        for j in range(n):
            x = np.float64(solutions[i, j])
            gradients[i, 0, j] = scale * (x - _SHIFT)
            gradients[i, 1 if j < n // 2 else 2, j] = 1.0 if abs(x) <= _BOUND else -_BOUND / (x * x)
