"""What searches find from the same gaits, on robots whose damage is known."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from adapt.damage.text import parse_damage
from adapt.objective import RecoveryObjective, find_objective
from adapt.oracle import true_objectives
from adapt.recovery import find_incumbent, fresh_episodes
from adapt.relearning.refinement import refine
from adapt.self_model.twin import RefinementSettings
from repertoire.algorithms.scheduler import Scheduler
from repertoire.archives.archive import Archive
from repertoire.emitters.evolution_strategy import EvolutionStrategyEmitter
from repertoire.evaluation.evaluator import Evaluator
from repertoire.repertoire import Repertoire
from repertoire.strategies.cma_es import CMAESSettings
from robots.backend import ModelBatch
from robots.evaluations import Evaluations
from robots.files.atomic import write_text
from robots.randomization import draw_models
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.threads import ALL_CORES

_STARTS = 256  # gaits that a recovery starts from, too
_EPISODES = 20  # of a gait in the end, on the models that it was not refined on
_BATCH, _SIGMA = 16, 0.05  # samples of a generation and first step size, as `refine` has for small gaits
_RATE = 0.05  # learning rate of CMA-MAE's thresholds, that of the included Hexapod's training
_FINALISTS, _FINALS = 20, 8  # elites of CMA-MAE in the end, and episodes of each to choose by


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
        out: CSV, with a row for each search, written again after each; what it has already is not run again.
        damages: that are known to the searches.
        strategies: names; `default` is the strategy of recoveries, and `cma-mae` is that algorithm, started
            at the best of the gaits, with an archive of the repertoire's cells.
        seeds: searches of each strategy under each damage.
        episodes: of each.
        say: told of progress.
    """
    whole = Evaluator(repertoire, {"whole": repertoire.robot})
    walked = fresh_episodes(whole, find_incumbent(whole, seed=1), 1)
    objective = find_objective("progress", repertoire, float(walked.distances.mean()))
    randomization = repertoire.problem.randomization
    models = draw_models(repertoire.robot, randomization) if randomization else [repertoire.robot]
    rows = pd.read_csv(out).to_dict("records") if out.exists() else []
    done = {(row["damage"], row["strategy"], row["seed"]) for row in rows}
    for text in damages:
        missing = [
            (seed, name)
            for seed in range(1, seeds + 1)
            for name in strategies
            if (text, name, seed) not in done
        ]
        if not missing:
            continue
        robots = [parse_damage(text, repertoire.robot).apply(model) for model in models]
        learned, fresh = (robots[:8], robots[8:]) if len(robots) > 8 else (robots, robots)
        damaged = Evaluator(repertoire, {"damaged": robots[0]}, objective=objective.of)
        means = true_objectives(damaged, seed=1, episodes=1)[: len(repertoire.elites)]
        starts = repertoire.elites.solutions[np.argsort(-means, kind="stable")[:_STARTS]]
        batch = ModelBatch(*fresh)
        known = max(_score(batch, len(fresh), objective, start)[0] for start in starts[:20])
        for seed, name in missing:
            started = time.process_time()
            if name == "cma-mae":
                solution, spent = _cma_mae(repertoire, learned, starts[0], objective, episodes, seed)
            else:
                settings = RefinementSettings(episodes, strategy=None if name == "default" else name)
                search = refine(learned, starts, objective=objective, settings=settings, seed=seed)
                solution, spent = search.solution, search.episodes
            seconds = time.process_time() - started
            found, falls = _score(batch, len(fresh), objective, solution)
            row = {"damage": text, "strategy": name, "seed": seed, "episodes": spent}
            rows.append(row | {"known": known, "found": found, "falls": falls, "seconds": seconds})
            say(f"{text} {name} {seed}: {known:.2f} m known, {found:.2f} m found, {falls} falls")
            write_text(out, pd.DataFrame(rows).to_csv(index=False, float_format="%.3f"))


def _cma_mae(
    repertoire: Repertoire,
    robots: Sequence[Robot],
    start: np.ndarray,
    objective: RecoveryObjective,
    episodes: int,
    seed: int,
) -> tuple[np.ndarray, int]:
    """The best gait that CMA-MAE finds around a known one, and the whole episodes that it took.

    Its archive is of gaits on the damaged robot, with thresholds that begin at 0. One emitter with CMA-ES
    starts at the known gait. All episodes have their whole length.
    """
    whole = robots[0].description.episode_steps
    archive = partial(
        Archive,
        repertoire.settings.archive,
        solution_dim=len(start),
        ranges=repertoire.problem.measure_ranges,
    )
    soft, result = archive(learning_rate=_RATE, min_objective=0.0), archive()
    (mean,) = robots[0].controller.bounded(start[None]).astype(np.float64)
    rng = np.random.Generator(np.random.SFC64(seed))
    strategy = CMAESSettings(batch_size=_BATCH, sigma0=_SIGMA).make(mean, rng)
    scheduler = Scheduler(soft=soft, result=result, emitters=[EvolutionStrategyEmitter(strategy)])

    def run(gaits: np.ndarray, count: int, first: int) -> Evaluations:
        """Means of each gait's episodes on the models in turn, in the same episodes as all others."""
        seeds = derive_seeds(seed, SeedFamily.REFINEMENT, first, count)
        models = np.tile((first + np.arange(count)) % len(robots), len(gaits))
        ran = ALL_CORES.run(
            ModelBatch(*robots), np.repeat(gaits, count, axis=0), np.tile(seeds, len(gaits)), models=models
        )
        shape = len(gaits), count
        return Evaluations(
            objectives=objective.of(ran).reshape(shape).mean(axis=1),
            measures=ran.measures.reshape(*shape, -1).mean(axis=1),
            diverged=np.any(ran.diverged.reshape(shape), axis=1),
            steps=ran.steps.reshape(shape).sum(axis=1),
        )

    spent, generation, models = 0, 0, min(2, len(robots))
    while spent < episodes * whole:
        ran = run(scheduler.ask(), models, generation * models)
        spent, generation = spent + int(ran.steps.sum()), generation + 1
        scheduler.tell(ran)
    elites = result.elites()
    best = elites.solutions[np.argsort(-elites.objectives, kind="stable")[:_FINALISTS]]
    finals = run(np.vstack([start[None], best]), _FINALS, generation * models)
    found = np.vstack([start[None], best])[np.argmax(finals.objectives)]
    return found, (spent + int(finals.steps.sum())) // whole


def _score(
    batch: ModelBatch, models: int, objective: RecoveryObjective, solution: np.ndarray
) -> tuple[float, int]:
    """Mean objective of a gait on as many models in turn, and the number of falls."""
    numbers = np.arange(_EPISODES)
    gaits = np.tile(solution, (_EPISODES, 1))
    found = ALL_CORES.run(batch, gaits, numbers + 900, models=numbers % models)
    return float(objective.of(found).mean()), int(found.fell.sum())
