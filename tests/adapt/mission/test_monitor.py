"""The monitor: what it notices of a robot that is damaged, repaired, or only differs from its model."""

from typing import NamedTuple

import numpy as np
import pytest

from adapt.damage.damage import Combination, Damage
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.motors import Dead
from adapt.damage.text import parse_damage
from adapt.mission.monitor import THRESHOLD, Monitor
from adapt.self_model.twin import Run, Thinking, Twin
from robots.evaluations import Request
from robots.randomization import randomised
from robots.robot import Robot
from robots.simulation.backend import ModelBatch
from robots.simulation.threads import ALL_CORES
from robots.simulation.trace import SENSORS, TraceColumns


class Watching(NamedTuple):
    """A monitor of the best gait, and the traces of the gait with some damages."""

    robot: Robot
    twin: Twin
    monitor: Monitor
    row: int

    def begin(self, believed: Damage) -> None:
        self.monitor.calm()
        self.monitor.begin(believed, self.row)

    def traces(self, *damages: Damage) -> list[np.ndarray]:
        return list(self.twin.run([Run(damage, self.row, 77) for damage in damages], traced=True).traces)

    def alarms(self, trace: np.ndarray) -> list[str | None]:
        return [self.monitor.watch(trace, made) for made in range(1, len(trace) + 1)]

    def steps(self, seconds: float) -> int:
        return round(seconds / self.robot.control_step)


@pytest.fixture
def watching(hexapod, request: pytest.FixtureRequest) -> Watching:
    repertoire, _ = hexapod
    sensors = tuple(name for name in SENSORS if name not in getattr(request, "param", ()))
    twin = Twin(Thinking(repertoire, 10, sensors=sensors))
    row = int(np.argmax(repertoire.elites.objectives))
    return Watching(repertoire.robot, twin, Monitor(twin, repertoire.robot), row)


# without currents, which tell at once that motors are dead
@pytest.mark.parametrize("watching", [("currents",)], indirect=True)
def test_the_monitor_knows_a_healthy_gait_from_a_damaged_robot(watching: Watching) -> None:
    healthy, lost = watching.traces(Combination(), Lost("left_middle"))
    watching.begin(Combination())
    assert not any(watching.alarms(healthy))
    watching.begin(Combination())
    assert any(watching.alarms(lost)[: watching.steps(3.0)])
    monitor = watching.monitor
    assert monitor.highest >= monitor.sums.max() >= THRESHOLD
    monitor.calm()
    assert not monitor.sums.any()
    assert monitor.highest == 0


@pytest.mark.parametrize(
    ("watching", "believed", "noticed"),
    [((), Combination(), True), (("odometry",), Combination(), False), ((), Dead("left_front"), False)],
    indirect=["watching"],
)
def test_the_monitor_notices_a_slippery_floor_by_the_course_where_it_can(
    watching: Watching, believed: Damage, noticed: bool
) -> None:
    watching.begin(believed)
    (trace,) = watching.traces(parse_damage("floor:friction@0.4", watching.robot))
    assert ("the robot gets elsewhere than usual" in watching.alarms(trace)) == noticed


@pytest.mark.parametrize("damage", ["left_front:lost", "left_front:dead"])
def test_the_monitor_notices_at_once_that_a_motor_works_again(watching: Watching, damage: str) -> None:
    believed, monitor, first = parse_damage(damage, watching.robot), watching.monitor, watching.steps(1.5)
    repaired, still = watching.traces(Combination(), believed)
    words = "a motor works that should give no torque"
    watching.begin(believed)
    assert words not in watching.alarms(still)
    monitor.calm()
    assert not any(watching.alarms(repaired[: first - 1]))
    assert monitor.watch(repaired, first) == words
    assert monitor.highest == THRESHOLD
    monitor.calm()
    monitor.trust(believed, watching.row)  # of another alarm
    assert monitor.watch(repaired, first) == words
    assert monitor.works
    monitor.trust(believed, watching.row)  # it believes so all the same
    monitor.calm()
    assert monitor.watch(repaired, first) != words
    watching.begin(Lost("right_rear"))
    watching.begin(believed)
    assert monitor.watch(repaired, first) == words


@pytest.mark.parametrize(
    ("text", "torque", "works"),
    [
        ("left_front:dead", 0.02, False),  # [N m] that a sensor tells
        ("left_front:dead", 2.0, True),
        ("all:dead", 0.02, False),
        ("joint=left_front_coxa:locked", 2.0, False),  # its motor pushes
    ],
)
def test_the_monitor_takes_noise_or_a_jammed_motor_for_no_repair(
    watching: Watching, text: str, torque: float, works: bool
) -> None:
    robot, believed = watching.robot, parse_damage(text, watching.robot)
    (trace,), parts, (single,) = watching.traces(believed), watching.twin.parts, believed.singles
    broken = [robot.description.joints.index(name) for name in parts.joints(parts.find(single.target))]
    trace[:, [TraceColumns.of(robot).torque + number for number in broken]] = torque
    watching.begin(believed)
    watching.alarms(trace[: watching.steps(1.5)])
    assert watching.monitor.works is works


def test_the_monitor_takes_no_robot_that_differs_from_its_model_for_a_damaged_one(watching: Watching) -> None:
    bodies = [randomised(watching.robot, seed) for seed in range(100, 106)]
    solutions, numbers = watching.twin.solutions([watching.row] * 6), np.arange(6)
    asked = Request(traces=True)
    walked = ALL_CORES.run(ModelBatch(*bodies), solutions, numbers, models=numbers, request=asked)
    for trace in walked.traces:
        watching.begin(Combination())
        assert not any(watching.alarms(trace))


def test_the_monitor_notices_an_encoder_that_stands_still(watching: Watching) -> None:
    robot, second = watching.robot, watching.steps(1.0)
    (walked,) = watching.traces(Combination())
    for joint in [name for name in robot.description.joints if name.endswith("coxa")]:
        trace, column = walked.copy(), TraceColumns.of(robot).angle + robot.description.joints.index(joint)
        trace[2 * second :, column] = trace[2 * second, column]
        watching.begin(Combination())
        noticed = next(made for made, alarm in enumerate(watching.alarms(trace), 1) if alarm)
        assert 2 * second < noticed <= 4 * second, joint
