"""What a result depends on in addition to its settings: the software, and the processor."""

import platform
from importlib.metadata import version
from pathlib import Path

_PACKAGES = ("surefoot", "mujoco", "numpy", "numba", "scipy", "h5py")  # SciPy for its BLAS and nearest cells


def software_versions() -> dict[str, str]:
    """Versions of Python and of the packages that a result depends on, by name."""
    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}


def processor_name() -> str:
    """Name of this machine's processor, as far as it is known."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
