"""The bridge to a Go2, against a stand-in for Unitree's SDK: which motor is told what, and what is read."""

import importlib.util
import sys
import threading
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from robots.importing.draft import draft_robot
from robots.link.driving import drive
from robots.link.messages import motor_commands
from robots.link.remote import RemoteLink
from robots.robot import find_robot
from tests.robots.link.test_link import serving

pytestmark = pytest.mark.real_time
BRIDGE = Path(__file__).parents[3] / "examples" / "unitree_bridge.py"
MODEL = Path(__file__).with_name("go.xml").read_text()


def low_state(number: int = 0) -> SimpleNamespace:
    """What the robot tells, with a little noise, as of any sensor."""
    noise = 1e-6 * number
    motors = [
        SimpleNamespace(q=0.1 * n, dq=0.01 * n + noise, tau_est=float(n), temperature=30 + n)
        for n in range(20)
    ]
    gyroscope = [0.1 + noise, 0.2, 0.3]
    imu = SimpleNamespace(quaternion=[1.0, 0, 0, 0], gyroscope=gyroscope, accelerometer=[0, 0, 9.81])
    return SimpleNamespace(motor_state=motors, imu_state=imu, foot_force=[10, 20, 30, 40])


@pytest.fixture
def sdk(monkeypatch):
    """A stand-in for the SDK: the robot's bus."""
    bus = SimpleNamespace(written=[], modes=["normal", ""], released=0, over=threading.Event())

    class Publisher:
        def __init__(self, topic, _):
            assert topic == "rt/lowcmd"

        def Init(self):  # noqa: N802
            pass

        def Write(self, command):  # noqa: N802
            bus.written.append([(m.mode, m.q, m.kp, m.kd, m.tau) for m in command.motor_cmd] + [command.crc])

    class Subscriber:
        def __init__(self, topic, _):
            assert topic == "rt/lowstate"

        def Init(self, handler, _):  # noqa: N802
            handler(low_state())
            threading.Thread(target=self._tell, args=(handler,), daemon=True).start()

        def _tell(self, handler):
            number = 0
            while not bus.over.wait(0.005):
                handler(low_state(number := number + 1))

    def switcher():
        return SimpleNamespace(
            SetTimeout=lambda _: None,
            Init=lambda: None,
            CheckMode=lambda: (0, {"name": bus.modes[min(bus.released, 1)]}),
            ReleaseMode=lambda: setattr(bus, "released", bus.released + 1),
        )

    def command():
        motors = [SimpleNamespace(mode=0, q=9.0, dq=9.0, kp=9.0, kd=9.0, tau=9.0) for _ in range(20)]
        return SimpleNamespace(head=[0, 0], level_flag=0, gpio=1, motor_cmd=motors, crc=0)

    contents = {
        "comm.motion_switcher.motion_switcher_client": {"MotionSwitcherClient": switcher},
        "core.channel": {
            "ChannelFactoryInitialize": None, "ChannelPublisher": Publisher, "ChannelSubscriber": Subscriber
        },
        "idl.default": {"unitree_go_msg_dds__LowCmd_": command},
        "idl.unitree_go.msg.dds_": {"LowCmd_": object, "LowState_": object},
        "utils.crc": {"CRC": lambda: SimpleNamespace(Crc=lambda _: 77)},
    }  # fmt: skip
    for name, values in contents.items():
        parts = ["unitree_sdk2py", *name.split(".")]
        for count in range(1, len(parts) + 1):
            monkeypatch.setitem(sys.modules, ".".join(parts[:count]), ModuleType(parts[count - 1]))
        vars(sys.modules[".".join(parts)]).update(values)
    yield bus
    bus.over.set()


@pytest.fixture
def go(sdk, tmp_path: Path, monkeypatch):
    """The robot, as the bridge has it."""
    (tmp_path / "go.xml").write_text(MODEL)
    spec = importlib.util.spec_from_file_location("unitree_bridge", BRIDGE)
    bridge = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bridge)
    monkeypatch.setattr(time, "sleep", lambda seconds, real=time.sleep: real(min(seconds, 0.2)))
    return bridge.Go2(find_robot(str(draft_robot(tmp_path / "go.xml").path)))


def test_a_server_that_hangs_leaves_the_motors_damped(sdk, go) -> None:
    go.step(motor_commands(go.face, np.zeros(12)))
    time.sleep(0.05)
    assert sdk.written[-1][0][2] > 0
    time.sleep(0.15)
    assert (sdk.written[-1][0][2], sdk.written[-1][0][3] > 0) == (0, True)


def test_motors_are_told_what_the_gait_wants_and_dampened_in_the_end(sdk, go) -> None:
    robot = go.face.robot
    assert sdk.released == 1
    state = go.state(1, "ready", 0)
    number = robot.description.joints.index("FL_thigh_joint")
    assert state.motor_state[number].q == pytest.approx(0.4)  # motor 3 * FL + thigh
    assert state.odometry is None
    foot = next(n for n, name in enumerate(robot.description.feet) if name.upper().startswith("RR"))
    assert state.foot_force[foot] == 30
    time.sleep(0.01)
    first = sdk.written[0]
    assert (first[0][0], first[0][2], first[-1]) == (1, 0.0, 77)
    assert first[0][3] > 0
    with serving(robot, machine=go) as (address, _):
        with RemoteLink(robot, address) as link:
            drive(link, np.full(robot.controller.parameter_count, 0.5, np.float32), 0.5)
        time.sleep(0.2)  # in which the watchdog wakes
    driven = [told for told in sdk.written if told[0][2] > 0]
    assert driven
    face = go.face
    assert driven[-1][4][2] == pytest.approx(face.kp[number])
    assert abs(driven[-1][4][1] - face.offset[number]) <= abs(face.scale[number]) + 1e-6
    assert not any(told[12][2] for told in driven)  # the Go2 has twelve motors
    assert sdk.written[-1][4][2] == 0  # damped
