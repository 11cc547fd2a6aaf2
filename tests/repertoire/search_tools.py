"""What the tests of archives, strategies, emitters and searches share."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from repertoire.archives.archive import Archive
from repertoire.archives.grid import GridSpec


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(seed))


def grid(*sizes: int, dim: int, ranges: Any, **thresholds: Any) -> Archive:
    return Archive(GridSpec(sizes), solution_dim=dim, ranges=ranges, **thresholds)


def assert_same_state(actual: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> None:
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value, err_msg=name)
