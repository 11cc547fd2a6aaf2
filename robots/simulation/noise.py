"""Normal numbers as a function of where in an episode they are needed: no thread keeps a generator."""

import math

import numpy as np
from numba import uint64

from robots.compilation import compiled

_GOLDEN = uint64(0x9E3779B97F4A7C15)


@compiled()
def normal(seed: int, step: int, channel: int) -> float:
    """A standard normal number, the same whenever it is asked for.

    Args:
        seed: of the episode.
        step: control step, not negative.
        channel: below 2^20.
    """
    state = _mixed(uint64(seed) + _GOLDEN * (uint64(step) * uint64(1 << 20) + uint64(channel) + uint64(1)))
    first = _uniform(state)
    second = _uniform(_mixed(state + _GOLDEN))
    return math.sqrt(-2.0 * math.log(1.0 - first)) * math.cos(2.0 * math.pi * second)  # Box and Muller 1958


@compiled()
def _mixed(state: np.uint64) -> np.uint64:
    """The output function of SplitMix64 (Steele, Lea & Flood 2014)."""
    state = uint64(state)
    state = (state ^ (state >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> uint64(27))) * uint64(0x94D049BB133111EB)
    return state ^ (state >> uint64(31))


@compiled()
def _uniform(state: np.uint64) -> float:
    """A number in [0, 1) from 64 bits."""
    return (uint64(state) >> uint64(11)) * (1.0 / (1 << 53))
