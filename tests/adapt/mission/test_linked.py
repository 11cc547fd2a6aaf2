"""Missions with a robot behind a link: in this process, and in one of its own that keeps real time."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

import surefoot
from adapt.damage.text import parse_damage
from adapt.mission import diagnosis
from adapt.mission.linked import LinkedWorld
from adapt.mission.simulated import SimulatedWorld
from adapt.mission.world import BackgroundSearch, Searches
from robots.errors import InvalidValueError
from robots.link.driving import Keeper, Motion
from robots.link.keeper import KeeperProcess
from robots.link.link import LinkError
from robots.link.simulated import SimulatedRobot
from robots.pose import Pose
from robots.simulation.trace import TraceColumns
from tests.adapt.mission.small import small_hexapod
from tests.adapt.mission.test_knowledge import known
from tests.robots.link.test_link import free_port, serving
from tests.robots.link.virtual import SimulatedLink

WHOLE = small_hexapod()[0]
ROBOT = WHOLE.robot
BEST = int(np.argmax(WHOLE.elites.objectives))
GAIT = WHOLE.gaits.solutions[BEST]


class Halting(LinkedWorld):
    """A world whose time stands still between calls, as it does in the simulation behind it."""

    think, search = SimulatedWorld.think, SimulatedWorld.search


class Searching(LinkedWorld):
    """A world that keeps the latest search."""

    def search(self, work, seconds: float) -> BackgroundSearch:
        self.found = super().search(work, seconds)
        return self.found


def linked(world: type[LinkedWorld] = Halting, **options: object) -> tuple[LinkedWorld, SimulatedRobot]:
    """A world behind a link in this process, and the robot in it."""
    robot = SimulatedRobot(ROBOT, ROBOT, **options)
    return world(ROBOT, Keeper(SimulatedLink(robot))), robot


@contextmanager
def over(address: str):
    """A world whose robot a process of its own keeps going."""
    world = LinkedWorld(ROBOT, KeeperProcess(ROBOT, address, None))
    try:
        yield world
    finally:
        world.close()


def place(robot: SimulatedRobot) -> tuple[float, float]:
    return tuple(robot._stepper.data.qpos[:2])


def test_a_stretch_over_a_link_is_one_in_simulation() -> None:
    worlds = linked()[0], SimulatedWorld(ROBOT, (), seed=1)
    first, second = (world.drive(3, GAIT, 100, towards=0.5, abrupt=True) for world in worlds)
    assert first.moved == pytest.approx(tuple(second.moved), abs=0.1)
    for name in ("distances", "midway", "lateral", "heading", "energies", "steps"):
        found, expected = (getattr(stretch.episodes, name)[0] for stretch in (first, second))
        assert found == pytest.approx(expected, rel=0.15, abs=0.1), name
    assert worlds[0].posed_data().qpos[:2] == pytest.approx(first.end[:2])
    assert worlds[0].clock == pytest.approx(2.0)


def test_a_link_tells_what_the_simulation_records() -> None:
    world, robot = linked()
    at, recorded = TraceColumns.of(ROBOT), []

    def record(_: LinkedWorld) -> None:
        recorded.append(np.zeros(at.end, np.float32))
        robot._stepper.read(recorded[-1])

    world._on_step = record
    off = abs(world.drive(3, GAIT, 100).trace - recorded)
    assert off[:, at.contact : at.position].mean() < 0.02  # forces of 0 while feet touch
    off[:, at.contact : at.position] = 0
    assert off.max() < 1e-4


def test_legs_tell_about_where_a_robot_without_odometry_is() -> None:
    world, robot = linked(odometry=False)
    assert "odometry" not in world.sensors
    stretch = world.drive(3, GAIT, 150)
    assert stretch.moved.x == pytest.approx(place(robot)[0], rel=0.15)
    assert stretch.moved.x > 0.8
    world.stand(30)
    assert world.upright
    assert world.posed_data().qpos[2] == pytest.approx(robot._stepper.data.qpos[2], abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("odometry", [True, False])
def test_a_leg_breaks_under_way_and_the_robot_recovers(odometry: bool) -> None:
    broken = parse_damage("left_front:lost", ROBOT).apply(ROBOT)
    world, robot = linked(odometry=odometry, changes=[(2.0, broken)], helped=True)
    settings = {"goals": [(2.5, 0.5)], "seconds": 60.0, "selector": "rehearsed", "refine": 0}
    mission = surefoot.Mission(WHOLE, rehearsal=small_hexapod()[1], world=world, **settings)
    events = list(mission)
    thought = next(event for event in events if event.kind == "thought")
    assert next(iter(thought.facts["believed"])).startswith("left_front")
    assert mission.result.reached == 1
    assert Pose(*place(robot)).distance((2.5, 0.5)) < (0.3 if odometry else 0.6)


def test_searches_follow_one_another_though_one_fails() -> None:
    world, _ = linked(LinkedWorld)
    may_end, begun = threading.Event(), threading.Event()

    def fail() -> None:
        may_end.wait()
        raise InvalidValueError("nothing was found")

    first = world.search(fail, 1.0)
    second = world.search(lambda: begun.set() or "found", 1.0)
    assert not begun.wait(0.2)
    assert not first.done()
    may_end.set()
    assert second.result() == "found"
    with pytest.raises(InvalidValueError, match="nothing was found"):
        first.result()


def test_a_search_that_was_given_up_before_it_began_does_not_run() -> None:
    world, _ = linked(Searching)
    may_end, ran = threading.Event(), []
    searches = Searches(world)
    searches.add(lambda: may_end.wait(10), 1.0, ran.append)
    for number in range(3):
        searches.give_up()
        searches.add(lambda number=number: ran.append(number), 1.0, lambda _: None)
    may_end.set()
    world.found.result()
    assert ran == [2]


def test_the_time_of_a_gait_is_that_of_the_robot_even_if_states_do_not_come() -> None:
    class Busy(SimulatedLink):
        """Every fifth time another control step passes before anybody looks."""

        def act(self, action: np.ndarray) -> None:
            super().act(action)
            if self.sent % 6 == 5:
                super().act(action)

    keeper, seen = Keeper(Busy(SimulatedRobot(ROBOT, ROBOT))), []
    keeper.begin(Motion(3, GAIT))
    senses = keeper._senses
    keeper._senses = lambda *given: (seen.append(None), senses(*given))[1]
    for _ in range(50):
        keeper.tick()
    passed = round(keeper.latest().state.time / ROBOT.control_step)
    assert passed > 55
    assert keeper._made == len(seen) == passed


def test_a_search_does_not_depend_on_those_that_were_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a link a search that was given up still runs to its end, unlike in the simulation."""
    seeds: list[int] = []

    def noting(_: object, seed: int) -> SimpleNamespace:
        return SimpleNamespace(refine=lambda *_: seeds.append(seed))

    monkeypatch.setattr(diagnosis, "Relearner", noting)
    world, _ = linked(Searching)
    knowledge = known(*small_hexapod(), world=world, refinement=100)
    knowledge.know(parse_damage("left_front:lost", ROBOT))
    for taken in (False, True, False):
        knowledge.search_on(0.0, 0.0)
        world.found.result()
        if taken:
            knowledge.searches.take_found()
    assert seeds[0] == seeds[1] != seeds[2]


def test_a_robot_that_lies_is_set_upright_by_whoever_is_near() -> None:
    said: list[str] = []
    (world, one), (alone, other) = linked(helped=True), linked()
    world._say = said.append
    for robot in (one, other):
        robot._stepper.data.qpos[2:7] = 0.2, 0, 1, 0, 0
    assert world.drive(3, GAIT, 20).fell
    assert world.set_upright(60.0)
    assert world.upright
    assert "set it upright" in said[0]
    assert alone.drive(3, GAIT, 20).fell
    assert not alone.set_upright(5.0), "the mission's time is up before"
    with pytest.raises(LinkError, match="nobody set it upright"):
        alone.set_upright(1000.0)


def test_a_robot_behind_a_link_cannot_be_broken_by_the_mission() -> None:
    with pytest.raises(InvalidValueError, match="break itself"):
        surefoot.Mission(WHOLE, robot="tcp://127.0.0.1:6000", changes=["left_front:lost@1"])


@contextmanager
def served():
    """A robot in a process of its own, at a port."""
    port = free_port()
    command = [sys.executable, "-m", "surefoot", "robot", "hexapod", "--serve", f"tcp://127.0.0.1:{port}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert "listens" in process.stdout.readline()
            yield port, process
        finally:
            process.kill()


@pytest.mark.real_time
def test_a_robot_goes_on_while_nobody_looks() -> None:
    with served() as (port, _):
        with over(f"tcp://127.0.0.1:{port}") as world:
            stretch = world.drive(3, GAIT, 100)
            assert (len(stretch.trace), stretch.fell) == (100, False)
            before, clock = stretch.end, world.clock
            time.sleep(1.0)
            assert world.pose == before  # as of the last call
            assert not world.think(1.0, 3, GAIT)
            assert world.clock > clock + 0.8
            assert world.pose.distance(before[:2]) > 0.1
            world.stand(20)
            assert world.seen.state.mode == "driven"
        assert "states" in world.words


@pytest.mark.real_time
def test_a_lost_robot_ends_the_world_and_is_damped_in_the_end() -> None:
    with served() as (port, process), over(f"tcp://127.0.0.1:{port}") as world:
        world.stand(5)
        process.kill()
        with pytest.raises(LinkError, match="silent for"):
            world.stand(500)
    with pytest.raises(LinkError, match="no robot answers"):
        KeeperProcess(ROBOT, f"tcp://127.0.0.1:{free_port()}", None)


@contextmanager
def watched():
    """The address of a robot in this process, and when its motors were told to be stiff or not."""
    stiff: list[tuple[float, bool]] = []
    with serving(ROBOT) as (address, server):
        step, note = server._robot.step, lambda told: any(command.mode for command in told)
        server._robot.step = lambda told: (stiff.append((time.monotonic(), note(told))), step(told))[1]
        yield address, stiff


@pytest.mark.real_time
def test_a_keeper_that_stops_leaves_the_robot_damped_and_is_given_up() -> None:
    with watched() as (address, stiff):
        with over(address) as world:
            world.stand(10)
            assert stiff[-1][1]
            os.kill(world._driver._process.pid, signal.SIGSTOP)
            began = time.monotonic()
            with pytest.raises(LinkError, match="hung, and was ended"):
                world.stand(100)
            assert time.monotonic() - began < 8
        assert time.monotonic() - began < 12
        assert not any(was for when, was in stiff if when > began + 0.3)


SCRIPT = """
import surefoot
mission = surefoot.Mission("hexapod", robot="{address}", goals=["1,0"])
print("never")
"""


@pytest.mark.real_time
def test_a_script_without_a_guard_ends_in_a_sentence(tmp_path) -> None:
    with watched() as (address, stiff):
        (tmp_path / "walk.py").write_text(SCRIPT.format(address=address))
        command = [sys.executable, str(tmp_path / "walk.py")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].endswith('does so under `if __name__ == "__main__":`')
        assert done.stderr.count("Traceback") == 1  # of the script itself
        assert not any(was for _, was in stiff)
