"""Evidence: what an episode shows of a robot's condition in addition to its objective."""

import numpy as np

from robots.robot import Robot
from robots.simulation.episodes import Episodes


def evidence_names(robot: Robot) -> tuple[str, ...]:
    """Names of the e numbers that `evidence_of` reads off an episode, each with its unit in brackets."""
    contacts = (f"{foot} contact [share]" for foot in robot.description.watched)
    return (
        *contacts,
        "midway [m]",
        "lateral [m]",
        "sine of heading",
        "cosine of heading",
        "power [W]",
        "survived [share]",
    )


def evidence_of(episodes: Episodes, robot: Robot) -> np.ndarray:
    """What episodes show, (n, e) float64; all 0 where the simulation diverged.

    The heading comes as sine and cosine, so that what is nearly the same has nearly the same numbers. Contact
    shares are of the control steps survived, the power is the motors' work [J] per second survived.

    Args:
        episodes: n of them.
        robot: that ran them, whole or damaged.
    """
    watched = [list(robot.description.feet).index(foot) for foot in robot.description.watched]
    survived = np.maximum(episodes.steps, 1)  # an episode may end in its first step
    columns = [
        *episodes.contacts.T[watched],
        episodes.midway,
        episodes.lateral,
        np.sin(episodes.heading),
        np.cos(episodes.heading),
        episodes.energies / (survived * robot.control_step),
        episodes.steps / robot.description.episode_steps,
    ]
    return np.where(episodes.diverged[:, None], 0.0, np.column_stack(columns))
