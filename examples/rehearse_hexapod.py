"""Make what `surefoot demo hexapod` starts from: train, correct, and rehearse a library of damages."""

import sys
from pathlib import Path

from adapt.damage.files import read_damages
from adapt.rehearsal import Rehearsal, rehearsal_path, write_table
from repertoire.reevaluation import Reevaluation
from repertoire.storage import read_repertoire, write_repertoire
from repertoire.training import FILE_NAME, start_training

DAMAGES = Path(__file__).parent / "data" / "hexapod-damages.yaml"


def main(folder: Path, evaluations: int, episodes: int) -> None:
    """Train for so many evaluations in a folder, and judge each gait by so many episodes."""
    training = start_training(
        "hexapod",
        "map-elites-line",
        out=folder,
        overwrite=True,
        evaluations=evaluations,
        seed=1,
        sigma0=0.05,
        archive=(4, 4, 4, 4, 4, 4),  # few cells: each gait will be tried under every damage
    )
    with training:
        training.run(folder / FILE_NAME)

    with Reevaluation(read_repertoire(folder / FILE_NAME), episodes=episodes, seed=0) as evaluation:
        evaluation.run(folder / "unfinished.h5")
        corrected = evaluation.correction().repertoire
    write_repertoire(folder / "hexapod.h5", corrected)

    conditions = [str(damage) for damage in read_damages(DAMAGES, corrected.robot)]
    with Rehearsal(corrected, conditions, episodes=2, seed=0) as rehearsal:
        rehearsal.run(folder / "unfinished.h5")
        table = rehearsal.table()
        write_table(rehearsal_path(folder / "hexapod.h5"), table, rehearsal.identity)
    (folder / "unfinished.h5").unlink()
    print(f"{len(corrected)} gaits, each rehearsed under {len(table.conditions)} conditions")


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else "runs/hexapod"),
        int(sys.argv[2]) if len(sys.argv) > 2 else 35_000,
        int(sys.argv[3]) if len(sys.argv) > 3 else 5,
    )
