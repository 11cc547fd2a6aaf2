"""Make the included repertoire of the Quadruped: train on randomised models, rehearse, strengthen.

python examples/include_quadruped.py [FOLDER] [SHARE] [EPISODES] [CONDITIONS] makes a smaller one.
"""

import shutil
import sys
from pathlib import Path

import numpy as np

import surefoot
from adapt.damage.library import damage_library
from repertoire.evaluation.correction import keep
from repertoire.storage.files import RunFiles
from repertoire.storage.repertoires import write_repertoire
from robots.errors import InvalidValueError

EVALUATIONS = 20_000
BELOW = 0.7  # share of the healthy distance, below which a gait is searched for a leg that is lost or dead
EPISODES = 8_000  # of each of these searches


def main(folder: Path, share: float, episodes: int, conditions: int | None) -> None:
    """Do it all in a folder, with a share of the evaluations, and rehearse under at most so many damages.

    Gaits are searched for those of the damages that are a lost or dead leg.
    """
    trained = surefoot.train(
        "quadruped",
        out=folder / "run",
        overwrite=True,
        evaluations=max(1, round(share * EVALUATIONS)),
        randomization="default",
    )
    corrected = surefoot.evaluate(trained, episodes=episodes, randomization="default").repertoire
    gaits = keep(corrected, np.flatnonzero(corrected.elites.objectives >= 0))
    file, stronger = folder / "rehearsed.h5", folder / "quadruped.h5"
    write_repertoire(file, gaits)
    damages = [damage for damage in damage_library(gaits.robot) if damage.singles][:conditions]
    table = surefoot.rehearse(
        gaits, damages, episodes=2, seed=0, out=RunFiles(file).rehearsal, overwrite=True
    )
    print(f"{len(gaits)} gaits, each rehearsed under {len(table.conditions)} conditions")
    legs = {f"{leg}:{kind}" for leg in gaits.robot.description.legs for kind in ("lost", "dead")}
    weak = [str(damage) for damage in damages if str(damage) in legs]
    try:
        surefoot.strengthen(
            file, weak, below=BELOW, episodes_per_damage=max(1, round(share * EPISODES)), out=stronger
        )
    except InvalidValueError as error:
        if "nothing to strengthen" not in str(error):
            raise
        print(error)
    if not stronger.exists():
        for old, new in ((file, stronger), (RunFiles(file).rehearsal, RunFiles(stronger).rehearsal)):
            shutil.copy(old, new)


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else "runs/quadruped"),
        float(sys.argv[2]) if len(sys.argv) > 2 else 1.0,
        int(sys.argv[3]) if len(sys.argv) > 3 else 16,
        int(sys.argv[4]) if len(sys.argv) > 4 else None,
    )
