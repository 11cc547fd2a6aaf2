"""Evaluate many random controllers on all cores: `python examples/evaluate_controllers.py`."""

import sys

import numpy as np

from robots.robot import load_robot
from robots.simulation.simulation import Simulation


def main(count: int) -> None:
    """Run an episode of each of so many random controllers."""
    rng = np.random.default_rng(0)
    with Simulation(load_robot("ant")) as simulation:
        parameters = np.stack([simulation.controller.initial(rng) for _ in range(count)])
        episodes = simulation.evaluate(parameters, seeds=np.arange(count))
    best = int(np.nanargmax(episodes.objectives))
    print(f"{episodes.steps.sum()} control steps simulated, {episodes.diverged.sum()} episodes diverged")
    print(f"best objective {episodes.objectives[best]:.1f}")
    print(f"its feet on the ground: {episodes.measures[best].round(2)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
