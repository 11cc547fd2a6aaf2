"""Make what `surefoot demo hexapod` starts from: train, merge, correct, and rehearse a library of damages."""

import sys
from pathlib import Path

from adapt.damage.library import damage_library
from adapt.rehearsal.rehearsal import rehearsal, rehearsed_table
from adapt.rehearsal.storage import write_table
from repertoire.evaluation.correction import correct, keep_best, reevaluation
from repertoire.evaluation.merging import merge
from repertoire.repertoire import Repertoire
from repertoire.storage.files import FILE_NAME, RunFiles
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from repertoire.training.runs import start_training

# Thresholds that rise slowly make a few kinds of gait excellent; those that rise fast find many kinds.
RUNS = (  # learning rate, seed, evaluations
    (0.05, 1, 229_000),
    (0.01, 1, 84_000),
    (0.1, 1, 56_000),
    (0.02, 2, 43_000),
    (0.02, 3, 44_200),
    (0.02, 4, 38_000),
    (0.02, 5, 37_200),
)


def main(folder: Path, share: float, gaits: int) -> None:
    """Do it all in a folder, with a share of the evaluations, and keep so many gaits."""
    merged = merge([train(folder / f"run-{number}", *run, share) for number, run in enumerate(RUNS, 1)])
    with reevaluation(merged, episodes=5, seed=0) as evaluation:
        evaluation.run(folder / "unfinished.h5")
        corrected = keep_best(correct(evaluation).repertoire, gaits)
    write_repertoire(folder / "hexapod.h5", corrected)

    with rehearsal(corrected, damage_library(corrected.robot), episodes=2, seed=0) as evaluation:
        evaluation.run(folder / "unfinished.h5")
        table = rehearsed_table(evaluation)
        write_table(RunFiles(folder / "hexapod.h5").rehearsal, table, evaluation.identity)
    (folder / "unfinished.h5").unlink()
    print(f"{len(corrected)} gaits, each rehearsed under {len(table.conditions)} conditions")


def train(folder: Path, learning_rate: float, seed: int, evaluations: int, share: float) -> Repertoire:
    """Train in an archive of few cells: each gait will be tried under every damage."""
    with start_training(
        "hexapod",
        "cma-mae",
        out=folder,
        overwrite=True,
        evaluations=max(1, round(share * evaluations)),
        seed=seed,
        learning_rate=learning_rate,
        archive=(4, 4, 4, 4, 4, 4),
    ) as training:
        training.run(folder / FILE_NAME)
    return read_repertoire(folder / FILE_NAME)


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else "runs/hexapod"),
        float(sys.argv[2]) if len(sys.argv) > 2 else 1.0,
        int(sys.argv[3]) if len(sys.argv) > 3 else 2_000,
    )
