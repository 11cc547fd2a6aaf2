"""The PyBullet environments that the QD robots come from, as a peer to be timed."""

import importlib
import importlib.util
import io
import sys
import time
from contextlib import redirect_stdout
from types import ModuleType
from typing import Any

import numpy as np
from packaging.version import parse

from robots.errors import InvalidValueError

ENVIRONMENTS = {
    "ant": "AntBulletEnv",
    "half_cheetah": "HalfCheetahBulletEnv",
    "hopper": "HopperBulletEnv",
    "walker": "Walker2DBulletEnv",
}


def measure_pybullet(robot: str, *, steps: int = 6000) -> float:
    """Control steps per second of a robot's PyBullet environment on one core, with random actions.

    Raises:
        InvalidValueError: see `check_pybullet`.
    """
    environment = _make(robot)
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (steps, len(environment.action_space.low)))
    spent = 0.0  # in steps alone: resets are slow there, and not what is compared
    with redirect_stdout(io.StringIO()):
        environment.reset()
        for action in actions:
            started = time.perf_counter()
            ended = environment.step(action)[2]
            spent += time.perf_counter() - started
            if ended:
                environment.reset()
    return steps / spent


def check_pybullet() -> None:
    """Refuse to measure what is not installed.

    Raises:
        InvalidValueError: PyBullet is not installed.
    """
    if importlib.util.find_spec("pybullet") is None:
        raise InvalidValueError("the peer is not installed: pip install pybullet")


def _make(robot: str) -> Any:
    """Make a robot's environment."""
    check_pybullet()
    _stand_in_for_gym()
    with redirect_stdout(io.StringIO()):
        module = importlib.import_module("pybullet_envs.gym_locomotion_envs")
        return getattr(module, ENVIRONMENTS[robot])()


def _stand_in_for_gym() -> None:
    """Let pybullet_envs find what it uses of gym and pkg_resources, neither of which is kept any more."""
    resources = ModuleType("pkg_resources")
    resources.parse_version = parse  # type: ignore[attr-defined]
    sys.modules.setdefault("pkg_resources", resources)
    # the package registers its environments when it is imported; nothing here looks them up
    if "pybullet_envs" not in sys.modules:
        sys.modules["pybullet_envs"] = _package("pybullet_envs")
    for name in ("", ".spaces", ".utils", ".utils.seeding", ".envs", ".envs.registration"):
        sys.modules.setdefault("gym" + name, importlib.import_module("gymnasium" + name))


def _package(name: str) -> ModuleType:
    """An installed package without running its `__init__`."""
    spec = importlib.util.find_spec(name)
    package = ModuleType(name)
    package.__path__ = list(spec.submodule_search_locations or []) if spec else []
    return package
