"""Robots that are told where the goal is, again and again."""

from collections.abc import Callable
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
    """A world whose gaits walk aside of what they are told [rad] at a speed [m a part], and turn to the left.

    It notes the row, what was told, the steps, and whether the gait began abruptly.
    """

    def __init__(
        self,
        aside: float = 0.0,
        *,
        speed: float = 0.5,
        pose: Pose = Pose(),  # noqa: B008
        falls_after: int = 10**9,
        driving: int | None = None,
    ) -> None:
        self.pose, self.driving, self._aside, self._speed = pose, driving, aside, speed
        self._falls_after, self.told = falls_after, list[tuple[int, float, int, bool]]()

    def drive(self, row, parameters, steps, *, towards, until, abrupt=False) -> Stretch:
        assert parameters.tolist() == [row]
        start, angle, made, going = self.pose, towards + self._aside, 0, True
        ways = np.linspace(1 / steps, 1.0, steps)
        trace = np.zeros((steps, COLUMNS.end), np.float32)
        trace[:, COLUMNS.position] = ways * self._speed * np.cos(self._aside)
        trace[:, COLUMNS.position + 1] = ways * self._speed * np.sin(self._aside)
        trace[:, COLUMNS.attitude + 2] = 0.1 * ways - towards
        while made < steps and going:
            made += 1
            going = not until(trace, made)
        self.told.append((row, towards, made, abrupt))
        self.pose = start @ Pose(self._speed * np.cos(angle), self._speed * np.sin(angle), 0.1)
        self.driving = row
        return Stretch(row, start, self.pose, trace[:made], None, len(self.told) >= self._falls_after)


def steering(known: dict[int, float | tuple[float, float]], falling: tuple[int, ...] = ()) -> Steering:
    gaits = {row: far if isinstance(far, tuple) else (far, far) for row, far in known.items()}
    return Steering(Gaits(gaits, falling), lambda rows: np.array(rows)[:, None])


def walked(
    found: Steering, floor: Floor, goal: tuple[float, float] = GOAL, steps: int = 1000, **more
) -> Stretch:
    row = found.choose(range(9), floor.driving)
    until = more.pop("until", lambda *_: False)
    return found.walk(floor, goal, row, steps, until=until, **more)


def chosen(found: Steering, driving: int | None = None) -> int:
    return found.choose(range(9), driving)


def test_a_gait_is_told_where_the_goal_is_every_half_second() -> None:
    floor, goal = Floor(pose=Pose(1.0, 2.0, 0.3)), (9.0, 4.0)
    stretch = walked(steering({3: 5}), floor, goal, abrupt=True)
    assert [(row, steps) for row, _, steps, _ in floor.told] == [(3, EVERY)] * 4
    assert [abrupt for *_, abrupt in floor.told] == [True, False, False, False], "it begins at once"
    assert floor.told[0][1] == pytest.approx(np.arctan2(2, 8) - 0.3)
    assert floor.told[1][1] == pytest.approx(floor.told[0][1] - 0.1), "it turned meanwhile"
    assert floor.pose.distance(goal) == pytest.approx(np.hypot(8, 2) - 2)
    assert (stretch.row, stretch.start, stretch.end) == (3, Pose(1.0, 2.0, 0.3), floor.pose)
    assert len(stretch.trace) == 4 * EVERY


def test_the_gait_that_gets_furthest_towards_targets_all_around_is_chosen() -> None:
    # six metres ahead, but two away from a target behind; three of eight headings are behind
    assert chosen(steering({0: (6, -2), 1: (4, 2), 2: (3, 3)})) == 1
    assert steering({0: 6, 1: 5}).choose([1, 99], 99) == 1, "99 was simulated with a target ahead alone"
    ahead = Steering(Gaits({0: (5.0, 0.0), 1: (4.0, 9.0)}), lambda rows: np.array(rows)[:, None], (0.0,))
    assert ahead.choose([0, 1], None) == 0, "where no other heading is possible"


@pytest.mark.parametrize(("other", "row"), [(0.9, 1), (0.8, 0)])
def test_a_fall_costs_what_help_takes(other: float, row: int) -> None:
    assert chosen(steering({0: 5, 1: other}, falling=(0,))) == row


def test_a_gait_on_its_way_goes_on_unless_another_one_is_a_lot_faster() -> None:
    found = steering({0: 5, 1: 3.1, 2: 2.9})
    assert [chosen(found, driving) for driving in (None, 1, 2, 99)] == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("floor", "stretches"),
    # until 8 m in 8 s, and 0 or -2 m in 2 s a stretch, or 0.5 m in 25.5 s with a fall, are below 0.3 m/s
    [({"speed": 0.0}, 10), ({"speed": -0.5}, 3), ({"falls_after": 1}, 1)],
)
def test_a_gait_that_is_slower_than_it_promises_is_given_up(floor, stretches: int) -> None:
    found = steering({0: 5, 1: 2.5})
    rows = [walked(found, Floor(**floor, driving=0)).row for _ in range(stretches + 1)]
    assert rows == [0] * stretches + [1]


def test_a_gait_that_is_faster_than_it_promises_is_preferred() -> None:
    found = steering({0: 5, 1: 6.5})
    assert chosen(found) == 1
    assert [walked(found, Floor(speed=1.0, driving=0)).row for _ in range(19)] == [0] * 19
    assert chosen(found) == 0


def test_a_stretch_ends_with_a_fall_with_its_time_and_when_it_is_asked_to() -> None:
    found, floor = steering({0: 5}), Floor(falls_after=2)
    assert walked(found, floor).fell
    assert len(floor.told) == 2
    floor = Floor()
    assert len(walked(found, floor, steps=EVERY + 7).trace) == EVERY + 7
    assert [told[2] for told in floor.told] == [EVERY, 7]
    floor = Floor()
    assert not walked(found, floor, until=lambda _, made: len(floor.told) == 1 and made == 5).fell
    assert [told[2] for told in floor.told] == [EVERY, 5]


def test_a_goal_inside_the_turning_circle_is_reached_from_further_away() -> None:
    class Turning(Floor):
        """Gaits walk half a metre ahead and turn by at most a quarter of a radian."""

        def drive(self, row, parameters, steps, *, towards, until, abrupt=False) -> Stretch:
            start, turn = self.pose, min(max(towards, -0.25), 0.25)
            self.pose, self.driving = start @ Pose(0.5, 0.0, turn), row
            nearest.append(self.pose.distance(goal))
            return Stretch(row, start, self.pose, np.zeros((steps, COLUMNS.end), np.float32), None, False)

    found, floor, goal, nearest = steering({0: 5}), Turning(), (0.0, 2.0), []
    for _ in range(12):
        walked(found, floor, goal)
    assert min(nearest[:8]) > 1.5, "it begins on a circle around the goal"
    assert min(nearest) < 0.3


def going_round(**more: float) -> Floor:
    """A robot that faces its goal, 3 m away at the origin, and walks to its right."""
    return Floor(-np.pi / 2, pose=Pose(0.0, 3.0, -np.pi / 2), **more)


def straight_after(goal=(0.0, 0.0), stretches: int = 1, until=lambda *_: False, **more) -> bool:
    """Whether a robot that went round its goal is then told something else than where a goal is."""
    found, floor = steering({0: 3}), going_round(**more)
    for _ in range(stretches):
        walked(found, floor, (0.0, 0.0), until=lambda *_: until(floor))
    before, count = floor.pose, len(floor.told)
    walked(found, floor, goal)
    return floor.told[count][1] != pytest.approx(before.bearing(goal))


def test_what_happens_on_the_way_away_from_a_goal_is_not_held_against_the_gait() -> None:
    found, floor = steering({0: 3, 1: 1.8}), going_round()
    assert walked(found, floor, (0.0, 0.0)).row == 0
    assert floor.pose.distance((0.0, 0.0)) == pytest.approx(3.0, abs=0.4)
    for _ in range(2):  # told to walk round it, it goes straight on for two stretches
        before = floor.pose
        assert walked(found, floor, (0.0, 0.0)).row == 0
        assert before.distance(floor.pose) == pytest.approx(2.0, abs=1e-6), "straight"
    turned = floor.told[4][1] - floor.told[3][1] + 0.1  # it turns to the left by as much in each part
    assert turned == pytest.approx(-np.pi / 2, abs=0.2), "it is told where it walked, not where it faced"


def test_when_a_robot_walks_straight_on_and_what_ends_it() -> None:
    assert straight_after()
    assert not straight_after(goal=(-9.0, 3.0)), "another goal"
    assert not straight_after(stretches=2, falls_after=5), "after a fall"
    assert not straight_after(until=lambda floor: len(floor.told) == 3), "a stretch that was cut says nothing"
    # of 0.24 m in half a second that it promises: a robot that hardly moves does not walk round its goal
    assert [straight_after(speed=speed) for speed in (0.08, 0.12)] == [False, True]


@pytest.mark.parametrize(("aside", "corrected"), [(0.4, 0.4), (-0.7, -0.7), (1.3, 0.0)])
def test_a_gait_that_walks_aside_is_told_so_much_less(aside: float, corrected: float) -> None:
    found, floor = steering({0: 2.5}), Floor(aside)
    assert [off(found, floor) for _ in range(20)][-1] == pytest.approx(-corrected, abs=0.01)


def off(found: Steering, floor: Floor) -> float:
    """How far aside of the goal the gait is told to go next [rad]."""
    bearing = floor.pose.bearing(GOAL)
    walked(found, floor)
    return floor.told[-4][1] - bearing


def test_what_says_that_a_gait_walks_aside_and_when_that_is_forgotten() -> None:
    for speed, known in ((0.19, False), (0.22, True)):  # of 0.5 m in half a second that it promises
        found, floor = steering({0: 5}), Floor(0.4, speed=speed)
        assert [bool(off(found, floor)) for _ in range(3)] == [False, False, known]
    found, floor = steering({0: 2.5}), Floor(0.4)
    assert [off(found, floor) for _ in range(3)] == [0, 0, pytest.approx(-0.3 * 0.4)], "it has to turn first"
    found.forget("back_left:dead")
    assert off(found, floor) < 0
    found.forget("front_left:dead")
    assert off(found, floor) == 0


def kept_by(seen: list[np.ndarray]) -> Callable[[np.ndarray, bool], bool]:
    """Keeps what the robot does while it walks steadily, and notices nothing."""
    return lambda trace, steady: steady and bool(seen.append(trace))


def test_a_robot_is_watched_while_it_walks_steadily_where_it_is_told() -> None:
    found, floor, seen = steering({3: 5}), Floor(0.3), list[np.ndarray]()
    for count in (0, 4):  # it has not walked there at first
        walked(found, floor, look=kept_by(seen))
        assert len(seen) == count
    assert [len(trace) for trace in seen] == [EVERY * parts for parts in (1, 2, 3, 4)]
    trace = seen[-1]
    steps = np.diff(trace[:, COLUMNS.position : COLUMNS.position + 2], axis=0)
    np.testing.assert_allclose(np.hypot(*steps.T), 0.5 / EVERY, rtol=1e-3)
    yaw = trace[:, COLUMNS.attitude + 2]
    np.testing.assert_allclose(np.diff(yaw), 0.1 / EVERY, atol=1e-5)
    stretch = walked(found, floor, look=lambda trace, _: len(trace) == 2 * EVERY)
    assert len(stretch.trace) == 2 * EVERY, "what is noticed ends the stretch"
    walked(found, floor, (0.0, -90.0), look=kept_by(seen))
    assert len(seen) == 4, "it has to turn first"


@pytest.mark.parametrize("how", ["interrupt", "gait"])
def test_a_robot_that_did_something_else_is_watched_no_more(how: str) -> None:
    found, floor, seen = steering({3: 5, 4: 5}), Floor(), list[np.ndarray]()
    for _ in range(2):
        walked(found, floor, look=kept_by(seen))
    row = floor.driving
    if how == "interrupt":
        found.interrupt()
    else:
        row = 7 - row
    found.walk(floor, GOAL, row, 1000, look=kept_by(seen))
    assert len(seen) == 4, "what it does then is to be seen first"
