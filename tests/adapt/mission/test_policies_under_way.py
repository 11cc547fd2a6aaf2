"""Gaits around a policy under way: another one takes over, or something breaks, and the policy goes on."""

import numpy as np
import pytest

import surefoot
from adapt.mission.changes import PlannedChange, read_changes
from adapt.mission.linked import LinkedWorld
from adapt.mission.mission import Mission
from adapt.mission.monitor import SILENCE, Monitor
from adapt.mission.simulated import SimulatedWorld
from adapt.mission.world import World
from adapt.requests import MissionRequest
from robots.errors import InvalidValueError
from robots.importing.policies import with_policy
from robots.link.driving import Keeper, drive
from robots.link.simulated import SimulatedRobot
from robots.robot import Robot, load_robot
from tests.robots.link.virtual import SimulatedLink

MAP = """
controller:
  observes: [action, command]
  scale: 0.25
  command: {default: [0.8, 0.0, 0.0], heading_gain: 0.0}
"""
Changes = tuple[PlannedChange, ...]


def simulated(robot: Robot, changes: Changes) -> World:
    return SimulatedWorld(robot, changes, seed=1)


def linked(robot: Robot, _: Changes) -> World:
    return LinkedWorld(robot, Keeper(SimulatedLink(SimulatedRobot(robot, robot))))


def around(policy, folder) -> Robot:
    (folder / "map.yaml").write_text(MAP)
    return with_policy(load_robot("quadruped"), policy, folder / "map.yaml")


@pytest.mark.parametrize("begun", [simulated, linked])
def test_a_policy_goes_on_while_gaits_change_and_parts_break(begun, tmp_path) -> None:
    seen: list[np.ndarray] = []

    def stands(observations: np.ndarray) -> np.ndarray:
        if observations.any():  # else it is only tried out
            seen.append(observations[0].copy())
        return np.full((1, 12), 0.01)

    robot = around(stands, tmp_path)
    first, second = np.zeros((2, robot.controller.parameter_count), np.float32)
    second[0] = -0.6  # it is told 0.2 m/s
    world = begun(robot, read_changes(["front_left:weak@0.9@1.5"], robot))
    steps = round(1.0 / robot.control_step)
    world.drive(0, first, steps)
    seen.clear()
    for _ in range(2):
        world.drive(1, second, steps)
    actions, told = np.array(seen)[:, :12], np.array(seen)[:, 12]
    assert actions == pytest.approx(
        0.01, abs=1e-6
    )  # it remembers what it did, also when its robot becomes another one
    assert told[0] == pytest.approx(0.8, abs=0.05)
    assert np.diff(told).max() < 1e-6
    assert abs(np.diff(told)).max() < 1.1 * 0.6 * robot.control_step / 0.5  # within half a second, evenly
    assert told[-1] == pytest.approx(0.2)


def test_a_robot_whose_policy_raises_is_damped(tmp_path) -> None:
    def until_it_walks(observations: np.ndarray) -> np.ndarray:
        if observations[0, 12] > 0.4:
            raise RuntimeError("no more")
        return np.zeros((1, 12))

    robot = around(until_it_walks, tmp_path)
    link = SimulatedLink(SimulatedRobot(robot, robot))
    with pytest.raises(InvalidValueError, match=r"^the policy until_it_walks fails: RuntimeError: no more$"):
        drive(link, np.zeros(robot.controller.parameter_count), 2.0)
    assert link.observe().mode == "damping"


@pytest.mark.parametrize(
    "alarms", [(), ("a joint moves otherwise than usual",)], ids=["nowhere", "in a trial"]
)
def test_motors_without_torque_are_noticed_wherever_the_robot_gets(alarms, monkeypatch) -> None:
    left = iter(alarms)

    def hears(monitor: Monitor, trace: np.ndarray, made: int) -> str | None:
        """Nothing but one false alarm comes from how the gait goes."""
        monitor.listen(trace[:made])
        return next(left, None)

    monkeypatch.setattr(Monitor, "watch", hears)
    gaits = surefoot.load("quadruped-policy")
    request = MissionRequest(goals=((20.0, 0.0),), changes=["front_left:dead@3"], seconds=6.0, refine=0)
    events = list(Mission(gaits, request))
    kinds = [event.kind for event in events]
    assert kinds.count("trial") == len(alarms)
    assert (SILENCE in next(event.words for event in events if event.kind == "alarm")) == (not alarms)
    heard = next(event for event in events if event.kind == "thought")
    assert heard.words.endswith(f"front_left:dead, since {SILENCE}.")
    assert 3.5 <= heard.time < 5.5
