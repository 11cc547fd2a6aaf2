"""A bridge on the computer of a Unitree Go2: takes commands over the link onto its bus.

NEVER RUN ON A ROBOT. It follows the examples of Unitree's SDK for low-level control; a test drives it with a
stand-in for that SDK. Hang the robot from a frame, and keep the remote control in your hand. It needs
unitree_sdk2py on the robot's computer, and no cyclonedds but the one that comes with that:

    python unitree_bridge.py go2.yaml --interface eth0 --address tcp://192.168.123.18:6000 --keys keys

The computer that drives then runs, with the same robot and keys,

    surefoot deploy go2.h5 --best --robot tcp://192.168.123.18:6000 --keys keys

There is no odometry on the bus: gaits that see where the robot is cannot be driven.
"""

import argparse
import threading
import time
from pathlib import Path

from unitree_sdk2py.comm.motion_switcher.motion_switcher_client import MotionSwitcherClient
from unitree_sdk2py.core.channel import ChannelFactoryInitialize, ChannelPublisher, ChannelSubscriber
from unitree_sdk2py.idl.default import unitree_go_msg_dds__LowCmd_
from unitree_sdk2py.idl.unitree_go.msg.dds_ import LowCmd_, LowState_
from unitree_sdk2py.utils.crc import CRC

from robots.link.interface import Interface
from robots.link.messages import ImuState, Mode, MotorCommand, MotorState, State, damping_commands
from robots.link.server import RobotServer
from robots.robot import Robot, find_robot

LEGS = "FR", "FL", "RR", "RL"  # motors of the Go2 are numbered by these, and in each leg by ...
PARTS = "hip", "thigh", "calf"
PERIOD = 0.002  # [s] in which the last command is repeated, as the motors expect
PATIENCE = 0.1  # [s] without a next one, after which motors are damped: then the server itself hangs


class Go2:
    """The robot, as `RobotServer` drives it. The server owns the watchdog: late commands bring damping.

    Motors are also damped where the server itself hangs. Where this whole process ends, nothing is put on the
    bus any more: what the motors do then is the robot's own affair. Find out before you rely on it.
    """

    def __init__(self, robot: Robot) -> None:
        self.face, self._lock, self._begun = Interface.of(robot), threading.Lock(), time.monotonic()
        self._motors = [self._motor(joint) for joint in robot.description.joints]
        self._feet = [LEGS.index(foot[:2].upper()) for foot in robot.description.feet]
        self._seen: tuple[float, LowState_] | None = None  # and when it came
        self._until = 0.0
        self._crc, self._told = CRC(), unitree_go_msg_dds__LowCmd_()
        self._told.head[0], self._told.head[1], self._told.level_flag, self._told.gpio = 0xFE, 0xEF, 0xFF, 0
        for motor in self._told.motor_cmd:  # of which the Go2 has no more than twelve
            motor.mode, motor.q, motor.dq, motor.kp, motor.kd, motor.tau = 0x01, 0.0, 0.0, 0.0, 0.0, 0.0
        self.step(damping_commands(self.face))
        self._release()
        self._pub = ChannelPublisher("rt/lowcmd", LowCmd_)
        self._pub.Init()
        self._sub = ChannelSubscriber("rt/lowstate", LowState_)
        self._sub.Init(self._see, 10)
        while self._seen is None:  # nothing is told before the robot was heard
            time.sleep(0.1)
        threading.Thread(target=self._repeat, daemon=True).start()

    def reset(self) -> None:
        """Go on from where the robot stands."""

    def step(self, commands: tuple[MotorCommand, ...]) -> None:
        """Tell the motors what to do from now on; mode 0 is damping."""
        with self._lock:
            self._put(commands)
            self._until = time.monotonic() + PATIENCE

    def _put(self, commands: tuple[MotorCommand, ...]) -> None:
        for number, command in zip(self._motors, commands, strict=True):
            motor, on = self._told.motor_cmd[number], command.mode
            motor.mode, motor.kd, motor.dq = 0x01, command.kd, on * command.dq
            motor.q, motor.kp, motor.tau = on * command.q, on * command.kp, on * command.tau

    def state(self, seq: int, mode: Mode, answered: int) -> State:
        """What the robot said last, and when; the computer that drives refuses what does not change."""
        assert self._seen is not None
        when, seen = self._seen
        motors = [seen.motor_state[number] for number in self._motors]
        return State(
            seq=seq,
            time=max(0.0, when - self._begun),
            mode=mode,
            answered=answered,
            motor_state=tuple(
                MotorState(q=m.q, dq=m.dq, tau_est=m.tau_est, temperature=float(m.temperature))
                for m in motors
            ),
            imu_state=ImuState(
                quaternion=tuple(seen.imu_state.quaternion),
                gyroscope=tuple(seen.imu_state.gyroscope),
                accelerometer=tuple(seen.imu_state.accelerometer),
            ),
            foot_force=tuple(float(seen.foot_force[foot]) for foot in self._feet),
        )

    @staticmethod
    def _motor(joint: str) -> int:
        """Number of a joint's motor, by its name, such as FL_thigh_joint."""
        leg, part = joint.split("_")[:2]
        return 3 * LEGS.index(leg) + PARTS.index(part)

    def _see(self, message: LowState_) -> None:
        self._seen = time.monotonic(), message

    def _repeat(self) -> None:
        while True:
            with self._lock:
                if time.monotonic() > self._until:
                    self._put(damping_commands(self.face))
                self._told.crc = self._crc.Crc(self._told)
                self._pub.Write(self._told)
            time.sleep(PERIOD)

    def _release(self) -> None:
        """Have the robot's own controller let go of the motors."""
        switcher = MotionSwitcherClient()
        switcher.SetTimeout(5.0)
        switcher.Init()
        while switcher.CheckMode()[1]["name"]:
            switcher.ReleaseMode()
            time.sleep(1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("robot", help="its YAML")
    parser.add_argument("--interface", required=True, help="of the network that the robot's bus is on")
    parser.add_argument("--address", default="tcp://127.0.0.1:6000")
    parser.add_argument("--keys", type=Path)
    given = parser.parse_args()
    ChannelFactoryInitialize(0, given.interface)
    go = Go2(find_robot(given.robot))
    server = RobotServer(go, given.address, keys=given.keys)
    try:
        server.run()
    finally:
        go.step(damping_commands(go.face))
        time.sleep(1)  # in which the bus hears it
        server.close()
