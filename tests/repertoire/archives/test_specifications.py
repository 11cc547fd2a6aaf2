"""Specifications of archives: what their texts mean, and what is refused."""

import numpy as np
import pytest

from repertoire.archives.archive import ArchiveSpec
from repertoire.archives.table import ARCHIVES, parse_archive
from robots.errors import SurefootError

RANGES = ((0.0, 1.0), (-2.0, 2.0))
TEXTS = {"grid": "4,3", "cvt": "cvt:12"}


@pytest.fixture(params=ARCHIVES)
def spec(request) -> ArchiveSpec:
    """A specification of 12 cells over two measures, of each kind in turn."""
    return parse_archive(TEXTS[request.param])


def test_the_text_of_a_specification_is_one_of_it(spec):
    assert parse_archive(str(spec)) == spec == parse_archive(spec)
    assert spec.cells == np.prod(spec.shape) == 12
    assert ARCHIVES[spec.kind] is type(spec)
    assert spec.form


def test_the_archive_is_a_function_of_the_specification(spec):
    first, second = (
        spec.make(solution_dim=3, ranges=RANGES, learning_rate=0.5, min_objective=-1) for _ in "ab"
    )
    measures = np.random.default_rng(0).uniform(-2, 2, (200, 2))
    cells = first.cells_of(measures)
    np.testing.assert_array_equal(cells, second.cells_of(measures))
    assert (first.cells, first.solution_dim, first.ranges) == (12, 3, RANGES)
    assert (first.learning_rate, first.thresholds.tolist()) == (0.5, [-1.0] * 12)
    assert len(np.unique(cells)) > 8


@pytest.mark.parametrize(
    ("given", "text", "shape", "measure_dim"),
    [
        ("grid: 6, 5", "6,5", (6, 5), 2),
        ((7,), "7", (7,), 1),
        ("cvt:1000", "cvt:1000", (1000,), None),
        ("cvt:5,seed=3", "cvt:5,seed=3", (5,), None),
    ],
)
def test_texts(given, text, shape, measure_dim):
    spec = parse_archive(given)
    assert (str(spec), spec.shape, spec.measure_dim) == (text, shape, measure_dim)


def test_another_seed_gives_other_centroids():
    one, other = (
        parse_archive(text).make(solution_dim=1, ranges=RANGES) for text in ("cvt:5", "cvt:5,seed=3")
    )
    assert (one.centroids != other.centroids).any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the archive '' cannot be read: '' is not a whole number from 1 to 1,000,000; write 6,6"),
        ("6,x", "'x' is not a whole number"),
        ("0,3", "'0' is not a whole number"),
        ("cvt:", "the archive 'cvt:' cannot be read"),
        ("cvt:5,seed=", "'' is not a whole number from 0"),
        ("cvt:5,colour=1", "'5,colour=1' is not a whole number"),
        ("1001,1000", "at most 1,000,000 cells in all, not 1,001,000"),
        ("voronoi:5", "unknown archive 'voronoi'; available: grid, cvt"),
    ],
)
def test_what_is_no_specification_is_refused(text, message):
    with pytest.raises(SurefootError, match=message):
        parse_archive(text)


def test_a_grid_of_other_measures_is_refused():
    with pytest.raises(SurefootError, match=r"^the archive 4 has cells along 1 measure, but there are 2$"):
        parse_archive("4").make(solution_dim=1, ranges=RANGES)
