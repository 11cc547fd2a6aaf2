"""An exported gait without Surefoot: ONNX Runtime, plain MuJoCo, an explicit PD at 1 kHz.

It plays gaits that see encoders and an IMU, or nothing, as those of drafted robots do.

surefoot export hexapod --best --onnx gait.onnx
python examples/onnx_walk.py gait.onnx robots/models/hexapod/hexapod.xml [SECONDS]
"""

import json
import sys
from typing import Any

import mujoco
import numpy as np
import onnxruntime


def walk(gait: str, mjcf: str, seconds: float = 5.0, timestep: float = 0.001) -> float:
    """How far the robot gets along x [m]."""
    session = onnxruntime.InferenceSession(gait, providers=["CPUExecutionProvider"])
    told = json.loads(session.get_modelmeta().custom_metadata_map["surefoot"])
    robot = Robot(mjcf, told, timestep)
    feeds = {given.name: np.zeros(given.shape, np.float32) for given in session.get_inputs()}
    for _ in range(round(seconds / told["control_step"])):
        if "obs" in feeds:
            feeds["obs"] = robot.observe().astype(np.float32)[None]
        made = dict(
            zip([given.name for given in session.get_outputs()], session.run(None, feeds), strict=True)
        )
        if "state" in feeds:  # what the gait remembers
            feeds["state"] = made["next_state"]
        robot.act(made["targets"][0])
    return float(robot.data.qpos[0] - told["start"][0])


class Robot:
    """A robot in plain MuJoCo, whose torso moves freely.

    Args:
        mjcf: its file.
        told: what the file of the gait tells of it.
        timestep: of the physics and of the PD [s].
    """

    def __init__(self, mjcf: str, told: dict[str, Any], timestep: float) -> None:
        spec = mujoco.MjSpec.from_file(mjcf)
        spec.option.timestep = timestep
        for actuator in spec.actuators:
            actuator.set_to_motor()
            actuator.gear, actuator.ctrllimited, actuator.forcelimited = [1, 0, 0, 0, 0, 0], False, False
        self.model = model = spec.compile()
        self.data = mujoco.MjData(model)
        self.data.qpos[:] = told["start"]
        mujoco.mj_forward(model, self.data)
        joints = told["actions"]
        self._columns = {name: np.array([joint[name] for joint in joints]) for name in joints[0]}
        self._limits = np.array([joint["torque_limit"] or np.inf for joint in joints])
        ids = [model.joint(joint["joint"]).id for joint in joints]
        self._angles, self._speeds = model.jnt_qposadr[ids], model.jnt_dofadr[ids]
        self._steps = round(told["control_step"] / timestep)
        self._axes = np.eye(3)  # of the IMU in the torso's frame
        if told["imu"] is not None:
            mujoco.mju_quat2Mat(axes := np.zeros(9), model.site(told["imu"]).quat)
            self._axes = axes.reshape(3, 3)
        self._seen = told["obs"]
        self._torso = int(np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)[0])
        self._yaw = 0.0
        self._yaw = self._quantities()["heading"]

    def act(self, target: np.ndarray) -> None:
        """Drive the motors for a control step."""
        column, data = self._columns, self.data
        servo = column["kind"] == "position"
        for _ in range(self._steps):
            torque = np.where(servo, column["kp"] * (target - data.qpos[self._angles]), target)
            torque = torque - column["kd"] * data.qvel[self._speeds]
            data.ctrl[column["motor"]] = np.clip(torque, -self._limits, self._limits)
            mujoco.mj_step(self.model, data)

    def observe(self) -> np.ndarray:
        """What the gait asks for, (n,)."""
        known = self._quantities()
        return np.array([known[column["name"]] for column in self._seen])

    def _quantities(self) -> dict[str, float]:
        """What encoders and an IMU tell, under the names of the file."""
        place, motion = self.model.jnt_qposadr[self._torso], self.model.jnt_dofadr[self._torso]
        mujoco.mju_quat2Mat(flat := np.zeros(9), self.data.qpos[place + 3 : place + 7])
        torso = flat.reshape(3, 3)
        down, rates = -self._axes.T @ torso[2], self._axes.T @ self.data.qvel[motion + 3 : motion + 6]
        turned = np.arctan2(torso[1, 0], torso[0, 0]) - self._yaw
        found = {
            "heading": np.arctan2(np.sin(turned), np.cos(turned)),
            "roll": np.arctan2(torso[2, 1], torso[2, 2]),
            "pitch": np.arcsin(np.clip(-torso[2, 0], -1, 1)),
        }
        for axis, name in enumerate("xyz"):
            found |= {f"gravity {name}": down[axis], f"gyroscope {name}": rates[axis]}
        for number, joint in enumerate(self._columns["joint"]):
            found[f"{joint} position"] = self.data.qpos[self._angles[number]]
            found[f"{joint} speed"] = self.data.qvel[self._speeds[number]]
        return found


def main(arguments: list[str]) -> str | None:
    """Print how far a gait walks; returns what is wrong, if anything is."""
    if len(arguments) not in (2, 3):
        return "it takes a gait, an MJCF and the seconds: onnx_walk.py gait.onnx hexapod.xml [SECONDS]"
    gait, mjcf, *seconds = arguments
    try:
        print(f"{walk(gait, mjcf, *map(float, seconds)):.2f} m")
    except KeyError as error:
        return f"{gait} needs what {mjcf} or this example does not have: {error.args[0]}"
    except Exception as error:  # those of ONNX Runtime have no class of their own
        return f"{gait} cannot walk with {mjcf}: {' '.join(str(error).split())}"
    return None


if __name__ == "__main__":
    if wrong := main(sys.argv[1:]):
        print(wrong, file=sys.stderr)
        sys.exit(2)
