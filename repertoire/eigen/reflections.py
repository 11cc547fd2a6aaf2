"""A product of many reflections, applied to a matrix by matrix products.

Source: R. Schreiber and C. Van Loan, "A Storage-Efficient WY Representation for Products of Householder
    Transformations", SIAM J. Sci. Stat. Comput. 10, 1989.
"""

import numpy as np

from robots.compilation import compiled

_BLOCK = 16  # reflections a product; more make the products faster and what is computed in vain larger


@compiled()
def reflect(reflections: np.ndarray, factors: np.ndarray, vectors: np.ndarray) -> None:
    """Multiply by H_0 H_1 ... H_{n-2} from the left, in place.

    Args:
        reflections: (at least n - 1, at least n), rows u_k, where u_k starts at k + 1.
        factors: (at least n - 1,), β_k, so that H_k = I - β_k u_k u_kᵀ.
        vectors: (n, anything), C order.
    """
    n = vectors.shape[0]
    stop = n - 1
    while stop > 0:
        start = (stop - 1) // _BLOCK * _BLOCK
        rows = np.empty((stop - start, n - start - 1))  # transposed V
        for i in range(rows.shape[0]):
            for j in range(rows.shape[1]):
                rows[i, j] = reflections[start + i, start + 1 + j]
        columns = rows.T.copy()
        triangle = _triangle(np.dot(rows, columns), factors[start:stop])
        below = vectors[start + 1 :]
        _subtract(below, np.dot(columns, np.dot(triangle, np.dot(rows, below))))
        stop = start


@compiled(fastmath={"contract"})
def _triangle(products: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return the T of H_0 H_1 ... = I - V T Vᵀ, upper triangular, from the products Vᵀ V."""
    count = factors.size
    triangle = np.zeros((count, count))
    for i in range(count):
        triangle[i, i] = factors[i]
        for p in range(i):
            weight = -factors[i] * products[i, p]
            for row in range(p + 1):
                triangle[row, i] += weight * triangle[row, p]
    return triangle


@compiled()
def _subtract(target: np.ndarray, other: np.ndarray) -> None:
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            target[i, j] -= other[i, j]
