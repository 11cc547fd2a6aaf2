"""What evolution strategies find from the same gaits, on robots whose damage is known."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from adapt.damage.text import parse_damage
from adapt.objective import RecoveryObjective, find_objective
from adapt.oracle import true_objectives
from adapt.recovery import find_incumbent, fresh_episodes
from adapt.relearning.refinement import refine
from adapt.self_model.twin import RefinementSettings
from repertoire.evaluation.evaluator import Evaluator
from repertoire.repertoire import Repertoire
from robots.files.atomic import write_text
from robots.randomization import draw_models
from robots.simulation.simulation import Simulation

_STARTS = 256  # gaits that a recovery starts from, too
_EPISODES = 20  # of a gait in the end, on the models that it was not refined on


def measure_searches(
    repertoire: Repertoire,
    out: Path,
    *,
    damages: Sequence[str],
    strategies: Sequence[str],
    seeds: int,
    episodes: int,
    say: Callable[[str], None],
) -> None:
    """Search for a gait under each damage with each strategy and seed, all for as many control steps.

    The models are those of the repertoire's training with the damage. Means are progress while up [m] in
    20 fresh episodes, on fresh models if the training was on randomised ones. Specialists are left out.

    Args:
        repertoire: whose gaits searches start from.
        out: CSV, with a row for each search, written again after each.
        damages: that are known to the searches.
        strategies: names; `default` is the strategy of recoveries.
        seeds: searches of each strategy under each damage.
        episodes: of each.
        say: told of progress.
    """
    with Evaluator(repertoire, {"whole": repertoire.robot}) as whole:
        walked = fresh_episodes(whole, find_incumbent(whole, seed=1), 1)
    objective = find_objective("progress", repertoire, float(walked.distances.mean()))
    randomization = repertoire.problem.randomization
    models = draw_models(repertoire.robot, randomization) if randomization else [repertoire.robot]
    rows: list[dict[str, object]] = []
    for text in damages:
        robots = [parse_damage(text, repertoire.robot).apply(model) for model in models]
        learned, fresh = (robots[:8], robots[8:]) if len(robots) > 8 else (robots, robots)
        with Evaluator(repertoire, {"damaged": robots[0]}, objective=objective.of) as damaged:
            means = true_objectives(damaged, seed=1, episodes=1)[: len(repertoire.elites)]
        starts = repertoire.elites.solutions[np.argsort(-means, kind="stable")[:_STARTS]]
        with Simulation(*fresh) as simulation:
            known = max(_score(simulation, len(fresh), objective, start)[0] for start in starts[:20])
            for seed in range(1, seeds + 1):
                for name in strategies:
                    settings = RefinementSettings(episodes, strategy=None if name == "default" else name)
                    started = time.process_time()
                    search = refine(learned, starts, objective=objective, settings=settings, seed=seed)
                    seconds = time.process_time() - started
                    found, falls = _score(simulation, len(fresh), objective, search.solution)
                    row = {"damage": text, "strategy": name, "seed": seed, "episodes": search.episodes}
                    rows.append(row | {"known": known, "found": found, "falls": falls, "seconds": seconds})
                    say(f"{text} {name} {seed}: {known:.2f} m known, {found:.2f} m found, {falls} falls")
                    write_text(out, pd.DataFrame(rows).to_csv(index=False, float_format="%.3f"))


def _score(
    simulation: Simulation, models: int, objective: RecoveryObjective, solution: np.ndarray
) -> tuple[float, int]:
    """Mean objective of a gait on as many models in turn, and the number of falls."""
    numbers = np.arange(_EPISODES)
    gaits = np.tile(solution, (_EPISODES, 1))
    found = simulation.evaluate(gaits, numbers + 900, variants=numbers % models)
    return float(objective.of(found).mean()), int(found.fell.sum())
