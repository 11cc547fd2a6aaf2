"""Eigenvalues of a diagonal matrix plus one of rank one: the roots of the secular equation.

Sources: R.-C. Li, "Solving Secular Equations Stably and Efficiently", LAPACK Working Note 89, 1994 (the
    middle way, Li below), and M. Gu and S. Eisenstat, "A Divide-and-Conquer Algorithm for the Symmetric
    Tridiagonal Eigenproblem", SIAM J. Matrix Anal. Appl. 16, 1995 (when to stop; GE below).

The equation is 1 + Σ w_i / (d_i - λ) = 0. Between two poles d_j and d_{j+1}, and above the last, is one root.
It is sought as the nearer pole, its origin, plus an offset, so that its distance to every pole has a small
relative error. All roots that are still sought take a step together, which vectorises.
"""

import math
from typing import NamedTuple

import numpy as np

from robots.compilation import compiled

_ROUNDING = 2.0**-53
_STEPS = 60  # at most; 4 are usual
_LANES = 8


class _Search(NamedTuple):
    """What is known of the roots that are still sought, one an entry; the arrays are padded."""

    slots: np.ndarray  # which root it is, that is, how many poles less one are below it
    origins: np.ndarray
    offsets: np.ndarray
    lows: np.ndarray  # bounds of the offset
    highs: np.ndarray
    befores: np.ndarray  # the pole below and that above, seen from the origin
    behinds: np.ndarray


class _Sums(NamedTuple):
    """Of every root's poles below it, Σ w / (d - λ) and Σ w / (d - λ)², and of those above it."""

    below: np.ndarray
    below_slope: np.ndarray
    above: np.ndarray
    above_slope: np.ndarray


@compiled()
def secular_roots(d: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve the equation.

    Args:
        d: (k,), poles, strictly ascending.
        w: (k,), weights, positive.

    Returns:
        Origins and offsets, (k,) each; their sum is the roots, ascending.
    """
    k = d.size
    # a pole of weight 0 above the last root saves that one from being a special case
    poles, weights = np.empty((k + 2) // 2 * 2), np.zeros((k + 2) // 2 * 2)
    poles[:k], weights[:k] = d, w
    poles[k:] = d[-1] + 2 * w.sum()
    size = _padded(k)
    search = _Search(
        np.arange(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size),
    )
    sums = _Sums(np.empty(size), np.empty(size), np.empty(size), np.empty(size))
    _start(poles, weights, search, sums, k)
    origins, offsets, following = np.empty(k), np.empty(k), np.empty(size)
    sought = k
    for _ in range(_STEPS):
        _evaluate(poles, weights, search, sums, sought)
        _advance(search, sums, following)
        sought = _settle(search, sums, following, origins, offsets, sought)
        if sought == 0:
            break
    return origins, offsets


@compiled()
def _padded(count: int) -> int:
    """Round up to a multiple of eight: a loop's remainder would run one root at a time."""
    return (count + _LANES - 1) // _LANES * _LANES


@compiled(fastmath={"contract"})
def _evaluate(poles: np.ndarray, weights: np.ndarray, search: _Search, sums: _Sums, sought: int) -> None:
    """Write the sums of the roots sought; two poles share a division, which is what takes the time."""
    slots, origins, offsets = search.slots, search.origins, search.offsets
    below, below_slope, above, above_slope = sums.below, sums.below_slope, sums.above, sums.above_slope
    padded = _padded(sought)
    for a in range(sought, padded):
        origins[a], offsets[a] = poles[-1], 1.0  # anything that is no pole
    for a in range(padded):
        below[a] = below_slope[a] = above[a] = above_slope[a] = 0.0
    for i in range(0, poles.size, 2):
        first_pole, second_pole = poles[i], poles[i + 1]
        first_weight, second_weight = weights[i], weights[i + 1]
        for a in range(padded):
            x, y = (first_pole - origins[a]) - offsets[a], (second_pole - origins[a]) - offsets[a]
            both = 1 / (x * y)
            over_x, over_y = both * y, both * x
            first, second = first_weight * over_x, second_weight * over_y
            first_slope, second_slope = first * over_x, second * over_y
            first_below, second_below = i <= slots[a], i < slots[a]
            below[a] += (first if first_below else 0.0) + (second if second_below else 0.0)
            below_slope[a] += (first_slope if first_below else 0.0) + (second_slope if second_below else 0.0)
            above[a] += (0.0 if first_below else first) + (0.0 if second_below else second)
            above_slope[a] += (0.0 if first_below else first_slope) + (0.0 if second_below else second_slope)


@compiled()
def _start(poles: np.ndarray, weights: np.ndarray, search: _Search, sums: _Sums, k: int) -> None:
    """Choose the origins by the sign halfway, and solve for the two nearest poles alone (Li, section 4)."""
    for j in range(k):
        search.origins[j], search.offsets[j] = poles[j], 0.5 * (poles[j + 1] - poles[j])
    _evaluate(poles, weights, search, sums, k)
    for j in range(k):
        half = search.offsets[j]
        value = 1 + sums.below[j] + sums.above[j]
        others = value + (weights[j] - weights[j + 1]) / half
        b = weights[j] + weights[j + 1]
        if value >= 0:
            search.highs[j], search.behinds[j] = half, 2 * half
            offset = _smaller_root(others, b + 2 * half * others, 2 * half * weights[j])
        else:
            search.origins[j] = poles[j + 1]
            search.lows[j], search.befores[j] = -half, -2 * half
            offset = _smaller_root(others, b - 2 * half * others, -2 * half * weights[j + 1])
        inside = search.lows[j] < offset < search.highs[j]
        search.offsets[j] = offset if inside else 0.5 * (search.lows[j] + search.highs[j])


@compiled()
def _advance(search: _Search, sums: _Sums, following: np.ndarray) -> None:
    """Narrow the bounds, and write the next offsets, by the middle way or else halfway (Li, section 3)."""
    offsets, lows, highs = search.offsets, search.lows, search.highs
    for a in range(following.size):
        value, slope = 1 + sums.below[a] + sums.above[a], sums.below_slope[a] + sums.above_slope[a]
        offset = offsets[a]
        low = offset if value < 0 else lows[a]
        high = highs[a] if value < 0 else offset
        x, y = search.befores[a] - offset, search.behinds[a] - offset
        rest = value - x * sums.below_slope[a] - y * sums.above_slope[a]
        step = _smaller_root(rest, (x + y) * value - x * y * slope, x * y * value)
        step = step if step * value < 0 else -value / slope
        candidate = offset + step
        # a step too small to make a difference is the last, which _settle sees
        inside = (candidate == offset) | ((candidate > low) & (candidate < high))
        following[a] = candidate if inside else 0.5 * (low + high)
        lows[a] = low
        highs[a] = high


@compiled()
def _smaller_root(a: float, b: float, c: float) -> float:
    """Solve a x² - b x + c = 0 without cancellation, for the root between the poles."""
    root = math.sqrt(abs(b * b - 4 * a * c))
    above = 2 * c if b > 0 else b - root
    return above / (b + root if b > 0 else 2 * a)


@compiled()
def _settle(
    search: _Search,
    sums: _Sums,
    following: np.ndarray,
    origins: np.ndarray,
    offsets: np.ndarray,
    sought: int,
) -> int:
    """Write what is known of the roots, drop those that are found, and return how many are left."""
    left = 0
    for a in range(sought):
        j, low, high = search.slots[a], search.lows[a], search.highs[a]
        origins[j], offsets[j] = search.origins[a], search.offsets[a]
        terms = 1 + abs(sums.below[a]) + abs(sums.above[a])
        found = abs(1 + sums.below[a] + sums.above[a]) <= _ROUNDING * origins.size * terms  # GE, section 3
        if not found and low < following[a] < high:
            search.slots[left], search.origins[left], search.offsets[left] = j, origins[j], following[a]
            search.lows[left], search.highs[left] = low, high
            search.befores[left], search.behinds[left] = search.befores[a], search.behinds[a]
            left += 1
    return left
