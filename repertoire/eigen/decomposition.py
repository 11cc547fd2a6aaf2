"""`symmetric_eigen`: eigenvalues and eigenvectors of a symmetric matrix."""

import math

import numpy as np

from repertoire.eigen.reduction import padded_size, tridiagonalise
from repertoire.eigen.reflections import reflect
from repertoire.eigen.tridiagonal import decompose_tridiagonal
from robots.compilation import compiled

# Rows: fewer are not worth compiling for, and with more LAPACK, which blocks its accesses, catches up.
_SMALLEST, _LARGEST = 24, 200
_SMALLEST_NORMAL = 2.3e-308


def symmetric_eigen(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Decompose a symmetric matrix; other threads run meanwhile.

    The residual and the departure from orthogonality are those of LAPACK's dsyevd, a small multiple of the
    rounding unit times the norm. The result is a pure function of the matrix on one machine.

    Args:
        matrix: (n, n) float64, of which only the lower triangle is read; Fortran order spares a copy.

    Returns:
        Eigenvalues, (n,) ascending, and eigenvectors, (n, n) in its columns, Fortran order.

    Raises:
        numpy.linalg.LinAlgError: if an entry is not finite, as `numpy.linalg.eigh`, which then has its turn.
            It has it also below 24 and above 200 rows, and if an iteration does not end, which no matrix is
            known for.
    """
    if _SMALLEST <= len(matrix) <= _LARGEST:
        values, vectors, sound = _decompose(np.asfortranarray(matrix))
        if sound:
            return values, vectors
    # NumPy's, unlike SciPy's, lets other threads run meanwhile
    values, vectors = np.linalg.eigh(matrix)
    return values, np.asfortranarray(vectors)


@compiled()
def _decompose(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return values, vectors, and whether they are any good."""
    n = matrix.shape[0]
    scale = _scale(matrix)
    if not scale > 0:
        return np.empty(n), np.empty((n, n)).T, False
    size = padded_size(n)
    work, reflections = _scaled(matrix, 1 / scale, size), np.zeros((size, size))
    diagonal, beside, factors = np.empty(n), np.empty(n), np.empty(n)
    tridiagonalise(work, diagonal, beside, factors, reflections)
    values, vectors = decompose_tridiagonal(diagonal, beside)
    reflect(reflections, factors, vectors)
    columns = np.ascontiguousarray(vectors.T)
    return values * scale, columns.T, bool(np.isfinite(values).all())


@compiled(fastmath={"reassoc"})
def _scale(matrix: np.ndarray) -> float:
    """Return the power of 2 next to the sum of entries, so that squares neither over- nor underflow.

    It is 1 for zeros, and 0 if there is none to divide by.
    """
    total = 0.0
    for j in range(matrix.shape[0]):
        for i in range(j, matrix.shape[0]):
            total += abs(matrix[i, j])
    if total == 0:
        return 1.0
    return 2.0 ** math.floor(math.log2(total)) if _SMALLEST_NORMAL < total < math.inf else 0.0


@compiled()
def _scaled(matrix: np.ndarray, factor: float, size: int) -> np.ndarray:
    """Return a multiple of the matrix with both triangles filled, (size, size), padded with zeros."""
    scaled = np.zeros((size, size))
    for j in range(matrix.shape[0]):
        for i in range(j, matrix.shape[0]):
            value = factor * matrix[i, j]
            scaled[i, j] = value
            scaled[j, i] = value
    return scaled
