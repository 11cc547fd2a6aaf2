"""`Slots`: episodes in flight, side by side in one MuJoCo batch."""

import mujoco
import numpy as np
from mujoco.batch import Batch, SimulationError

from robots.robot import Robot
from robots.simulation.layout import ABSENT, Task, batch_columns, make_task
from robots.simulation.tally import make_tally
from robots.simulation.task import apply_actions, begin, score


class Slots:
    """A number of episodes of one robot, advanced together by one thread.

    An episode is a pure function of the robot, its seed and the actions it is given: which slot it runs in
    and what runs beside it change nothing.

    Attributes:
        observations: (n, o) float32, what each slot's robot sees now.
        actions: (n, a) float32, written by the caller before `advance`; `advance` clips them.
        tally: what each slot's episode has added up.
        batch: the MuJoCo batch, public to read.
    """

    def __init__(self, robot: Robot, count: int) -> None:
        silence_mujoco()
        self.robot = robot
        self.count = count
        self.batch = Batch(robot.physics, count, nthread=1)
        self.observations = np.zeros((count, robot.observation_dim), np.float32)
        self.actions = np.zeros((count, robot.action_dim), np.float32)
        self._task = make_task(robot, batch_columns(robot.physics))
        self.tally = make_tally(count, self._task)
        self._sensordata = self.batch.bind("sensordata")
        self._warnings = self.batch.warning[:, :, 1]  # how often each kind was raised
        self._initial = self.batch.state[0].copy()
        self._measured = measured_feet(robot)

    def begin(self, slot: int, seed: int) -> None:
        """Start the episode of a seed in a slot."""
        row = self.batch.state[slot]
        row[:] = self._initial
        place_joints(row, self._task, self.robot, seed)
        self._warnings[slot] = 0
        begin(self._task, self.tally, self.batch.state, self.observations, slot, np.uint64(seed))

    def advance(self, ids: np.ndarray) -> int:
        """Simulate one control step of some slots with their actions.

        Args:
            ids: (k,) int32, the slots.

        Returns:
            How many of their episodes ended, see `over`.
        """
        apply_actions(self._task, self.tally, self.actions, self.batch.state, ids)
        try:
            self.batch.step(ids, self.robot.description.substeps)
        except SimulationError as error:
            # MuJoCo left these slots as they were: a warning makes `score` end their episodes
            self._warnings[error.ids] = 1
        return score(
            self._task,
            self.tally,
            self.batch.state,
            self._sensordata,
            self._warnings,
            self.actions,
            self.observations,
            ids,
        )

    def over(self, slot: int) -> bool:
        """Whether the slot's episode has ended: not alive any more, diverged, or out of time."""
        return bool(self.tally.terminated[slot] or self.tally.steps[slot] == self._task.max_steps)

    def measures(self, slot: int) -> np.ndarray:
        """Share of the control steps so far in which each measured foot was in contact, (m,)."""
        return self.tally.shares(slot)[self._measured]

    def progress(self, slot: int) -> float:
        """Distance covered towards the target so far [m]."""
        return self.tally.progress(slot)

    def data(self, slot: int) -> mujoco.MjData:
        """A slot's state as MjData of the robot's `model`, with everything derived from it."""
        data = mujoco.MjData(self.robot.model)
        for name in ("time", "qpos", "qvel", "act", "ctrl"):
            setattr(data, name, self.batch.bind(name)[slot])
        mujoco.mj_forward(self.robot.model, data)
        return data


def measured_feet(robot: Robot) -> np.ndarray:
    """Which of a robot's feet are its measures, (m,)."""
    feet = list(robot.description.feet)
    return np.array([feet.index(foot) for foot in robot.description.measures])


def place_joints(row: np.ndarray, task: Task, robot: Robot, seed: int) -> None:
    """Put the robot in its first pose with the joint angles of a seed added, in a row of state."""
    noise, joints = robot.description.reset_joint_noise, task.joint_qpos
    angles = np.random.default_rng(seed).uniform(-noise, noise, len(joints))
    present = joints != ABSENT
    row[slice(*task.qpos)] = task.start
    row[joints[present]] += angles[present]


def silence_mujoco() -> None:
    """Keep MuJoCo's warnings from the terminal and from MUJOCO_LOG.TXT: they are counted per episode instead.

    A handler that the user installed stays.
    """
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(lambda _message: None)
