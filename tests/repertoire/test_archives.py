"""Archives: the threshold rules against transcriptions, the laws they obey, and what the door refuses."""

import math

import numpy as np
import pytest

from repertoire.archives import Archive, GridArchive
from repertoire.archives import competition as archive_module
from robots.errors import InvalidValueError

RULES = ("sequential", "batch")
P = 3  # parameters of a solution


def grid(**settings) -> GridArchive:
    settings = {"shape": (4, 3), "ranges": [(0, 1), (-1, 2)], **settings}
    return GridArchive(solution_dim=P, **settings)


def candidates(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Solutions, objectives with ties and on both sides of 0, and measures that crowd a few cells."""
    rng = np.random.default_rng(seed)
    objectives = np.round(rng.normal(1, 3, n), 1)
    return rng.normal(size=(n, P)).astype(np.float32), objectives, rng.uniform((0, -1), (0.8, 2), (n, 2))


def add_one_cell(archive: Archive, objectives: list[float]) -> np.ndarray:
    n = len(objectives)
    solutions = np.arange(n * P, dtype=np.float32).reshape(n, P)
    return archive.add(solutions, np.array(objectives), np.full((n, 2), 0.1))


class SequentialTranscription:
    """Algorithm 1's inner loop on dictionaries, with the published code's treatment of empty cells."""

    def __init__(self, alpha: float, floor: float) -> None:
        self.alpha, self.floor = alpha, floor
        self.t: dict[int, float] = {}
        self.elite: dict[int, tuple[float, tuple]] = {}

    def add(self, cells, solutions, objectives) -> list[float]:
        improvements = []
        for cell, x, f in zip(cells, solutions, objectives, strict=True):
            t = self.t.get(cell, self.floor)
            improvements.append(f - t)
            if cell not in self.elite or f > t or f > self.elite[cell][0]:
                self.elite[cell] = (f, tuple(x))
            if f > t:
                self.t[cell] = (1 - self.alpha) * t + self.alpha * f
        return improvements


class BatchTranscription(SequentialTranscription):
    """The batch rule, cell by cell from lists of what each cell accepts."""

    def add(self, cells, solutions, objectives) -> list[float]:
        old = {cell: self.t.get(cell, self.floor) for cell in cells}
        for cell, t in old.items():
            accepted = [
                (f, -i, tuple(x))
                for i, (c, x, f) in enumerate(zip(cells, solutions, objectives, strict=True))
                if c == cell and f > t
            ]
            if accepted:
                f, _, x = max(accepted)
                self.elite[cell] = (f, x)
                kept = (1 - self.alpha) ** len(accepted)
                self.t[cell] = kept * t + (1 - kept) * math.fsum(a[0] for a in accepted) / len(accepted)
        return [f - old[cell] for cell, f in zip(cells, objectives, strict=True)]


TRANSCRIPTIONS = {"sequential": SequentialTranscription, "batch": BatchTranscription}


def test_the_worked_example_of_three_solutions_in_a_cell():
    batch = grid(learning_rate=0.5, min_objective=0.0, rule="batch")
    np.testing.assert_allclose(add_one_cell(batch, [4, 2, 8]), [4, 2, 8])
    assert batch.thresholds.max() == pytest.approx(49 / 12)  # 4.0833
    sequential = grid(learning_rate=0.5, min_objective=0.0, rule="sequential")
    np.testing.assert_allclose(add_one_cell(sequential, [4, 2, 8]), [4, 0, 6])
    assert sequential.thresholds.max() == pytest.approx(5)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("alpha", [0.0, 0.001, 0.3, 1.0])
def test_a_rule_equals_its_transcription(rule, alpha):
    archive = grid(learning_rate=alpha, min_objective=0.5, rule=rule)
    expected = TRANSCRIPTIONS[rule](alpha, 0.5)
    for seed in range(5):
        solutions, objectives, measures = candidates(seed)
        cells = archive.cells_of(measures)
        improvements = archive.add(solutions, objectives, measures)
        np.testing.assert_allclose(improvements, expected.add(cells, solutions, objectives), atol=1e-12)
    elites = archive.elites()
    assert elites.cells.tolist() == sorted(expected.elite)
    for cell, x, f in zip(elites.cells, elites.solutions, elites.objectives, strict=True):
        assert (f, tuple(x)) == expected.elite[cell]
    thresholds = [expected.t.get(cell, 0.5) for cell in range(archive.cells)]
    np.testing.assert_allclose(archive.thresholds, thresholds, rtol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_the_compiled_rules_equal_their_python(rule, monkeypatch):
    settings = {"learning_rate": 0.3, "min_objective": 0.5, "rule": rule}
    compiled, interpreted = grid(**settings), grid(**settings)
    improvements = compiled.add(*candidates(0))
    for name in ("_improvement", "_place", "_settle"):
        kernel = getattr(archive_module, name)
        monkeypatch.setattr(archive_module, name, getattr(kernel, "py_func", kernel))
    np.testing.assert_array_equal(interpreted.add(*candidates(0)), improvements)
    assert_same_state(interpreted.state(), compiled.state())


@pytest.mark.parametrize("rule", RULES)
def test_a_plain_archive_keeps_the_first_best_of_each_cell(rule):
    archive = grid(rule=rule)
    solutions, objectives, measures = (
        np.concatenate(x) for x in zip(*map(candidates, range(4)), strict=True)
    )
    for part in np.array_split(np.arange(len(objectives)), 7):
        archive.add(solutions[part], objectives[part], measures[part])
    cells = archive.cells_of(measures)
    elites = archive.elites()
    np.testing.assert_array_equal(elites.cells, np.unique(cells))
    for cell, x in zip(elites.cells, elites.solutions, strict=True):
        (rivals,) = np.nonzero(cells == cell)
        np.testing.assert_array_equal(x, solutions[rivals[np.argmax(objectives[rivals])]])
    np.testing.assert_array_equal(archive.thresholds[elites.cells], elites.objectives)
    assert (np.delete(archive.thresholds, elites.cells) == -np.inf).all()


@pytest.mark.parametrize("rule", RULES)
def test_a_plain_archive_reports_new_cells_by_objective_and_others_by_gain(rule):
    archive = grid(rule=rule)
    assert add_one_cell(archive, [-3]).tolist() == [-3]
    assert add_one_cell(archive, [-3]).tolist() == [0]
    assert add_one_cell(archive, [2]).tolist() == [5]


@pytest.mark.parametrize("rule", RULES)
def test_a_learning_rate_of_zero_never_moves_a_threshold(rule):
    archive = grid(learning_rate=0.0, min_objective=-1.0, rule=rule)
    for seed in range(2):
        solutions, objectives, measures = candidates(seed)
        np.testing.assert_array_equal(archive.add(solutions, objectives, measures), objectives + 1)
    assert (archive.thresholds == -1).all()


def test_a_learning_rate_of_one_moves_the_threshold_onto_the_best_or_the_mean():
    sequential = grid(learning_rate=1.0, min_objective=0.0)
    add_one_cell(sequential, [4, 2, 8])
    assert sequential.thresholds.max() == 8
    batch = grid(learning_rate=1.0, min_objective=0.0, rule="batch")
    add_one_cell(batch, [3, 2, 10])
    assert batch.thresholds.max() == 5


def test_what_an_empty_cell_does_below_the_floor_depends_on_the_rule():
    sequential, batch = (grid(learning_rate=0.1, min_objective=0.0, rule=rule) for rule in RULES)
    for archive in (sequential, batch):
        np.testing.assert_array_equal(add_one_cell(archive, [-2, -1, -3, 0]), [-2, -1, -3, 0])
        assert (archive.thresholds == 0).all()
    assert sequential.elites().objectives.tolist() == [0]
    assert len(batch) == 0


def test_the_sequential_rule_may_replace_an_elite_by_a_worse_one_above_the_threshold():
    archive = grid(learning_rate=0.1, min_objective=0.0)
    add_one_cell(archive, [10])
    add_one_cell(archive, [5])
    assert archive.elites().objectives.tolist() == [5]


@pytest.mark.parametrize("rule", RULES)
def test_the_first_of_equally_good_solutions_is_stored(rule):
    archive = grid(rule=rule)
    add_one_cell(archive, [1, 5, 5, 2])
    np.testing.assert_array_equal(archive.elites().solutions, [[3, 4, 5]])


def test_elites_are_sorted_and_a_copy():
    archive = grid()
    archive.add(*candidates(0))
    elites = archive.elites()
    assert len(elites) == len(archive) > 3
    assert (np.diff(elites.cells) > 0).all()
    np.testing.assert_array_equal(archive.cells_of(elites.measures), elites.cells)
    elites.solutions[:] = 0
    assert archive.elites().solutions.any()


def test_elites_are_sampled_uniformly_as_copies():
    archive = grid()
    rng = np.random.default_rng(0)
    assert archive.sample_elites(2, rng).shape == (0, P)
    archive.add(*candidates(0))
    solutions = archive.elites().solutions
    draws = archive.sample_elites(100 * len(solutions), rng)
    counts = (draws[:, None] == solutions).all(axis=2).sum(axis=0)
    assert counts.sum() == len(draws)
    assert abs(counts - 100).max() < 50  # five standard deviations
    archive.sample_elites(1, rng)[:] = 0
    np.testing.assert_array_equal(archive.elites().solutions, solutions)


def assert_same_state(actual, expected) -> None:
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value, err_msg=name)


@pytest.mark.parametrize("rule", RULES)
def test_a_restored_archive_goes_on_as_the_original(rule):
    settings = {"learning_rate": 0.3, "min_objective": 0.5, "rule": rule}
    original, restored = grid(**settings), grid(**settings)
    original.add(*candidates(0))
    restored.add(*candidates(1))  # must leave nothing behind
    restored.restore(original.state())
    assert_same_state(restored.state(), original.state())
    np.testing.assert_array_equal(restored.add(*candidates(2)), original.add(*candidates(2)))
    assert_same_state(restored.state(), original.state())


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("thresholds", np.zeros(5), r"thresholds must have shape \(12,\), got \(5,\)"),
        ("solutions", np.zeros((2, P)), r"solutions must have shape"),
        ("cells", None, "different integers in"),
        ("measures", None, "lacks measures"),
    ],
)
def test_a_state_that_does_not_fit_is_refused_and_changes_nothing(name, value, message):
    archive = grid()
    archive.add(*candidates(0))
    before = archive.state()
    state = dict(before)
    if name == "measures":
        del state[name]
    else:
        state[name] = before["cells"] + archive.cells if value is None else value
    with pytest.raises(InvalidValueError, match=message):
        archive.restore(state)
    assert_same_state(archive.state(), before)


@pytest.mark.parametrize(
    ("argument", "shape", "message"),
    [
        (0, (2, P + 1), r"solutions must have shape \(2, 3\), got \(2, 4\)"),
        (1, (2, 1), r"objectives must have shape \(2,\), got \(2, 1\)"),
        (2, (2, 3), r"measures must have shape \(2, 2\), got \(2, 3\)"),
        (2, (3, 2), r"measures must have shape \(2, 2\), got \(3, 2\)"),
    ],
)
def test_wrong_shapes_are_refused_by_name(argument, shape, message):
    arguments = [np.zeros((2, P)), np.zeros(2), np.zeros((2, 2))]
    arguments[argument] = np.zeros(shape)
    with pytest.raises(InvalidValueError, match=message):
        grid().add(*arguments)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("argument", "name"), [(1, "objectives"), (2, "measures")])
def test_non_finite_candidates_are_refused_by_index_and_change_nothing(rule, argument, name):
    archive = grid(rule=rule)
    archive.add(*candidates(0))
    before = archive.state()
    arguments = candidates(1)
    arguments[argument][3, ...] = np.nan
    arguments[argument][7, ...] = np.inf
    with pytest.raises(InvalidValueError, match=f"{name} must be finite, but are not at index 3, 7"):
        archive.add(*arguments)
    assert_same_state(archive.state(), before)


def test_adding_nothing_is_allowed():
    for rule in RULES:
        assert grid(rule=rule).add(np.zeros((0, P)), np.zeros(0), np.zeros((0, 2))).shape == (0,)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_rate": 1.5}, r"learning_rate must be in \[0, 1\], got 1.5"),
        ({"learning_rate": math.nan}, "learning_rate must be in"),
        ({"learning_rate": 0.5}, "needs a finite min_objective"),
        ({"min_objective": math.nan}, "min_objective must be finite or -inf, got nan"),
        ({"rule": "parallel"}, "rule must be one of sequential, batch, got 'parallel'"),
        ({"shape": (4, 0)}, "shape must hold positive integers"),
        ({"shape": (4, 2.5)}, "shape must hold positive integers"),
        ({"shape": (4,)}, "an entry for each of 2 ranges"),
        ({"ranges": [(0, 1), (1, 1)]}, r"ranges\[1\] must be finite with low < high, got \(1.0, 1.0\)"),
        ({"ranges": [(0, 1, 2)]}, r"\(low, high\) for each measure"),
        ({"solution_dim": 0}, "solution_dim must be at least 1, got 0"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    settings = {"solution_dim": P, "shape": (4, 3), "ranges": [(0, 1), (-1, 2)], **settings}
    with pytest.raises(InvalidValueError, match=message):
        GridArchive(**settings)


def test_cells_are_numbered_in_row_major_order_and_clipped():
    archive = grid()
    measures = np.array([(0, -1), (0.99, 1.99), (1, 2), (0.5, 0), (-1e300, 1e300), (0.25, -0.01)])
    assert archive.cells_of(measures).tolist() == [0, 11, 11, 7, 2, 3]


@pytest.mark.parametrize("dim", [6, 10, 32, 100])
def test_a_fraction_falls_into_the_cell_that_exact_arithmetic_gives(dim):
    archive = GridArchive(solution_dim=1, shape=(dim,), ranges=[(0, 1)])
    for n in range(1, 1001, 3):
        k = np.arange(n + 1)
        expected = np.minimum(k * dim // n, dim - 1)
        np.testing.assert_array_equal(archive.cells_of((k / n)[:, None]), expected)
