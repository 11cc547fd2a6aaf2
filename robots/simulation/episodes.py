"""`Episodes`: what running controllers found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robots.evaluations import Evaluations, ObservationMoments
from robots.robot import Robot
from robots.simulation.state import TALLY
from robots.task.measures import measured


@dataclass(kw_only=True)
class Episodes(Evaluations):
    """Results of n episodes, in the order in which they were asked for.

    Their objectives are sums of rewards, their measures those of the robot's description, their steps the
    control steps survived. What a real robot or another simulator does not tell is None, or NaN among the
    measures.

    Attributes:
        distances: progress towards the target [m], (n,).
        energies: mechanical work of the motors, both signs counted [J], (n,).
        fell: whether the robot fell, see `robots.falls`, or the simulation diverged, (n,). Only episodes of
            `Robot.until_it_falls` end with it.
        midway: progress after two fifths of the longest episode, or at the end of a shorter one [m], (n,).
        lateral: displacement to the left of the start at the end [m], (n,).
        heading: yaw at the end [rad], (n,).
        paths: length of the torso's way over the ground, swaying included [m], (n,); None if unknown.
        contacts: share of the control steps survived in which each foot touched the floor, (n, f).
        turned: how far the torso turned, to the left less to the right [rad], (n,); 0 in the x-z plane; None
            if unknown.
        observed: whose observations count in `moments` unless they diverged, (n,) bool; None if no one's.
        sums: of each episode's observations, and of their squares, (n, 2, o); None likewise.
        traces: of each episode what its sensors read, (n,) of objects: (its steps, columns) float32, see
            `robots.simulation.trace`, without rows where it diverged; None unless requested.
    """

    distances: np.ndarray
    energies: np.ndarray
    fell: np.ndarray
    midway: np.ndarray
    lateral: np.ndarray
    heading: np.ndarray
    contacts: np.ndarray
    paths: np.ndarray | None = None
    turned: np.ndarray | None = None
    observed: np.ndarray | None = None
    sums: np.ndarray | None = None
    traces: np.ndarray | None = None
    moments: ObservationMoments | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.observed is not None and self.sums is not None:
            good = self.observed & ~self.diverged
            count = int(self.steps[good].sum())
            self.moments = ObservationMoments(count, *self.sums[good].sum(axis=0))

    @classmethod
    def from_tallies(cls, robot: Robot, tallies: np.ndarray, contacts: np.ndarray, **others: Any) -> Episodes:
        """The results of episodes that have ended.

        Args:
            robot: that ran them, whole or damaged.
            tallies: what the kernels added up, records of `TALLY`, (n,).
            contacts: control steps in which each foot was in contact, (n, f).
            **others: what was requested, as the attributes of the same names.
        """
        diverged, steps = tallies["diverged"].copy(), tallies["steps"].copy()
        shares = np.where(diverged[:, None], np.nan, contacts / np.maximum(steps, 1)[:, None])
        by_foot = dict(zip(robot.description.feet, shares.T, strict=True))
        measures = measured(robot.description.measures, tallies, by_foot, robot.control_step)
        return cls(
            objectives=np.where(diverged, np.nan, tallies["objective"]),
            measures=np.where(diverged[:, None], np.nan, measures),
            diverged=diverged,
            steps=steps,
            distances=tallies["initial_distance"] - tallies["target_distance"],
            energies=tallies["energy"].copy(),
            fell=tallies["fell"] | diverged,
            midway=tallies["midway"].copy(),
            lateral=tallies["lateral"].copy(),
            heading=tallies["heading"].copy(),
            paths=tallies["path"].copy(),
            turned=tallies["turned"].copy(),
            contacts=shares,
            **others,
        )

    @classmethod
    def unknown(cls, n: int, robot: Robot) -> Episodes:
        """Results of n episodes of a robot that are still to be filled in."""
        return cls.from_tallies(robot, np.zeros(n, TALLY), np.zeros((n, len(robot.description.feet))))

    @classmethod
    def joined(cls, parts: Sequence[Mapping[str, np.ndarray]], order: np.ndarray) -> Episodes:
        """The episodes of several parts, given by their `columns`, in the order of these numbers."""
        return cls(**{name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]})
