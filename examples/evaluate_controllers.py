"""Evaluate many random controllers on all cores: `python examples/evaluate_controllers.py`."""

import sys

import numpy as np

from robots.robot import load_robot
from robots.simulation.backend import ModelBatch
from robots.simulation.threads import ALL_CORES


def main(count: int) -> None:
    """Run an episode of each of so many random controllers."""
    rng = np.random.default_rng(0)
    robot = load_robot("ant")
    parameters = np.stack([robot.controller.initial(rng) for _ in range(count)])
    episodes = ALL_CORES.run(ModelBatch(robot), parameters, seeds=np.arange(count))
    best = int(np.nanargmax(episodes.objectives))
    print(f"{episodes.steps.sum()} control steps simulated, {episodes.diverged.sum()} episodes diverged")
    print(f"best objective {episodes.objectives[best]:.1f}")
    print(f"its feet on the ground: {episodes.measures[best].round(2)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
