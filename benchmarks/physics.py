"""How far a robot's physics settings are from a fine-step reference, and what others cost and gain.

The check: controllers walk the robot with its own settings, and some states on their way are kept. From
each of them the same actions are played with other settings and with a reference of steps 16 times as short.
The error of a setting is how far the positions then differ from the reference's, as a share of how far the
reference moved. Walking is chaotic, so that errors grow with time whatever the settings: they are compared
over a quarter of a second, which is a step of a gait. To check the whole, mean objectives and measures of
whole episodes are compared too.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np
from mujoco.batch import Batch

from robots.robot import Robot, load_robot
from robots.simulation.backend import ModelBatch
from robots.simulation.stepper import Stepper
from robots.simulation.threads import ALL_CORES

Figures = dict[str, Any]
_FINER = 16  # times the reference's substeps
_HORIZON = 15  # control steps, 0.25 s or, of the Hexapod, 0.3 s
_EPISODES = 40
_STATES = 120
_TIMED = 30_000  # control steps


@dataclass(frozen=True)
class _Setting:
    """A way to simulate a control step.

    Attributes:
        substeps: physics steps of equal length.
        integrator: MuJoCo's name of it, in small letters.
    """

    substeps: int
    integrator: str

    @property
    def label(self) -> str:
        """In words."""
        return f"{self.substeps} x {self.integrator}"

    def of(self, robot: Robot) -> Robot:
        """The robot, simulated like this."""

        def edit(spec: mujoco.MjSpec) -> None:
            spec.option.timestep = robot.control_step / self.substeps
            spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{self.integrator.upper()}")

        changed = robot.modified(self.label, edit)
        description = changed.description.model_copy(update={"substeps": self.substeps})
        return replace(changed, description=description)


_CANDIDATES = tuple(
    _Setting(substeps, integrator)
    for integrator in ("implicitfast", "euler", "rk4")
    for substeps in (2, 3, 4, 6, 8)
    if integrator != "rk4" or substeps <= 4
)


@dataclass(frozen=True)
class _Passage:
    """A state on the way of a walk, and the actions that follow.

    Attributes:
        qpos, qvel: (nq,) and (nv,).
        controls: (_HORIZON, nu).
    """

    qpos: np.ndarray
    qvel: np.ndarray
    controls: np.ndarray


def measure_physics(robot: str, *, say: Callable[[str], object]) -> Figures:
    """Compare physics settings of a robot.

    Args:
        robot: its name.
        say: told what is being measured.

    Returns:
        `settings`: by name, `steps_per_s` of raw physics on one core; `error` and `error_90`, the median and
        the 90% quantile of the positions' errors after 0.25 s, as shares of how far the reference moved;
        `objective` and `measures`, means over whole episodes, and `objective_error`, their standard error.
    """
    loaded = load_robot(robot)
    passages = _passages(loaded)
    finest = _Setting(_FINER * loaded.description.substeps, "implicitfast")
    say(f"{robot}: {len(passages)} passages, reference of {finest.label}")
    reference = _replay(finest.of(loaded), passages)
    moved = np.linalg.norm(reference - np.array([p.qpos for p in passages]), axis=1)
    settings = {}
    for setting in (*_CANDIDATES, finest):
        say(setting.label)
        variant = setting.of(loaded)
        errors = np.linalg.norm(_replay(variant, passages) - reference, axis=1) / moved
        settings[setting.label] = {
            "steps_per_s": round(_steps_per_second(variant, passages)),
            "error": round(float(np.median(errors)), 4),
            "error_90": round(float(np.quantile(errors, 0.9)), 4),
            **_whole_episodes(variant),
        }
    chosen = f"{loaded.description.substeps} x {_integrator(loaded)}"
    return {"robot": robot, "chosen": chosen, "passages": len(passages), "settings": settings}


def _integrator(robot: Robot) -> str:
    """MuJoCo's name of a robot's integrator, in small letters."""
    return mujoco.mjtIntegrator(robot.model.opt.integrator).name.removeprefix("mjINT_").lower()


def _controllers(robot: Robot) -> np.ndarray:
    """Random controllers, half of them as strong as searches start with and half weaker, (n, p)."""
    rng, controller = np.random.default_rng(0), robot.controller
    gains = np.resize([1.0, 0.4], _EPISODES).astype(np.float32)
    return np.stack([gain * controller.initial(rng) for gain in gains])


def _passages(robot: Robot) -> list[_Passage]:
    """States of walks, evenly spread over them, each with the actions that follow."""
    stepper = Stepper(robot)
    found = []
    for seed, parameters in enumerate(_controllers(robot)):
        stepper.reset(seed)
        states, controls = [], []
        while not stepper.over:
            states.append((stepper.data.qpos.copy(), stepper.data.qvel.copy()))
            stepper.drive(parameters)
            controls.append(stepper.data.ctrl.copy())
        last = len(states) - _HORIZON
        starts = {int(start) for start in np.linspace(0, last, _STATES // _EPISODES)} if last >= 0 else set()
        for start in sorted(starts):
            qpos, qvel = states[start]
            found.append(_Passage(qpos, qvel, np.array(controls[start : start + _HORIZON])))
    return found


def _replay(robot: Robot, passages: list[_Passage]) -> np.ndarray:
    """Positions that each passage ends in, (n, nq)."""
    batch = Batch(robot.physics, len(passages), nthread=1)
    ids = np.arange(len(passages), dtype=np.int32)
    batch.bind("qpos")[:] = [passage.qpos for passage in passages]
    batch.bind("qvel")[:] = [passage.qvel for passage in passages]
    for step in range(_HORIZON):
        batch.bind("ctrl")[:] = [passage.controls[step] for passage in passages]
        batch.step(ids, robot.description.substeps)
    return batch.bind("qpos").copy()


def _steps_per_second(robot: Robot, passages: list[_Passage]) -> float:
    """Control steps per second of processor time, of physics alone."""
    repeats = max(1, _TIMED // (len(passages) * _HORIZON))
    _replay(robot, passages)
    started = time.thread_time()
    for _ in range(repeats):
        _replay(robot, passages)
    return repeats * len(passages) * _HORIZON / (time.thread_time() - started)


def _whole_episodes(robot: Robot) -> Figures:
    """Mean objective and measures of whole episodes in closed loop."""
    controllers = _controllers(robot)
    episodes = ALL_CORES.run(ModelBatch(robot), controllers, np.arange(len(controllers)))
    return {
        "objective": round(float(np.nanmean(episodes.objectives)), 3),
        "objective_error": round(float(np.nanstd(episodes.objectives) / np.sqrt(len(controllers))), 3),
        "measures": np.nanmean(episodes.measures, axis=0).round(3).tolist(),
        "diverged": int(episodes.diverged.sum()),
    }
