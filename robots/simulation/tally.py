"""`Tally`: what episodes have added up so far."""

from typing import NamedTuple

import numpy as np

from robots.simulation.layout import Task


class Tally(NamedTuple):
    """What an episode has added up so far, one row per slot.

    Attributes:
        objective: sum of rewards.
        reward: reward of the last control step.
        steps: control steps survived.
        contacts: control steps each foot was in contact, (n, f).
        touching: whether each foot is in contact now, (n, f).
        energy: mechanical work of the motors, both signs counted [J].
        initial_height: torso height at reset [m].
        initial_distance, target_distance: of the torso to the target at reset and now [m].
        midway: progress when two fifths of the longest episode were over, or now if it is not so far [m].
        lateral: displacement of the torso to the left when the episode ended [m].
        heading: yaw of the torso then [rad].
        seed: of the episode, from which the noise of its observations derives.
        pending: actions that are still to come to the motors, (n, delay, j) float32.
        terminated: whether the episode ended before its time: the robot is not alive, or diverged.
        diverged: whether the simulation blew up.
    """

    objective: np.ndarray
    reward: np.ndarray
    steps: np.ndarray
    contacts: np.ndarray
    touching: np.ndarray
    energy: np.ndarray
    initial_height: np.ndarray
    initial_distance: np.ndarray
    target_distance: np.ndarray
    midway: np.ndarray
    lateral: np.ndarray
    heading: np.ndarray
    seed: np.ndarray
    pending: np.ndarray
    terminated: np.ndarray
    diverged: np.ndarray

    def shares(self, slot: int) -> np.ndarray:
        """Share of the control steps so far in which each foot was in contact, (f,)."""
        return self.contacts[slot] / max(self.steps[slot], 1)

    def progress(self, slot: int) -> float:
        """Distance covered towards the target so far [m]."""
        return self.initial_distance[slot] - self.target_distance[slot]


def make_tally(slots: int, task: Task) -> Tally:
    """An empty tally."""
    feet, joints = len(task.foot_sensors), len(task.joint_ctrl)
    return Tally(
        objective=np.zeros(slots),
        reward=np.zeros(slots),
        steps=np.zeros(slots, np.int64),
        contacts=np.zeros((slots, feet), np.int64),
        touching=np.zeros((slots, feet), np.bool_),
        energy=np.zeros(slots),
        initial_height=np.zeros(slots),
        initial_distance=np.zeros(slots),
        target_distance=np.zeros(slots),
        midway=np.zeros(slots),
        lateral=np.zeros(slots),
        heading=np.zeros(slots),
        seed=np.zeros(slots, np.uint64),
        pending=np.zeros((slots, task.delay, joints), np.float32),
        terminated=np.zeros(slots, np.bool_),
        diverged=np.zeros(slots, np.bool_),
    )
