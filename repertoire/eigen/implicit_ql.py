"""The implicit QL iteration for a small symmetric tridiagonal matrix.

Source: A. Dubrulle, R. Martin and J. Wilkinson, "The Implicit QL Algorithm", Numer. Math. 12, 1968 (DMW
    below).
"""

import math

import numpy as np

from robots.compilation import compiled

_ROUNDING = 2.0**-53
_SWEEPS = 30  # a row, LAPACK's limit; about 1.7 are usual


@compiled()
def implicit_ql(diagonal: np.ndarray, beside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Decompose a matrix.

    Args:
        diagonal: (n,); overwritten.
        beside: (n,), of which the last is not read; overwritten.

    Returns:
        Eigenvalues, (n,) ascending, and eigenvectors, (n, n) in columns. A value is not finite if the
        iteration did not end.
    """
    n = diagonal.size
    rows = np.eye(n)  # transposed eigenvectors, of which a rotation changes two rows
    beside[n - 1] = 0.0
    floor = _ROUNDING**2 * max(np.abs(diagonal).max(), np.abs(beside).max())
    left = _SWEEPS * n
    for first in range(n):
        last = _block_end(diagonal, beside, first, floor)
        while last > first and left > 0:
            _sweep(diagonal, beside, first, last, rows)
            left -= 1
            last = _block_end(diagonal, beside, first, floor)
    if left == 0:
        diagonal[0] = np.nan
    order = np.argsort(diagonal)
    vectors = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            vectors[i, j] = rows[order[j], i]
    return diagonal[order], vectors


@compiled()
def _block_end(diagonal: np.ndarray, beside: np.ndarray, first: int, floor: float) -> int:
    """Return the first row from which the matrix splits."""
    for i in range(first, diagonal.size - 1):
        if abs(beside[i]) <= _ROUNDING * (abs(diagonal[i]) + abs(diagonal[i + 1])) + floor:
            return i
    return diagonal.size - 1


@compiled()
def _sweep(diagonal: np.ndarray, beside: np.ndarray, first: int, last: int, rows: np.ndarray) -> None:
    """Turn rows last to first of the matrix and the eigenvectors once, with Wilkinson's shift (DMW)."""
    g = (diagonal[first + 1] - diagonal[first]) / (2 * beside[first])
    root = math.copysign(math.sqrt(g * g + 1), g)
    g = diagonal[last] - diagonal[first] + beside[first] / (g + root)
    sine = cosine = 1.0
    shift = 0.0
    for i in range(last - 1, first - 1, -1):
        f, b = sine * beside[i], cosine * beside[i]
        length = math.sqrt(f * f + g * g)
        beside[i + 1] = length
        if length == 0:  # split there
            diagonal[i + 1] -= shift
            beside[last] = 0.0
            return
        inverse = 1 / length
        sine, cosine = f * inverse, g * inverse
        g = diagonal[i + 1] - shift
        slope = (diagonal[i] - g) * sine + 2 * cosine * b
        shift = sine * slope
        diagonal[i + 1] = g + shift
        g = cosine * slope - b
        _rotate(rows, i, cosine, sine)
    diagonal[first] -= shift
    beside[first] = g
    beside[last] = 0.0


@compiled(fastmath={"contract"})
def _rotate(rows: np.ndarray, i: int, cosine: float, sine: float) -> None:
    """Rotate rows i and i + 1."""
    for j in range(rows.shape[1]):
        upper, lower = rows[i, j], rows[i + 1, j]
        rows[i + 1, j] = sine * upper + cosine * lower
        rows[i, j] = cosine * upper - sine * lower
