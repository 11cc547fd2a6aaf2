"""The robots that come with the package."""

from pathlib import Path

MODELS = Path(__file__).parent / "models"


def robot_names() -> list[str]:
    """Names of the robots that come with the package."""
    return sorted(path.parent.name for path in MODELS.glob("*/*.yaml"))
