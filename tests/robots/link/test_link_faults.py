"""The table of faults in docs/reference/reliability.md: what a simulated robot does, and how soon."""

import json
import random
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from typing import Any

import numpy as np
import pytest
import zmq

from robots.errors import SurefootError
from robots.link.driving import DAMPED, HOLD, Keeper, Motion, drive
from robots.link.keeper import _follow
from robots.link.messages import PROTOCOL, Hello, ImuState, encode
from robots.link.remote import RemoteLink
from robots.robot import Robot, find_robot
from tests.robots.link.test_link import failing, serving
from tests.robots.link.virtual import Rig

BEGINS = 0.5  # [s] of a gait before anything goes wrong
SECONDS = 2.5
DAMPS, GOES_ON, STAYS, PAUSES = (
    "is damped",
    "goes on, with every other command",
    "stays damped",
    "is damped until commands come again, but for 0.5 s at the most",
)
Begin = Callable[[Rig], None]


@dataclass(frozen=True)
class Fault:
    """A row of the table."""

    what: str  # goes wrong
    does: str  # what the robot does then
    within: float  # this time [s]
    begin: Begin = lambda _: None  # has it go wrong, while a gait walks
    says: str = ""  # part of what the side that notices says
    real: "Callable[[str], None] | None" = None  # what happens to a robot in real time, instead
    # what happens in place of a gait, which it is given; it returns when the fault began [s]
    how: Callable[[Rig, np.ndarray], float] | None = None
    options: tuple[tuple[str, Any], ...] = ()  # of the robot


def commands(change: Callable[[dict[str, Any]], object]) -> Begin:
    def changed(message: bytes) -> list[bytes]:
        told = json.loads(message)
        change(told)
        return [json.dumps(told).encode()]

    return lambda rig: setattr(rig, "on_command", changed)


def each_motor(**values: float) -> Callable[[dict[str, Any]], object]:
    return lambda told: [motor.update(values) for motor in told["motor_cmd"]]


def lost(seconds: float) -> Begin:
    def begin(rig: Rig) -> None:
        rig.on_command = lambda _: []
        rig.at(rig.now + seconds, lambda: setattr(rig, "on_command", lambda message: [message]))

    return begin


def states(change: Callable[[dict[str, Any]], object], *, once: bool = False) -> Begin:
    """States are changed from now on, or one of them."""

    def begin(rig: Rig) -> None:
        def changed(state: dict[str, Any]) -> dict[str, Any]:
            change(state)
            if once:
                rig.on_state = lambda state: state
            return state

        rig.on_state = changed

    return begin


def frozen(*parts: str) -> Begin:
    """Parts of states are what they were."""
    held: dict[str, Any] = {}

    def change(state: dict[str, Any]) -> None:
        held.update({part: held.get(part, state[part]) for part in parts})
        state.update(held)

    return states(change)


def moved(state: dict[str, Any]) -> None:
    state["odometry"]["position"][0] += 3.0


def swung(state: dict[str, Any]) -> None:
    state["motor_state"][0]["q"] += 5.0


def twice_as_fast(rig: Rig) -> None:
    begins = rig.states[-1]["time"]
    rig.on_state = lambda state: state | {"time": 2 * state["time"] - begins}


def old_again(rig: Rig) -> None:
    """Somebody plays back what the robot told before."""
    told = iter(rig.states[:])
    rig.on_state = lambda _: next(told)


def of_another_session(rig: Rig) -> None:
    told = json.loads(rig.commands[-1]) | {"session": "0" * 32, "seq": 10**9}
    rig.inbox.extend([json.dumps(told).encode()] for _ in range(50))


def motors_fail(rig: Rig) -> None:
    """The bus takes nothing but damping."""
    fail = failing(OSError("no bus"))
    rig.on_step = lambda stiff: fail() if stiff else None


def senses(*quaternion: float) -> Begin:
    """The bridge's IMU reads this from now on."""

    def begin(rig: Rig) -> None:
        rig.machine.state = lambda *_: ImuState(  # type: ignore[method-assign]
            quaternion=quaternion, gyroscope=(0, 0, 0), accelerometer=(0, 0, 9.81)
        )

    return begin


def senses_for_a_moment(rig: Rig) -> None:
    sound = rig.machine.state
    senses(0, 0, 0, 0)(rig)
    rig.at(rig.now + 0.1, lambda: setattr(rig.machine, "state", sound))


def tipped_over(rig: Rig) -> None:
    rig.machine._stepper.data.qpos[2:7] = 0.2, 0, 1, 0, 0


def nobody(rig: Rig, _: np.ndarray) -> float:
    began = rig.now
    rig.sleep(1.0)
    return began


def a_hello(rig: Rig, gait: np.ndarray) -> float:
    began = nobody(rig, gait)
    assert rig.say_hello().session
    rig.sleep(1.0)
    return began


def a_hello_after_a_drive(rig: Rig, gait: np.ndarray) -> float:
    with rig.link() as link:
        drive(link, gait, 0.5)
    rig.sleep(1.0)
    return a_hello(rig, gait)


def another_robots_gait(rig: Rig, _: np.ndarray) -> float:
    began = rig.now
    with pytest.raises(
        SurefootError, match=r"refuses: .it is another one, 'hexapod', than the gait's, 'ant'"
    ):
        rig.link(find_robot("ant"))
    rig.sleep(1.0)
    return began


def a_hello_that_fails(rig: Rig, _: np.ndarray) -> float:
    began, rig.on_reset = rig.now, failing(OSError("no bus"))
    assert rig.say_hello().refusal == "the robot is out of order"
    rig.on_reset = lambda: None
    assert rig.say_hello().session  # the next one is heard
    return began


def a_mission_that_stops(rig: Rig, gait: np.ndarray) -> float:
    """Nobody reads what a keeper tells, nor tells it anything, while a gait of 2 s is on its way."""
    keeper, (mine, its) = Keeper(rig.link()), Pipe()
    mine.send(Motion(3, gait, seconds=2.0))
    mine.send(True)
    began = rig.now
    rig.at(began + 25.0, lambda: mine.send(None))
    _follow(keeper, its)
    keeper.close()
    assert abs(rig.machine._stepper.data.qpos[0]) < 1.5  # [m], after 25 s
    return began


def a_mission_that_ends(rig: Rig, gait: np.ndarray) -> float:
    keeper, (mine, its) = Keeper(rig.link()), Pipe()
    mine.send(Motion(3, gait, seconds=60.0))
    rig.at(rig.now + 2.0, mine.close)
    with pytest.raises(EOFError):
        _follow(keeper, its)
    began = rig.now
    keeper.close()
    rig.sleep(1.0)
    return began


def a_keeper_that_stops(rig: Rig, gait: np.ndarray) -> float:
    keeper = Keeper(rig.link())
    keeper.begin(Motion(3, gait, seconds=60.0))
    for _ in range(50):
        keeper.tick()
    began = rig.now
    rig.sleep(5.0)
    for _ in range(100):  # it goes on
        keeper.tick()
    assert keeper._motion is DAMPED
    keeper.close()
    return began


def a_robot_that_lies(rig: Rig, gait: np.ndarray) -> float:
    """Nobody has driven it for long: its joints are taken to where it stands, and only then it walks."""
    rig.sleep(3.0)
    began, height = rig.now, []
    rig.on_step = lambda _: height.append(rig.machine._stepper.data.qpos[2])
    with rig.link() as link:
        rig.machine._stepper.data.qpos[7:] += 0.5
        assert drive(link, gait, 1.0).ended == "time"
    return began


def sends(place: int, *messages: bytes, times: int = 1) -> Callable[[str], None]:
    def act(address: str) -> None:
        for _ in range(times):
            with socket.create_connection(("127.0.0.1", port_of(address) + place)) as end, suppress(OSError):
                for message in messages:
                    end.sendall(message)
                    time.sleep(0.05)

    return act


def speaks(kind: int, place: int, *frames: bytes, times: int = 1) -> Callable[[str], None]:
    def act(address: str) -> None:
        with zmq.Context() as context, context.socket(kind) as end:
            end.linger = 100
            end.connect(f"tcp://127.0.0.1:{port_of(address) + place}")
            for _ in range(times):
                with suppress(zmq.Again):
                    end.send_multipart(frames, zmq.NOBLOCK)
            time.sleep(0.3)

    return act


def silent_connections(address: str) -> None:
    ends = [socket.create_connection(("127.0.0.1", port_of(address) + place)) for place in 20 * [0, 1, 2]]
    time.sleep(0.3)
    for end in ends:
        end.close()


def a_browser(address: str) -> None:
    for place in range(3):
        for method in (b"GET", b"POST"):
            sends(place, 3 * (method + b" / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n"))(address)


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


# fmt: off
FAULTS = (
    Fault("nobody has connected yet", STAYS, 0, how=nobody),
    Fault("a computer says hello, and commands nothing", STAYS, 0, how=a_hello),
    Fault("the same after another computer drove", STAYS, 0, how=a_hello_after_a_drive),
    Fault("a computer with another robot's gait connects", STAYS, 0, how=another_robots_gait),
    Fault("the robot cannot begin anew for who says hello", STAYS, 0, how=a_hello_that_fails),
    Fault("another computer says hello while it is driven", GOES_ON, 0,
        lambda rig: setattr(rig, "_hello", [encode(Hello.of(rig.machine.face))])),
    Fault("one command is lost", GOES_ON, 0, lost(0.02)),
    Fault("commands do not come for 0.2 s", PAUSES, 0.06, lost(0.2)),
    Fault("commands do not come for longer, or the computer that drives is gone", DAMPS, 0.06, lost(9),
        "damping"),
    Fault("commands come that are of another session", GOES_ON, 0, of_another_session, "another session"),
    Fault("old commands come again", GOES_ON, 0,
        lambda rig: rig.inbox.extend([message] for message in rig.commands[:-1]), "an old command"),
    Fault("commands hold what is not finite", DAMPS, 0.06, commands(each_motor(q=float("nan"))), "damping"),
    Fault("commands are for another number of motors", DAMPS, 0.06,
        commands(lambda told: told["motor_cmd"].pop()), "for 18 motors, not 17"),
    Fault("commands tell more than twice the stiffness or damping", DAMPS, 0.06,
        commands(each_motor(kp=1e6)), "more stiffness than twice"),
    Fault("commands tell positions beyond a joint's range", DAMPS, 0.06, commands(each_motor(q=9.0)),
        "outside the joint's range"),
    Fault("commands tell more torque than the motor gives", DAMPS, 0.06, commands(each_motor(tau=1e6)),
        "more torque than it gives"),
    Fault("commands are cut off", DAMPS, 0.06,
        lambda rig: setattr(rig, "on_command", lambda message: [message[: len(message) // 2]]),
        "not the expected message"),
    Fault("a message has several parts", GOES_ON, 0, lambda rig: rig.inbox.append([b"{}", b"more"]),
        "must have one part"),
    Fault("five bytes of TCP reach the port of hellos", GOES_ON, 0, real=sends(2, b"\x01\x00\x02\x00x")),
    Fault("a frame of another kind of socket reaches it", GOES_ON, 0, real=speaks(zmq.DEALER, 2, b"x")),
    Fault("a browser asks each port for a page", GOES_ON, 0, real=a_browser),
    Fault("2,000 messages reach the port of commands", GOES_ON, 0,
        real=speaks(zmq.PUSH, 0, 60_000 * b"{", times=2000)),
    Fault("2,000 messages reach the port of hellos", GOES_ON, 0,
        real=speaks(zmq.DEALER, 2, b"", 60_000 * b"{", times=2000)),
    Fault("a message of 10 MB reaches the port of commands", GOES_ON, 0,
        real=speaks(zmq.PUSH, 0, 10_000_000 * b"x")),
    Fault("a message of 1,000 parts reaches the port of hellos", GOES_ON, 0,
        real=speaks(zmq.DEALER, 2, *1000 * [b"x"])),
    Fault("half a message, and then nothing", GOES_ON, 0,
        real=sends(0, b"\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00NULL")),
    Fault("60 connections that say nothing", GOES_ON, 0, real=silent_connections),
    Fault("states do not come", DAMPS, 1.2, lambda rig: setattr(rig, "on_state", lambda _: None),
        "been silent for 1 s"),
    Fault("the robot's clock jumps ahead by 1,000 s", DAMPS, 1.2,
        states(lambda state: state.update(time=state["time"] + 1000)), "its clock is 1000 s ahead"),
    Fault("it runs twice as fast", DAMPS, 1.8, twice_as_fast, "its clock is 1.* s ahead"),
    Fault("it jumps back", DAMPS, 1.2, states(lambda state: state.update(time=state["time"] / 1000)),
        "its clock says 0.00 s, after"),
    Fault("it stands still", DAMPS, 1.2, frozen("time"), r"its clock says (.*) s, after \1 s"),
    Fault("odometry jumps by 3 m", DAMPS, 1.2, states(moved), "its odometry jumped by 3"),
    Fault("odometry jumps by 3 m in one state", GOES_ON, 0, states(moved, once=True),
        r"1 refused \(the last: its odometry jumped by 3"),
    Fault("odometry tells of 30 m/s", DAMPS, 1.2,
        states(lambda state: state["odometry"]["position"].__setitem__(0, 30 * state["time"])),
        "its odometry jumped by"),
    Fault("odometry ends midway", DAMPS, 1.2, states(lambda state: state.update(odometry=None)),
        "its odometry has ended midway"),
    Fault("odometry begins midway", DAMPS, 1.2,
        states(lambda state: state.update(odometry={"position": [0, 0, 0], "velocity": [0, 0, 0]})),
        "its odometry has begun midway", options=(("odometry", False),)),
    Fault("a whole state freezes, but for its number and clock", DAMPS, 1.4,
        frozen("motor_state", "imu_state", "foot_force", "odometry"), "are frozen"),
    Fault("the IMU freezes", DAMPS, 1.4, frozen("imu_state"), "sensors of its IMU are frozen"),
    Fault("the encoders freeze", DAMPS, 1.4, frozen("motor_state"), "sensors of its joints are frozen"),
    Fault("a joint's angle jumps by 5 rad", DAMPS, 1.2, states(swung), "its joints jumped by"),
    Fault("a joint's angle jumps by 5 rad in one state", GOES_ON, 0, states(swung, once=True),
        r"1 refused \(the last: its joints jumped by"),
    Fault("the IMU says in one state that it lies on its back", GOES_ON, 0,
        states(lambda state: state["imu_state"].update(quaternion=[0.0, 1.0, 0.0, 0.0]), once=True),
        "its IMU jumped by 3.1"),
    Fault("numbers of states go back, or old states come again", DAMPS, 1.2, old_again, "its number is"),
    Fault("states hold what is not finite", DAMPS, 1.2,
        states(lambda state: state["motor_state"][0].update(q=float("nan"))), "nothing that can be believed"),
    Fault("states have a quaternion of zeros", DAMPS, 1.2,
        states(lambda state: state["imu_state"].update(quaternion=[0, 0, 0, 0])), "must have length 1"),
    Fault("states are of another robot", DAMPS, 1.2, states(lambda state: state["motor_state"].pop()),
        "it has 17 motors and 6 feet"),
    Fault("states answer commands that were never sent", DAMPS, 1.2,
        states(lambda state: state.update(answered=10**6)), "it answers the command 1000000"),
    Fault("states answer no command any more", DAMPS, 1.2,
        states(lambda state: state.update(answered=1)), "has not taken commands for 1 s"),
    Fault("the robot says that it is in damping, though it is commanded", DAMPS, 0.6,
        states(lambda state: state.update(mode="damping")), "damping"),
    Fault("the robot's side begins anew midway", DAMPS, 0.02, Rig.restart, "its number is"),
    Fault("it falls", DAMPS, 0.06, tipped_over, "fall"),
    Fault("the bridge to its motors fails", DAMPS, 0.02, motors_fail,
        "motors failed, and it is damped until the next hello: 'no bus'"),
    Fault("the bridge reads a quaternion of zeros for 0.1 s", GOES_ON, 0, senses_for_a_moment),
    Fault("the bridge reads a quaternion of zeros", DAMPS, 0.24, senses(0, 0, 0, 0),
        "sensors tell nothing sound"),
    Fault("the bridge reads what is not finite", DAMPS, 0.24, senses(np.nan, 0, 0, 0),
        "sensors tell nothing sound"),
    Fault("it lies where it was let go of, and a gait is to begin",
        "is taken slowly to where it stands", 1.8, how=a_robot_that_lies),
    Fault("a mission stops for 25 s, or nobody reads what it says, while a gait of 2 s is on its way",
        f"walks to the gait's end, stands for {HOLD:g} s, is damped", 2.1 + HOLD, how=a_mission_that_stops),
    Fault("a mission's process is killed", DAMPS, 0.04, how=a_mission_that_ends),
    Fault("what keeps it going stops for 5 s, and goes on then", DAMPS, 0.06, how=a_keeper_that_stops),
)
# fmt: on


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, id=fault.what, marks=[pytest.mark.real_time] if fault.real else [])
        for fault in FAULTS
    ],
)
def test_a_fault(fault: Fault, gait: tuple[Robot, np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    robot, parameters = gait
    if fault.real:
        reach_a_robot(robot, parameters, fault.real)
        return
    rig = Rig(monkeypatch, robot, **dict(fault.options))
    try:
        said, began = ("", fault.how(rig, parameters)) if fault.how else driven(rig, parameters, fault)
    finally:
        rig.server.close()
    assert re.search(fault.says, f"{said} {rig.server.timing.words}")
    check(fault, rig.machine.stiff, began)


def driven(rig: Rig, parameters: np.ndarray, fault: Fault) -> tuple[str, float]:
    """Drive a gait in which something goes wrong; returns what is said of it, and when it began."""
    began = rig.now + BEGINS
    rig.at(began, lambda: fault.begin(rig))
    link = rig.link()
    try:
        done = drive(link, parameters, SECONDS)
        said = f"{done.ended}; {link.words}"
    except SurefootError as error:
        said = str(error)
    rig.sleep(0.5)
    link.close()
    return said, began


def check(fault: Fault, stiff: list[tuple[float, bool]], began: float) -> None:
    """What the motors did is what the row says."""
    after = [was for when, was in stiff if when > began + fault.within + 1e-6]
    if fault.does == STAYS:
        assert not any(was for when, was in stiff if when > began)
    elif fault.does == GOES_ON:
        assert all(after[: round((SECONDS - BEGINS) / 0.02) - 5])
        assert not any(after[-10:])  # the gait is over
    elif fault.does == PAUSES:
        assert not after[0]
        assert sum(after) > 50
    elif fault.does.endswith("is taken slowly to where it stands"):
        assert any(after)
    else:
        assert any(was for when, was in stiff if when < began + 1.9)  # it was driven
        assert not any(after)


def reach_a_robot(robot: Robot, parameters: np.ndarray, act: Callable[[str], None]) -> None:
    """Have something reach a robot while it walks, in real time; it must go on, and so must its server."""
    with serving(robot) as (address, server):
        with RemoteLink(robot, address) as link:
            acting = threading.Timer(0.3, act, [address])
            acting.start()
            done = drive(link, parameters, 2.0)
            acting.join()
            assert done.ended == "time"
            assert link.damped < 20
            assert server.timing.damped < 20
        RemoteLink(robot, address).close()  # it still hears hellos, and tells states


def test_a_gait_walks_over_a_network_that_loses_messages_of_either_side(gait, monkeypatch) -> None:
    rig, rng = Rig(monkeypatch, gait[0]), random.Random(1)
    rig.on_command = lambda message: [message] * (rng.random() > 0.05)
    rig.on_state = lambda state: state if rng.random() > 0.05 else None
    with closing(rig.server), rig.link() as link:
        assert drive(link, gait[1], 2.0).ended == "time"
        assert not link.refused
    assert sum(stiff for _, stiff in rig.machine.stiff) > 90


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"protocol": PROTOCOL + 1}, f"speaks protocol {PROTOCOL}, not {PROTOCOL + 1}"),
        ({"model": "0" * 16}, "they differ in model"),
    ],
)
def test_nobody_drives_a_robot_in_another_protocol_or_of_another_model(
    gait, monkeypatch, changes, refusal
) -> None:
    rig = Rig(monkeypatch, gait[0])
    with closing(rig.server):
        answer = rig.say_hello(**changes)
    assert refusal in answer.refusal
    assert not answer.session


@pytest.mark.parametrize(("stiff", "patience"), [(True, 2.0), (False, 0.5)])
def test_another_computer_may_drive_once_nobody_did_for_a_while(gait, monkeypatch, stiff, patience) -> None:
    rig = Rig(monkeypatch, gait[0])
    link = rig.link()
    for _ in range(5):
        link.act(np.zeros(gait[0].action_dim)) if stiff else link.damp()
        rig.sleep(gait[0].control_step)
    rig.sleep(patience - 0.2)
    assert rig.say_hello().refusal, "it may have gone for a moment"
    rig.sleep(0.3)
    assert rig.say_hello().session
    link.close()
    rig.server.close()
