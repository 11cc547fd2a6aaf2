"""The evolution strategy emitter: ranking, restarts, and resuming."""

import numpy as np
import pytest

from repertoire.archives import GridArchive
from repertoire.emitters import EvolutionStrategyEmitter
from repertoire.strategies import SepCMAES, Strategy
from robots.errors import InvalidValueError

N = 6
BATCH = 8


class Scripted(Strategy):
    """A strategy that remembers what it is told, and stops when the test says so."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(np.arange(N), batch_size=BATCH, rng=np.random.Generator(np.random.SFC64(seed)))
        self.rankings, self.means, self.reason = [], [], None

    def _sample(self):
        return np.zeros((BATCH, N), np.float32)

    def _update(self, ranking):
        self.rankings.append(ranking.tolist())

    def _degenerate(self):
        return self.reason

    def _reset(self, mean):
        self.means.append(mean)

    def _search_state(self):
        return {"mean": np.zeros(N)}

    def _restore_search(self, state):
        pass


def archive_of(solutions: int) -> GridArchive:
    archive = GridArchive(solution_dim=N, shape=(10,), ranges=[(0, 1)])
    rows = np.arange(1, solutions + 1)
    archive.add(np.repeat(rows[:, None], N, axis=1), rows * 1.0, rows[:, None] / 10)
    return archive


def sep_emitter(seed: int) -> EvolutionStrategyEmitter:
    rng = np.random.Generator(np.random.SFC64(seed))
    return EvolutionStrategyEmitter(SepCMAES(np.full(N, 0.5), sigma0=0.1, batch_size=BATCH, rng=rng))


def step(emitter: EvolutionStrategyEmitter, archive: GridArchive) -> None:
    """Maximise -sum x², with the first parameter as the measure."""
    solutions = emitter.ask()
    x = solutions.astype(np.float64)
    emitter.tell(archive.add(solutions, -np.sum(x**2, axis=1), x[:, :1]), archive)


def test_the_largest_improvement_ranks_first_and_ties_keep_their_order():
    strategy = Scripted()
    emitter = EvolutionStrategyEmitter(strategy)
    emitter.ask()
    emitter.tell(np.array([0.0, 3, -1, 3, 0, 5, -1, 0]), archive_of(1))
    assert strategy.rankings == [[5, 1, 3, 0, 4, 7, 2, 6]]
    assert emitter.restarts == {}


def test_a_converged_strategy_restarts_from_an_elite_for_a_counted_reason():
    strategy, archive = Scripted(), archive_of(4)
    emitter = EvolutionStrategyEmitter(strategy)
    for reason in (None, "bored", "bored"):
        strategy.reason = reason
        emitter.ask()
        emitter.tell(np.arange(8.0), archive)
    strategy.reason = None
    for _ in range(40):
        emitter.ask()
        emitter.tell(np.ones(8), archive)
    assert emitter.restarts == {"bored": 2, "flat values": 40}
    assert {tuple(mean) for mean in strategy.means} == {(float(k),) * N for k in range(1, 5)}


def test_with_an_empty_archive_it_restarts_at_the_initial_mean():
    strategy = Scripted()
    emitter = EvolutionStrategyEmitter(strategy)
    emitter.ask()
    emitter.tell(np.zeros(8), archive_of(0))
    np.testing.assert_array_equal(strategy.means, [np.arange(N)])


def test_improvements_of_the_wrong_shape_are_refused():
    emitter = EvolutionStrategyEmitter(Scripted())
    emitter.ask()
    with pytest.raises(InvalidValueError, match=r"improvements must have shape \(8,\), got \(7,\)"):
        emitter.tell(np.zeros(7), archive_of(1))


def test_tell_before_ask_raises():
    with pytest.raises(RuntimeError, match="tell was called before ask"):
        sep_emitter(0).tell(np.arange(8.0), archive_of(1))


def test_improvement_drives_the_strategy_uphill():
    emitter = sep_emitter(0)
    archive = GridArchive(
        solution_dim=N, shape=(10,), ranges=[(-1, 1)], learning_rate=0.01, min_objective=-2.0, rule="batch"
    )
    step(emitter, archive)
    before = archive.objectives.max()
    for _ in range(60):
        step(emitter, archive)
    assert 0 > archive.objectives.max() > before / 2


def test_only_the_order_of_improvements_matters():
    plain, transformed = sep_emitter(0), sep_emitter(0)
    rng, archive = np.random.default_rng(0), archive_of(3)
    for _ in range(10):
        improvements = rng.normal(size=BATCH)
        for emitter, values in ((plain, improvements), (transformed, np.exp(improvements) + 7)):
            emitter.ask()
            emitter.tell(values, archive)
    assert_same_state(transformed.state(), plain.state())


def assert_same_state(actual, expected) -> None:
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value, err_msg=name)


def test_a_restored_emitter_goes_on_as_the_original_restarts_included():
    original, restored = sep_emitter(1), sep_emitter(2)
    archive = archive_of(5)
    original.ask()
    original.tell(np.ones(BATCH), archive)
    restored.restore(original.state())
    assert restored.restarts == original.restarts == {"flat values": 1}
    for improvements in (np.arange(8.0), np.zeros(8), np.arange(8.0)):
        for emitter in (original, restored):
            emitter.ask()
            emitter.tell(improvements, archive)
    assert_same_state(restored.state(), original.state())
    assert restored.restarts == {"flat values": 2}
