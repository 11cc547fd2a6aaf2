"""What a mission is made of: poses, plans, the world without resets, the planner and the log."""

import math

import mujoco
import numpy as np
import pytest

from adapt.mission.changes import read_changes
from adapt.mission.log import Event, MissionFacts, read_log
from adapt.mission.outcomes import SAMPLE
from adapt.mission.planner import choose_gait
from adapt.mission.simulated import SimulatedWorld
from adapt.mission.world import ASSISTANCE
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.pose import Pose, wrapped_angle
from robots.robot import Faults, load_robot
from robots.simulation.trace import TraceColumns

ROBOT = load_robot("hexapod")
GAIT = np.random.default_rng(3).uniform(0.2, 0.8, ROBOT.controller.parameter_count).astype(np.float32)


def test_what_breaks_adds_up_until_it_is_repaired() -> None:
    texts = ["left_front:lost@20", "all:weak@0.5@3", "repaired@40", "left_front:dead@50"]
    changes = read_changes(texts, ROBOT)
    assert [change.time for change in changes] == [3, 20, 40, 50]
    damages = [str(change.damage) for change in changes]
    assert damages == ["all:weak@0.5", "all:weak@0.5+left_front:lost", "healthy", "left_front:dead"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("left_front:lost", "DAMAGE@SECONDS"),
        ("left_front:lost@soon", "DAMAGE@SECONDS"),
        ("@3", "DAMAGE@SECONDS"),
        ("left_front:lost@nan", "DAMAGE@SECONDS"),
        ("left_front:shy@3", "kind of damage"),
        ("left_front:lost@20", "does not happen during the mission, which lasts from 0 to 10 s"),
        ("left_first:lost@3", "left_first"),
    ],
)
def test_what_is_no_change(text: str, message: str) -> None:
    with pytest.raises((InvalidValueError, UnknownNameError), match=message):
        read_changes([text], ROBOT, seconds=10.0)


def test_a_leg_that_is_lost_does_not_break_again() -> None:
    with pytest.raises(InvalidValueError, match=r"left_front:dead@9 cannot happen.*after left_front:lost"):
        read_changes(["left_front:lost@3", "left_front:dead@9"], ROBOT)


def on_its_back(world: SimulatedWorld) -> SimulatedWorld:
    world._root[2], world._root[3:] = 0.5, (0.0, 1.0, 0.0, 0.0)
    return world


def test_nothing_depends_on_where_the_robot_stands_and_looks() -> None:
    moved = []
    for heading in (0.0, 2.0):  # of the frame in which the state is
        world = SimulatedWorld(ROBOT, (), seed=1)
        stretch = world.drive(0, GAIT, 100, towards=heading)
        assert world.pose.seen_from(stretch.start) == pytest.approx(stretch.moved)
        moved.append(stretch.moved)
    assert abs(moved[0].x) > 0.05
    assert moved[1] == pytest.approx(moved[0], abs=1e-6)


def test_a_stretch_is_traced_and_scored_as_an_episode_is() -> None:
    world = SimulatedWorld(ROBOT, (), seed=1)
    world.drive(0, GAIT, 50)
    stretch = world.drive(0, GAIT, 60, towards=0.3)
    at = TraceColumns.of(ROBOT)
    assert stretch.trace.shape == (60, at.end)
    assert not stretch.fell
    assert stretch.episodes.steps[0] == 60
    x, y = stretch.trace[-1, at.position : at.position + 2]
    ahead = Pose(*stretch.start[:2], stretch.start.yaw + 0.3)
    end = stretch.end.seen_from(ahead)
    assert (x, y) == pytest.approx(end[:2], abs=1e-6)
    assert stretch.trace[-1, at.attitude + 2] == pytest.approx(end.yaw, abs=1e-6)
    assert (stretch.episodes.lateral[0], stretch.episodes.heading[0]) == pytest.approx(end[1:], abs=1e-6)
    assert stretch.episodes.distances[0] == pytest.approx(end.x, abs=1e-3)
    assert world.steps == 110


def test_a_leg_breaks_off_without_moving_the_others_and_comes_back() -> None:
    happened, seen = [], []
    changes = read_changes(["left_front:lost@0.5", "repaired@1"], ROBOT)
    world = SimulatedWorld(ROBOT, changes, seed=1, on_change=lambda change: happened.append(world.steps))

    def until(_: np.ndarray, made: int) -> bool:
        model, data = world.robot.model, world.posed_data()
        joints = {model.joint(i).name: data.qpos[model.jnt_qposadr[i]] for i in range(1, model.njnt)}
        seen.append((joints, world.pose))
        return False

    world.drive(0, GAIT, 60, until=until)
    assert happened == [25, 50]
    (before, place), (after, later) = seen[23], seen[24]
    assert before.keys() - after.keys() == {f"left_front_{joint}" for joint in ("coxa", "femur", "tibia")}
    assert all(abs(after[name] - before[name]) < 0.3 for name in after)
    assert later == pytest.approx(place, abs=0.05)
    assert seen[-1][0].keys() == before.keys()


def test_gravity_of_a_slope_turns_with_the_frame() -> None:
    (change,) = read_changes(["floor:slope@10@0"], ROBOT)
    world = SimulatedWorld(ROBOT, (change,), seed=1)
    world.stand(0)
    uphill = world.robot.physics.opt.gravity.copy()
    assert uphill[0] < -1
    world.drive(0, GAIT, 1, towards=math.pi / 2)
    assert world.robot.physics.opt.gravity == pytest.approx((uphill[1], -uphill[0], uphill[2]), abs=0.05)
    assert change.damage.apply(ROBOT).physics.opt.gravity == pytest.approx(uphill)


def test_looking_at_the_robot_changes_nothing_and_shows_it_in_the_world() -> None:
    worlds = [SimulatedWorld(ROBOT, (), seed=1) for _ in range(2)]
    for world in worlds:
        world.drive(0, GAIT, 40, towards=0.5)
    data = worlds[0].posed_data()
    assert data.qpos[:2] == pytest.approx(worlds[0].pose[:2])
    stretches = [world.drive(0, GAIT, 40) for world in worlds]
    assert (stretches[0].trace == stretches[1].trace).all()


def test_a_robot_that_lies_is_set_upright_where_it_lies() -> None:
    world = SimulatedWorld(ROBOT, (), seed=1)
    world.drive(0, GAIT, 100)
    assert on_its_back(world).drive(0, GAIT, 5).fell
    lies, joints, clock = world.pose, world.posed_data().qpos[7:].copy(), world.clock
    assert not world.set_upright(12.0)
    assert (world.clock - clock, world.upright) == (pytest.approx(12.0), False)
    assert world.set_upright(30.0)
    assert world.clock - clock == pytest.approx(12.0 + ASSISTANCE)
    assert world.pose.distance(lies[:2]) < 0.01
    assert wrapped_angle(world.pose.yaw - lies.yaw) == pytest.approx(0, abs=1e-6)
    assert (world.posed_data().qpos[7:] == joints).all()
    for lower, touches in ((-1e-3, False), (1e-3, True)):
        data = world.posed_data()
        data.qpos[2] -= lower
        mujoco.mj_forward(world.robot.model, data)
        assert (data.ncon > 0) == touches
    world.stand(25)
    assert world.upright


def test_what_is_due_while_it_is_set_upright_happens_then() -> None:
    happened = []
    (repair,) = read_changes(["left_front:lost@5"], ROBOT)
    world = SimulatedWorld(ROBOT, (repair,), seed=1, on_change=lambda _: happened.append(world.clock))
    on_its_back(world).drive(0, GAIT, 5)
    assert world.set_upright(60.0)
    assert happened == [pytest.approx(5.0)]


def test_after_a_simulation_that_blew_up_the_robot_walks_on() -> None:
    world = SimulatedWorld(ROBOT, (), seed=1)
    world._stepper.data.qvel[8] = 5e5
    assert world.drive(0, GAIT, 5).fell
    assert world.set_upright(60.0)
    stretch = world.drive(0, GAIT, 50)
    assert (len(stretch.trace), stretch.fell) == (50, False)


def test_robots_that_cannot_turn_have_no_missions() -> None:
    with pytest.raises(InvalidValueError, match="a robot that can turn, which the hopper cannot"):
        SimulatedWorld(load_robot("hopper"), (), seed=1)


def test_a_gait_that_goes_on_walks_as_if_there_had_been_one_stretch() -> None:
    late = ROBOT.modified("late", faults=Faults(delay=2))
    for robot in (ROBOT, late):
        whole, parted = (SimulatedWorld(robot, (), seed=1) for _ in range(2))
        expected = whole.drive(3, GAIT, 115)
        first = parted.drive(3, GAIT, 35)  # not a whole number of cycles
        second = parted.drive(3, GAIT, 80)
        assert parted.pose == pytest.approx(whole.pose, abs=1e-6)
        assert (first.episodes.steps[0], second.episodes.steps[0]) == (35, 80)
        at = TraceColumns.of(robot)
        commands = np.concatenate([first.trace, second.trace])[:, : at.angle]
        assert abs(commands - expected.trace[:, : at.angle]).max() < 1e-5
        worlds = parted, SimulatedWorld(robot, (), seed=1)
        again, first = (world.drive(3, GAIT, 10, abrupt=True).trace[:, : at.angle] for world in worlds)
        assert again == pytest.approx(first, abs=1e-5), "a trial begins its cycle anew"


PATHS = np.array(
    [
        [[0.2 * t, 0.0, 0.0] for t in range(1, 11)],  # straight and fast
        [[0.05 * t, 0.0, 0.2 * t] for t in range(1, 11)],  # turns to the left
        [[0.05 * t, 0.0, -0.2 * t] for t in range(1, 11)],  # turns to the right
        [[0.3 * t, 0.0, 0.0] for t in range(1, 11)],  # faster, and falls
    ]
)
FALLS = np.array([np.inf, np.inf, np.inf, 3.0])


def choice(goal=(9.0, 0.0), paths=PATHS, falls=FALLS, risk=0.0, present=None, pose=Pose()):  # noqa: B008
    risks = np.broadcast_to(risk, len(paths))
    return choose_gait(pose, goal, paths, falls, risk=risks, present=present, within=0.2)


@pytest.mark.parametrize(("goal", "number"), [((9.0, 0.0), 0), ((-9.0, 5.0), 1), ((-9.0, -5.0), 2)])
def test_the_planner_walks_ahead_and_turns_towards_goals(goal: tuple[float, float], number: int) -> None:
    assert choice(goal).number == number
    elsewhere = Pose(5.0, 5.0, 1.0)
    assert choice((elsewhere @ Pose(*goal))[:2], pose=elsewhere)[:2] == choice(goal)[:2]


@pytest.mark.parametrize("samples", [1, 3])
def test_the_planner_chooses_among_paths_shorter_than_its_shortest_stretch(samples: int) -> None:
    chosen = choice(paths=PATHS[[1, 0], :samples], falls=FALLS[[1, 0]])
    assert (chosen.number, chosen.samples) == (1, samples)
    assert np.isfinite(chosen.seconds)


def test_the_planner_stops_at_the_goal_and_avoids_risks() -> None:
    found = choice((1.0, 0.0))
    assert (found.number, found.samples, found.arrives) == (0, 5, True)  # 0.1 m further than it must
    assert found.seconds == pytest.approx(5 * SAMPLE + 0.5)
    assert not choice().arrives
    twins, never = PATHS[[0, 0]], FALLS[:2]
    assert choice(paths=twins, falls=never, risk=(0.5, 0.0)).number == 1
    assert choice(paths=twins, falls=never, present=1).number == 1
    # two risky gaits, slow ones and some that walk backwards: a risk is not put off
    speeds = np.array([0.2] * 2 + [0.08] * 3 + [-0.3] * 5)
    paths = np.zeros((10, 10, 3))
    paths[:, :, 0] = SAMPLE * speeds[:, None] * np.arange(1, 11)
    assert choice(paths=paths, falls=np.full(10, np.inf), risk=(0.18,) * 2 + (0.0,) * 8).number == 0


def test_a_log_is_read_as_it_was_written_and_nothing_else_is(tmp_path) -> None:
    path = tmp_path / "log.jsonl"
    event = Event(1.5, "walk", "Walked.", Pose(1.0, 2.0, 0.5), {"row": 3})
    asked = MissionFacts(robot="hexapod", repertoire="abc", goals=((5, 0),), seconds=9.0, refine=0)
    path.write_text(asked.line() + "\n" + event.line() + "\n")
    assert read_log(path) == (asked, [event])
    lines = path.read_text()
    path.write_text(lines[:-5])
    assert read_log(path) == (asked, []), "the last line was cut off"
    for text in ("", "{}", "[]", lines.replace('"walk"', '"sing"'), lines.replace("1.5", '"x"')):
        path.write_text(text)
        with pytest.raises(InvalidFileError, match="no log of a mission"):
            read_log(path)
