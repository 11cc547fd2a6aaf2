"""`ClosedLoop`: whole episodes of one robot and its controller in compiled code.

MuJoCo is called by address, so that the interpreter is needed only between episodes, and what one works with,
its network and MuJoCo's data, stays in the cache of a core from its first step to its last.
"""

import ctypes
from typing import NamedTuple

import mujoco
import numpy as np

from robots.compilation import compiled
from robots.controllers import MLP, Controller, Periodic
from robots.controllers.mlp import act
from robots.robot import Robot
from robots.simulation.layout import Columns, Task, make_task
from robots.simulation.moments import NOT_WATCHED, add_observation
from robots.simulation.native import call, function_address
from robots.simulation.slots import measured_feet, place_joints, silence_mujoco
from robots.simulation.tally import Tally, make_tally
from robots.simulation.task import apply_actions, begin, score

_ONLY = np.zeros(1, np.int32)  # the slot there is


class _Physics(NamedTuple):
    """What it takes to simulate a control step.

    Attributes:
        step: address of `mj_step`.
        model, data: addresses of its arguments.
        substeps: physics steps of a control step.
    """

    step: int
    model: int
    data: int
    substeps: int


class _Memory(NamedTuple):
    """What the steps of an episode read and write, a row each, (1, ...).

    Attributes:
        state: MuJoCo's data from the positions on, float64.
        sensordata: MuJoCo's.
        warnings: how often MuJoCo raised each kind.
        observations, actions: float32.
    """

    state: np.ndarray
    sensordata: np.ndarray
    warnings: np.ndarray
    observations: np.ndarray
    actions: np.ndarray


class ClosedLoop:
    """Runs episodes of one robot, one after another, for one thread at a time.

    An episode is bit for bit that of `Slots` driven by the same controller.

    Args:
        robot: whole or damaged.
        controller: the robot's.

    Raises:
        mujoco.FatalError: MuJoCo cannot simulate the robot.
    """

    def __init__(self, robot: Robot, controller: Controller) -> None:
        silence_mujoco()
        self.robot = robot
        self._model, self._data = robot.physics, mujoco.MjData(robot.physics)
        # in compiled code an error would end the process: let those that any step meets come up here
        mujoco.mj_step(self._model, self._data)
        row, columns = _data_row(self._data)
        self._memory = _Memory(
            row[None],
            self._data.sensordata[None],
            self._data.warning.number[None],
            np.zeros((1, controller.observation_dim), np.float32),
            np.zeros((1, controller.action_dim), np.float32),
        )
        self._task = make_task(robot, columns)
        self._physics = _Physics(
            function_address("mj_step"),
            self._model._address,
            self._data._address,
            robot.description.substeps,
        )
        self._controller = controller
        self._sizes = np.array(controller.sizes if isinstance(controller, MLP) else (), np.int64)
        samples = controller.samples if isinstance(controller, Periodic) else 0
        self._table = np.zeros((samples, controller.action_dim), np.float32)
        self._measured = measured_feet(robot)
        self.tally = make_tally(1, self._task)

    def run(
        self, parameters: np.ndarray, seed: int, *, abandoned: np.ndarray, sums: np.ndarray = NOT_WATCHED
    ) -> None:
        """Run an episode to its end; `tally` holds the result.

        Args:
            parameters: (p,) float32.
            seed: of the initial joint angles.
            abandoned: (1,) bool; when another thread sets it, the episode ends at once, and is worth nothing.
            sums: (2, o) to add the observations and their squares to, or (2, 0).
        """
        mujoco.mj_resetData(self._model, self._data)
        place_joints(self._memory.state[0], self._task, self.robot, seed)
        if isinstance(self._controller, Periodic):
            self._controller.tabulate(parameters, self._table)
        _run(
            self._physics,
            self._memory,
            self._task,
            self.tally,
            np.uint64(seed),
            self._sizes,
            self._table,
            parameters[None],
            sums,
            abandoned,
            _ONLY,
        )

    @property
    def measures(self) -> np.ndarray:
        """Those of the episode, (m,)."""
        return self.tally.shares(0)[self._measured]


def _data_row(data: mujoco.MjData) -> tuple[np.ndarray, Columns]:
    """MuJoCo's data from the positions to the controls as one live row, and where it holds them."""
    start = data.qpos.ctypes.data
    places = [(part.ctypes.data - start) // data.qpos.itemsize for part in (data.qpos, data.qvel, data.ctrl)]
    length = max(
        place + part.size for place, part in zip(places, (data.qpos, data.qvel, data.ctrl), strict=True)
    )
    row = np.ctypeslib.as_array((ctypes.c_double * length).from_address(start))
    return row, Columns(*places)


@compiled()
def _run(
    physics: _Physics,
    memory: _Memory,
    task: Task,
    tally: Tally,
    seed: np.uint64,
    sizes: np.ndarray,
    table: np.ndarray,
    parameters: np.ndarray,
    sums: np.ndarray,
    abandoned: np.ndarray,
    only: np.ndarray,
) -> None:
    """Run the episode whose initial state is in memory: a network's, unless there is a table of actions."""
    state, sensordata, warnings, observations, actions = memory
    begin(task, tally, state, observations, 0, seed)
    ended = 0
    while ended == 0 and not abandoned[0]:
        if len(table) > 0:
            actions[0] = table[tally.steps[0] % len(table)]
        else:
            act(sizes, parameters, observations, actions, only)
        add_observation(observations[0], sums)
        apply_actions(task, tally, actions, state, only)
        for _ in range(physics.substeps):
            call(physics.step, physics.model, physics.data)
        ended = score(task, tally, state, sensordata, warnings, actions, observations, only)
