"""Eigenvectors of a diagonal matrix plus one of rank one, orthogonal to rounding.

Source: M. Gu and S. Eisenstat, "A Divide-and-Conquer Algorithm for the Symmetric Tridiagonal Eigenproblem",
    SIAM J. Matrix Anal. Appl. 16, 1995 (GE below): the roots found are the exact ones of a slightly different
    vector, which is computed first, and of which the eigenvectors are then formed.
"""

import math

import numpy as np

from robots.compilation import compiled


@compiled()
def rank_one_vectors(
    d: np.ndarray, z: np.ndarray, origins: np.ndarray, offsets: np.ndarray, places: np.ndarray
) -> np.ndarray:
    """Return the eigenvectors of diag(d) + ρ z zᵀ.

    Args:
        d: (k,), strictly ascending.
        z: (k,), without zeros.
        origins: (k,), of the roots, as `secular_roots` returns them.
        offsets: (k,).
        places: (k,), the row of the result that each entry of d is to have.

    Returns:
        (k, k), eigenvectors of ascending eigenvalues in its columns.
    """
    vectors, norms = np.empty((d.size, d.size)), np.zeros(d.size)
    corrected = _corrected(d, z, origins, offsets)
    for i in range(d.size):
        _fill_row(vectors, places[i], d[i], corrected[i], origins, offsets, norms)
    for j in range(d.size):
        norms[j] = 1 / math.sqrt(norms[j])
    for i in range(d.size):
        for j in range(d.size):
            vectors[i, j] *= norms[j]
    return vectors


@compiled()
def _corrected(d: np.ndarray, z: np.ndarray, origins: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the vector of which the roots are exact, but for its length (GE, eq. 3.3)."""
    k = d.size
    squares = np.ones(k)
    for j in range(k):
        for i in range(k):
            pole = 1.0 if i == j else d[j] - d[i]
            squares[i] *= ((origins[j] - d[i]) + offsets[j]) / pole
    for i in range(k):
        squares[i] = math.copysign(math.sqrt(abs(squares[i])), z[i])
    return squares


@compiled(fastmath={"contract"})
def _fill_row(
    vectors: np.ndarray,
    row: int,
    pole: float,
    weight: float,
    origins: np.ndarray,
    offsets: np.ndarray,
    norms: np.ndarray,
) -> None:
    """Write one entry of every eigenvector, and add its square to the norms."""
    for j in range(origins.size):
        entry = weight / ((pole - origins[j]) - offsets[j])
        vectors[row, j] = entry
        norms[j] += entry * entry
