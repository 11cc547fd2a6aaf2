"""The best controller under a damage: all are tried, and fresh episodes decide among the finalists."""

from dataclasses import replace

import numpy as np
import pytest

from adapt.oracle import EPISODES, FINAL_EPISODES, FINALISTS, find_oracle, true_objectives
from repertoire.evaluation.evaluator import Evaluator
from repertoire.repertoire import Repertoire
from robots.robot import load_robot
from robots.simulation.backend import Backend
from robots.simulation.episodes import Episodes
from tests.adapt.rehearsal.small import small_repertoire

K = 30


class MadeUp(Backend):
    """Row 3 scores 1; row 4 scores 3 in the first episode; all others score 0.1."""

    threads = 1

    def __init__(self) -> None:
        self.calls: list[tuple[np.ndarray, np.ndarray]] = []

    def run(self, batch, parameters, seeds, *, models=None, request=None, on_finished=None) -> Episodes:
        rows = parameters[:, 0].astype(int)
        self.calls.append((rows, np.array(seeds)))
        objectives = np.where(rows == 3, 1.0, 0.1)
        objectives[(rows == 4) & (seeds == self.calls[0][1][0])] = 3.0
        return replace(Episodes.unknown(len(seeds), load_robot("ant")), objectives=objectives)


@pytest.fixture
def repertoire() -> Repertoire:
    made = small_repertoire(K)
    made.elites.solutions[:, 0] = np.arange(K)
    return made


def evaluator(repertoire: Repertoire, *conditions: str) -> Evaluator:
    return Evaluator(repertoire, dict.fromkeys(conditions, repertoire.robot), backend=MadeUp())


def test_all_controllers_are_tried(repertoire) -> None:
    one = evaluator(repertoire, "damaged")
    truth = true_objectives(one, seed=1)
    assert truth[[0, 3, 4]].tolist() == pytest.approx([0.1, 1.0, (3 + 0.1 * (EPISODES - 1)) / EPISODES])
    rows, seeds = (np.concatenate(column) for column in zip(*one.backend.calls, strict=True))
    assert rows.tolist() == np.repeat(np.arange(K), EPISODES).tolist()
    assert len(set(seeds)) == EPISODES


def test_who_was_lucky_once_does_not_win(repertoire) -> None:
    one = evaluator(repertoire, "damaged")
    means = np.linspace(0.2, 0.3, K)
    means[[3, 4]] = 0.5, 9.0  # the latter by luck
    assert find_oracle(one, means, seed=1) == 3
    (rows, seeds), *_ = one.backend.calls
    assert sorted(set(rows)) == [3, 4, *range(K - FINALISTS + 2, K)]
    assert len(rows) == FINALISTS * FINAL_EPISODES
    assert len(set(seeds)) == FINAL_EPISODES
    assert all(set(seeds[rows == row]) == set(seeds) for row in set(rows))


def test_the_first_of_equals_wins_and_a_row_can_be_added(repertoire) -> None:
    one = evaluator(repertoire, "damaged")
    means = np.where(np.arange(K) == 3, -1.0, 0.0)
    assert find_oracle(one, means, seed=1) in (0, 4)
    assert find_oracle(one, means, seed=1, rows=[3]) == 3


def test_the_fresh_episodes_are_not_those_of_the_means(repertoire) -> None:
    one = evaluator(repertoire, "damaged")
    find_oracle(one, true_objectives(one, seed=1), seed=1)
    first, last = one.backend.calls[0][1], one.backend.calls[-1][1]
    assert set(first).isdisjoint(last)
