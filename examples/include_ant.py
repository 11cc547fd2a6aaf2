"""Make what `surefoot demo ant` starts from: train, correct, keep the gaits that matter, and rehearse."""

import sys
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np

from adapt.damage.library import damage_library
from adapt.rehearsal.rehearsal import rehearsal, rehearsed_table
from adapt.rehearsal.storage import write_table
from adapt.rehearsal.table import Table
from repertoire.evaluation.correction import correct, keep, reevaluation
from repertoire.evaluation.evaluator import Evaluation
from repertoire.repertoire import Repertoire
from repertoire.storage.files import FILE_NAME, RunFiles
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from repertoire.training.runs import resume_training, start_training

MANTISSA_BITS = 7  # of parameters, as in bfloat16; the other 16 bits of each are 0 and take no room in a file


def main(folder: Path, share: float, gaits: int, episode_steps: int | None) -> None:
    """Do it all in a folder, with a share of the paper's evaluations, and keep at most so many gaits."""
    repertoire = rounded(train(folder / "run", share, episode_steps))
    with reevaluation(repertoire, episodes=10, seed=0) as evaluation:
        finish(evaluation, folder / "correction.h5")
        corrected = correct(evaluation).repertoire
    kept = keep(corrected, best_rows(rehearse(corrected, folder, episodes=2), gaits))
    rehearse(kept, folder, episodes=6)  # some gaits fall in one episode and not in the next
    pack(folder / "ant.h5")
    print(f"kept {len(kept)} of {len(corrected)} corrected gaits, of {len(repertoire)} before the correction")


def train(folder: Path, share: float, episode_steps: int | None) -> Repertoire:
    """Train with the paper's settings, or go on with that."""
    path = folder / FILE_NAME
    opening = (
        resume_training(folder)
        if path.exists()
        else start_training(
            "ant",
            "sep-cma-mae",
            out=folder,
            episode_steps=episode_steps,
            evaluations=round(share * 1_000_000),
            seed=1,
        )
    )
    with opening as training:
        if training is not None:
            training.run(path)
    return read_repertoire(path)


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


def rehearse(repertoire: Repertoire, folder: Path, episodes: int) -> Table:
    """Try all gaits under the default library of damages, and write both to the folder."""
    file, results = folder / "ant.h5", folder / f"rehearsal-{len(repertoire)}x{episodes}.h5"
    write_repertoire(file, repertoire)
    with rehearsal(repertoire, damage_library(repertoire.robot), episodes=episodes, seed=0) as evaluation:
        finish(evaluation, results)
        table = rehearsed_table(evaluation)
        write_table(RunFiles(file).rehearsal, table, evaluation.identity)
    return table


def best_rows(table: Table, count: int) -> np.ndarray:
    """Rows of the best gaits under each condition, as many for each as make at most `count` in all."""
    ranked = np.argsort(-table.objectives, axis=1, kind="stable")
    sizes = [len(np.unique(ranked[:, : most + 1])) for most in range(ranked.shape[1])]
    return np.unique(ranked[:, : np.searchsorted(sizes, count, side="right")])


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
        int(sys.argv[3]) if len(sys.argv) > 3 else 265,
        int(sys.argv[4]) if len(sys.argv) > 4 else None,
    )
