"""Make the included repertoire of the Ant: train, correct, rehearse, strengthen, mirror.

python examples/include_ant.py [FOLDER] [SHARE] [GAITS] [EPISODE_STEPS] makes a smaller one.
"""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np

import surefoot
from adapt.damage.damage import Combination
from adapt.damage.library import damage_library
from adapt.damage.text import parse_damage
from adapt.objective import Progress, RecoveryObjective, find_objective
from adapt.records import RefinedGait
from adapt.recovery import find_incumbent, fresh_episodes
from adapt.rehearsal.rehearsal import rehearsal, rehearsed_table
from adapt.rehearsal.storage import write_table
from adapt.relearning.refinement import RefinementSettings, keep_gaits
from repertoire.emitters.evolution_strategy import EvolutionStrategyEmitter
from repertoire.evaluation.correction import correct, keep_best, reevaluation
from repertoire.evaluation.evaluator import Evaluation, objectives_and_falls
from repertoire.evaluation.evaluator import Evaluator as EpisodeEvaluator
from repertoire.repertoire import Repertoire
from repertoire.storage.files import FILE_NAME, RunFiles
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from repertoire.training.runs import resume_training, start_training
from repertoire.training.training import Training
from robots.errors import InvalidValueError
from robots.evaluations import OBJECTIVES_AND_MEASURES
from robots.randomization import DEFAULT, draw_models
from robots.robot import load_robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.backend import ModelBatch
from robots.simulation.threads import ALL_CORES
from robots.stance import turned
from robots.symmetry import mirror_images

EVALUATIONS = 33_200
REFINEMENT = 12_000  # episodes of the search for the gait that the training starts from
BELOW = 0.45  # share of the healthy distance, below which a gait is searched for a damage
ALL_ROUND = "mass=0.8:1.2,friction=0.7:1.3,strength=0.85:1.15,delay=0:1,noise=0:0.02,heading=-180:180"
ALIKE = "mass=0.9:1.1,friction=0.75:1.25,strength=0.9:1.1"
LEGS = "front_left", "back_left", "back_right", "front_right"
# damages that are not in the library: what a study by others breaks, and the other two ankles
PAIRS = "back_left:dead+front_left:dead", "front_left:dead+front_right:dead"
ANKLES = tuple(f"joint={leg}_ankle:dead" for leg in LEGS)
HALVES = tuple(f"{leg}:weak@0.5" for leg in LEGS)
SINGLE = (*ANKLES, *HALVES, *(f"{leg}:dead" for leg in LEGS))
HEADINGS = 0, 60, -60, 120, -120, 180  # with which episodes begin of gaits that learn to turn [degrees]
STEERING = 3_000  # episodes of each of their searches
AGAIN = 5_000  # and of a second one, also from what was found, where the first found less than ...
ENOUGH = 1 / 3  # ... this share of the healthy distance
MIRRORED = 0.1  # gain of a mirror image that is kept, as a share of the healthy distance
PRICE = 4.0  # of a fall at once, for that search [m]
WHOLE = Combination()  # nothing is broken
MANTISSA_BITS = 7  # of parameters, as in bfloat16; the other 16 bits of each are 0 and take no room in a file


def main(folder: Path, share: float, gaits: int, episode_steps: int | None) -> None:
    """Do it all in a folder, with a share of the episodes, and keep at most so many gaits."""
    repertoire = rounded(train(folder / "run", share, episode_steps))
    evaluation = reevaluation(repertoire, episodes=10, seed=0, randomization=DEFAULT)
    finish(evaluation, folder / "correction.h5")
    corrected = correct(evaluation).repertoire
    kept = keep_best(corrected, gaits)
    file = folder / "corrected.h5"
    write_repertoire(file, kept)
    rehearse(kept, folder, RunFiles(file).rehearsal)
    legs = kept.robot.description.legs
    lost, dead = ([f"{leg}:{kind}" for leg in legs] for kind in ("lost", "dead"))
    searches = (
        (lost + dead, 4_000, BELOW, None),
        (lost[:2], 9_000, BELOW, None),
        (lost[:1], 6_000, 100.0, ALL_ROUND),
    )
    for number, search in enumerate(searches, 1):
        file = strengthened(file, folder / f"stronger-{number}.h5", share, *search)
    steering = mirrored(steered(read_repertoire(file), [*lost[1:], *dead], share), [*lost, *dead])
    steering = steered(steering, [str(WHOLE)], share)
    file = folder / "steering.h5"
    write_repertoire(file, steering)
    rehearse(steering, folder, RunFiles(file).rehearsal)
    for number, (damages, episodes, below) in enumerate(((PAIRS, 6_000, 0.9), (SINGLE, 3_000, 0.85)), 4):
        out = folder / f"stronger-{number}.h5"
        file = strengthened(file, out, share, damages, episodes, below, ALIKE)
    for made, name in ((file, "ant.h5"), (RunFiles(file).rehearsal, "ant-rehearsal.h5")):
        shutil.copy(made, folder / name)
    pack(folder / "ant.h5")
    print(f"kept {len(kept)} of {len(corrected)} corrected gaits, of {len(repertoire)} before the correction")


def strengthened(
    file: Path,
    out: Path,
    share: float,
    damages: Sequence[str],
    episodes: int,
    below: float,
    ranges: str | None,
) -> Path:
    """The file of the repertoire with specialists for some damages, or the same if none is needed."""
    try:
        surefoot.strengthen(
            file,
            damages,
            below=below,
            episodes_per_damage=max(1, round(share * episodes)),
            randomization=ranges,
            seed=1 if ranges else int(out.stem[-1]),
            out=out,
        )
    except InvalidValueError as error:
        if "nothing to strengthen" not in str(error):
            raise
        print(error)
    return out if out.exists() else file


def train(folder: Path, share: float, episode_steps: int | None) -> Repertoire:
    """Train on randomised models from a gait that is good on average over them, or go on with that."""
    path = folder / FILE_NAME
    opening = (
        resume_training(folder)
        if path.exists()
        else start_training(
            "ant",
            "sep-cma-mae",
            out=folder,
            episode_steps=episode_steps,
            evaluations=max(1, round(share * EVALUATIONS)),
            seed=1,
            randomization=DEFAULT,
        )
    )
    with opening as training:
        if training is not None:
            if not training.evaluations:
                start(training, share, episode_steps)
            training.run(path)
    return read_repertoire(path)


def start(training: Training, share: float, episode_steps: int | None) -> None:
    """Let the search begin with the gaits that are included so far, and with the best of them, refined."""
    old = surefoot.load("ant").elites.solutions
    robot = load_robot("ant").with_episode_steps(episode_steps)
    models = draw_models(robot, DEFAULT)
    settings = RefinementSettings(max(1, round(share * REFINEMENT)))
    objective = Progress(PRICE, robot.description.episode_steps)
    best = settings.refine(models, old, objective=objective, seed=1)
    print(f"refined from {best.before:.1f} to {best.score:.1f} m, less falls, in {best.episodes} episodes")
    known = np.concatenate([old, best.solution[None]])
    seeds = np.arange(len(known))
    evaluations = training.problem.evaluate(known, seeds, request=OBJECTIVES_AND_MEASURES)
    fit = ~evaluations.diverged
    for archive in (training.search.soft, training.search.result):
        archive.add(known[fit], evaluations.objectives[fit], evaluations.measures[fit])
    for emitter in training.search.emitters:
        if isinstance(emitter, EvolutionStrategyEmitter):
            emitter.strategy.restart(best.solution)


def steered(repertoire: Repertoire, damages: list[str], share: float) -> Repertoire:
    """Add a gait for each damage, or none, that turns towards its target, refined on the model as built."""
    robot, known = repertoire.robot, repertoire.gaits.solutions
    walked, objective = aim(repertoire)
    found: dict[str, RefinedGait] = {}
    for seed, episodes in ((1, STEERING), (2, AGAIN)):
        good = {text for text, gait in found.items() if gait.score >= ENOUGH * walked}
        for text in (text for text in damages if text not in good):
            damaged = (WHOLE if text == str(WHOLE) else parse_damage(text, robot)).apply(robot)
            order = np.arange(len(known))
            if text != str(WHOLE):
                evaluator = EpisodeEvaluator(repertoire, {"damaged": damaged}, objective=objective.of)
                seeds = derive_seeds(1, SeedFamily.ORACLE, 0, 4)
                objectives, _ = objectives_and_falls(evaluator, np.arange(len(repertoire)), seeds)
                order = np.argsort(-objectives.mean(axis=1), kind="stable")
            others = list(found.values()) if seed > 1 else []
            models = [turned(damaged, np.radians(heading)) for heading in HEADINGS]
            settings = RefinementSettings(max(1, round(share * episodes)))
            starts = np.stack([*(other.solution for other in others), *known[order]])
            best = settings.refine(models, starts, objective=objective, seed=seed)
            print(f"{text}: from {best.before:.1f} to {best.score:.1f} m, less falls, from all headings")
            if best.score > best.before:
                place = best.start - len(others)
                found[text] = RefinedGait(
                    solution=best.solution,
                    row=len(repertoire),
                    parent=int(order[place]) if place >= 0 else others[best.start].parent,
                    score=best.score,
                    before=best.before,
                    episodes=best.episodes,
                    believed=(text,),
                )
    return keep_gaits(repertoire, list(found.values()), seed=1)


def aim(repertoire: Repertoire) -> tuple[float, RecoveryObjective]:
    """How far the healthy robot walks [m], and what recoveries are after."""
    whole = EpisodeEvaluator(repertoire, {"whole": repertoire.robot})
    walked = float(fresh_episodes(whole, find_incumbent(whole, seed=1), 1).distances.mean())
    return walked, find_objective("progress", repertoire, walked)


def mirrored(repertoire: Repertoire, damages: list[str]) -> Repertoire:
    """Add the mirror image of a specialist for each damage where it turns better than all specialists."""
    robot, first = repertoire.robot, len(repertoire.elites)
    walked, objective = aim(repertoire)
    known = repertoire.gaits.solutions[first:]
    images = mirror_images(robot, known)
    if images is None or not len(known):
        return repertoire
    gaits, seeds = np.concatenate([known, images]), np.arange(2 * len(HEADINGS))
    found: list[RefinedGait] = []
    for text in damages:
        damaged = parse_damage(text, robot).apply(robot)
        episodes = ALL_CORES.run(
            ModelBatch(*(turned(damaged, np.radians(heading)) for heading in HEADINGS)),
            np.repeat(gaits, len(seeds), axis=0),
            np.tile(seeds, len(gaits)),
            models=np.tile(seeds % len(HEADINGS), len(gaits)),
        )
        means = objective.of(episodes).reshape(2, len(known), -1).mean(axis=2)
        best, before, score = int(means[1].argmax()), float(means[0].max()), float(means[1].max())
        if score - before >= MIRRORED * walked:
            print(f"{text}: from {before:.1f} to {score:.1f} m from all headings with a mirror image")
            row, parent = len(repertoire) + len(found), first + best
            found.append(RefinedGait(images[best], row, parent, score, before, 0, (text,)))
    return keep_gaits(repertoire, found, seed=1)


def finish(evaluation: Evaluation, file: Path) -> None:
    """Run all episodes, or those that an interruption left, and keep the results in a file."""
    if file.exists():
        evaluation.restore(file)
    evaluation.run(file)


def rounded(repertoire: Repertoire) -> Repertoire:
    """Round the parameters of all controllers, before anything is measured with them."""
    dropped = np.finfo(np.float32).nmant - MANTISSA_BITS
    bits = repertoire.elites.solutions.view(np.uint32)
    solutions = ((bits + (1 << (dropped - 1))) >> dropped << dropped).astype(np.uint32).view(np.float32)
    return replace(repertoire, elites=replace(repertoire.elites, solutions=solutions))


def rehearse(repertoire: Repertoire, folder: Path, out: Path) -> None:
    """Try all gaits under the default library of damages, and those that it does not hold."""
    robot = repertoire.robot
    damages = [*damage_library(robot), *(parse_damage(text, robot) for text in (*PAIRS, *ANKLES, *HALVES))]
    evaluation = rehearsal(repertoire, damages, episodes=3, seed=0)
    finish(evaluation, folder / f"unfinished-{out.name}")
    write_table(out, rehearsed_table(evaluation), evaluation.identity)


def pack(file: Path) -> None:
    """Store the controllers' parameters with compression, which a run does without to save quickly."""
    packed = file.with_suffix(".packed")
    with h5py.File(file) as old, h5py.File(packed, "w", libver="v108") as new:
        new.attrs.update(old.attrs)
        solutions = old["elites/solutions"]
        packing = {"compression": "gzip", "compression_opts": 9, "shuffle": True}
        new.create_dataset(solutions.name, data=solutions[()], chunks=(1, solutions.shape[1]), **packing)

        def copy(name: str, item: h5py.Group | h5py.Dataset) -> None:
            if isinstance(item, h5py.Dataset) and name not in new:
                old.copy(item, new, name)

        old.visititems(copy)
    packed.replace(file)


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else "runs/ant"),
        float(sys.argv[2]) if len(sys.argv) > 2 else 1.0,
        int(sys.argv[3]) if len(sys.argv) > 3 else 260,
        int(sys.argv[4]) if len(sys.argv) > 4 else None,
    )
