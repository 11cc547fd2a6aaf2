"""`draw_faults`: the faults that a track of the simulated benchmark recovers from."""

from collections.abc import Sequence
from itertools import combinations, zip_longest

import numpy as np

from adapt.damage.damage import Combination, Damage, Defect
from adapt.damage.kinds.limbs import Lost
from adapt.self_model.registry import Registry
from robots.errors import InvalidValueError
from robots.robot import Robot
from suites.recovery.cases import Track, benchmark_damages

RANDOM = 60  # faults of a track by default, if it draws them from the registry
_PLACES = (0.1, 0.9)  # of strengths in their ranges
_ENOUGH = 1000  # draws after which there are no more different faults


def draw_faults(track: Track, robot: Robot, count: int | None, *, seed: int) -> list[Damage]:
    """The faults of a track: those listed for the robot, or random ones, decided by a seed.

    Args:
        track: says which faults.
        robot: whole.
        count: how many; by default all that there are, and 60 of the registry's.
        seed: of random faults.

    Raises:
        InvalidValueError: the robot has not so many.
    """
    match track.faults:
        case "registry":
            return random_faults(robot, RANDOM if count is None else count, seed=seed)
        case "lost legs":
            found = lost_legs(robot, seed=seed)
        case "listed":
            found = benchmark_damages(robot)
    if count is not None and count > len(found):
        raise InvalidValueError(
            f"there are {len(found)} faults of track {track.name} for the {robot.name}, not {count}"
        )
    return found[:count]


def random_faults(robot: Robot, count: int, *, seed: int) -> list[Damage]:
    """Different faults of the registry, single ones and pairs by turns; all kinds are equally likely.

    Raises:
        InvalidValueError: the robot has not so many.
    """
    registry, rng = Registry(robot), np.random.default_rng(seed)
    kinds = sorted({kind for _, kind in registry.faults})
    found: dict[str, Damage] = {}
    for _ in range(_ENOUGH * count):
        if len(found) == count:
            break
        defects = [_random_defect(registry, kinds, rng) for _ in range(1 + len(found) % 2)]
        damage = registry.combine(defects)
        if damage is not None:
            found.setdefault(str(damage), damage)
    if len(found) < count:
        raise InvalidValueError(f"the {robot.name} has only {len(found)} different faults, not {count}")
    return list(found.values())


def _random_defect(registry: Registry, kinds: Sequence[str], rng: np.random.Generator) -> Defect:
    """A fault of a random kind, part and strength."""
    kind = kinds[int(rng.integers(len(kinds)))]
    some = [fault for fault in registry.faults.values() if fault.kind == kind]
    fault = some[rng.integers(len(some))]
    if fault.high > fault.low:
        return fault.at(rng.uniform(*_PLACES))
    return fault.of(fault.grid[rng.integers(len(fault.grid))])


def lost_legs(robot: Robot, *, seed: int) -> list[Damage]:
    """All ways to lose two and three legs, by turns and in random order, as long as half of them are left."""
    legs, rng = list(robot.description.legs), np.random.default_rng(seed)
    sizes = [size for size in (2, 3) if 2 * size <= len(legs)]
    choices = [rng.permutation(list(combinations(legs, size))).tolist() for size in sizes]
    return [Combination(tuple(map(Lost, lost))) for turn in zip_longest(*choices) for lost in turn if lost]
