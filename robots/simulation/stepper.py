"""`Stepper`: one robot in simulation, a control step at a time or a whole episode in compiled code.

MuJoCo is called from compiled code by the address of its function, so that a whole episode needs the
interpreter only at its beginning.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import mujoco
import numpy as np

from robots.arrays import real_array, whole_number
from robots.compilation import call_address, compiled
from robots.controllers.controller import Actor
from robots.errors import InvalidValueError
from robots.mjcf.compiling import HEARD, library_path, new_data
from robots.model import knows_halves
from robots.motors import ABSENT, motor_of
from robots.robot import Robot
from robots.seeds import MOST_SEED
from robots.simulation.state import EpisodeState, Task, make_state, read_tally, task_of
from robots.simulation.task import (
    add_drag,
    apply_action,
    begin,
    carry_on,
    is_sound,
    record,
    score,
    sense,
    slow_positions,
)
from robots.stance import start_positions
from robots.task.measures import measured

_NOT_WATCHED = np.zeros((2, 0))  # the sums of observations that nobody asked for
_NOT_RECORDED = np.zeros((0, 0), np.float32)  # the transitions, or the trace, that nobody asked for
_NEVER = np.zeros(1, np.bool_)  # the flag of an episode that is not abandoned
# of the tally, where another model of a robot takes over
_KEPT = (
    "initial_distance", "initial_x", "initial_y", "objective", "energy", "path", "turned",
    "ahead", "height_sum", "midway",
)  # fmt: skip


class Stepper:
    """Simulates one robot; for one thread at a time.

    An episode is a pure function of the robot, the seed and the actions, bit for bit: it is the same whether
    it is made of `reset` and `step` or by `run`.

    Attributes:
        robot: whole or damaged.
        controller: the robot's, which `run` uses.
        actor: the controller at work in single steps.
        data: MuJoCo's, of `robot.physics`; what the caller changes in it counts.
        state: what the kernels read and write. `state.observation`, `state.action`, `state.touching` and the
            others are live: they change with every step.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.controller = robot.controller
        self.data = new_data(robot.physics)
        # in compiled code an error would end the process: let those that any step meets come up here
        mujoco.mj_step(robot.physics, self.data)
        self._task = task_of(robot, self.data)
        self.state = make_state(self._task, self.data)
        self._start = start_positions(robot)
        self._steps = self._halves = _physics("mj_kinematics", "mj_step", robot.physics, self.data)
        if knows_halves(robot.physics):
            self._halves = _physics("mj_step1", "mj_step2", robot.physics, self.data)
        if robot.description.drag:  # which is added between the halves
            self._steps = self._halves._replace(anew=True)
        self._sizes, self._memory = self.controller.arguments()
        self.actor = Actor(self.controller)
        self._begun = False

    def reset(self, seed: int) -> np.ndarray:
        """Start the episode of a seed; returns the first observation, (o,) float32."""
        self._place(seed)
        begin(self._task, self.state, np.uint64(seed))
        return self.state.observation.copy()

    def carry_on(self, seed: int, *, going: bool = False) -> None:
        """Start an episode from the present state; delayed actions still reach the motors.

        Heights count from where they counted before, and where `going`, control steps too, so that the
        controller goes on in its cycle. The seed is that of the noise of sensors.
        """
        mujoco.mj_kinematics(self.robot.physics, self.data)
        if self._begun:
            carry_on(self._task, self.state, np.uint64(seed), going)
        else:
            begin(self._task, self.state, np.uint64(seed))
        self._begun = True

    def step(self, action: np.ndarray) -> bool:
        """Simulate a control step of an action (a,), clipped to ±1; returns whether the episode ended."""
        if not self._begun:
            raise InvalidValueError("an episode begins with reset: call it before the first step")
        action = real_array("an action", action, np.float32)
        if action.shape != self.state.action.shape:
            raise InvalidValueError(
                f"an action of {self.robot.name} must have shape {self.state.action.shape}, "
                f"not {action.shape}"
            )
        if not np.isfinite(action).all():
            raise InvalidValueError(f"an action must be finite, not {action.tolist()}")
        self.state.action[:] = action
        return bool(advance(self._steps, self._task, self.state))

    def drive(self, parameters: np.ndarray) -> bool:
        """As `step`, with the action of the robot's controller with these parameters, (p,)."""
        return self.step(self.action(parameters))

    def action(self, parameters: np.ndarray) -> np.ndarray:
        """What the robot's controller does next with parameters, (p,); another gait takes over gently."""
        return self.actor(parameters, self.state.observation, self.tally.steps)

    def read(self, row: np.ndarray) -> None:
        """Write what the sensors read after a control step, and what was told, as a row of a trace, (c,)."""
        row[: len(self.state.told)] = self.state.told
        record(self._task, self.state, row)

    def run(
        self,
        parameters: np.ndarray,
        seed: int,
        *,
        abandoned: np.ndarray = _NEVER,
        sums: np.ndarray = _NOT_WATCHED,
        transitions: np.ndarray = _NOT_RECORDED,
        trace: np.ndarray = _NOT_RECORDED,
    ) -> None:
        """Run the episode of a seed to its end, driven by the robot's controller with parameters (p,).

        Args:
            parameters: see above.
            seed: of the initial joint angles and of the noise of sensors.
            abandoned: (1,) bool; when another thread sets it, the episode stops, and its result is worthless.
            sums: (2, o) to add the observations and their squares to, or (2, 0).
            transitions: to be filled with a row for each control step, see `TransitionColumns`, or no rows.
            trace: the same, see `TraceColumns`.
        """
        parameters = self.controller.checked_parameters(parameters)
        self._place(seed)
        self.controller.prepare(parameters, self._memory)
        kernel = self.controller.compiled_kernel
        _run(
            self._halves,
            self._task,
            self.state,
            np.uint64(seed),
            kernel,
            self._sizes,
            self._memory,
            parameters,
            sums,
            transitions,
            trace,
            abandoned,
        )
        self.controller.check()

    @property
    def parts(self) -> "tuple[_Physics, Task, EpisodeState]":
        """What `advance` simulates, for kernels that simulate several robots."""
        return self._steps, self._task, self.state

    @property
    def tally(self) -> Any:
        """What the episode has added up so far, as named Python numbers, see `TALLY`."""
        return read_tally(self.state)

    @property
    def over(self) -> bool:
        """Whether the episode has ended: the robot is not alive any more, it diverged, or the time is up."""
        return bool(self.tally.terminated or self.tally.steps == self.robot.description.episode_steps)

    @property
    def contact_shares(self) -> np.ndarray:
        """Share of the control steps so far in which each foot was in contact, (f,)."""
        return np.asarray(self.state.contacts / max(self.tally.steps, 1))

    @property
    def measures(self) -> np.ndarray:
        """The robot's measures of the episode so far, (m,)."""
        description = self.robot.description
        shares = dict(zip(description.feet, self.contact_shares[:, None], strict=True))
        return measured(description.measures, self.state.tally, shares, self.robot.control_step)[0]

    @property
    def progress(self) -> float:
        """Distance covered towards the target so far [m]."""
        return float(self.tally.initial_distance - self.tally.target_distance)

    def posed_data(self) -> mujoco.MjData:
        """The robot as it is now as data of its `model`, with everything that derives from its state."""
        data = new_data(self.robot.model)
        for name in ("time", "qpos", "qvel", "act", "ctrl"):
            setattr(data, name, getattr(self.data, name))
        mujoco.mj_forward(self.robot.model, data)
        return data

    def _place(self, seed: int) -> None:
        """Put the robot in its first pose, with the joint angles of a seed added."""
        seed = whole_number("seed", seed, 0, MOST_SEED)
        mujoco.mj_resetData(self.robot.physics, self.data)
        self.data.warning.number[:] = HEARD
        noise, joints = self.robot.description.reset_joint_noise, self._task.joints["qpos"]
        angles = np.random.default_rng(seed).uniform(-noise, noise, len(joints))
        present = joints != ABSENT
        self.data.qpos[:] = self._start
        self.state.row[joints[present]] += angles[present]
        mujoco.mj_kinematics(self.robot.physics, self.data)  # the places of its bodies
        self._begun = True


def take_over(new: Stepper, old: Stepper) -> None:
    """Put a robot where another model of it was: joints are where they were, new ones at their start.

    Actuators go on with what they were told, behind their filters, too; controllers with what they remember.
    """
    before, after = old.robot.physics, new.robot.physics
    new.data.qpos[:], new.data.qvel[:], new.data.time = start_positions(new.robot), 0, old.data.time
    for number in range(after.njnt):
        name = after.joint(number).name
        known = mujoco.mj_name2id(before, mujoco.mjtObj.mjOBJ_JOINT, name)
        if known != ABSENT:
            new.data.joint(name).qpos[:] = old.data.joint(known).qpos
            new.data.joint(name).qvel[:] = old.data.joint(known).qvel
    for joint in new.robot.description.joints:
        motor, known = motor_of(after, joint), motor_of(before, joint)
        if ABSENT in (motor, known):
            continue
        new.data.ctrl[motor] = old.data.ctrl[known]
        place, former = after.actuator_actadr[motor], before.actuator_actadr[known]
        if ABSENT not in (place, former):
            new.data.act[place] = old.data.act[former]
    seed, tally = int(old.tally.seed), new.state.tally[0]
    new.carry_on(seed)
    tally.initial_height, tally.steps = old.tally.initial_height, old.tally.steps
    for name in ("told", "last_action", "past"):
        getattr(new.state, name)[:] = getattr(old.state, name)
    np.copyto(new.state.held, old.state.held, where=~np.isnan(old.state.held))
    new.carry_on(seed, going=True)  # periodic gaits where they were, and others see what they saw
    for name in _KEPT:
        setattr(tally, name, getattr(old.tally, name))
    new.state.contacts[:], new.actor = old.state.contacts, old.actor
    if new.state.pending.shape == old.state.pending.shape:  # actions on their way to the motors
        new.state.pending[:] = old.state.pending


class _Physics(NamedTuple):
    """What it takes to simulate: the addresses of MuJoCo's functions and of their arguments."""

    derive: int  # computes what follows from positions and velocities, at least the places of bodies
    move: int  # makes a step of physics, or the half of it that is left once all of that is known
    halved: bool  # whether it is that half
    anew: bool  # whether halves derive everything before the first physics step of a control step too
    model: int
    data: int


def _physics(derive: str, move: str, model: mujoco.MjModel, data: mujoco.MjData) -> _Physics:
    addresses = _address_of(derive), _address_of(move)
    return _Physics(*addresses, move == "mj_step2", False, model._address, data._address)


@cache
def _address_of(function: str) -> int:
    """Address of one of MuJoCo's functions in the library that the Python bindings have loaded already."""
    return ctypes.cast(ctypes.CDLL(str(library_path()))[function], ctypes.c_void_p).value or 0


@compiled()
def simulate(physics: _Physics, task: Task, state: EpisodeState) -> None:
    """Simulate a control step with the controls in the state: physics alone.

    Steps in halves begin with what the last control step derived at its end for the score. Whole ones derive
    everything themselves, so that whatever a caller changed in MuJoCo's data counts.
    """
    for substep in range(task.constants[0].substeps):
        if physics.halved and (substep > 0 or physics.anew):
            call_address(physics.derive, physics.model, physics.data)
        add_drag(task, state)
        call_address(physics.move, physics.model, physics.data)
        if task.constants[0].slowed:
            slow_positions(task, state)


@compiled()
def advance(physics: _Physics, task: Task, state: EpisodeState) -> bool:
    """Simulate a control step with the action in the state; returns whether it ended the episode."""
    apply_action(task, state)
    simulate(physics, task, state)
    sound = is_sound(task, state)
    if sound:  # or else MuJoCo would start again from the first pose
        sense(task, state)  # in the last step of physics, so before anything is derived anew
        call_address(physics.derive, physics.model, physics.data)
    return score(task, state, sound)


@compiled()
def _run(
    physics: _Physics,
    task: Task,
    state: EpisodeState,
    seed: np.uint64,
    kernel: Callable[..., None],
    sizes: np.ndarray,
    memory: np.ndarray,
    parameters: np.ndarray,
    sums: np.ndarray,
    transitions: np.ndarray,
    trace: np.ndarray,
    abandoned: np.ndarray,
) -> None:
    call_address(physics.derive, physics.model, physics.data)
    begin(task, state, seed)
    inputs, outputs = state.observation.size, state.observation.size + state.action.size
    ended = False
    while not (ended or abandoned[0]):
        kernel(sizes, memory, parameters, state.observation, state.tally[0].steps, state.action)
        for i in range(sums.shape[1]):
            value = np.float64(state.observation[i])
            sums[0, i] += value
            sums[1, i] += value * value
        if trace.shape[0] > 0:
            step = state.tally[0].steps
            trace[step, : state.action.size] = state.action
            ended = advance(physics, task, state)
            record(task, state, trace[step])
        elif transitions.shape[0] == 0:
            ended = advance(physics, task, state)
        else:
            row = transitions[state.tally[0].steps]
            row[:inputs] = state.observation
            row[inputs:outputs] = state.action
            ended = advance(physics, task, state)
            row[outputs : outputs + inputs] = state.observation
            row[-3], row[-2], row[-1] = state.tally[0].reward, state.tally[0].terminated, ended
