"""`Arm`: inverse kinematics of a planar arm with many joints.

Source: A. Cully, Y. Demiris, "Quality and Diversity Optimization: A Unifying Modular Framework", IEEE TEVC
2018, with the number of joints and the objective's scale of B. Tjanaka et al., "Training Diverse
High-Dimensional Controllers by Scaling Covariance Matrix Adaptation MAP-Annealing", RA-L 2023.
"""

import numpy as np

from repertoire.problems.deterministic import MAX_DIM, DeterministicProblem, cosine_sine
from repertoire.problems.record import ProblemRecord
from robots.arrays import whole_number
from robots.compilation import compiled


class Arm(DeterministicProblem):
    """Reach every place with joints that bend as evenly as possible.

    A solution holds the angle of each joint relative to the link before it [rad]. The objective is 100 minus
    100 times the population variance of the angles, which may be below 0; the measures are where the last of
    the links, each of length 1, ends.

    Args:
        dim: number of joints, n.
    """

    learning_rate = 0.001
    differentiable = True

    def __init__(self, dim: int) -> None:
        dim = whole_number("dim of the arm", dim, 2, MAX_DIM)
        names = ("x of the arm's end [links]", "y of the arm's end [links]")
        self.record = ProblemRecord(f"arm-{dim}", dim, ((-float(dim), float(dim)),) * 2, names)

    def _evaluate(
        self, solutions: np.ndarray, objectives: np.ndarray, measures: np.ndarray, steps: np.ndarray
    ) -> None:
        _evaluate(solutions, objectives, measures)

    def _differentiate(self, solutions: np.ndarray, gradients: np.ndarray) -> None:
        for row, slopes in zip(solutions, gradients, strict=True):
            _differentiate(row, slopes)


@compiled()
def _evaluate(solutions: np.ndarray, objectives: np.ndarray, measures: np.ndarray) -> None:
    n = solutions.shape[1]
    angles = np.empty((4, n))
    for start in range(0, solutions.shape[0], 4):
        block = solutions[start : start + 4]
        last = block.shape[0] - 1
        _accumulate(block[0], block[min(1, last)], block[min(2, last)], block[last], angles)
        for k in range(block.shape[0]):
            i = start + k
            objectives[i] = 100 * (1 - _sum_of_squares(block[k], angles[k, n - 1] / n) / n)
            measures[i, 0], measures[i, 1] = _reach(angles[k])


@compiled()
def _accumulate(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray, angles: np.ndarray) -> None:
    """Write the running sums of four rows (n,) to `angles`, (4, n).

    Each addition has to wait for the one before it; four sums at a time fill the wait.
    """
    sum_a = sum_b = sum_c = sum_d = 0.0
    for j in range(a.size):
        sum_a += np.float64(a[j])
        sum_b += np.float64(b[j])
        sum_c += np.float64(c[j])
        sum_d += np.float64(d[j])
        angles[0, j], angles[1, j], angles[2, j], angles[3, j] = sum_a, sum_b, sum_c, sum_d


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


@compiled()
def _differentiate(row: np.ndarray, gradients: np.ndarray) -> None:
    """Write the gradients of the objective and both measures of a row (n,), (3, n)."""
    n = row.size
    angle = 0.0
    for j in range(n):
        angle += np.float64(row[j])
        cosine, sine = cosine_sine(angle)
        gradients[1, j], gradients[2, j] = -sine, cosine
    mean = angle / n
    x = y = 0.0
    for j in range(n - 1, -1, -1):  # a joint turns every link from its own to the last
        x += gradients[1, j]
        y += gradients[2, j]
        gradients[0, j] = -200 * (row[j] - mean) / n
        gradients[1, j], gradients[2, j] = x, y
