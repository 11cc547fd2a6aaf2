"""What Unitree's RL deployment does, read off its C++ sources: unitree_rl_lab, deploy/include/isaaclab.

In float32, by its names: `ObservationManager`, `ObservationTermCfg`, `JointPositionAction`,
`OrtRunner` and `ManagerBasedRLEnv`.
"""

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import yaml

F = np.float32


class Runtime:
    """The runtime with a gait; `sensed` has what the robot's bus tells, joints in the order of the motors."""

    def __init__(self, folder: Path) -> None:
        self.told: dict[str, Any] = yaml.safe_load((folder / "params/deploy.yaml").read_text())
        self.sensed = dict[str, np.ndarray]()
        self._session = onnxruntime.InferenceSession(
            folder / "exported/policy.onnx", providers=["CPUExecutionProvider"]
        )
        self._ids = self.told["joint_ids_map"]
        self._step_dt, self._rest = F(self.told["step_dt"]), np.array(self.told["default_joint_pos"], F)
        self._joystick = (0.0, 0.0, 0.0)

    def reset(self) -> None:
        self._phase, self._action = F(0), np.zeros(len(self._ids), F)
        self._buffers = {}
        for name, term in self.told["observations"].items():
            length = term["history_length"]
            self._buffers[name] = deque([getattr(self, name)()] * length, maxlen=length)

    def step(self) -> np.ndarray:
        """Targets by motor [rad]."""
        observed = []
        for name, term in self.told["observations"].items():
            self._buffers[name].append(getattr(self, name)())
            for values in self._buffers[name]:
                clipped = values if term["clip"] is None else np.clip(values, *np.array(term["clip"], F))
                observed.append(clipped * np.array(term["scale"], F))
        feed = np.concatenate(observed).astype(F)[None]
        assert self._session.get_inputs()[0].shape == list(feed.shape)
        self._action = self._session.run(None, {"obs": feed})[0][0]  # its first output, whatever the name
        term = self.told["actions"]["JointPositionAction"]
        targets = self._action * np.array(term["scale"], F) + np.array(term["offset"], F)
        if term["clip"] is not None:
            targets = np.clip(targets, *np.array(term["clip"], F).T)
        sent = np.zeros(len(self._ids), F)
        sent[self._ids] = targets
        return sent

    def command(self, ahead: float, left: float, turn: float) -> None:
        self._joystick = (ahead, left, turn)

    def base_ang_vel(self) -> np.ndarray:
        return self.sensed["gyroscope"].astype(F)

    def projected_gravity(self) -> np.ndarray:
        return self.sensed["gravity"].astype(F)

    def joint_pos_rel(self) -> np.ndarray:
        return self.sensed["q"].astype(F)[self._ids] - self._rest

    def joint_vel_rel(self) -> np.ndarray:
        return self.sensed["dq"].astype(F)[self._ids]

    def last_action(self) -> np.ndarray:
        return self._action

    def velocity_commands(self) -> np.ndarray:
        ranges = self.told["commands"]["base_velocity"]["ranges"]
        names = ("lin_vel_x", "lin_vel_y", "ang_vel_z")
        return np.array([np.clip(v, *ranges[name]) for v, name in zip(self._joystick, names, strict=True)], F)

    def gait_phase(self) -> np.ndarray:
        period = F(self.told["observations"]["gait_phase"]["params"]["period"])
        self._phase = F(np.fmod(self._phase + self._step_dt * (F(1) / period), F(1)))
        return np.array([np.sin(self._phase * 2 * np.pi), np.cos(self._phase * 2 * np.pi)], F)
