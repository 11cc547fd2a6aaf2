"""What a relearner searches on, and what it makes known of the gaits that it finds."""

import numpy as np
import pytest

from adapt.damage.text import parse_damage
from adapt.objective import Progress
from adapt.rehearsal.rehearsal import rehearsed_table
from adapt.relearning.refinement import Refinement, RefinementSettings
from adapt.self_model.relearner import Relearner
from adapt.self_model.twin import Thinking, Twin
from robots.simulation.threads import Threads
from tests.adapt.rehearsal.small import rehearsed
from tests.adapt.self_model.small_minds import STEPS, short_gaits

LOST, DEAD = (parse_damage(f"left_front:{kind}", short_gaits().robot) for kind in ("lost", "dead"))


def relearner() -> Relearner:
    settings = {"refinement": RefinementSettings(episodes=40, batch_size=4), "backend": Threads(1)}
    return Relearner(Twin(Thinking(short_gaits(), 10, objective=Progress(0.1, STEPS), **settings)), seed=1)


@pytest.mark.parametrize(
    ("causes", "models"),
    [
        ([(LOST, 1.0)], ["left_front:lost"]),
        ([(LOST, 0.97), (DEAD, 0.03)], ["left_front:lost"]),
        ([(DEAD, 0.25), (LOST, 0.75)], ["left_front:dead"] * 2 + ["left_front:lost"] * 6),
        ([(LOST, 0.15), (DEAD, 0.15)], ["left_front:lost"] * 4 + ["left_front:dead"] * 4),
    ],
)
def test_models_are_drawn_in_proportion_and_one_that_is_certain_only_once(causes, models, monkeypatch):
    seen = []

    def searched(settings, robots, solutions, **arguments):
        seen.extend(robots)
        raise InterruptedError

    monkeypatch.setattr(RefinementSettings, "refine", searched)
    with pytest.raises(InterruptedError):
        relearner().refine(causes, [0, 1])
    assert [robot.modifications[-1].label for robot in seen] == models


def test_a_search_goes_on_from_where_one_for_the_same_damages_ended_that_found_nothing(monkeypatch):
    searches, scores = [], iter([0.0, 1.0, 1.0, 0.0, 1.0])

    def searched(settings, robots, solutions, **arguments):
        searches.append((settings, solutions))
        start, reached = len(solutions) - 1, np.full_like(solutions[0], 7)
        return Refinement(solutions[start] + 1, start, next(scores), 0.0, episodes=5, reached=(reached, 0.3))

    monkeypatch.setattr(RefinementSettings, "refine", searched)
    one = relearner()
    assert one.refine([(LOST, 1.0)], [4, 2]) is None
    assert one.refine([(LOST, 1.0)], [0]).parent == 2
    assert one.refine([(LOST, 1.0)], [0, 1]).parent == 1, "after a search that found something"
    assert one.refine([(LOST, 1.0)], [0, 1]) is None
    assert one.refine([(DEAD, 1.0)], [0, 3]).parent == 3, "for something else"
    assert [len(solutions) for _, solutions in searches] == [2, 1, 2, 2, 2]
    (first, _), (second, reached), *others = searches
    assert (reached == 7).all()
    assert (second.sigma0, second.short_until, second.episodes) == (0.3, (1.0, 0), first.episodes)
    assert all(settings == first for settings, _ in others)


def test_a_gait_is_rehearsed_as_the_others_were() -> None:
    gaits = short_gaits(6)
    table = rehearsed_table(rehearsed(gaits, "left_front:lost", episodes=3))
    found, known = relearner(), Progress(0.1, STEPS).of_table(table)
    solutions = short_gaits().elites.solutions
    for place, one in enumerate(gaits.elites.solutions[:3]):
        row = int(np.argmax((solutions == one).all(axis=1)))
        column, measures = found.rehearse(row, known)
        assert column.conditions == table.conditions
        assert column.evidence.shape == (2, 1, len(table.evidence_names))
        np.testing.assert_allclose(column.distances[:, 0], table.distances[:, place], atol=0.15)
        np.testing.assert_allclose(measures, table.evidence[0, place, :6], atol=0.15)
