"""The loop of ask and tell: who gets which solutions, what enters the archives, and resuming."""

import dataclasses
import math

import numpy as np
import pytest
from search_tools import generator
from search_tools import grid as make_grid

from repertoire.algorithms.scheduler import Scheduler
from repertoire.archives.archive import Archive
from repertoire.emitters.emitter import Emitter
from repertoire.emitters.variation import VariationEmitter, VariationSettings
from robots.errors import InvalidValueError
from robots.evaluations import Evaluations, Request

N = 4


class Numbered(Emitter):
    """Emits rows of its own number and remembers what it is told, and how full the archive then was."""

    def __init__(self, number: int, batch_size: int) -> None:
        self.number, self.batch_size = number, batch_size
        self.told: list[list[float]] = []
        self.elites: list[int] = []

    def _fill(self, solutions: np.ndarray, archive: Archive) -> None:
        solutions.fill(self.number)

    def _learn(self, outcomes: Evaluations, archive: Archive) -> None:
        self.told.append(outcomes.improvements.tolist())
        self.elites.append(len(archive))

    def _width(self) -> tuple[float, float]:
        return 1.0, math.nan

    def state(self) -> dict[str, np.ndarray]:
        return {"number": np.array(self.number)}

    def restore(self, state) -> None:
        self.number = int(state["number"])


def grid(dim: int = N, **settings) -> Archive:
    return make_grid(50, dim=dim, ranges=[(0, 50)], **settings)


def soft(dim: int = N) -> Archive:
    return grid(dim, learning_rate=0.1, min_objective=-100.0)


def numbered(*batch_sizes: int) -> Scheduler:
    emitters = [Numbered(number, size) for number, size in enumerate(batch_sizes, 1)]
    return Scheduler(soft=soft(), result=grid(), emitters=emitters)


def evaluations(objectives, failed=()) -> Evaluations:
    """The i-th solution falls into the i-th cell."""
    n = len(objectives)
    measures, missing = np.arange(n)[:, None] + 0.5, np.isin(np.arange(n), failed)
    measures[missing] = np.nan
    objectives = np.where(missing, np.nan, objectives)
    return Evaluations(objectives, measures, missing, np.ones(n, np.int64))


def test_each_emitter_is_told_the_improvements_of_its_own_once_all_are_added():
    search = numbered(2, 3, 1)
    search.ask()
    search.tell(evaluations([10.0, 20, 30, 40, 50, 60]))
    assert [emitter.told for emitter in search.emitters] == [[[110, 120]], [[130, 140, 150]], [[160]]]
    assert [emitter.elites for emitter in search.emitters] == [[6]] * 3


def test_failures_rank_last_and_enter_no_archive():
    search = numbered(3, 2)
    search.ask()
    search.tell(evaluations([1.0, 2, -99.9, 4, 5], failed=[1, 3]))
    assert search.emitters[0].told == [[101, -math.inf, pytest.approx(0.1)]]
    assert search.emitters[1].told == [[-math.inf, 105]]
    for archive in (search.soft, search.result):
        assert archive.elites().cells.tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"diverged": np.array([0, 2, 0])}, "diverged must say true or false of each of the 3 solutions"),
        ({"objectives": np.ones(4)}, r"objectives must have shape \(3,\), got \(4,\)"),
        ({"objectives": np.array([1, 2, np.nan])}, "objectives must be finite, up to 1e\\+30, but are not"),
    ],
)
def test_wrong_evaluations_are_refused_and_can_be_told_again(changes, message):
    search = numbered(2, 1)
    search.ask()
    with pytest.raises(InvalidValueError, match=message):
        search.tell(dataclasses.replace(evaluations([1.0, 2, 3]), **changes))
    assert (len(search.soft), len(search.result)) == (0, 0)
    search.tell(evaluations([1.0, 2, 3]))
    assert len(search.result) == 3


def test_misuse_of_the_order_raises_and_leaves_the_archives_alone():
    settings = VariationSettings(sigma0=1.0, line_sigma=0.0, batch_size=3)
    emitter = VariationEmitter(settings, np.zeros(N), generator(0))
    search = Scheduler(soft=grid(), result=grid(), emitters=[emitter])
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
        self.outcomes: list[Evaluations] = []

    def _learn(self, outcomes: Evaluations, archive: Archive) -> None:
        super()._learn(outcomes, archive)
        self.outcomes.append(outcomes)
        first = self.batch_size == 3
        self.batch_size = 1 if first else 3
        observed = None if first or self.number > 1 else np.array([False, True, True])
        self.request = Request(observed, not first)
        self.offered = slice(None) if first else np.array([True, False, self.number > 1])


def phased() -> Scheduler:
    return Scheduler(soft=soft(), result=grid(), emitters=[Phased(1), Phased(2)])


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
    assert (search.request.transitions, search.request.observed) == (False, None)
    search.tell(evaluations([1.0, 2]))
    search.ask()
    assert search.request.transitions
    assert search.request.observed.tolist() == [False, True, True, False, False, False]
