"""A benchmark in a folder: its tables, its worlds, and lists of damages."""

from dataclasses import replace

import numpy as np
import pytest

from adapt.damage import HEALTHY
from adapt.damage.text import parse_damage, read_damages
from adapt.suite.damages import TUNING, check_damages, damage_file, default_damages
from adapt.suite.replay import Noise
from adapt.suite.study import Benchmark, BenchmarkSettings
from adapt.suite.truth import TablePlan
from robots.catalogue import robot_names
from robots.errors import InvalidValueError
from robots.robot import load_robot
from tests.adapt.rehearsal.small import save_rehearsal, small_repertoire, small_robot

BROKEN = ("front_left:lost", "all:weak@0.5", "back_right:lost")
SETTINGS = BenchmarkSettings(tuple(parse_damage(text, small_robot()) for text in BROKEN), episodes=1, gaps=2)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A benchmark all of whose tables are made, but nothing else."""
    repertoire = small_repertoire()
    folder = tmp_path_factory.mktemp("bench")
    library = save_rehearsal(folder / "library.h5", repertoire, (HEALTHY, BROKEN[0]), episodes=2)
    bench = Benchmark(repertoire, library, SETTINGS, folder, threads=1)
    assert len(bench.waiting(gap=False)) == 3
    waiting = bench.waiting(gap=True)
    assert len(waiting) == 3 + 2 * 2
    seconds = bench.seconds_left(waiting)
    assert seconds["anticipated"] == pytest.approx(2 * seconds["scores"])
    assert seconds["gap-2-scores"] == pytest.approx(0.5 * seconds["scores"])
    for plan in waiting:
        bench.make(plan)
    assert bench.waiting(gap=True) == []
    assert bench.seconds_left([]) == {}
    return bench


def test_cases_come_in_the_order_of_the_damages(bench):
    worlds = bench.worlds(gap=True)
    for world in worlds.values():
        assert tuple(case.damage for case in world.cases) == BROKEN
        assert world.hopeless == ()
    shown, scores = (bench.make(plan) for plan in (bench.plans.shown, bench.plans.scores))
    np.testing.assert_allclose(worlds[False].cases[2].scores, scores.objectives[3])
    np.testing.assert_array_equal(worlds[False].cases[2].shown.objectives, shown.objectives[3:])
    assert (worlds[True].cases[2].scores != worlds[False].cases[2].scores).all()
    assert True not in bench.worlds(gap=False)


def test_damages_that_the_library_lacks_are_rehearsed_too(bench):
    assert bench.rehearsed().conditions == (HEALTHY, *BROKEN)
    arena = bench.arena(gap=False, trials=3, seeds=2, noise=Noise())
    assert arena.library == (HEALTHY, BROKEN[0])
    np.testing.assert_array_equal(arena.prior.objectives, bench.repertoire.elites.objectives)


def test_hopeless_damages_are_left_out_and_named(bench, monkeypatch):
    make = TablePlan.make

    def sunk(self, *args, **options):
        table = make(self, *args, **options)
        objectives = table.objectives.copy()
        objectives[1] = -300
        return replace(table, objectives=objectives)

    monkeypatch.setattr(TablePlan, "make", sunk)
    world = bench.worlds(gap=False)[False]
    assert world.hopeless == BROKEN[:1]
    assert [case.damage for case in world.cases] == list(BROKEN[1:])


def test_a_benchmark_without_hope_is_refused(bench, monkeypatch):
    make = TablePlan.make

    def sunk(self, *args, **options):
        table = make(self, *args, **options)
        return replace(table, objectives=np.full_like(table.objectives, -300))

    monkeypatch.setattr(TablePlan, "make", sunk)
    with pytest.raises(InvalidValueError, match="no gait gets above the minimum objective -300"):
        bench.worlds(gap=False)


def test_lists_of_damages_to_recover_from_are_checked():
    for texts, message in (
        ([], "there is no damage to recover from"),
        (["healthy"], "'healthy' cannot be a damage to recover from: nothing is broken"),
        (["front_left:lost", "front_left:lost "], "'front_left:lost' .* it is named twice"),
    ):
        with pytest.raises(InvalidValueError, match=message):
            check_damages([parse_damage(text, small_robot()) for text in texts])


@pytest.mark.parametrize("name", robot_names())
def test_every_robot_can_be_broken_in_its_default_ways(name):
    robot = load_robot(name)
    for damage in check_damages(default_damages(robot)):
        assert damage.apply(robot).modifications


def test_tuning_and_test_damages_of_the_hexapod_share_nothing():
    robot = load_robot("hexapod")
    tested, tuned = (
        {str(damage) for damage in read_damages(path, robot)} for path in (damage_file(robot), TUNING)
    )
    assert len(tested) >= 24
    assert len(tuned) >= 10
    assert not tested & tuned
    assert damage_file(load_robot("ant")) is None
