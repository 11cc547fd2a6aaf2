"""Damaged robots that are told where the goal is, again and again."""

import numpy as np
import pytest

from adapt.mission.outcomes import Way
from adapt.mission.pose import Pose
from adapt.mission.steering import BEARINGS, Steering
from adapt.mission.world import Stretch

EVERY, STEPS = 30, 300  # control steps of half a second, and of a path
GOAL = (90.0, 0.0)


class Gaits:
    """Outcomes of gaits that get so far, in a direction so far to the left of what they are told."""

    every, steps, damage = EVERY, STEPS, "front_left:dead"

    def __init__(self, known: dict[int, tuple[float, float]], falling: tuple[int, ...] = ()) -> None:
        self._known, self._falling = known, falling
        self.rows = [*known, 99]
        self.ways = [Way(row, -told) for row in known for told in BEARINGS] + [Way(99)]

    def predicted(self, ways: list[Way]) -> tuple[np.ndarray, np.ndarray]:
        paths = np.zeros((len(ways), 10, 3))
        for path, way in zip(paths, ways, strict=True):
            far, aside = self._known[way.row]
            path[-1, :2] = far * np.cos(aside - way.heading), far * np.sin(aside - way.heading)
        return paths, np.array([100.0 if way.row in self._falling else np.inf for way in ways])


class Floor:
    """A world in which gaits move the robot at some speed in the direction that they are told [m a part]."""

    def __init__(
        self,
        speed: float = 1.0,
        pose: Pose | None = None,
        falls_after: int = 10**9,
        turn: float = 0.0,
        drift: float = 0.0,
    ) -> None:
        self.pose, self.driving, self._turn, self._drift = pose or Pose(), None, turn, drift
        self._speed, self._falls_after = speed, falls_after
        self.told: list[tuple[int, float, int]] = []

    def drive(self, row, parameters, steps, *, towards, until) -> Stretch:
        assert parameters.tolist() == [row]
        start, made, going = self.pose, 0, True
        trace = np.zeros((steps, 2), np.float32)
        while made < steps and going:
            made += 1
            going = not until(trace, made)
        self.told.append((row, towards, made))
        course = towards + self._drift
        self.pose = start @ Pose(self._speed * np.cos(course), self._speed * np.sin(course), self._turn)
        self.driving = row
        return Stretch(row, start, self.pose, trace[:made], None, len(self.told) >= self._falls_after)


def steering(known: dict[int, float | tuple[float, float]], falling: tuple[int, ...] = ()) -> Steering:
    gaits = {row: way if isinstance(way, tuple) else (way, 0.0) for row, way in known.items()}
    return Steering(Gaits(gaits, falling), lambda rows: np.array(rows)[:, None])


def never(_trace: np.ndarray, _made: int) -> bool:
    return False


def test_a_gait_is_told_where_the_goal_is_every_half_second() -> None:
    floor = Floor(pose=Pose(1.0, 2.0, 0.3))
    stretch = steering({3: 5}).walk(floor, (9.0, 4.0), 1000, never)
    assert [(row, steps) for row, _, steps in floor.told] == [(3, EVERY)] * 4
    assert floor.told[0][1] == pytest.approx(np.arctan2(2, 8) - 0.3)
    assert floor.pose.distance((9.0, 4.0)) == pytest.approx(np.hypot(8, 2) - 4)
    assert (stretch.row, stretch.start, stretch.end) == (3, Pose(1.0, 2.0, 0.3), floor.pose)
    assert len(stretch.trace) == 4 * EVERY


@pytest.mark.parametrize("degrees", [100, -100, 179, -179])
def test_gaits_are_told_bearings_up_to_sixty_degrees(degrees: float) -> None:
    floor, angle = Floor(turn=0.02), np.radians(degrees)
    steering({0: 5}).walk(floor, (9 * np.cos(angle), 9 * np.sin(angle)), 1000, never)
    assert [abs(np.degrees(told)) for _, told, _ in floor.told] == pytest.approx([60] * 4)


def test_what_is_told_beside_the_goal_is_corrected_as_the_robot_turns() -> None:
    floor = Floor(turn=-0.2)
    steering({3: (5, np.pi / 3)}).walk(floor, GOAL, 1000, never)
    told = np.array([told for _, told, _ in floor.told])
    np.testing.assert_allclose(told, -np.pi / 3 + 0.2 * np.arange(4), atol=0.1)


@pytest.mark.parametrize(("degrees", "row"), [(0, 1), (60, 1), (-60, 2), (75, 1), (-75, 2)])
def test_the_gait_that_gets_furthest_towards_the_goal_is_chosen(degrees: float, row: int) -> None:
    class Sided(Gaits):
        """Gait 1 walks to targets on the left only, gait 2 to those on the right."""

        def predicted(self, ways: list[Way]) -> tuple[np.ndarray, np.ndarray]:
            paths, falls = super().predicted(ways)
            for path, way in zip(paths, ways, strict=True):
                path *= (-way.heading > -0.1) if way.row == 1 else (-way.heading < -0.1)
            return paths, falls

    gaits = Sided({1: (4, 0.0), 2: (4, 0.0)})
    found, angle = Steering(gaits, lambda rows: np.array(rows)[:, None]), np.radians(degrees)
    assert found.rows == [1, 2], "99 was simulated with a target ahead alone"
    floor = Floor()
    assert found.walk(floor, (np.cos(angle) * 9, np.sin(angle) * 9), EVERY, never).row == row
    assert abs(np.degrees(floor.told[0][1]) - degrees) < 61


def test_a_robot_whose_goal_is_behind_it_turns_first() -> None:
    class Turning(Gaits):
        """Gait 1 turns to the left, gait 2 to the right, and gait 3 walks faster and straight."""

        def predicted(self, ways: list[Way]) -> tuple[np.ndarray, np.ndarray]:
            paths, falls = super().predicted(ways)
            for path, way in zip(paths, ways, strict=True):
                path[:, 2] = {1: 2.0, 2: -2.0, 3: 0.0}[way.row]
            return paths, falls

    gaits = Turning({1: (1, 0.0), 2: (1, 0.0), 3: (1.5, 0.0)})
    found = Steering(gaits, lambda rows: np.array(rows)[:, None])
    for degrees, row in [(0, 3), (50, 3), (-50, 3), (150, 1), (-150, 2)]:
        goal = 9 * np.cos(np.radians(degrees)), 9 * np.sin(np.radians(degrees))
        assert found.walk(Floor(), goal, EVERY, never).row == row, degrees


@pytest.mark.parametrize(("drift", "yaw"), [(0.5, 0.0), (-0.5, 0.0), (0.5, 3.1)])
def test_a_course_beside_what_is_told_is_corrected(drift: float, yaw: float) -> None:
    found, floor = steering({0: 5}), Floor(drift=drift, pose=Pose(0.0, 0.0, yaw), turn=0.01)
    goal = 900 * np.cos(yaw), 900 * np.sin(yaw)
    told = []
    for _ in range(12):
        floor.pose = Pose(0.0, 0.0, yaw)
        found.walk(floor, goal, 1000, never)
        told.append(floor.told[-4][1])
    assert told[0] == pytest.approx(0)
    assert told[-1] == pytest.approx(-drift, abs=0.05)
    found.walk(Floor(speed=0.05, drift=2.0), (900.0, 0.0), EVERY, never)
    floor = Floor(drift=drift)
    found.walk(floor, (900.0, 0.0), EVERY, never)
    assert floor.told[0][1] == pytest.approx(-drift, abs=0.05), "what hardly moves has no course"


def test_a_gait_that_misses_the_goal_nearby_is_not_given_up() -> None:
    for away, row in [(2.0, 0), (9.0, 1)]:
        found = steering({0: 5, 1: 4})
        for _ in range(3):
            found.walk(Floor(speed=-0.5, pose=Pose(-away)), (0.0, 0.0), 1000, never)
        assert found.walk(Floor(pose=Pose(-away)), (0.0, 0.0), EVERY, never).row == row, away


def test_what_may_fall_counts_less_and_a_gait_on_its_way_goes_on() -> None:
    gaits = {0: 5, 1: 4.5, 2: 2.2, 3: 1.8}
    for driving, falling, row in [(None, (), 0), (None, (0,), 1), (2, (), 2), (3, (), 0), (99, (), 0)]:
        floor = Floor()
        floor.driving = driving
        assert steering(gaits, falling).walk(floor, GOAL, EVERY, never).row == row, (driving, falling)


@pytest.mark.parametrize(
    ("speed", "falls_after", "stretches"), [(0.1, 99, 4), (0.02, 99, 2), (-0.5, 99, 2), (0.5, 4, 2)]
)
def test_a_gait_that_does_not_hold_what_it_promises_is_given_up(
    speed: float, falls_after: int, stretches: int
) -> None:
    found, rows = steering({0: 5, 1: 2}), []
    for _ in range(stretches + 1):
        rows.append(found.walk(Floor(speed=speed, falls_after=falls_after), GOAL, 1000, never).row)
    assert rows == [0] * stretches + [1]


def test_a_gait_that_does_better_than_it_promises_is_preferred() -> None:
    found = steering({0: 5, 1: 6.5})
    assert found.walk(Floor(), GOAL, 1, never).row == 1
    for _ in range(9):
        floor = Floor(speed=1.0)  # twice what gait 0 promises
        floor.driving = 0
        assert found.walk(floor, GOAL, 1000, never).row == 0
    assert found.walk(Floor(), GOAL, 1000, never).row == 0


def test_a_stretch_ends_with_a_fall_with_its_time_and_when_it_is_asked_to() -> None:
    found, floor = steering({0: 5}), Floor(falls_after=2)
    assert found.walk(floor, GOAL, 1000, never).fell
    assert len(floor.told) == 2
    floor = Floor()
    assert len(found.walk(floor, GOAL, EVERY + 7, never).trace) == EVERY + 7
    assert [steps for *_, steps in floor.told] == [EVERY, 7]
    floor = Floor()
    stretch = found.walk(floor, GOAL, 1000, lambda _, made: len(floor.told) == 1 and made == 5)
    assert [steps for *_, steps in floor.told] == [EVERY, 5]
    assert not stretch.fell
