"""Which gait a robot tries that something surprised."""

import numpy as np
import pytest

from adapt.damage.text import parse_damage
from adapt.mission.knowledge import Knowledge
from adapt.mission.pose import Pose
from adapt.mission.simulated import SimulatedWorld
from adapt.mission.world import Stretch
from adapt.selectors.catalogue import choose_selector
from robots.simulation.threads import Threads
from tests.adapt.mission.small import small_ant


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    gaits, table = small_ant()
    world = SimulatedWorld(gaits.robot, [], seed=1)
    entry = choose_selector("rehearsed", table)
    settings = {
        "seed": 1,
        "episodes": 10,
        "refinement": None,
        "cores": 2,
        "healthy": None,
        "backend": Threads(1),
    }
    found = Knowledge(gaits, entry, table, world, **settings, on_refined=lambda _found, _row: None)
    found.prepare()
    return found


def surprised(row: int, *, fell: bool = True) -> Stretch:
    return Stretch(row, Pose(), Pose(), np.zeros((40, 99), np.float32), None, fell)


def test_again_it_tries_the_gait_that_fell_and_then_what_was_not_tried(knowledge: Knowledge) -> None:
    damage = parse_damage("back_right:dead", knowledge.repertoire.robot)
    knowledge.outcomes.believe(damage)
    rows = list(range(len(knowledge.repertoire)))
    knowledge.outcomes.simulate(rows)
    first = knowledge.gait_to_try(surprised(2))
    assert knowledge.gait_to_try(surprised(2)) == first, "what gets furthest, whatever fell"
    fell = next(row for row in rows if row != first)
    assert knowledge.gait_to_try(surprised(fell), again=True) == fell
    tried = {first, fell}
    while len(tried) < len(rows):  # of a gait that it refined, and a selector does not know
        row = knowledge.gait_to_try(surprised(len(rows)), again=True)
        assert row not in tried
        tried.add(row)
    assert knowledge.gait_to_try(surprised(len(rows)), again=True) in rows
    knowledge.begin_anew(surprised(fell))
    knowledge.outcomes.simulate(rows)
    assert knowledge.gait_to_try(surprised(fell), again=True) != fell, "which has just begun it"
