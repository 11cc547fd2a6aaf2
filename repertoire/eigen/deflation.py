"""Deflation: the eigenpairs of two parts that their joint leaves as they are.

Source: J. Dongarra and D. Sorensen, "A Fully Parallel Algorithm for the Symmetric Eigenvalue Problem",
    SIAM J. Sci. Stat. Comput. 8, 1987, with the tolerance of LAPACK's dlaed2, made independent of scale.
"""

import math

import numpy as np

from robots.compilation import compiled

_TOLERANCE = 8 * 2.0**-53
UPPER, MIXED, LOWER = 0, 1, 2  # where an eigenvector has entries


@compiled()
def deflate(
    d: np.ndarray, z: np.ndarray, rho: float, order: np.ndarray, vectors: np.ndarray, kinds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find the eigenpairs of diag(d) + ρ z zᵀ that are those of diag(d), up to rounding.

    Of two values that are close, a rotation makes one such: it mixes their eigenvectors, and clears an entry
    of z.

    Args:
        d: (m,) ascending; close values are changed.
        z: (m,), of norm 1; changed likewise.
        rho: ρ, not negative.
        order: (m,), the column of each value in `vectors`.
        vectors: (m, m), eigenvectors in columns; close ones are rotated.
        kinds: (m,) by column; becomes MIXED where a rotation mixed UPPER and LOWER.

    Returns:
        Indices into d of those that stay in the problem, which are ascending in d, and of all others.
    """
    m = d.size
    tolerance = _TOLERANCE * max(np.abs(d).max(), rho * np.abs(z).max())
    kept, dropped = np.empty(m, np.int64), np.empty(m, np.int64)
    kept_count = dropped_count = 0
    last = -1  # the last that stays, so far
    for i in range(m):
        if rho * abs(z[i]) <= tolerance:
            dropped[dropped_count] = i
            dropped_count += 1
            continue
        if last >= 0:
            length = math.hypot(z[i], z[last])
            cosine, sine = z[i] / length, -z[last] / length
            if abs((d[i] - d[last]) * cosine * sine) <= tolerance:
                z[i], z[last] = length, 0.0
                d[last], d[i] = (
                    d[last] * cosine**2 + d[i] * sine**2,
                    d[last] * sine**2 + d[i] * cosine**2,
                )
                _mix(vectors, kinds, order[last], order[i], cosine, sine)
                dropped[dropped_count] = last
                dropped_count += 1
            else:
                kept[kept_count] = last
                kept_count += 1
        last = i
    if last >= 0:
        kept[kept_count] = last
        kept_count += 1
    return kept[:kept_count], dropped[:dropped_count]


@compiled()
def _mix(vectors: np.ndarray, kinds: np.ndarray, first: int, second: int, cosine: float, sine: float) -> None:
    if kinds[first] != kinds[second]:
        kinds[first] = kinds[second] = MIXED
    for row in range(vectors.shape[0]):
        x, y = vectors[row, first], vectors[row, second]
        vectors[row, first] = cosine * x + sine * y
        vectors[row, second] = cosine * y - sine * x
