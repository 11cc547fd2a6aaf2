"""Which elites ME-ES starts from: the laws of the choice, what it remembers, and novelty."""

from collections import Counter

import numpy as np
import pytest
from search_tools import grid

from repertoire.archives.archive import Archive
from repertoire.emitters.me_es import Parents, novelty

CELLS = 20
DRAWS = 4000


def archive_of(elites: int) -> Archive:
    """In each of so many cells an elite whose parameter is its cell; objectives are highest in the middle."""
    archive = grid(CELLS, dim=1, ranges=[(0, CELLS)])
    cells = np.arange(elites, dtype=np.float64)
    archive.add(cells[:, None], -np.abs(cells - 6.1), cells[:, None] + 0.5)
    return archive


def shares(parents: Parents, goal: str, archive: Archive) -> dict[int, float]:
    """How often each cell is chosen."""
    rng = np.random.default_rng(0)
    chosen = Counter(int(parents.choose(goal, archive, rng)[0]) for _ in range(DRAWS))
    return {cell: count / DRAWS for cell, count in chosen.items()}


def about(value: float):
    return pytest.approx(value, abs=4 * np.sqrt(0.25 / DRAWS))


def parents_that_updated(*cells: int) -> Parents:
    parents = Parents(1)
    for cell in cells:
        parents.remember(np.array([cell + 0.5]), cell)
    return parents


def test_exploiting_starts_from_the_two_best_of_all_or_of_the_five_updated_last():
    parents = parents_that_updated(6, 7, 18, 15, 12, 14, 11, 12)
    assert shares(parents, "exploit", archive_of(20)) == {
        6: about(0.25),
        7: about(0.25),
        11: about(0.25),
        12: about(0.25),
    }


def test_while_nothing_was_updated_lately_all_elites_count():
    assert shares(Parents(1), "exploit", archive_of(20)) == {6: about(0.5), 7: about(0.5)}
    assert shares(parents_that_updated(19), "exploit", archive_of(10)) == {6: about(0.5), 7: about(0.5)}


def test_exploring_starts_from_the_five_most_novel():
    parents, archive = Parents(1), archive_of(20)
    for place in np.random.default_rng(1).uniform(0, 20, 40):
        parents.remember(np.array([place]), None)
    values = novelty(archive.elites().measures, parents.seen)
    assert shares(parents, "explore", archive) == {int(cell): about(0.2) for cell in np.argsort(values)[-5:]}


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
