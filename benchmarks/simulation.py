"""How fast the closed loop is: against raw physics, with more threads, next to PyBullet, and in training."""

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from robots.compilation import compiled
from robots.errors import InvalidValueError
from robots.robot import Robot, load_robot
from robots.simulation.backend import ModelBatch
from robots.simulation.state import EpisodeState, Task
from robots.simulation.stepper import Stepper, simulate
from robots.simulation.threads import Threads, available_cores
from suites.transfer.pybullet import ENVIRONMENTS, PyBulletRobot, pybullet_is_installed

_PEER_EPISODES, _PEER_REPEATS = 3, 7  # which are enough for a peer that takes ten times as long
Figures = dict[str, Any]
_STATE = mujoco.mjtState.mjSTATE_INTEGRATION


@dataclass(frozen=True)
class _Recording:
    """An episode as raw physics can replay it."""

    initial: np.ndarray  # state row
    controls: np.ndarray  # (steps, motors)
    final: np.ndarray  # positions


def measure_robots(
    robots: Sequence[str], *, episodes: int, repeats: int, peer: str | None, say: Callable[[str], object]
) -> Figures:
    """Measure the simulation of several robots, see `measure_simulation`; figures by robot."""
    if peer == "pybullet" and not pybullet_is_installed():
        raise InvalidValueError("the peer is not installed: pip install pybullet")
    figures = {}
    for robot in robots:
        say(robot)
        figures[robot] = measure_simulation(robot, episodes=episodes, repeats=repeats, peer=peer, say=say)
    return figures


def measure_simulation(
    robot: str, *, episodes: int, repeats: int, peer: str | None, say: Callable[[str], object]
) -> Figures:
    """Measure everything there is to say about the simulation of a robot.

    Args:
        robot: name of the robot.
        episodes: episodes per measurement.
        repeats: measurements per figure; the median is reported. What is compared is measured in turn.
        peer: "pybullet" to measure its environment of the robot too, if it has one, or None.
        say: told what is being measured.
    """
    loaded = load_robot(robot)
    say("compiling the kernels, with an empty cache and with a full one")
    figures: Figures = {"robot": robot, "machine": _machine(), **_measure_compilation(robot)}
    controllers = quiet_controllers(loaded, episodes)
    say("closed loop against raw physics")
    figures |= _measure_ratios(without_end(loaded), controllers, repeats)
    figures |= _project(loaded, figures)
    if loaded.description.drag:
        figures |= _cost_of_drag(without_end(loaded), controllers, repeats)
    if peer == "pybullet" and robot in ENVIRONMENTS:
        say("the PyBullet environment")
        few = controllers[:_PEER_EPISODES]
        figures |= _against_pybullet(without_end(loaded), few, min(repeats, _PEER_REPEATS))
    say("training on 1000-step episodes with a full archive")
    figures |= _measure_training(robot)
    return figures


def _machine() -> Figures:
    """What was measured on."""
    return {
        "cores": available_cores(),
        "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "mujoco": mujoco.__version__,
    }


def without_end(robot: Robot) -> Robot:
    """The robot with episodes that a fall does not end: a measurement is about steps, not about starting."""
    alive = robot.description.alive.model_copy(update={"ends_episode": False})
    return replace(robot, description=robot.description.model_copy(update={"alive": alive}))


def _project(robot: Robot, figures: Figures) -> Figures:
    """Hours that a million evaluations of full-length episodes take on all cores, simulation alone."""
    steps = 1_000_000 * robot.description.episode_steps
    return {"million_full_episodes_hours": round(steps / figures["closed_loop_steps_per_s"] / 3600, 2)}


def quiet_controllers(robot: Robot, count: int) -> np.ndarray:
    """Random controllers of Xavier initialisation scaled by 0.3, which shuffle about: (count, p) float32."""
    rng = np.random.default_rng(0)
    controller = robot.controller
    return np.stack([np.float32(0.3) * controller.initial(rng) for _ in range(count)])


def _measure_ratios(robot: Robot, controllers: np.ndarray, repeats: int) -> Figures:
    """Closed loop and raw physics in turn, on one thread and on all."""
    cores = available_cores()
    seeds = np.arange(len(controllers))
    recordings = [
        _record(robot, parameters, int(seed)) for parameters, seed in zip(controllers, seeds, strict=True)
    ]
    steps = sum(len(recording.controls) for recording in recordings)
    closed: dict[int, list[float]] = {1: [], cores: []}
    raw: dict[int, list[float]] = {1: [], cores: []}
    batch = ModelBatch(robot)
    backends = {threads: Threads(threads) for threads in (1, cores)}
    for _ in range(repeats):
        for threads, backend in backends.items():
            raw[threads].append(steps / _seconds(_replay, robot, recordings, threads))
            closed[threads].append(steps / _seconds(backend.run, batch, controllers, seeds))
    ratios = [c / r for c, r in zip(closed[cores], raw[cores], strict=True)]
    single_ratios = [c / r for c, r in zip(closed[1], raw[1], strict=True)]
    scaling = [c / s for c, s in zip(closed[cores], closed[1], strict=True)]
    return {
        "mean_episode_steps": round(steps / len(controllers), 1),
        "closed_loop_steps_per_s": round(statistics.median(closed[cores])),
        "raw_physics_steps_per_s": round(statistics.median(raw[cores])),
        "closed_loop_to_raw": round(statistics.median(ratios), 3),
        "closed_loop_steps_per_s_one_thread": round(statistics.median(closed[1])),
        "raw_physics_steps_per_s_one_thread": round(statistics.median(raw[1])),
        "closed_loop_to_raw_one_thread": round(statistics.median(single_ratios), 3),
        "all_cores_to_one_thread": round(statistics.median(scaling), 3),
    }


def _seconds(function: Callable[..., object], *arguments: object) -> float:
    """How long a call takes."""
    started = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - started


def _record(robot: Robot, parameters: np.ndarray, seed: int) -> _Recording:
    """Run an episode in closed loop and keep its controls."""
    stepper, controls = Stepper(robot), []
    stepper.reset(seed)
    initial = _state_of(stepper)
    while not stepper.over:
        stepper.drive(parameters)
        controls.append(stepper.data.ctrl.copy())
    return _Recording(initial, np.array(controls), stepper.data.qpos.copy())


def _state_of(stepper: Stepper) -> np.ndarray:
    """A row of state as MuJoCo has it."""
    row = np.empty(mujoco.mj_stateSize(stepper.robot.physics, _STATE))
    mujoco.mj_getState(stepper.robot.physics, stepper.data, row, _STATE)
    return row


def _replay(robot: Robot, recordings: list[_Recording], threads: int) -> None:
    """Run the recorded episodes through MuJoCo with the same forces: no policy, no observation, no reward.

    Each must end in the very positions that the closed loop ended in.
    """
    waiting, lock = iter(recordings), threading.Lock()

    def work() -> None:
        stepper = Stepper(robot)
        while True:
            with lock:
                recording = next(waiting, None)
            if recording is None:
                return
            mujoco.mj_setState(robot.physics, stepper.data, recording.initial, _STATE)
            mujoco.mj_kinematics(robot.physics, stepper.data)
            _play(
                stepper._halves._replace(anew=True) if robot.description.drag else stepper._steps,
                stepper._task,
                stepper.state,
                stepper.data.ctrl,
                recording.controls,
            )
            assert np.array_equal(stepper.data.qpos, recording.final), "the replay strayed from the recording"

    with ThreadPoolExecutor(threads) as pool:
        for job in [pool.submit(work) for _ in range(threads)]:
            job.result()


@compiled()
def _play(physics: Any, task: Task, state: EpisodeState, ctrl: np.ndarray, controls: np.ndarray) -> None:
    """Simulate as many control steps as there are controls, (steps, motors)."""
    for step in range(len(controls)):
        ctrl[:] = controls[step]
        simulate(physics, task, state)


def _cost_of_drag(robot: Robot, controllers: np.ndarray, repeats: int) -> Figures:
    """Closed loop on one core with drag and without it, in turn."""
    without = replace(robot, description=robot.description.model_copy(update={"drag": 0.0}))
    arguments, ratios = (controllers, np.arange(len(controllers))), []
    one, dragged, free = Threads(1), ModelBatch(robot), ModelBatch(without)
    for _ in range(repeats):
        ratios.append(_seconds(one.run, dragged, *arguments) / _seconds(one.run, free, *arguments))
    return {"time_with_drag_to_without": round(statistics.median(ratios), 3)}


def _against_pybullet(robot: Robot, controllers: np.ndarray, repeats: int) -> Figures:
    """PyBullet's environment and the closed loop on one core, in turn, with the same controllers."""
    steps, peer, ours = len(controllers) * robot.description.episode_steps, [], []
    backend, batch = Threads(1), ModelBatch(robot)
    for _ in range(repeats):
        peer.append(_measure_pybullet(robot, controllers))
        ours.append(steps / _seconds(backend.run, batch, controllers, np.arange(len(controllers))))
    ratio = statistics.median(own / other for own, other in zip(ours, peer, strict=True))
    return {
        "pybullet_steps_per_s": round(statistics.median(peer)),
        "closed_loop_to_pybullet_per_core": round(ratio, 2),
    }


def _measure_pybullet(robot: Robot, controllers: np.ndarray) -> float:
    """Control steps per second of a robot's PyBullet environment on one core, in episodes that nothing ends.

    What the controllers, (n, p), take does not count.
    """
    peer, steps, spent = PyBulletRobot(robot), robot.description.episode_steps, 0.0
    for seed, parameters in enumerate(controllers):
        observation = peer.reset(seed)
        for step in range(steps):
            action = robot.controller.act(parameters, observation, step)
            started = time.perf_counter()
            observation, *_ = peer.step(action)
            spent += time.perf_counter() - started
    return len(controllers) * steps / spent


def _measure_compilation(robot: str) -> Figures:
    """Seconds that a whole training of one batch takes, without and with numba's cache."""
    settings = ["--evaluations", "200", "--episode-steps", "5", "--overwrite"]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "surefoot", "train", robot, "--out", f"{folder}/run", *settings]
        environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache"}
        first, second = (_seconds(partial(_run, command, environment)) for _ in range(2))
    return {"first_use_seconds": round(first, 1), "second_use_seconds": round(second, 1)}


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    """Run a program and return what it printed; what it complained of reaches the terminal."""
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout


def _measure_training(robot: str) -> Figures:
    """Share of training spent in simulation, and its peak memory, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.training", robot, str(Path(folder))]
        output = _run(command)
    share, peak = map(float, output.split())
    return {"training_share_in_simulation": round(share, 4), "training_peak_memory_gb": round(peak, 3)}
