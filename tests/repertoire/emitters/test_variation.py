"""The variation emitter: the published formula, where parents come from, and resuming."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from telling import improved

from repertoire.archives.grid import GridArchive
from repertoire.emitters.emitter import Telemetry
from repertoire.emitters.variation import VariationEmitter
from repertoire.strategies.noise import Noise
from robots.errors import InvalidValueError

N = 300
BATCH = 40
ISO, LINE = 0.01, 0.2
INITIAL = np.linspace(-1, 1, N).astype(np.float32)


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(seed))


def make(seed: int = 1, **settings: Any) -> VariationEmitter:
    defaults = {"initial": INITIAL, "iso_sigma": ISO, "line_sigma": LINE, "batch_size": BATCH}
    return VariationEmitter(**{**defaults, "rng": generator(seed), **settings})


def archive_of(elites: int) -> GridArchive:
    """Elites with widely different solutions, in cells of their own."""
    archive = GridArchive(solution_dim=N, shape=(max(elites, 1),), ranges=[(0, 1)])
    solutions = np.random.default_rng(0).normal(size=(elites, N)).astype(np.float32)
    archive.add(solutions, np.zeros(elites), (np.arange(elites)[:, None] + 0.5) / max(elites, 1))
    return archive


def step(emitter: VariationEmitter, archive: GridArchive) -> np.ndarray:
    solutions = emitter.ask(archive)
    emitter.tell(improved(np.zeros(emitter.batch_size)), archive)
    return solutions


def parents_of(solutions: np.ndarray, elites: np.ndarray) -> np.ndarray:
    """Index of the nearest elite of each solution."""
    return ((solutions[:, None] - elites[None]) ** 2).sum(axis=2).argmin(axis=1)


@pytest.mark.parametrize("batch_size", [1, 2, 7, 40])
@pytest.mark.parametrize("line_sigma", [0.0, LINE])
def test_solutions_are_those_of_the_published_formula(batch_size, line_sigma):
    archive, rng = archive_of(20), generator(5)
    emitter = make(seed=5, batch_size=batch_size, line_sigma=line_sigma)
    noise = Noise(rng)
    for _ in range(3):
        draw, half = noise.next_draw(), batch_size // 2
        isotropic = np.empty((batch_size, N), np.float32)
        along = np.empty(batch_size, np.float32)
        noise.fill(isotropic[:half], draw=draw, stream=0)
        noise.fill(isotropic[half:], draw=draw, stream=half)
        noise.fill(along, draw=draw, stream=batch_size)
        p1 = archive.sample_elites(batch_size, rng).astype(np.float64)
        p2 = archive.sample_elites(batch_size, rng).astype(np.float64) if line_sigma else p1
        expected = p1 + ISO * isotropic + line_sigma * along[:, None] * (p2 - p1)
        np.testing.assert_allclose(step(emitter, archive), expected, rtol=1e-5, atol=1e-6)


def test_line_sigma_0_is_gaussian_variation():
    archive, emitter = archive_of(3), make(line_sigma=0.0)
    elites = archive.elites().solutions
    solutions = np.concatenate([step(emitter, archive) for _ in range(20)])
    steps = (solutions - elites[parents_of(solutions, elites)]) / ISO
    assert stats.kstest(steps.ravel()[::7], "norm").pvalue > 1e-3


def test_steps_along_lines_are_gaussian_fractions_of_the_distance():
    archive, emitter = archive_of(2), make(iso_sigma=1e-9, line_sigma=0.1)
    a, b = archive.elites().solutions.astype(np.float64)
    solutions = np.concatenate([step(emitter, archive) for _ in range(60)])
    shares = (solutions - a) @ (b - a) / ((b - a) @ (b - a))  # 0 at a, 1 at b
    np.testing.assert_allclose(solutions, a + shares[:, None] * (b - a), atol=1e-5)
    steps = np.minimum(abs(shares), abs(shares - 1)) / 0.1
    moved = steps[steps > 1e-4]  # where both parents are the same elite there is no line
    assert len(moved) == pytest.approx(len(steps) / 2, rel=0.1)
    assert stats.kstest(moved, "halfnorm").pvalue > 1e-3


def test_the_first_batch_varies_the_initial_solution():
    emitter = make()
    solutions = step(emitter, archive_of(0))
    assert (solutions.dtype, solutions.shape) == (np.float32, (BATCH, N))
    assert stats.kstest(((solutions - INITIAL) / ISO).ravel(), "norm").pvalue > 1e-3
    assert len(np.unique(solutions, axis=0)) == BATCH


def test_the_initial_solution_is_copied():
    initial = INITIAL.copy()
    emitter = make(initial=initial)
    initial[:] = 9
    assert abs(step(emitter, archive_of(0)).mean()) < 0.1


def test_parents_are_drawn_uniformly_from_the_elites():
    archive, emitter = archive_of(5), make(line_sigma=0.0)
    elites = archive.elites().solutions
    parents = np.concatenate([parents_of(step(emitter, archive), elites) for _ in range(50)])
    counts = np.bincount(parents, minlength=5)
    assert stats.chisquare(counts).pvalue > 1e-3


def test_equal_seeds_give_equal_solutions_and_others_do_not():
    archive = archive_of(5)
    same = step(make(seed=1), archive)
    np.testing.assert_array_equal(step(make(seed=1), archive), same)
    assert (step(make(seed=2), archive) != same).any(axis=1).all()


def test_telemetry_counts_improvements():
    emitter, archive = make(), archive_of(2)
    emitter.ask(archive)
    emitter.tell(improved(np.where(np.arange(BATCH) < 7, 0.5, -np.inf)), archive)
    assert emitter.telemetry == Telemetry(ISO, pytest.approx(math.nan, nan_ok=True), 7, 0, None)


def test_a_restored_emitter_goes_on_as_the_original():
    archive, original, restored = archive_of(5), make(seed=1), make(seed=2)
    step(original, archive)
    state = original.state()
    assert all(isinstance(value, np.ndarray) for value in state.values())
    saved = {name: value.copy() for name, value in state.items()}
    step(restored, archive)
    restored.ask(archive)
    restored.restore(saved)
    for _ in range(3):
        np.testing.assert_array_equal(step(restored, archive), step(original, archive))
    for name, value in original.state().items():
        np.testing.assert_array_equal(restored.state()[name], value)
        np.testing.assert_array_equal(state[name], saved[name])


def test_a_state_that_lacks_something_is_refused():
    emitter = make()
    state = emitter.state()
    for name in state:
        rest = {other: value for other, value in state.items() if other != name}
        with pytest.raises(InvalidValueError, match=f"the emitter state lacks {name}$"):
            emitter.restore(rest)


def test_misuse_of_the_order_raises():
    emitter, archive = make(), archive_of(1)
    with pytest.raises(RuntimeError, match="tell was called before ask"):
        emitter.tell(improved(np.zeros(BATCH)), archive)
    emitter.ask(archive)
    with pytest.raises(RuntimeError, match="ask was called twice"):
        emitter.ask(archive)
    with pytest.raises(RuntimeError, match="between ask and tell"):
        emitter.state()
    with pytest.raises(InvalidValueError, match=r"improvements must have shape \(40,\), got \(3,\)"):
        emitter.tell(improved(np.zeros(3)), archive)
    emitter.tell(improved(np.zeros(BATCH)), archive)
    with pytest.raises(RuntimeError, match="tell was called before ask"):
        emitter.tell(improved(np.zeros(BATCH)), archive)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"iso_sigma": 0.0}, "iso_sigma must be positive and finite, got 0.0"),
        ({"iso_sigma": math.nan}, "iso_sigma must be positive and finite, got nan"),
        ({"iso_sigma": math.inf}, "iso_sigma must be positive and finite, got inf"),
        ({"line_sigma": -0.1}, "line_sigma must be finite and not negative, got -0.1"),
        ({"line_sigma": math.inf}, "line_sigma must be finite and not negative, got inf"),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"initial": [0.0, math.nan]}, "initial must be a vector of finite numbers"),
        ({"initial": [[0.0]]}, "initial must be a vector of finite numbers"),
        ({"rng": np.random.default_rng()}, "rng must be driven by SFC64, got PCG64"),
    ],
)
def test_impossible_arguments_are_refused(settings, message):
    with pytest.raises(InvalidValueError, match=f"^{message}$"):
        make(**settings)
