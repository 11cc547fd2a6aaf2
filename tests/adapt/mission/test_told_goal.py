"""Robots that are told where the goal is, again and again."""

from types import SimpleNamespace

import numpy as np
import pytest

from adapt.mission.beliefs import Way
from adapt.mission.steering import HEADINGS, Steering
from adapt.mission.world import Stretch
from robots.pose import Pose
from robots.simulation.trace import trace_columns

EVERY, STEPS = 30, 300  # control steps of half a second, and of a path
GOAL = (90.0, 0.0)
COLUMNS = trace_columns(1, 1)


class Gaits:
    """Outcomes of gaits that get so far in five seconds towards targets in front, and behind [m]."""

    every, steps, columns = EVERY, STEPS, COLUMNS

    def __init__(self, known: dict[int, tuple[float, float]], falling: tuple[int, ...] = ()) -> None:
        self._known, self._falling = known, falling
        ways = [Way(row, heading) for row in known for heading in HEADINGS] + [Way(99)]
        self.beliefs = SimpleNamespace(damage="front_left:dead", known=ways)

    def predicted(self, ways: list[Way]) -> tuple[np.ndarray, np.ndarray]:
        paths = np.zeros((len(ways), 10, 3))
        for path, way in zip(paths, ways, strict=True):
            far = self._known[way.row][int(abs(way.heading) > np.pi / 2)]
            path[-1, :2] = far * np.cos(-way.heading), far * np.sin(-way.heading)
        return paths, np.array([100.0 if way.row in self._falling else np.inf for way in ways])


class Floor:
    """A world in which gaits move the robot at some speed in the direction that they are told [m a part]."""

    def __init__(self, speed: float = 0.5, pose: Pose | None = None, falls_after: int = 10**9) -> None:
        self.pose, self.driving = pose or Pose(), None
        self._speed, self._falls_after = speed, falls_after
        self.told: list[tuple[int, float, int]] = []

    def drive(self, row, parameters, steps, *, towards, until, abrupt=False) -> Stretch:
        assert parameters.tolist() == [row]
        start, made, going = self.pose, 0, True
        trace = np.zeros((steps, COLUMNS.end), np.float32)
        while made < steps and going:
            made += 1
            going = not until(trace, made)
        self.told.append((row, towards, made))
        self.pose = start @ Pose(self._speed * np.cos(towards), self._speed * np.sin(towards), 0.1)
        self.driving = row
        return Stretch(row, start, self.pose, trace[:made], None, len(self.told) >= self._falls_after)


def steering(known: dict[int, float | tuple[float, float]], falling: tuple[int, ...] = ()) -> Steering:
    gaits = {row: far if isinstance(far, tuple) else (far, far) for row, far in known.items()}
    return Steering(Gaits(gaits, falling), lambda rows: np.array(rows)[:, None])


def walked(found: Steering, floor: Floor, goal: tuple[float, float], steps: int, **more) -> Stretch:
    row = found.choose(range(9), floor.driving)
    return found.walk(floor, goal, row, steps, **more)


def chosen(found: Steering, driving: int | None = None) -> int:
    floor = Floor(speed=0.0)
    floor.driving = driving
    return walked(found, floor, GOAL, 1).row


def test_a_gait_is_told_where_the_goal_is_every_half_second() -> None:
    floor, goal = Floor(pose=Pose(1.0, 2.0, 0.3)), (9.0, 4.0)
    stretch = walked(steering({3: 5}), floor, goal, 1000)
    assert [(row, steps) for row, _, steps in floor.told] == [(3, EVERY)] * 4
    assert floor.told[0][1] == pytest.approx(np.arctan2(2, 8) - 0.3)
    assert floor.told[1][1] == pytest.approx(floor.told[0][1] - 0.1), "it turned meanwhile"
    assert floor.pose.distance(goal) == pytest.approx(np.hypot(8, 2) - 2)
    assert (stretch.row, stretch.start, stretch.end) == (3, Pose(1.0, 2.0, 0.3), floor.pose)
    assert len(stretch.trace) == 4 * EVERY


def test_the_gait_that_gets_furthest_towards_targets_all_around_is_chosen() -> None:
    # six metres ahead, but two away from a target behind; three of eight headings are behind
    assert chosen(steering({0: (6, -2), 1: (4, 2), 2: (3, 3)})) == 1
    assert steering({0: 6, 1: 5}).choose([1, 99], 99) == 1, "99 was simulated with a target ahead alone"


@pytest.mark.parametrize(("other", "row"), [(0.9, 1), (0.8, 0)])
def test_a_fall_costs_what_help_takes(other: float, row: int) -> None:
    assert chosen(steering({0: 5, 1: other}, falling=(0,))) == row


def test_a_gait_on_its_way_goes_on_unless_another_one_is_a_lot_faster() -> None:
    found = steering({0: 5, 1: 3.1, 2: 2.9})
    assert [chosen(found, driving) for driving in (None, 1, 2, 99)] == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("speed", "falls_after", "stretches"),
    # until 8 m in 8 s, and 0 or -2 m in 2 s a stretch, or 0.5 m in 25.5 s with a fall, are below 0.3 m/s
    [(0.0, 99, 10), (-0.5, 99, 3), (0.5, 1, 1)],
)
def test_a_gait_that_is_slower_than_it_promises_is_given_up(
    speed: float, falls_after: int, stretches: int
) -> None:
    found, rows = steering({0: 5, 1: 2.5}), []
    for _ in range(stretches + 1):
        floor = Floor(speed=speed, falls_after=falls_after)
        floor.driving = 0
        rows.append(walked(found, floor, GOAL, 1000).row)
    assert rows == [0] * stretches + [1]


def test_a_gait_that_is_faster_than_it_promises_is_preferred() -> None:
    found = steering({0: 5, 1: 6.5})
    assert chosen(found) == 1
    for _ in range(19):
        floor = Floor(speed=1.0)  # twice what gait 0 promises
        floor.driving = 0
        assert walked(found, floor, GOAL, 1000).row == 0
    assert chosen(found) == 0


def test_a_stretch_ends_with_a_fall_with_its_time_and_when_it_is_asked_to() -> None:
    found, floor = steering({0: 5}), Floor(falls_after=2)
    assert walked(found, floor, GOAL, 1000).fell
    assert len(floor.told) == 2
    floor = Floor()
    assert len(walked(found, floor, GOAL, EVERY + 7).trace) == EVERY + 7
    assert [steps for *_, steps in floor.told] == [EVERY, 7]
    floor = Floor()
    stretch = walked(found, floor, GOAL, 1000, until=lambda _, made: len(floor.told) == 1 and made == 5)
    assert [steps for *_, steps in floor.told] == [EVERY, 5]
    assert not stretch.fell


def test_a_goal_inside_the_turning_circle_is_reached_from_further_away() -> None:
    class Turning(Floor):
        """Gaits walk half a metre ahead and turn by at most a quarter of a radian."""

        def drive(self, row, parameters, steps, *, towards, until, abrupt=False) -> Stretch:
            self.told.append((row, towards, steps))
            start, turn = self.pose, min(max(towards, -0.25), 0.25)
            self.pose, self.driving = start @ Pose(0.5, 0.0, turn), row
            nearest.append(self.pose.distance(goal))
            return Stretch(row, start, self.pose, np.zeros((steps, COLUMNS.end), np.float32), None, False)

    found, floor, goal, nearest = steering({0: 5}), Turning(), (0.0, 2.0), []
    for _ in range(12):
        walked(found, floor, goal, 1000)
    assert min(nearest[:8]) > 1.5, "it begins on a circle around the goal"
    assert min(nearest) < 0.3
    assert chosen(found) == 0


class Aside(Floor):
    """Gaits walk aside of what they are told, by an angle of each [rad], and turn by 0.1 rad to the left."""

    def __init__(
        self, aside: dict[int, float], speed: float = 0.5, pose: Pose | None = None, falls_after: int = 10**9
    ) -> None:
        super().__init__(speed, pose, falls_after)
        self._aside = aside

    def drive(self, row, parameters, steps, *, towards, until, abrupt=False) -> Stretch:
        self.told.append((row, towards, steps))
        start, angle = self.pose, towards + self._aside[row]
        ways = np.linspace(1 / steps, 1.0, steps)
        trace = np.zeros((steps, COLUMNS.end), np.float32)
        trace[:, COLUMNS.position] = ways * self._speed * np.cos(angle - towards)
        trace[:, COLUMNS.position + 1] = ways * self._speed * np.sin(angle - towards)
        trace[:, COLUMNS.attitude + 2] = 0.1 * ways - towards
        self.pose = start @ Pose(self._speed * np.cos(angle), self._speed * np.sin(angle), 0.1)
        self.driving = row
        until(trace, steps)
        return Stretch(row, start, self.pose, trace, None, len(self.told) >= self._falls_after)


def going_round(speed: float = 0.5, falls_after: int = 10**9) -> Aside:
    """A robot that faces its goal, 3 m away at the origin, and walks to its right."""
    return Aside({0: -np.pi / 2, 1: -np.pi / 2}, speed, Pose(0.0, 3.0, -np.pi / 2), falls_after)


def test_what_happens_on_the_way_away_from_a_goal_is_not_held_against_the_gait() -> None:
    found, floor = steering({0: 3, 1: 1.8}), going_round()
    assert walked(found, floor, (0.0, 0.0), 1000).row == 0
    assert floor.pose.distance((0.0, 0.0)) == pytest.approx(3.0, abs=0.4)
    for _ in range(2):  # told to walk round it, it goes straight on for two stretches
        before = floor.pose
        assert walked(found, floor, (0.0, 0.0), 1000).row == 0
        assert before.distance(floor.pose) == pytest.approx(2.0, abs=1e-6), "straight"


def test_a_robot_that_walks_crabwise_goes_straight_on_where_it_was_going() -> None:
    found, floor = steering({0: 3}), going_round()
    walked(found, floor, (0.0, 0.0), 1000)
    before = floor.pose
    walked(found, floor, (0.0, 0.0), 1000)
    first, second = (towards for _, towards, _ in floor.told[3:5])
    turned = second - first + 0.1  # since it turns to the left by as much in each part
    assert turned == pytest.approx(-np.pi / 2, abs=0.2), "it is told where it walked, not where it faced"
    assert floor.pose.distance((0.0, 0.0)) > before.distance((0.0, 0.0)) + 1.0


def test_a_goal_that_is_reached_or_a_fall_ends_the_way_straight_on() -> None:
    goal, other = (0.0, 0.0), (-9.0, 3.0)
    found, floor = steering({0: 3}), going_round()
    walked(found, floor, goal, 1000)
    at = floor.pose
    walked(found, floor, other, 1000)
    assert floor.told[4][1] == pytest.approx(at.bearing(other)), "another goal"
    found, floor = steering({0: 3}), going_round(falls_after=5)
    for _ in range(2):
        walked(found, floor, goal, 1000)
    assert len(floor.told) == 5
    at = floor.pose
    walked(found, floor, goal, 1000)
    assert floor.told[5][1] == pytest.approx(at.bearing(goal)), "after the fall again to the goal"
    found, floor = steering({0: 3}), going_round()
    walked(found, floor, goal, 1000, until=lambda *_: len(floor.told) == 4)
    at = floor.pose
    walked(found, floor, goal, 1000)
    assert floor.told[4][1] == pytest.approx(at.bearing(goal)), "a stretch that was cut says nothing"


def test_a_robot_that_hardly_moves_does_not_walk_round_its_goal() -> None:
    for speed, straight in ((0.08, False), (0.12, True)):  # of 0.24 m in half a second that it promises
        found, floor = steering({0: 3}), going_round(speed)
        walked(found, floor, (0.0, 0.0), 1000)
        at = floor.pose
        walked(found, floor, (0.0, 0.0), 1000)
        assert (floor.told[4][1] != pytest.approx(at.bearing((0.0, 0.0)))) == straight


@pytest.mark.parametrize(("aside", "corrected"), [(0.4, 0.4), (-0.7, -0.7), (1.3, 0.0)])
def test_a_gait_that_walks_aside_is_told_so_much_less(aside: float, corrected: float) -> None:
    found, floor = steering({0: 2.5}), Aside({0: aside})
    for _ in range(20):
        start = floor.pose
        walked(found, floor, (900.0, 0.0), 1000)
    told = floor.told[-4][1]
    assert told == pytest.approx(start.bearing((900.0, 0.0)) - corrected, abs=0.01)


def off(found: Steering, floor: "Aside") -> float:
    """How far aside of the goal the gait is told to go next [rad]."""
    bearing = floor.pose.bearing(GOAL)
    walked(found, floor, GOAL, 1000)
    return floor.told[-4][1] - bearing


def test_a_gait_that_hardly_moves_says_nothing_of_its_course() -> None:
    for speed, known in ((0.19, False), (0.22, True)):  # of 0.5 m in half a second that it promises
        found, floor = steering({0: 5}), Aside({0: 0.4}, speed)
        assert [bool(off(found, floor)) for _ in range(3)] == [False, False, known]


def test_a_robot_is_watched_while_it_walks_steadily_where_it_is_told() -> None:
    seen: list[np.ndarray] = []

    def watch(trace: np.ndarray) -> bool:
        seen.append(trace)
        return False

    found, floor = steering({3: 5}), Aside({3: 0.3})
    walked(found, floor, GOAL, 1000, watch=watch)
    assert not seen, "it has not walked there yet"
    walked(found, floor, GOAL, 1000, watch=watch)
    assert [len(trace) for trace in seen] == [EVERY * parts for parts in (1, 2, 3, 4)]
    trace = seen[-1]
    steps = np.diff(trace[:, COLUMNS.position : COLUMNS.position + 2], axis=0)
    np.testing.assert_allclose(np.hypot(*steps.T), 0.5 / EVERY, rtol=1e-3)
    yaw = trace[:, COLUMNS.attitude + 2]
    np.testing.assert_allclose(np.diff(yaw), 0.1 / EVERY, atol=1e-5)
    walked(found, floor, (0.0, -90.0), 1000, watch=watch)
    assert len(seen) == 4, "it has to turn first"


@pytest.mark.parametrize("how", ["interrupt", "gait"])
def test_a_robot_that_did_something_else_is_watched_no_more(how: str) -> None:
    found, floor, seen = steering({3: 5, 4: 5}), Aside({3: 0.0, 4: 0.0}), list[np.ndarray]()
    for _ in range(2):
        walked(found, floor, GOAL, 1000, watch=lambda trace: bool(seen.append(trace)))
    assert len(seen) == 4
    if how == "interrupt":
        found.interrupt()
    else:
        floor.driving = 4
    walked(found, floor, GOAL, 1000, watch=lambda trace: bool(seen.append(trace)))
    count = 4 if how == "interrupt" else 8  # gait 4 goes on
    assert len(seen) == count
    found.walk(floor, GOAL, 7 - floor.driving, 1000, watch=lambda trace: bool(seen.append(trace)))
    assert len(seen) == count, "what it does with another gait is to be seen first"


def test_what_a_gait_did_under_a_wrong_belief_is_forgotten() -> None:
    found, floor = steering({0: 5, 1: 4}), Aside({0: 0.4, 1: 0.4})
    for _ in range(3):
        walked(found, floor, GOAL, 1000)
    found.forget("back_left:dead")
    assert off(found, floor) < 0
    found.forget("front_left:dead")
    assert off(found, floor) == 0


def test_a_gait_that_has_to_turn_first_does_not_say_that_it_walks_aside() -> None:
    found, floor = steering({0: 2.5}), Aside({0: 0.4})
    assert [off(found, floor) for _ in range(3)] == [0, 0, pytest.approx(-0.3 * 0.4)]


def test_a_robot_that_cannot_stand_begins_at_once_and_then_goes_on() -> None:
    begun = []

    class Noting(Floor):
        def drive(self, row, parameters, steps, *, towards, abrupt, until) -> Stretch:
            begun.append(abrupt)
            return super().drive(row, parameters, steps, towards=towards, abrupt=abrupt, until=until)

    walked(steering({0: 5}), Noting(), GOAL, 1000, abrupt=True)
    assert begun == [True, False, False, False]


def test_what_is_noticed_ends_the_stretch() -> None:
    found, floor = steering({3: 5}), Aside({3: 0.0})
    walked(found, floor, GOAL, 1000)
    stretch = walked(found, floor, GOAL, 1000, watch=lambda trace: len(trace) == 2 * EVERY)
    assert len(stretch.trace) == 2 * EVERY


def test_a_robot_that_cannot_begin_with_other_headings_steers_by_gaits_straight_ahead() -> None:
    gaits = Gaits({0: (5.0, 0.0), 1: (4.0, 9.0)})
    found = Steering(gaits, lambda rows: np.array(rows)[:, None], (0.0,))
    assert found.choose([0, 1], None) == 0
    assert found.choose([1], None) == 1, "of the gaits that it may walk with"
