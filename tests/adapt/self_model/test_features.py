"""Features: what a trace that was made by hand says, and what is no trace."""

import numpy as np
import pytest

from adapt.damage.text import parse_damage
from adapt.self_model.features import Features
from robots.errors import InvalidValueError
from robots.evaluations import Request
from robots.robot import load_robot
from robots.simulation.backend import ModelBatch
from robots.simulation.threads import Threads
from robots.simulation.trace import SENSORS, TraceColumns

ROBOT = load_robot("hexapod").with_episode_steps(100)
AT = TraceColumns.of(ROBOT)
JOINT = "left_middle_femur"
J = ROBOT.description.joints.index(JOINT)


def made(steps: int = 100) -> np.ndarray:
    """A robot that stands still and does as it is told, which is nothing."""
    return np.zeros((steps, AT.end), np.float32)


def values(features: Features, trace: np.ndarray, until: int = 100) -> dict[str, float]:
    return dict(zip(features.names, features.of([trace], until)[0], strict=True))


def test_what_a_trace_says() -> None:
    features, trace = Features(ROBOT), made()
    angle, time = AT.angle + J, np.arange(100)
    assert not any(value for name, value in values(features, trace).items() if "usual" not in name)
    trace[:, angle] = 0.1 * np.sin(2 * np.pi * time / 50)  # of half a range of 90 degrees
    trace[:, AT.torque + J] = 0.5
    trace[:, AT.position] = 0.01 * time
    trace[:, AT.attitude + 2] = np.where(time < 50, 0, np.pi - 0.1 + 0.2 * (time > 70))
    trace[20:40, AT.contact + list(ROBOT.description.feet).index("left_front")] = 1
    found = values(features, trace)
    assert found[f"encoders: {JOINT} range [rad]"] == pytest.approx(0.2 * np.pi / 2, rel=0.01)
    spread = 0.1 * np.pi / 2 / 2**0.5
    assert found[f"encoders: {JOINT} spread of error [rad]"] == pytest.approx(spread, rel=0.01)
    assert found[f"currents: {JOINT} mean torque [N m]"] == pytest.approx(0.5)
    assert found["odometry: x in window 3 [m]"] == pytest.approx(0.19)
    assert found["contacts: left_front in window 2 [share]"] == 1
    assert found["imu: turn in window 4 [rad]"] == pytest.approx(0.2, abs=1e-5)  # and not nearly a whole turn
    others = [name for name in found if name.startswith(("encoders", "currents")) and JOINT not in name]
    assert {found[name] for name in others} == {0, 1}  # motors at rest do as usual


def test_error_is_to_where_the_servo_was_told_to_go() -> None:
    features, trace = Features(ROBOT), made()
    trace[:, J] = 0.5  # of 45 degrees
    assert values(features, trace)[f"encoders: {JOINT} mean error [rad]"] == pytest.approx(-np.pi / 8)


def test_a_fallen_robot_stays_as_it_fell_and_only_what_both_lived_is_compared() -> None:
    features, trace = Features(ROBOT), made()
    trace[:, AT.position] = 0.01 * np.arange(100)
    trace[:, AT.attitude] = 0.3
    assert values(features, trace[:30]) == values(features, trace, until=30)
    found = values(features, trace[:30])
    assert found["odometry: x in window 5 [m]"] == 0
    assert found["imu: roll in window 5 [rad]"] == pytest.approx(0.3)


def test_how_a_joint_answers_to_torque() -> None:
    rng, features, trace = np.random.default_rng(0), Features(ROBOT), made()
    torque, angle = rng.normal(size=100), np.zeros(100)
    for step in range(2, 100):  # in half ranges of 90 degrees
        angle[step] = angle[step - 1] + 0.02 * torque[step] + 0.5 * (angle[step - 1] - angle[step - 2])
    trace[:, AT.angle + J] = angle
    trace[:, AT.torque + J] = torque
    found = values(features, trace)
    by_torque = found[f"encoders+currents: {JOINT} turn by torque [rad]"]
    assert by_torque == pytest.approx(0.02 * np.pi / 2 * torque.std(), rel=0.1)
    by_turn = found[f"encoders+currents: {JOINT} turn by turn before [rad]"]
    assert by_turn == pytest.approx(0.5 * np.pi / 2 * np.diff(angle).std(), rel=0.25)
    assert found[f"encoders+currents: {JOINT} other turn [rad]"] < 0.1 * by_torque
    assert values(features, trace, until=2)[f"encoders+currents: {JOINT} turn by torque [rad]"] == 0


def test_the_path_of_a_robot_in_closed_loop_is_no_feature_unless_there_is_no_other() -> None:
    ant = load_robot("ant")
    assert all("front" in name or "back" in name for name in Features(ant).names)
    assert "imu: turn in window 5 [rad]" in Features(ant, ("imu", "odometry")).names


@pytest.mark.parametrize("sensors", [("encoders",), ("imu", "currents"), SENSORS])
def test_sensors(sensors: tuple[str, ...]) -> None:
    features, every = Features(ROBOT, sensors), Features(ROBOT)
    assert {part for name in features.names for part in name.partition(":")[0].split("+")} == set(sensors)
    trace = np.random.default_rng(0).normal(size=(100, AT.end))
    assert values(features, trace).items() <= values(every, trace).items()
    assert len(features) == len(features.floor) == len(features.joints) == len(features.kinds)


def test_the_share_of_its_torque_that_a_weak_motor_gives() -> None:
    robot, gait = load_robot("hexapod").with_episode_steps(100), np.full((1, 36), 0.5, np.float32)
    gait[:, 0::3] = 0.9
    weak = parse_damage(f"joint={JOINT}:weak@0.3", robot).apply(robot)
    batch, twice, asked = ModelBatch(robot, weak), np.repeat(gait, 2, axis=0), Request(traces=True)
    walked = Threads(1).run(batch, twice, np.zeros(2, int), models=np.arange(2), request=asked)
    found = [values(Features(robot), trace) for trace in walked.traces]
    shares = [one[f"encoders+currents: {JOINT} share of usual torque [1]"] for one in found]
    assert shares[1] == pytest.approx(0.3 * shares[0], abs=0.05)
    assert shares[0] == pytest.approx(1, abs=0.15)
    assert found[0][f"encoders+currents: {JOINT} correlation with usual torque [1]"] > 0.9


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (made()[:, :-1], "must have 1 to 100 rows of 68 numbers, not the shape"),
        (made(101), r"must have 1 to 100 rows of 68 numbers, not the shape \(101, 68\)"),
        (made(0), "must have 1 to 100 rows"),
        (np.zeros(68), "not the shape"),
        (np.where(np.arange(100)[:, None] == 7, np.nan, made()), "must be finite, but are not in row 7"),
    ],
)
def test_what_is_no_trace_of_this_robot(trace: np.ndarray, message: str) -> None:
    features = Features(ROBOT)
    features.check(made())
    with pytest.raises(InvalidValueError, match=message):
        features.check(trace)
