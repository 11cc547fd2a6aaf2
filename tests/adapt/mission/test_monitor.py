"""The monitor: what it notices of a robot that is damaged, repaired, or only differs from its model."""

import numpy as np
import pytest

from adapt.damage.damage import Combination
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.motors import Dead
from adapt.damage.text import parse_damage
from adapt.mission.monitor import THRESHOLD, Monitor
from adapt.self_model.twin import Run, Thinking, Twin
from robots.evaluations import Request
from robots.randomization import randomised
from robots.simulation.backend import ModelBatch
from robots.simulation.threads import ALL_CORES
from robots.simulation.trace import SENSORS, TraceColumns


def test_the_monitor_knows_a_healthy_gait_from_a_damaged_robot(hexapod) -> None:
    repertoire, _ = hexapod
    without = tuple(name for name in SENSORS if name != "currents")  # which tell at once that motors are dead
    twin = Twin(Thinking(repertoire, 10, sensors=without))
    row = int(np.argmax(repertoire.elites.objectives))
    alarms = {}
    for name, damage in (("healthy", Combination()), ("lost", Lost("left_middle"))):
        monitor = Monitor(twin, repertoire.robot)
        monitor.begin(Combination(), row)
        (trace,) = twin.run([Run(damage, row, 77)], traced=True).traces
        found = [monitor.watch(trace, made) for made in range(1, len(trace) + 1)]
        alarms[name] = next(
            (n * repertoire.robot.control_step for n, alarm in enumerate(found, 1) if alarm), None
        )
    assert alarms["healthy"] is None
    assert alarms["lost"] <= 3.0
    assert monitor.highest >= monitor.sums.max() >= THRESHOLD
    monitor.calm()
    assert not monitor.sums.any()
    assert monitor.highest == 0


def test_the_monitor_notices_a_slippery_floor_by_the_course_where_it_can(hexapod) -> None:
    repertoire, _ = hexapod
    row, slippery = (
        int(np.argmax(repertoire.elites.objectives)),
        parse_damage("floor:friction@0.4", repertoire.robot),
    )
    blind = tuple(name for name in SENSORS if name != "odometry")
    found = []
    for believed, sensors in (
        (Combination(), SENSORS),
        (Combination(), blind),
        (Dead("left_front"), SENSORS),
    ):
        twin = Twin(Thinking(repertoire, 10, sensors=sensors))
        monitor = Monitor(twin, repertoire.robot)
        monitor.begin(believed, row)
        (trace,) = twin.run([Run(slippery, row, 77)], traced=True).traces
        said = {monitor.watch(trace, made) for made in range(1, len(trace) + 1)}
        found.append("the robot gets elsewhere than usual" in said)
    assert found == [True, False, False]


@pytest.mark.parametrize("damage", ["left_front:lost", "left_front:dead"])
def test_the_monitor_notices_at_once_that_a_motor_works_again(hexapod, damage: str) -> None:
    repertoire, _ = hexapod
    robot, twin = repertoire.robot, Twin(Thinking(repertoire, 10))
    believed, row = parse_damage(damage, robot), int(np.argmax(repertoire.elites.objectives))
    monitor, first = Monitor(twin, robot), round(1.5 / robot.control_step)
    repaired, still = twin.run([Run(Combination(), row, 77), Run(believed, row, 77)], traced=True).traces
    words = "a motor works that should give no torque"
    monitor.begin(believed, row)
    assert not any(monitor.watch(still, made) == words for made in range(1, len(still) + 1))
    monitor.calm()
    assert not any(monitor.watch(repaired, made) for made in range(1, first))
    assert monitor.watch(repaired, first) == words
    assert monitor.highest == THRESHOLD
    monitor.calm()
    monitor.trust(believed, row)  # of another alarm
    assert monitor.watch(repaired, first) == words
    assert monitor.works
    monitor.trust(believed, row)  # it believes so all the same
    monitor.calm()
    assert monitor.watch(repaired, first) != words
    monitor.begin(Lost("right_rear"), row)
    monitor.begin(believed, row)
    assert monitor.watch(repaired, first) == words


def test_the_monitor_takes_noise_or_a_jammed_motor_for_no_repair(hexapod) -> None:
    repertoire, _ = hexapod
    robot, twin = repertoire.robot, Twin(Thinking(repertoire, 10))
    row, at = int(np.argmax(repertoire.elites.objectives)), TraceColumns.of(robot)
    monitor, joint = Monitor(twin, robot), robot.description.joints[0]
    for text, torque, expected in (
        ("left_front:dead", 0.02, False),  # [N m] that a sensor tells
        ("left_front:dead", 2.0, True),
        ("all:dead", 0.02, False),
        (f"joint={joint}:locked", 2.0, False),  # its motor pushes
    ):
        believed = parse_damage(text, robot)
        (trace,) = twin.run([Run(believed, row, 77)], traced=True).traces
        (single,), parts = believed.singles, twin.parts
        broken = parts.joints(parts.find(single.target))
        trace[:, [at.torque + robot.description.joints.index(name) for name in broken]] = torque
        monitor.calm()
        monitor.begin(believed, row)
        for made in range(1, round(1.5 / robot.control_step) + 1):
            monitor.watch(trace, made)
        assert monitor.works is expected, text


def test_the_monitor_takes_no_robot_that_differs_from_its_model_for_a_damaged_one(hexapod) -> None:
    repertoire, _ = hexapod
    twin = Twin(Thinking(repertoire, 10))
    monitor, row = Monitor(twin, repertoire.robot), int(np.argmax(repertoire.elites.objectives))
    monitor.begin(Combination(), row)
    bodies = [randomised(repertoire.robot, seed) for seed in range(100, 106)]
    walked = ALL_CORES.run(
        ModelBatch(*bodies),
        twin.solutions([row] * 6),
        np.arange(6),
        models=np.arange(6),
        request=Request(traces=True),
    )
    for trace in walked.traces:
        assert not any(monitor.watch(trace, made) for made in range(1, len(trace) + 1))
        monitor.calm()


def test_the_monitor_notices_an_encoder_that_stands_still(hexapod) -> None:
    repertoire, _ = hexapod
    robot, twin = repertoire.robot, Twin(Thinking(repertoire, 10))
    row, at = int(np.argmax(repertoire.elites.objectives)), TraceColumns.of(robot)
    monitor, second = Monitor(twin, robot), round(1 / robot.control_step)
    monitor.begin(Combination(), row)
    (walked,) = twin.run([Run(Combination(), row, 77)], traced=True).traces
    for joint in [name for name in robot.description.joints if name.endswith("coxa")]:
        trace, column = walked.copy(), at.angle + robot.description.joints.index(joint)
        trace[2 * second :, column] = trace[2 * second, column]
        monitor.calm()
        noticed = next(made for made in range(1, len(trace) + 1) if monitor.watch(trace, made))
        assert 2 * second < noticed <= 4 * second, joint
