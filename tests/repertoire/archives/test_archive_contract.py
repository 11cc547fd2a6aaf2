"""What every kind of archive promises under either rule."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from kinds import RANGES, RULES, SPECS, P, candidates
from kinds import make as make_archive
from search_tools import assert_same_state
from transcription import TRANSCRIPTIONS

from repertoire.algorithms.settings import ARCHIVES, parse_archive
from repertoire.archives.archive import Archive
from robots.errors import InvalidValueError, SurefootError

Make = Callable[..., Archive]
SOFT = {"learning_rate": 0.3, "min_objective": 0.5}


@pytest.fixture(params=SPECS)
def kind(request) -> str:
    return request.param


@pytest.fixture(params=RULES)
def make(request, kind) -> Make:
    return partial(make_archive, kind, rule=request.param)


@pytest.mark.parametrize(
    ("alpha", "floor"), [(0.0, 0.5), (0.001, 0.5), (0.3, 0.5), (1.0, 0.5), (1.0, -math.inf)]
)
def test_the_rule_equals_its_transcription(make, alpha, floor):
    plain = floor == -math.inf  # as it is by default: it keeps the best
    archive = make() if plain else make(learning_rate=alpha, min_objective=floor)
    expected = TRANSCRIPTIONS[archive.rule](alpha, floor)
    for seed in range(5):
        solutions, objectives, measures = candidates(seed)
        cells = archive.cells_of(measures)
        improvements = archive.add(solutions, objectives, measures)
        transcribed = expected.add(cells, solutions, objectives, measures)
        np.testing.assert_allclose(improvements, transcribed, rtol=0, atol=1e-12)
    elites = archive.elites()
    assert elites.cells.tolist() == sorted(expected.elite)
    rows = zip(elites.cells, elites.objectives, elites.solutions, elites.measures, strict=True)
    for cell, f, x, m in rows:
        assert (f, tuple(x), tuple(m)) == expected.elite[cell]
    thresholds = [expected.t.get(cell, floor) for cell in range(archive.cells)]
    np.testing.assert_allclose(archive.thresholds, thresholds, rtol=1e-12)


def test_elites_are_sampled_uniformly_as_copies(make):
    archive = make(**SOFT)
    archive.add(*candidates(0))
    solutions = archive.elites().solutions
    draws = archive.sample_elites(100 * len(solutions), np.random.default_rng(0))
    assert draws.dtype == np.float32
    counts = (draws[:, None] == solutions).all(axis=2).sum(axis=0)
    assert counts.sum() == len(draws)
    assert abs(counts - 100).max() < 50  # five standard deviations
    draws[:] = 0
    np.testing.assert_array_equal(archive.elites().solutions, solutions)


def test_a_restored_archive_goes_on_as_the_original(make):
    original, restored = make(**SOFT), make(**SOFT)
    original.add(*candidates(0))
    restored.add(*candidates(1))  # must leave nothing behind
    restored.restore(original.state())
    assert_same_state(restored.state(), original.state())
    np.testing.assert_array_equal(restored.add(*candidates(2)), original.add(*candidates(2)))
    assert_same_state(restored.state(), original.state())


@pytest.mark.parametrize(
    ("argument", "shape", "message"),
    [
        (0, (2, P + 1), r"solutions must have shape \(2, 3\), got \(2, 4\)"),
        (1, (2, 1), r"objectives must have shape \(2,\), got \(2, 1\)"),
        (2, (3, 2), r"measures must have shape \(2, 2\), got \(3, 2\)"),
    ],
)
def test_wrong_shapes_are_refused_by_name(make, argument, shape, message):
    arguments = [np.zeros((2, P)), np.zeros(2), np.zeros((2, 2))]
    arguments[argument] = np.zeros(shape)
    with pytest.raises(InvalidValueError, match=message):
        make().add(*arguments)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("argument", "name"), [*enumerate(("solutions", "objectives", "measures"))])
def test_what_is_not_finite_is_refused_by_index_and_changes_nothing(make, argument, name, value):
    archive = make(**SOFT)
    archive.add(*candidates(0))
    before = archive.state()
    arguments = candidates(1)
    for i in (3, 7):
        arguments[argument][i, ...].flat[-1] = value  # the last entry of a row
    with pytest.raises(
        InvalidValueError, match=f"{name} must be finite, up to 1e\\+30, but are not at index 3, 7"
    ):
        archive.add(*arguments)
    assert_same_state(archive.state(), before)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_rate": 0.5}, "needs a finite min_objective"),
        ({"ranges": [(1, 0), (0, 1)]}, r"ranges\[0\] must be finite with low < high, got \(1.0, 0.0\)"),
        ({"ranges": [(0, math.inf), (0, 1)]}, r"ranges\[0\] must be finite"),
        ({"ranges": []}, r"\(low, high\) for each measure"),
    ],
)
def test_impossible_settings_are_refused(make, settings, message):
    with pytest.raises(InvalidValueError, match=message):
        make(**settings)


def test_the_archive_and_its_text_are_functions_of_the_specification(kind):
    spec = parse_archive(SPECS[kind])
    assert parse_archive(str(spec)) == spec == parse_archive(spec)
    assert spec.cells == np.prod(spec.shape) == 12
    assert ARCHIVES[spec.kind] is type(spec)
    assert spec.form
    first, second = make_archive(kind), make_archive(kind)
    measures = np.random.default_rng(0).uniform((0, -1), (1, 2), (200, 2))
    cells = first.cells_of(measures)
    np.testing.assert_array_equal(cells, second.cells_of(measures))
    assert len(np.unique(cells)) > 8
    centroids = spec.centroids(RANGES)
    if centroids is not None:
        np.testing.assert_array_equal(first.cells_of(centroids), np.arange(12))


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the archive '' cannot be read: '' is not a whole number from 1 to 1,000,000; write 6,6"),
        ("0,3", "'0' is not a whole number"),
        ("cvt:20001", "a tessellation can have 20,000 cells, which take some ten seconds, not 20,001"),
        ("1001,1000", "at most 1,000,000 cells in all, not 1,001,000"),
        ("voronoi:5", "unknown archive 'voronoi'; available: grid, cvt"),
    ],
)
def test_what_is_no_specification_is_refused(text, message):
    with pytest.raises(SurefootError, match=message):
        parse_archive(text)
