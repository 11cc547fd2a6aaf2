"""The loop of ask and tell: who gets which solutions, what enters the archives, threads, and resuming."""

import dataclasses
import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from repertoire.archives.archive import Archive
from repertoire.archives.grid import GridArchive
from repertoire.emitters.emitter import Emitter, Telemetry
from repertoire.emitters.evolution_strategy import EvolutionStrategyEmitter
from repertoire.emitters.outcomes import Outcomes
from repertoire.emitters.variation import VariationEmitter
from repertoire.problems.problem import Evaluations, Request
from repertoire.problems.sphere import Sphere
from repertoire.search import Search
from repertoire.strategies.sep_cma_es import SepCMAES
from robots.errors import InvalidValueError

N = 4


class Numbered(Emitter):
    """Emits rows of its own number and remembers what it is told, and how full the archive then was."""

    def __init__(self, number: int, batch_size: int) -> None:
        self.number, self.batch_size = number, batch_size
        self.told: list[list[float]] = []
        self.elites: list[int] = []

    def tasks(self, solutions: np.ndarray, archive: Archive) -> list[Callable[[], None]]:
        return [lambda: solutions[:1].fill(self.number), lambda: solutions[1:].fill(self.number)]

    def tell(self, outcomes: Outcomes, archive: Archive) -> None:
        self.told.append(outcomes.improvements.tolist())
        self.elites.append(len(archive))

    @property
    def telemetry(self) -> Telemetry:
        return Telemetry(1.0, math.nan, 0, 0, None)

    def state(self) -> dict[str, np.ndarray]:
        return {"number": np.array(self.number)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        self.number = int(state["number"])


def grid(dim: int = N, **settings) -> GridArchive:
    return GridArchive(solution_dim=dim, shape=(50,), ranges=[(0, 50)], **settings)


def soft(dim: int = N) -> GridArchive:
    return grid(dim, learning_rate=0.1, min_objective=-100.0)


def numbered(*batch_sizes: int, threads: int = 1) -> Search:
    emitters = [Numbered(number, size) for number, size in enumerate(batch_sizes, 1)]
    return Search(soft=soft(), result=grid(), emitters=emitters, threads=threads)


def evaluations(objectives, failed=()) -> Evaluations:
    """The i-th solution falls into the i-th cell."""
    n = len(objectives)
    measures, missing = np.arange(n)[:, None] + 0.5, np.isin(np.arange(n), failed)
    measures[missing] = np.nan
    objectives = np.where(missing, np.nan, objectives)
    return Evaluations(objectives, measures, missing, np.ones(n, np.int64))


def test_a_batch_holds_the_solutions_of_each_emitter_in_turn():
    search = numbered(2, 3, 1)
    assert search.batch_size == 6
    solutions = search.ask()
    assert (solutions.dtype, solutions.shape) == (np.float32, (6, N))
    assert solutions[:, 0].tolist() == [1, 1, 2, 2, 2, 3]


def test_each_emitter_is_told_the_improvements_of_its_own_once_all_are_added():
    search = numbered(2, 3, 1)
    search.ask()
    search.tell(evaluations([10.0, 20, 30, 40, 50, 60]))
    assert [emitter.told for emitter in search.emitters] == [[[110, 120]], [[130, 140, 150]], [[160]]]
    assert [emitter.elites for emitter in search.emitters] == [[6]] * 3


def test_improvements_are_those_of_the_soft_archive():
    search = numbered(2)
    for _ in range(2):
        search.ask()
        search.tell(evaluations([0.0, -500]))
    assert search.emitters[0].told == [[100, -400], [90, -400]]


def test_both_archives_get_every_solution():
    search = numbered(2, 1)
    for objectives in ([1.0, 5, 3], [4.0, 2, 3]):
        search.ask()
        search.tell(evaluations(objectives))
    assert search.result.objectives.tolist() == [4, 5, 3]
    assert len(search.soft) == 3
    assert search.result.elites().solutions[:, 0].tolist() == [1, 1, 2]


def test_failures_rank_last_and_enter_no_archive():
    search = numbered(3, 2)
    search.ask()
    search.tell(evaluations([1.0, 2, -99.9, 4, 5], failed=[1, 3]))
    assert search.emitters[0].told == [[101, -math.inf, pytest.approx(0.1)]]
    assert search.emitters[1].told == [[-math.inf, 105]]
    for archive in (search.soft, search.result):
        assert archive.elites().cells.tolist() == [0, 2, 4]


def test_a_batch_may_fail_as_a_whole():
    search = numbered(2, 1)
    search.ask()
    search.tell(evaluations([1.0, 2, 3], failed=[0, 1, 2]))
    assert search.emitters[0].told == [[-math.inf, -math.inf]]
    assert (len(search.soft), len(search.result)) == (0, 0)
    search.ask()


def test_one_archive_for_both_purposes_gets_each_solution_once(monkeypatch):
    archive = grid()
    added = []
    add = archive.add
    monkeypatch.setattr(archive, "add", lambda *batch, **kw: added.append(batch) or add(*batch, **kw))
    emitter = Numbered(1, 3)
    search = Search(soft=archive, result=archive, emitters=[emitter])
    for _ in range(2):
        search.ask()
        search.tell(evaluations([1.0, 2, 3]))
    assert len(added) == 2
    assert emitter.told == [[1, 2, 3], [0, 0, 0]]


def test_solutions_are_good_until_the_next_ask():
    rng = np.random.Generator(np.random.SFC64(0))
    emitter = VariationEmitter(np.zeros(N), iso_sigma=1.0, line_sigma=0.0, batch_size=3, rng=rng)
    search = Search(soft=grid(), result=grid(), emitters=[emitter])
    first = search.ask()
    kept = first.copy()
    search.tell(evaluations([1.0, 2, 3]))
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(search.result.elites().solutions, kept)
    second = search.ask()
    assert second is first
    assert (second != kept).all()
    np.testing.assert_array_equal(search.result.elites().solutions, kept)


def test_misuse_of_the_order_raises_and_leaves_the_archives_alone():
    rng = np.random.Generator(np.random.SFC64(0))
    emitter = VariationEmitter(np.zeros(N), iso_sigma=1.0, line_sigma=0.0, batch_size=3, rng=rng)
    search = Search(soft=grid(), result=grid(), emitters=[emitter])
    with pytest.raises(RuntimeError, match="tell was called before ask"):
        search.tell(evaluations([1.0, 2, 3]))
    assert len(search.result) == 0
    search.ask()
    with pytest.raises(RuntimeError, match="ask was called twice"):
        search.ask()
    with pytest.raises(RuntimeError, match="between ask and tell"):
        search.state()
    search.tell(evaluations([1.0, 2, 3]))
    with pytest.raises(RuntimeError, match="tell was called before ask"):
        search.tell(evaluations([9.0, 9, 9]))
    assert search.result.objectives.tolist() == [1, 2, 3]


class Phased(Numbered):
    """Asks for one solution and then for three, offers some of them, and keeps the outcomes whole."""

    def __init__(self, number: int) -> None:
        super().__init__(number, 1)
        self.outcomes: list[Outcomes] = []

    def tell(self, outcomes: Outcomes, archive: Archive) -> None:
        super().tell(outcomes, archive)
        self.outcomes.append(outcomes)
        first = self.batch_size == 3
        self.batch_size = 1 if first else 3
        observed = None if first or self.number > 1 else np.array([False, True, True])
        self.request = Request(not first, observed)
        self.offered = slice(None) if first else np.array([True, False, self.number > 1])


def phased() -> Search:
    return Search(soft=soft(), result=grid(), emitters=[Phased(1), Phased(2)])


def test_batches_may_change_their_size():
    search = phased()
    for sizes in ((1, 1), (3, 3), (1, 1), (3, 3)):
        assert search.batch_size == sum(sizes)
        solutions = search.ask()
        assert solutions[:, 0].tolist() == np.repeat([1, 2], sizes).tolist()
        search.tell(evaluations(np.arange(float(sum(sizes)))))
    for emitter in search.emitters:
        assert [len(outcomes.objectives) for outcomes in emitter.outcomes] == [1, 3, 1, 3]


def test_only_what_is_offered_enters_the_archives():
    search = phased()
    search.ask()
    search.tell(evaluations([1.0, 2]))
    search.ask()
    search.tell(evaluations([10.0, 20, 30, 40, 50, 60], failed=[5]))
    assert search.emitters[0].told[1] == [pytest.approx(99.9), -math.inf, -math.inf]
    assert search.emitters[1].told[1] == [140, -math.inf, -math.inf]
    for archive in (search.soft, search.result):
        assert archive.elites().cells.tolist() == [0, 1, 3]


def test_the_request_is_that_of_all_emitters():
    search = phased()
    search.ask()
    assert (search.request.gradients, search.request.observed) == (False, None)
    search.tell(evaluations([1.0, 2]))
    search.ask()
    assert search.request.gradients
    assert search.request.observed.tolist() == [False, True, True, False, False, False]


def test_each_emitter_is_told_all_that_is_known_of_its_own():
    search = phased()
    search.ask()
    search.tell(evaluations([1.0, 2]))
    search.ask()
    gradients, moments = np.arange(6 * 2 * N).reshape(6, 2, N), object()
    found = evaluations([10.0, 20, 30, 40, 50, 60], failed=[5])
    search.tell(dataclasses.replace(found, gradients=gradients, moments=moments))
    for emitter, rows in zip(search.emitters, (slice(0, 3), slice(3, 6)), strict=True):
        outcomes = emitter.outcomes[1]
        np.testing.assert_array_equal(outcomes.objectives, found.objectives[rows])
        np.testing.assert_array_equal(outcomes.measures, found.measures[rows])
        np.testing.assert_array_equal(outcomes.failed, found.failed[rows])
        np.testing.assert_array_equal(outcomes.gradients, gradients[rows])
        assert outcomes.moments is moments
        assert emitter.outcomes[0].gradients is emitter.outcomes[0].moments is None
    assert search.emitters[0].outcomes[0].opened.tolist() == [True]
    assert search.emitters[0].outcomes[1].opened.tolist() == [False, False, False]
    assert search.emitters[1].outcomes[1].opened.tolist() == [True, False, False]


@pytest.mark.parametrize("threads", [1, 2])
def test_what_an_archive_refuses_can_be_told_again(threads):
    search = big(threads)
    n = len(search.ask())
    wrong = evaluations(np.arange(n * 1.0))
    wrong.objectives[3] = np.nan
    with pytest.raises(InvalidValueError, match="objectives must be finite, but are not at index 3"):
        search.tell(wrong)
    assert (len(search.soft), len(search.result)) == (0, 0)
    search.tell(evaluations(np.arange(n * 1.0)))
    assert len(search.result) == 50
    search.close()


def big(threads: int, dim: int = 3000) -> Search:
    """Emitters of both kinds, enough for threads to be worth while."""
    generators = [np.random.Generator(np.random.SFC64(seed)) for seed in range(4)]
    mean = np.zeros(dim)
    emitters: list[Emitter] = [
        EvolutionStrategyEmitter(SepCMAES(mean, sigma0=0.5, batch_size=24, rng=rng)) for rng in generators[1:]
    ]
    emitters.append(VariationEmitter(mean, iso_sigma=0.1, line_sigma=0.2, batch_size=24, rng=generators[0]))
    return Search(soft=soft(dim), result=grid(dim), emitters=emitters, threads=threads)


def advance(search: Search, batches: int) -> None:
    problem = Sphere(search.soft.solution_dim)
    seeds = np.zeros(search.batch_size, np.int64)
    for _ in range(batches):
        found = problem.evaluate(search.ask(), seeds)
        search.tell(Evaluations(found.objectives, found.measures[:, :1] + 25, found.failed, found.steps))


def assert_same(actual: Search, expected: Search) -> None:
    state = actual.state()
    assert state.keys() == expected.state().keys()
    for name, value in expected.state().items():
        np.testing.assert_array_equal(state[name], value, err_msg=name)
    for name, value in actual.result.state().items():
        np.testing.assert_array_equal(value, expected.result.state()[name], err_msg=name)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_nothing(threads):
    alone, together = big(1), big(threads)
    assert alone._pool is None
    assert together._pool is not None
    for search in (alone, together):
        advance(search, 6)
        search.close()
    assert_same(together, alone)


def test_small_batches_are_not_worth_threads():
    search = big(2, dim=20)
    advance(search, 1)
    assert search._pool is None
    search.close()


def test_a_restored_search_goes_on_as_the_original():
    original, restored = big(1, dim=30), big(1, dim=30)
    advance(original, 5)
    advance(restored, 1)
    state = {name: value.copy() for name, value in original.state().items()}
    restored.restore(state)
    elites = original.result.elites()
    restored.result.add(elites.solutions, elites.objectives, elites.measures)
    for search in (original, restored):
        advance(search, 5)
    assert_same(restored, original)


def test_the_state_of_each_part_has_a_name_of_its_own():
    state = numbered(2, 3).state()
    assert {name for name in state if name.startswith("emitter")} == {"emitter_0/number", "emitter_1/number"}
    assert {f"soft/{name}" for name in soft().state()} < state.keys()
    twelve = numbered(*[1] * 12)
    twelve.restore(numbered(*[1] * 12).state())
    assert [emitter.number for emitter in twelve.emitters] == list(range(1, 13))
