"""Seeds: every random number of a run derives from the run's seed, a family and an index, and nothing else.

The number of threads or workers, and what was finished before an interruption, therefore change no result.
"""

from enum import IntEnum

import numpy as np

MOST_SEED = 2**63 - 1  # of a run; what a file's integers hold


class SeedFamily(IntEnum):
    """What a run uses random numbers for. The numbers are part of every result: never change one."""

    SEARCH = 0  # the algorithm's own choices
    TRAINING = 1  # episodes of a training
    TRIALS = 2  # trials of a recovery
    CONFIRMATION = 3  # how well a gait does, before and after a recovery
    ORACLE = 4  # the best gait there is for a damaged robot
    INCUMBENT = 5  # the gait that a robot walked with before it was damaged
    EVALUATION = 6  # further episodes of a repertoire's elites
    REHEARSAL = 7  # a repertoire's elites on damaged robots
    DAMAGE = 8  # which episodes of a training run on damaged robots
    THINKING = 9  # gaits that were tried, as a self-model simulates them to find out what is wrong
    FORECAST = 10  # gaits that were not, as it simulates them to find out which of them walks
    FAULT = 11  # all of a study that is about one of its faults
    RECOVERY = 12  # a recovery from that fault
    NOISE = 13  # by which what a trial measures is off
    RANDOMIZATION = 14  # models of a robot that episodes of a training run on
    REFINEMENT = 15  # gaits that are refined on models of a damaged robot
    CALIBRATION = 16  # models of a whole robot that are fitted to what it did
    MISSION = 17  # noise of sensors in stretches of a mission, and what it learns its monitor from


def derive_seeds(seed: int, family: SeedFamily, first: int, count: int, *within: int) -> np.ndarray:
    """Seeds of consecutive episodes of a run, (count,) int64.

    `within` is what they are of within the family, for example a gait: then `first` counts from 0 for each.
    """
    key = (int(family), *within)
    sequences = (np.random.SeedSequence(seed, spawn_key=(*key, first + i)) for i in range(count))
    return np.array([sequence.generate_state(1)[0] for sequence in sequences], np.int64)
