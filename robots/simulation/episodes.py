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
    """

    distances: np.ndarray  #: progress towards the target [m], (n,)
    energies: np.ndarray  #: mechanical work of the motors, both signs counted [J], (n,)
    #: whether the robot fell, see `robots.falls`, or the simulation diverged, (n,); only episodes of
    #: `Robot.until_it_falls` end with it
    fell: np.ndarray
    #: progress after two fifths of the longest episode, or at the end of a shorter one [m], (n,)
    midway: np.ndarray
    lateral: np.ndarray  #: displacement to the left of the start at the end [m], (n,)
    heading: np.ndarray  #: yaw at the end [rad], (n,)
    contacts: np.ndarray  #: share of the control steps survived in which each foot touched the floor, (n, f)
    paths: np.ndarray | None = None  #: length of the torso's way over the ground, swaying included [m], (n,)
    turned: np.ndarray | None = None  #: how far the torso turned to the left [rad], (n,); 0 in the x-z plane
    #: whose observations count in `moments` unless they diverged, (n,) bool; None if no one's
    observed: np.ndarray | None = None
    sums: np.ndarray | None = None  #: of each episode's observations, and of their squares, (n, 2, o)
    #: of each episode, (n,) of objects: (steps, columns) float32, see `TraceColumns`; no rows if it diverged
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

        They follow from records of `TALLY`, (n,), from the control steps in which each foot was in contact,
        (n, f), and from attributes that were requested.
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
            paths=tallies["path"].copy(),
            contacts=shares,
            **{name: tallies[name].copy() for name in ("midway", "lateral", "heading", "turned")},
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
