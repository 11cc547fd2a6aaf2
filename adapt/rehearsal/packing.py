"""A rehearsal table as small arrays: numbers become steps of a range, deviations steps of a root.

`docs/format.md` lists the arrays. What is read and packed again gives the same arrays.
"""

from collections.abc import Mapping

import numpy as np

from adapt.rehearsal.table import Table
from robots.errors import InvalidValueError

_OBJECTIVE_STEPS = 65_535
_STEPS = 255
_DEVIATION_STEPS = 15  # two of them share a byte

_TYPES: dict[str, tuple[str, ...]] = {
    "objectives": ("<u2",),
    "objectives_range": ("<f4",),
    "noise": ("|u1",),
    "noise_scale": ("<f4",),
    "falls": ("|u1", "<u2"),
    "evidence": ("|u1",),
    "evidence_range": ("<f4",),
    "evidence_std": ("|u1",),
    "evidence_scale": ("<f4",),
    "episodes": ("<i8",),
}


def pack(table: Table) -> dict[str, np.ndarray]:
    """The arrays that a file holds of a table."""
    objectives_range = _range(table.objectives.reshape(-1, 1))[:, 0]
    evidence_range = _range(table.evidence.reshape(-1, table.evidence.shape[-1]))
    noise_scale = table.noise.max(initial=0).astype("<f4")
    evidence_scale = table.evidence_std.max(axis=(0, 1), initial=0).astype("<f4")
    counts = np.rint(table.falls * table.episodes)
    return {
        "objectives": _steps(table.objectives, objectives_range, _OBJECTIVE_STEPS).astype("<u2"),
        "objectives_range": objectives_range,
        "noise": _root_steps(table.noise, noise_scale, _STEPS),
        "noise_scale": np.array(noise_scale),
        "falls": counts.astype("|u1" if table.episodes <= np.iinfo("u1").max else "<u2"),
        "evidence": _steps(table.evidence, evidence_range, _STEPS).astype("|u1"),
        "evidence_range": evidence_range,
        "evidence_std": _in_pairs(_root_steps(table.evidence_std, evidence_scale, _DEVIATION_STEPS)),
        "evidence_scale": evidence_scale,
        "episodes": np.array(table.episodes, "<i8"),
    }


def unpack(
    arrays: Mapping[str, np.ndarray], conditions: tuple[str, ...], evidence_names: tuple[str, ...]
) -> Table:
    """The table that checked arrays describe."""
    episodes, e = int(arrays["episodes"]), len(evidence_names)
    deviations = _one_by_one(arrays["evidence_std"], e)
    return Table(
        conditions=conditions,
        objectives=_values(arrays["objectives"], arrays["objectives_range"], _OBJECTIVE_STEPS),
        noise=_deviations(arrays["noise"], arrays["noise_scale"], _STEPS),
        falls=(arrays["falls"] / episodes).astype(np.float32),
        evidence=_values(arrays["evidence"], arrays["evidence_range"], _STEPS),
        evidence_std=_deviations(deviations, arrays["evidence_scale"], _DEVIATION_STEPS),
        evidence_names=evidence_names,
        episodes=episodes,
    )


def check_arrays(arrays: Mapping[str, np.ndarray], *, conditions: int, evidence: int) -> None:
    """Refuse arrays that are no table of d conditions and e kinds of evidence.

    Raises:
        InvalidValueError: one is missing, of another type or shape, or holds what is impossible.
    """
    for name, types in _TYPES.items():
        if name not in arrays or arrays[name].dtype not in types:
            raise InvalidValueError(f"the array {name!r} of type {' or '.join(types)} is missing")
        if not np.isfinite(arrays[name]).all():
            raise InvalidValueError(f"{name!r} must be finite")
    k = arrays["objectives"].shape[-1] if arrays["objectives"].ndim else 0
    entries = (conditions, k)
    shapes: dict[str, tuple[int, ...]] = {"objectives": entries, "noise": entries, "falls": entries}
    shapes |= {"evidence": (*entries, evidence), "evidence_std": (*entries, (evidence + 1) // 2)}
    shapes |= {"objectives_range": (2,), "evidence_range": (2, evidence), "evidence_scale": (evidence,)}
    shapes |= {"noise_scale": (), "episodes": ()}
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            raise InvalidValueError(f"{name!r} must have shape {shape}, not {arrays[name].shape}")
    for name in ("objectives_range", "evidence_range"):
        low, high = arrays[name]
        if np.any(low > high):
            raise InvalidValueError(f"{name!r} must go from low to high")
    if arrays["noise_scale"] < 0 or arrays["evidence_scale"].min(initial=0) < 0:
        raise InvalidValueError("'noise_scale' and 'evidence_scale' must not be negative")
    if arrays["episodes"] < 1 or arrays["falls"].max(initial=0) > arrays["episodes"]:
        raise InvalidValueError("'episodes' must be at least 1, and at least every number of 'falls'")


def _range(values: np.ndarray) -> np.ndarray:
    """Lowest and highest value of each column, (2, e)."""
    return np.array([values.min(axis=0), values.max(axis=0)], "<f4")


def _steps(values: np.ndarray, ends: np.ndarray, steps: int) -> np.ndarray:
    """Which step of a range from `ends[0]` to `ends[1]` is nearest to each value."""
    low, high = ends.astype(np.float64)
    width = np.where(high > low, high - low, 1.0)
    return np.asarray(np.rint((values - low) / width * steps))


def _values(levels: np.ndarray, ends: np.ndarray, steps: int) -> np.ndarray:
    """The values of steps, float32."""
    low, high = ends.astype(np.float64)
    return np.asarray(low + (high - low) * (levels / steps), np.float32)


def _root_steps(deviations: np.ndarray, scale: np.ndarray, steps: int) -> np.ndarray:
    """Which step of the root of a share of the scale is nearest.

    The root leaves small deviations, of which there are most, the finer steps.
    """
    safe = np.where(scale > 0, scale, 1).astype(np.float64)
    return np.asarray(np.rint(np.sqrt(deviations / safe) * steps), np.uint8)


def _deviations(levels: np.ndarray, scale: np.ndarray, steps: int) -> np.ndarray:
    """The deviations of steps, float32."""
    return np.asarray((levels / steps) ** 2 * scale.astype(np.float64), np.float32)


def _in_pairs(levels: np.ndarray) -> np.ndarray:
    """Two numbers of the last axis in a byte, the first in its lower half."""
    missing = levels.shape[-1] % 2
    padded = np.pad(levels, [(0, 0)] * (levels.ndim - 1) + [(0, missing)])
    return np.asarray(padded[..., ::2] | padded[..., 1::2] << 4, np.uint8)


def _one_by_one(pairs: np.ndarray, count: int) -> np.ndarray:
    """The numbers that were put in pairs."""
    both = np.stack([pairs & 15, pairs >> 4], axis=-1)
    return both.reshape(*pairs.shape[:-1], 2 * pairs.shape[-1])[..., :count]
