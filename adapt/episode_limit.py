"""The same robot with longer or shorter episodes."""

from dataclasses import replace

from robots.robot import Robot


def with_episode_limit(robot: Robot, steps: int) -> Robot:
    """The robot with another limit on its episodes [control steps]; it shares the model."""
    return replace(robot, description=robot.description.model_copy(update={"episode_steps": steps}))
