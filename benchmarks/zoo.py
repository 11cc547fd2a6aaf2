"""How the robots of the zoo walk and recover: `python -m benchmarks.zoo FILE.csv [ROBOT ...]`.

A row for the whole robot, whose damage is empty, and two for each leg dead and lost, of two seeds. Distances
are means over ten fresh episodes [m], of which some fall; `tried` is the furthest that a trial without a fall
went. Rows that the file holds are not measured again.
"""

import csv
import itertools
import math
import sys
import time
from pathlib import Path

import mujoco
import numpy as np

import surefoot
from adapt.recovery import find_incumbent, fresh_episodes
from repertoire.evaluation.evaluator import Evaluator
from robots.catalogue import zoo_names
from robots.deployment.walk import Walk
from robots.robot import Robot
from robots.simulation.threads import Threads
from robots.stance import standing_on_floor

_WALK = ["length", "distance", "share", "falls", "aside", "turned"]
_RECOVERY = ["trials", "trial_falls", "tried", "old_distance", "old_falls", "cause", "probability", "cpu"]
_SEEDS = (1, 2)


def length(robot: Robot) -> float:
    """How long the standing robot is along x, by the boxes around its geoms [m]."""
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[:] = standing_on_floor(robot).qpos
    mujoco.mj_forward(model, data)
    own = model.geom_bodyid > 0
    along = data.geom_xmat.reshape(-1, 3, 3)[own, 0]  # what each axis of a geom has of x
    middles = data.geom_xpos[own, 0] + (along * model.geom_aabb[own, :3]).sum(axis=1)
    halves = (abs(along) * model.geom_aabb[own, 3:]).sum(axis=1)
    return float((middles + halves).max() - (middles - halves).min())


def whole(name: str) -> dict[str, object]:
    """How the whole robot walks."""
    repertoire = surefoot.load(name)
    intact = Evaluator(repertoire, {"intact": repertoire.robot}, backend=Threads(1))
    episodes = fresh_episodes(intact, find_incumbent(intact, seed=1), 1)
    walk = Walk.of(episodes)
    assert walk is not None
    return {
        "length": length(repertoire.robot),
        "distance": walk.ahead,
        "falls": int(np.count_nonzero(episodes.fell)),
        "aside": walk.aside,
        "turned": math.degrees(walk.turned),
    }


def recovered(name: str, damage: str, seed: int) -> dict[str, object]:
    """How a recovery goes."""
    started = time.process_time()
    found = surefoot.recover(name, damage, trials=8, seed=seed, think_episodes=300, threads=1)
    cause, probability = max(found.diagnosis.items(), key=lambda item: item[1])
    return {
        "distance": found.recovered.distance,
        "share": found.recovered.distance / found.healthy.distance,
        "falls": found.recovered.falls,
        "trials": len(found.trials),
        "trial_falls": found.falls,
        "tried": max((trial.distance for trial in found.trials if not trial.fell), default=math.nan),
        "old_distance": found.broken.distance,
        "old_falls": found.broken.falls,
        "cause": cause,
        "probability": probability,
        "cpu": time.process_time() - started,
    }


def main(out: Path, names: list[str]) -> None:
    """Measure what the file does not hold yet."""
    rows = list(csv.DictReader(out.open())) if out.exists() else []
    with out.open("a", newline="") as file:
        writer = csv.DictWriter(file, ["robot", "damage", "seed", *_WALK, *_RECOVERY], lineterminator="\n")
        if not rows:
            writer.writeheader()
        for name in names or zoo_names():
            legs = surefoot.load(name).robot.description.legs
            damages = [f"{leg}:{kind}" for kind in ("dead", "lost") for leg in legs]
            for damage, seed in [("", 1), *itertools.product(damages, _SEEDS)]:
                if (name, damage, str(seed)) in {(row["robot"], row["damage"], row["seed"]) for row in rows}:
                    continue
                found = recovered(name, damage, seed) if damage else whole(name)
                values = {key: f"{v:.4g}" if isinstance(v, float) else v for key, v in found.items()}
                writer.writerow({"robot": name, "damage": damage, "seed": seed, **values})
                file.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
