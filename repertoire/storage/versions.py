"""`software_versions`: the software that a result depends on."""

from importlib.metadata import version
from platform import python_version

_PACKAGES = ("surefoot", "mujoco", "numpy", "numba", "h5py")


def software_versions() -> dict[str, str]:
    """Versions of what a run's result depends on, by name."""
    return {"python": python_version()} | {name: version(name) for name in _PACKAGES}
