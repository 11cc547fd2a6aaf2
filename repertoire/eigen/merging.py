"""Two decomposed parts of a tridiagonal matrix, and what joins them, made one decomposition.

Source: M. Gu and S. Eisenstat, "A Divide-and-Conquer Algorithm for the Symmetric Tridiagonal Eigenproblem",
    SIAM J. Matrix Anal. Appl. 16, 1995; the grouping of columns is that of J. Rutter, "A Serial
    Implementation of Cuppen's Divide and Conquer Algorithm for the Symmetric Eigenvalue Problem", LAPACK
    Working Note 69, 1994.
"""

import math

import numpy as np

from repertoire.eigen.deflation import LOWER, UPPER, deflate
from repertoire.eigen.rank_one import rank_one_vectors
from repertoire.eigen.secular import secular_roots
from robots.compilation import compiled


@compiled()
def merge(
    upper: np.ndarray,
    upper_vectors: np.ndarray,
    lower: np.ndarray,
    lower_vectors: np.ndarray,
    joint: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Decompose the block matrix of two parts plus |c| v vᵀ, where v is 1 above and sign(c) below the cut.

    Args:
        upper: (p,) ascending, the eigenvalues of the upper part.
        upper_vectors: (p, p), its eigenvectors in columns.
        lower: (m - p,) ascending.
        lower_vectors: (m - p, m - p).
        joint: c.

    Returns:
        Eigenvalues, (m,) ascending, and eigenvectors, (m, m) in columns.
    """
    p, m = upper.size, upper.size + lower.size
    vectors, kinds = _blocks(upper_vectors, lower_vectors), np.full(m, LOWER)
    kinds[:p] = UPPER
    values, entries = np.concatenate((upper, lower)), np.empty(m)
    for j in range(m):
        entries[j] = vectors[p - 1, j] if j < p else math.copysign(1.0, joint) * vectors[p, j]
    order = np.argsort(values, kind="mergesort")
    d, z, rho = values[order], entries[order] * math.sqrt(0.5), 2 * abs(joint)
    kept, dropped = deflate(d, z, rho, order, vectors, kinds)
    if kept.size == 0:
        return _sorted(d[dropped], vectors[:, order[dropped]])
    origins, offsets = secular_roots(d[kept], rho * z[kept] ** 2)
    columns, places, counts = _grouped(order[kept], kinds)
    factors = rank_one_vectors(d[kept], z[kept], origins, offsets, places)
    products = np.empty((m, kept.size))
    within = kept.size - counts[LOWER]  # columns with entries in the upper part
    np.dot(_gathered(vectors[:p], columns[:within]), factors[:within], products[:p])
    np.dot(_gathered(vectors[p:], columns[counts[UPPER] :]), factors[counts[UPPER] :], products[p:])
    if dropped.size == 0:
        return origins + offsets, products
    return _sorted(
        np.concatenate((origins + offsets, d[dropped])),
        np.concatenate((products, _gathered(vectors, order[dropped])), axis=1),
    )


@compiled()
def _blocks(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the matrix with two blocks on its diagonal."""
    p = len(first)
    blocks = np.zeros((p + len(second), p + len(second)))
    for i in range(p):
        for j in range(p):
            blocks[i, j] = first[i, j]
    for i in range(len(second)):
        for j in range(len(second)):
            blocks[p + i, p + j] = second[i, j]
    return blocks


@compiled()
def _grouped(columns: np.ndarray, kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort columns by kind, so that products can leave out blocks of zeros.

    Returns:
        The columns sorted, the place of each among those, and how many there are of each kind.
    """
    counts = np.zeros(3, np.int64)
    for column in columns:
        counts[kinds[column]] += 1
    following = np.array([0, counts[0], counts[0] + counts[1]])
    grouped, places = np.empty_like(columns), np.empty_like(columns)
    for i in range(columns.size):
        place = following[kinds[columns[i]]]
        following[kinds[columns[i]]] += 1
        grouped[place] = columns[i]
        places[i] = place
    return grouped, places, counts


@compiled()
def _gathered(matrix: np.ndarray, columns: np.ndarray) -> np.ndarray:
    gathered = np.empty((matrix.shape[0], columns.size))
    for i in range(matrix.shape[0]):
        for j in range(columns.size):
            gathered[i, j] = matrix[i, columns[j]]
    return gathered


@compiled()
def _sorted(values: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(values, kind="mergesort")
    return values[order], _gathered(vectors, order)
