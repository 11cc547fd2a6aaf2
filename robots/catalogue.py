"""The robots that come with the package: their names, and their registration with Gymnasium."""

from pathlib import Path

MODELS = Path(__file__).parent / "models"


def robot_names() -> list[str]:
    """Names of the robots that come with the package."""
    return sorted(path.parent.name for path in MODELS.glob("*/*.yaml"))


def environment_id(robot: str) -> str:
    """The Gymnasium id of a robot's environment, e.g. `surefoot/QDAnt-v0`."""
    return f"surefoot/QD{robot.replace('_', ' ').title().replace(' ', '')}-v0"


def register_environments() -> None:
    """Make every robot available to `gymnasium.make`; a second call changes nothing."""
    from gymnasium.envs.registration import register, registry  # takes a moment, and few need it

    for name in robot_names():
        if environment_id(name) not in registry:
            register(
                environment_id(name),
                entry_point="robots.simulation.environment:WalkingEnvironment",
                kwargs={"robot": name},
            )
