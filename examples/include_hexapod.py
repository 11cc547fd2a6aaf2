"""Make the included repertoire of the Hexapod: train, merge, correct, rehearse, strengthen for pairs.

python examples/include_hexapod.py [FOLDER] [SHARE] [GAITS] [PAIRS] makes a smaller one.
"""

import sys
from itertools import combinations
from pathlib import Path

import surefoot
from adapt.damage.damage import Combination
from adapt.damage.kinds.limbs import Lost
from adapt.damage.library import damage_library
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
BELOW = 0.65  # share of the healthy distance, below which a gait is searched for a pair of lost legs
EPISODES = 20_000  # of each of these searches


def main(folder: Path, share: float, gaits: int, pairs: int | None) -> None:
    """Do it all in a folder, with a share of the evaluations, and keep so many gaits.

    Runs with fewer than ten evaluations are left out. It is strengthened for the first `pairs` pairs of lost
    legs, or for all.
    """
    runs = [(rate, seed, round(share * evaluations)) for rate, seed, evaluations in RUNS]
    trained = [train(folder / f"run-{number}", *run) for number, run in enumerate(runs, 1) if run[2] >= 10]
    evaluation = reevaluation(merge(trained), episodes=5, seed=0)
    evaluation.run(folder / "unfinished.h5")
    (folder / "unfinished.h5").unlink()
    corrected = keep_best(correct(evaluation).repertoire, gaits)
    file = folder / "rehearsed.h5"
    write_repertoire(file, corrected)

    robot = corrected.robot
    lost = [Combination((Lost(one), Lost(other))) for one, other in combinations(robot.description.legs, 2)]
    damages = {str(damage): damage for damage in (*damage_library(robot)[1:], *lost[:pairs])}
    table = surefoot.rehearse(
        corrected, damages.values(), episodes=2, seed=0, out=RunFiles(file).rehearsal, overwrite=True
    )
    print(f"{len(corrected)} gaits, each rehearsed under {len(table.conditions)} conditions")
    surefoot.strengthen(
        file,
        list(map(str, lost[:pairs])),
        below=BELOW,
        episodes_per_damage=max(1, round(share * EPISODES)),
        out=folder / "hexapod.h5",
        overwrite=True,
    )


def train(folder: Path, learning_rate: float, seed: int, evaluations: int) -> Repertoire:
    """Train in an archive of few cells: each gait will be tried under every damage."""
    with start_training(
        "hexapod",
        "cma-mae",
        out=folder,
        overwrite=True,
        evaluations=evaluations,
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
        int(sys.argv[4]) if len(sys.argv) > 4 else None,
    )
