"""Novelty: against a search through all distances."""

import numpy as np
import pytest

from repertoire.emitters.parents import novelty


def brute_force(measures: np.ndarray, seen: np.ndarray) -> list[float]:
    result = []
    for row in measures:
        distances = sorted(np.sqrt(sum((a - b) ** 2 for a, b in zip(row, one, strict=True))) for one in seen)
        result.append(np.mean(distances[:10]))
    return result


@pytest.mark.parametrize(("seen", "dim"), [(1, 2), (9, 4), (10, 1), (11, 3), (200, 4)])
def test_it_is_the_mean_distance_to_the_ten_nearest(seen, dim):
    rng = np.random.default_rng(seen)
    past, measures = rng.normal(size=(seen, dim)), rng.normal(size=(30, dim))
    measures[:2] = past[0]
    np.testing.assert_allclose(novelty(measures, past), brute_force(measures, past), rtol=1e-12)


def test_nothing_is_novel_before_anything_was_seen():
    assert novelty(np.ones((3, 2)), np.empty((0, 2))).tolist() == [0, 0, 0]


def test_what_failed_is_not_a_number():
    values = novelty(np.array([[np.nan, np.nan], [0.0, 3.0]]), np.array([[4.0, 0.0]]))
    assert np.isnan(values[0])
    assert values[1] == 5
