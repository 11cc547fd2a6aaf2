"""Reduction of a symmetric matrix to a tridiagonal one by reflections.

Source: G. Golub and C. Van Loan, "Matrix Computations", 4th edition, 2013, algorithms 5.1.1 and 8.3.1 (GVL
    below), here on both triangles. The update of one step and the product of the next share one pass over the
    matrix.

Vectors and rows are padded to a multiple of the eight numbers of a register, and loops start at multiples of
eight: a loop's remainder, which runs one number at a time, would otherwise take most of the time. What is
left of the start are finished rows and columns, of which no one reads what is written there.
"""

import math

import numpy as np

from robots.compilation import compiled

_LANES = 8
_ROWS = 4  # that a pass takes at once, so that it loads the vectors a fourth as often


@compiled()
def padded_size(n: int) -> int:
    """Round up to a multiple of eight."""
    return (n + _LANES - 1) // _LANES * _LANES


@compiled()
def tridiagonalise(
    matrix: np.ndarray,
    diagonal: np.ndarray,
    beside: np.ndarray,
    factors: np.ndarray,
    reflections: np.ndarray,
) -> None:
    """Write T of A = Q T Qᵀ, where Q = H_0 H_1 ... H_{n-2} and H_k = I - β_k u_k u_kᵀ.

    Args:
        matrix: (size, size), A with both triangles, padded with zeros to `padded_size`; overwritten.
        diagonal: (n,), for the diagonal of T.
        beside: (n,), for what is beside it; the last is not written.
        factors: (n,), for the β; the last is not written.
        reflections: (size, size), zeros; for u_k in row k, in which what is left of k + 1 is zero.
    """
    n, size = diagonal.size, matrix.shape[0]
    # indices that the compiler cannot foresee make it check for overlap of four rows, not of all
    groups = np.empty(size // _ROWS, np.uint64)
    for group in range(groups.size):
        groups[group] = _ROWS * group
    u, product, last_u, last_w = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    for k in range(n - 1):
        # unsigned indices spare the test for negative ones, which keeps loops from being vectorised
        row, start = np.uint64(k), np.uint64((k + 1) // _LANES * _LANES)
        diagonal[k] = matrix[row, row]
        beside[k], factors[k] = _reflection(matrix, row, start, u, reflections)
        _update_and_multiply(matrix, start, groups, last_u, last_w, u, product)
        _second_vector(product, u, factors[k], start, row, last_w)
        u, last_u = last_u, u
        _update_row(matrix, row + np.uint64(1), start, last_u, last_w)
    diagonal[n - 1] = matrix[n - 1, n - 1]


@compiled(fastmath={"contract", "reassoc"})
def _reflection(
    matrix: np.ndarray, k: np.uint64, start: np.uint64, u: np.ndarray, reflections: np.ndarray
) -> tuple[float, float]:
    """Write the u_k that maps row k, right of the diagonal, to a multiple of a unit vector.

    Returns:
        That multiple, and β_k, which is 0 if there is nothing to be done.
    """
    first, stop = k + np.uint64(1), np.uint64(u.size)
    for j in range(start, stop):
        u[j] = matrix[k, j]
    for j in range(start, first + np.uint64(1)):
        u[j] = 0.0
    rest = 0.0
    for j in range(start, stop):
        rest += u[j] * u[j]
    head = matrix[k, first]
    if rest == 0:
        u[first] = 1.0
        return head, 0.0
    length = -math.copysign(math.sqrt(head * head + rest), head)  # the sign that does not cancel
    u[first] = head - length
    scale = 1 / (head - length)
    for j in range(start, stop):
        u[j] *= scale
        reflections[k, j] = u[j]
    return length, (length - head) / length


@compiled(fastmath={"contract"})
def _update_and_multiply(
    a: np.ndarray,
    start: np.uint64,
    groups: np.ndarray,
    v: np.ndarray,
    w: np.ndarray,
    u: np.ndarray,
    product: np.ndarray,
) -> None:
    """Subtract v wᵀ + w vᵀ from a, then write the product of a and u, both right of and below the start."""
    stop, one = np.uint64(u.size), np.uint64(1)
    for j in range(start, stop):
        product[j] = 0.0
    for group in range(np.int64(start) // _ROWS, groups.size):
        i0 = groups[group]
        i1, i2, i3 = i0 + one, i0 + one + one, i0 + one + one + one
        v0, v1, v2, v3 = v[i0], v[i1], v[i2], v[i3]
        w0, w1, w2, w3 = w[i0], w[i1], w[i2], w[i3]
        u0, u1, u2, u3 = u[i0], u[i1], u[i2], u[i3]
        for j in range(start, stop):
            vj, wj = v[j], w[j]
            a0 = a[i0, j] - v0 * wj - w0 * vj
            a1 = a[i1, j] - v1 * wj - w1 * vj
            a2 = a[i2, j] - v2 * wj - w2 * vj
            a3 = a[i3, j] - v3 * wj - w3 * vj
            a[i0, j] = a0
            a[i1, j] = a1
            a[i2, j] = a2
            a[i3, j] = a3
            product[j] = product[j] + a0 * u0 + a1 * u1 + a2 * u2 + a3 * u3


@compiled(fastmath={"contract", "reassoc"})
def _second_vector(
    product: np.ndarray, u: np.ndarray, factor: float, start: np.uint64, k: np.uint64, w: np.ndarray
) -> None:
    """Write the w with which H A H = A - u wᵀ - w uᵀ, from the product of A and u (GVL 8.3.1)."""
    along = 0.0
    for j in range(start, np.uint64(u.size)):
        along += product[j] * u[j]
    along *= 0.5 * factor * factor
    for j in range(start, np.uint64(u.size)):
        w[j] = factor * product[j] - along * u[j]
    for j in range(start, k + np.uint64(1)):
        w[j] = 0.0


@compiled(fastmath={"contract"})
def _update_row(a: np.ndarray, row: np.uint64, start: np.uint64, v: np.ndarray, w: np.ndarray) -> None:
    """Subtract v wᵀ + w vᵀ from one row, which the next step reads before its pass."""
    v_row, w_row = v[row], w[row]
    for j in range(start, np.uint64(v.size)):
        a[row, j] -= v_row * w[j] + w_row * v[j]
