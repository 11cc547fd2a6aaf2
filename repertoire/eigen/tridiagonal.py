"""Divide and conquer of a symmetric tridiagonal matrix.

Source: J. Cuppen, "A divide and conquer method for the symmetric tridiagonal eigenproblem", Numer. Math. 36,
    1981.
"""

import numpy as np

from repertoire.eigen.implicit_ql import implicit_ql
from repertoire.eigen.merging import merge
from robots.compilation import compiled

_LEAF = 16  # rows; below, the QL iteration is faster than dividing further


@compiled()
def decompose_tridiagonal(diagonal: np.ndarray, beside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Decompose a matrix whose entries do not exceed about 1.

    Args:
        diagonal: (n,); overwritten.
        beside: (n,), of which the last is not read; overwritten.

    Returns:
        Eigenvalues, (n,) ascending, and eigenvectors, (n, n) in columns. One of the values is not finite if
        an iteration did not end.
    """
    n = diagonal.size
    if n <= _LEAF:
        return implicit_ql(diagonal, beside)
    half = n // 2
    joint = beside[half - 1]
    # what is left is a matrix of rank one with four entries of this size
    diagonal[half - 1] -= abs(joint)
    diagonal[half] -= abs(joint)
    upper, upper_vectors = decompose_tridiagonal(diagonal[:half], beside[:half])
    lower, lower_vectors = decompose_tridiagonal(diagonal[half:], beside[half:])
    return merge(upper, upper_vectors, lower, lower_vectors, joint)
