"""The evolution strategy emitter: ranking, restarts, status, and resuming."""

import numpy as np
from search_tools import generator, grid, improved

from repertoire.archives.archive import Archive
from repertoire.emitters.evolution_strategy import EvolutionStrategyEmitter
from repertoire.strategies.sep_cma_es import SepCMAESSettings
from repertoire.strategies.strategy import Strategy

N = 6
BATCH = 8


class Scripted(Strategy):
    """A strategy that remembers what it is told, and stops when the test says so."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(SepCMAESSettings(sigma0=0.5, batch_size=BATCH), np.arange(N), generator(seed))
        self.rankings, self.means, self.reason = [], [], None

    def _sample(self, solutions):
        solutions[:] = np.arange(len(solutions))[:, None]

    def _update(self, ranking, population):
        self.rankings.append(ranking.tolist())

    def _degenerate(self):
        return self.reason

    def _reset(self, mean):
        self.means.append(mean)


def archive_of(solutions: int) -> Archive:
    archive = grid(10, dim=N, ranges=[(0, 1)])
    rows = np.arange(1, solutions + 1)
    archive.add(np.repeat(rows[:, None], N, axis=1), rows * 1.0, rows[:, None] / 10)
    return archive


def test_the_largest_improvement_ranks_first_and_ties_keep_their_order():
    strategy, archive = Scripted(), archive_of(1)
    emitter = EvolutionStrategyEmitter(strategy)
    emitter.ask(archive)
    emitter.tell(improved(np.array([0.0, 3, -np.inf, 3, 0, 5, -np.inf, 0])), archive)
    assert strategy.rankings == [[5, 1, 3, 0, 4, 7, 2, 6]]
    assert emitter.status.restarts == 0


def test_a_converged_strategy_restarts_from_an_elite_and_says_why():
    strategy, archive = Scripted(), archive_of(4)
    emitter = EvolutionStrategyEmitter(strategy)
    seen = []
    for reason in (None, "step too small", "step size too small", None):
        strategy.reason = reason
        emitter.ask(archive)
        emitter.tell(improved(np.arange(8.0)), archive)
        seen.append((emitter.status.stop, emitter.status.restarts))
    assert seen == [(None, 0), ("step too small", 1), ("step size too small", 2), (None, 2)]
    for _ in range(40):
        emitter.ask(archive)
        emitter.tell(improved(np.ones(8)), archive)
    assert (emitter.status.stop, emitter.status.restarts) == ("flat values", 42)
    assert {tuple(mean) for mean in strategy.means} == {(float(k),) * N for k in range(1, 5)}


def test_with_an_empty_archive_it_restarts_at_the_initial_mean():
    strategy, archive = Scripted(), archive_of(0)
    emitter = EvolutionStrategyEmitter(strategy)
    emitter.ask(archive)
    emitter.tell(improved(np.full(8, -np.inf)), archive)
    np.testing.assert_array_equal(strategy.means, [np.arange(N)])
    assert emitter.status.restarts == 1
    emitter.ask(archive)
