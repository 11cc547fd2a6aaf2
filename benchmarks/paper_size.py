"""What is published of a run of the paper's size: its curves, each cell before and after the correction."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import surefoot
from repertoire.evaluation.correction import correct, reevaluation
from repertoire.plots import draw_correction, draw_history
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from robots.files.atomic import make_folder, write_text

_CURVE = 5000  # evaluations between two rows of the curves


def report_run(run: Path, out: Path, *, episodes: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Correct a repertoire, and write `elites.csv`, `history.csv`, their pictures and `run.json` to a folder.

    Args:
        run: folder of the run, or its file.
        out: the folder.
        episodes: of each elite, from seed 0.
        say: told of progress.

    Returns:
        What `run.json` holds: settings, versions, fingerprint, and metrics as trained and corrected.
    """
    trained = surefoot.load(run)
    evaluation = reevaluation(trained, episodes=episodes, seed=0)
    say(f"{evaluation.total:,} episodes")
    evaluation.run()
    correction = correct(evaluation)
    make_folder(out)
    corrected = _by_cell(correction.repertoire).rename(columns={"objective": "objective corrected"})
    cells = _by_cell(trained).join(corrected, how="outer")
    write_text(out / "elites.csv", cells.to_csv(float_format="%.6g"))
    write_text(out / "history.csv", _curves(trained).to_csv(index=False, float_format="%.6g"))
    draw_history(trained, out / "history.png")
    draw_correction(trained, correction.repertoire, out / "corrected.png")
    found = {
        "settings": trained.settings.model_dump(mode="json"),
        "versions": trained.versions,
        "fingerprint": fingerprint(trained),
        "evaluations": trained.evaluations,
        "episodes": episodes,
        "trained": asdict(correction.before),
        "corrected": asdict(correction.after),
        "median": {name: middle for name, (middle, _) in correction.spread.summaries().items()},
    }
    write_text(out / "run.json", json.dumps(found, indent=1) + "\n")
    return found


def _by_cell(repertoire: Repertoire) -> pd.DataFrame:
    """Objectives of the elites, and how they spread if it is known, by cell."""
    table = repertoire.to_pandas().iloc[: len(repertoire.elites)]
    table["cell"] = [" ".join(map(str, cell)) for cell in table["cell"]]
    known = [name for name in ("objective", "objective std", "reproducibility") if name in table]
    return table.set_index("cell")[known]


def _curves(repertoire: Repertoire) -> pd.DataFrame:
    """The history of the training, sparsely, and how often an emitter had restarted."""
    history = repertoire.history
    restarts = [column for name, column in history.items() if name.endswith("/restarts")]
    names = ("evaluations", "steps", "elites", "coverage", "qd_score", "best", "mean")
    table = pd.DataFrame({name: history[name] for name in names}).assign(restarts=np.sum(restarts, axis=0))
    last = table.index == len(table) - 1
    return table[(table["evaluations"] % _CURVE == 0) | last]
