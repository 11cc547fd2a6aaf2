"""What studies vary: their options, and the defaults."""

from typing import Literal

from adapt.requests import MissionRequest, RecoveryRequest
from robots.files.records import Positive, Several

FEW_TRIALS = RecoveryRequest(trials=5)
RECOVERIES = RecoveryRequest(think_episodes=1200, objective="reward", confirmations=0)


class TransferRequest(RecoveryRequest):
    """Where gaits walk, and what each recovery there is to do.

    Attributes:
        worlds: where to walk.
        damages: faults to recover from.
        gaits: number of gaits that walk, the best.
        trials: trials of each recovery.
        think_episodes: episodes that self-model simulates after the first trial of each gait.
    """

    worlds: tuple[Literal["gap", "wide", "lag", "together", "pybullet"], ...] = (
        "gap", "wide", "lag", "together", "pybullet",
    )  # fmt: skip
    damages: tuple[str, ...] | None = None
    gaits: Several = 20
    trials: Several = 5
    think_episodes: Several = 400
    confirmations: Literal[0] = 0


class MissionStudy(MissionRequest):
    """Which missions a study compares; their goals, damages, times and seeds are those of the study.

    Attributes:
        tasks: to reach a `goal`, or to walk as much `distance` as possible in two minutes.
        worlds: robots that walk: `nominal` is the model, and those of `gap` differ from it.
        goal: distance of the goal [m].
        seeds: missions of each kind with each damage.
    """

    tasks: tuple[Literal["goal", "distance"], ...] = ("goal", "distance")
    worlds: tuple[Literal["nominal", "gap"], ...] = ("nominal", "gap")
    goal: Positive = 5.0
    seeds: Several = 3
