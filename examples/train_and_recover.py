"""Train a small repertoire, break a leg, find a gait that still works.

python examples/train_and_recover.py [FOLDER] [EVALUATIONS] [SELECTOR]
"""

import sys
from pathlib import Path

from adapt.damage.text import parse_damage
from adapt.recovery import recover
from adapt.requests import RecoveryRequest
from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import read_repertoire
from repertoire.training.runs import start_training


def main(folder: Path, evaluations: int, selector: str) -> None:
    """Train for so many evaluations in a folder, then recover from a lost leg."""
    with start_training(
        "ant",
        "sep-cma-mae",
        out=folder,
        overwrite=True,
        evaluations=evaluations,
        seed=1,
        sigma0=0.05,
        emitters=2,
        episode_steps=300,
    ) as training:
        training.run(folder / FILE_NAME)

    repertoire = read_repertoire(folder / FILE_NAME)
    print(repertoire.metrics)

    damage = parse_damage("front_left:lost", repertoire.robot)
    recovery = recover(repertoire, damage, RecoveryRequest(seed=1, trials=10, selector=selector))
    for name, level in recovery.performances().items():
        print(f"{name}: {level.objective:.1f} ({level.distance:.2f} m)")
    print(f"walk on with the gait of cell {recovery.cell}")


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else "runs/example"),
        int(sys.argv[2]) if len(sys.argv) > 2 else 2000,
        sys.argv[3] if len(sys.argv) > 3 else "self-model",
    )
