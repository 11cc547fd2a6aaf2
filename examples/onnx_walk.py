"""An exported gait without Surefoot: ONNX Runtime, plain MuJoCo, an explicit PD at 1 kHz.

surefoot export hexapod --best --onnx gait.onnx
python examples/onnx_walk.py gait.onnx robots/models/hexapod/hexapod.xml [SECONDS]
"""

import json
import sys

import mujoco
import numpy as np
import onnxruntime


def walk(gait: str, mjcf: str, seconds: float = 5.0, timestep: float = 0.001) -> float:
    """How far the robot gets along x [m] with a gait that repeats itself."""
    session = onnxruntime.InferenceSession(gait, providers=["CPUExecutionProvider"])
    told = json.loads(session.get_modelmeta().custom_metadata_map["surefoot"])
    if told["period"] is None or told["observation"]:
        raise ValueError("it needs observations, and this example plays gaits without any")
    spec = mujoco.MjSpec.from_file(mjcf)
    spec.option.timestep = timestep
    for actuator in spec.actuators:
        actuator.set_to_motor()
        actuator.gear, actuator.ctrllimited, actuator.forcelimited = [1, 0, 0, 0, 0, 0], False, False
    model = spec.compile()
    data, joints = mujoco.MjData(model), told["actions"]
    controls = [joint["motor"] for joint in joints]
    kp, kd, offset, scale = (
        np.array([joint[key] for joint in joints]) for key in ("kp", "kd", "offset", "scale")
    )
    limits = np.array([joint["torque_limit"] or np.inf for joint in joints])
    ids = [model.joint(joint["joint"]).id for joint in joints]
    angles, speeds = model.jnt_qposadr[ids], model.jnt_dofadr[ids]
    for step in range(round(seconds / told["control_step"])):
        phase = np.array([[step * told["control_step"] / told["period"] % 1]], np.float32)
        target = offset + scale * session.run(["actions"], {"phase": phase})[0][0]
        for _ in range(round(told["control_step"] / timestep)):
            torque = kp * (target - data.qpos[angles]) - kd * data.qvel[speeds]
            data.ctrl[controls] = np.clip(torque, -limits, limits)
            mujoco.mj_step(model, data)
    return float(data.qpos[0])


def main(arguments: list[str]) -> str | None:
    """Print how far a gait walks; returns what is wrong, if anything is."""
    if len(arguments) not in (2, 3):
        return "it takes a gait, an MJCF and the seconds: onnx_walk.py gait.onnx hexapod.xml [SECONDS]"
    gait, mjcf, *seconds = arguments
    try:
        print(f"{walk(gait, mjcf, *map(float, seconds)):.2f} m")
    except KeyError as error:
        return f"{gait} was not exported by Surefoot for {mjcf}: {error.args[0]}"
    except Exception as error:  # those of ONNX Runtime have no class of their own
        return f"{gait} cannot walk with {mjcf}: {' '.join(str(error).split())}"
    return None


if __name__ == "__main__":
    if wrong := main(sys.argv[1:]):
        print(wrong, file=sys.stderr)
        sys.exit(2)
