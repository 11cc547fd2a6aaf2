"""Compiles specs, and makes data of models, without the warnings that MuJoCo would print and log."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import mujoco
import numpy as np

from robots.errors import InvalidRobotError, one_line

HEARD = 1  # where the counts of warnings begin in data of ours: MuJoCo only tells of the first one of a kind
_TIMESTEP = 1e-5, 0.1  # [s]
_ITERATIONS = 1000  # of any solver at most; MuJoCo's own default is 100 or less


def new_data(model: mujoco.MjModel) -> mujoco.MjData:
    """Data of a model whose warnings MuJoCo neither prints nor writes to MUJOCO_LOG.TXT."""
    data = mujoco.MjData(model)
    data.warning.number[:] = HEARD
    return data


@contextmanager
def unheard() -> Iterator[None]:
    """Have MuJoCo neither print nor log what it warns of within the context, unless a handler is set."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(before or (lambda _message: None))
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def read_spec(xml: str, files: Mapping[str, bytes] | None = None) -> mujoco.MjSpec:
    """Parse a screened text, with the content of the files that it refers to, by name."""
    with unheard():
        return mujoco.MjSpec.from_string(xml, include=dict(files or {}), assets=dict(files or {}))


def compile_spec(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """Compile a spec of a screened text, without the warnings that MuJoCo has Python print."""
    with warnings.catch_warnings(action="ignore"):
        return spec.compile()


def compiled_so_far(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """A model as changes have left it so far: only there is it known where things are, and what follows."""
    try:
        return compile_spec(spec)
    except ValueError as error:
        raise InvalidRobotError(f"the changed MJCF does not compile: {one_line(error)}") from error


def check_options(spec: mujoco.MjSpec, origin: str) -> None:
    """Refuse options with which a simulation fails or never ends, and keyframes that are too short.

    MuJoCo has the other joints of such a keyframe at 0.
    """
    option, (low, high) = spec.option, _TIMESTEP
    if not low <= option.timestep <= high:
        raise InvalidRobotError(
            f"{origin}: the timestep of the MJCF must be from {low:g} to {high:g} s, not {option.timestep:g}"
        )
    for name in [name for name in dir(option) if name.endswith("iterations") or name == "sdf_initpoints"]:
        if not 0 <= getattr(option, name) <= _ITERATIONS:
            raise InvalidRobotError(
                f"{origin}: the option {name} of the MJCF must be from 0 to {_ITERATIONS}, "
                f"not {getattr(option, name)}"
            )
    kinds, kind = [joint.type for joint in spec.joints], mujoco.mjtJoint
    needed = len(kinds) + 6 * kinds.count(kind.mjJNT_FREE) + 3 * kinds.count(kind.mjJNT_BALL)
    for key in spec.keys:
        if len(key.qpos) not in (0, needed):
            raise InvalidRobotError(
                f"{origin}: the keyframe {key.name!r} has {len(key.qpos)} positions, the joints have {needed}"
            )


def check_numbers(model: mujoco.MjModel, origin: str) -> None:
    """Refuse a compiled model with a number that is not finite."""
    for owner in (model.opt, model):
        for name in dir(owner):
            value = getattr(owner, name)
            if isinstance(value, float | np.ndarray) and not np.isfinite(value).all():
                raise InvalidRobotError(f"{origin}: the MJCF has numbers that are not finite, see {name}")


@cache
def library_path() -> Path:
    """The library of MuJoCo that its Python bindings have loaded."""
    folder = Path(mujoco.__file__).parent
    for pattern in ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll"):
        for path in sorted(folder.glob(pattern)):
            return path
    raise OSError(f"{folder} holds no library of MuJoCo")
