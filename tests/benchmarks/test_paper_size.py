"""What is published of a run is what its file and fresh episodes say."""

import json
from pathlib import Path

import pandas as pd
import pytest

import surefoot
from benchmarks.paper_size import report_run
from repertoire.metrics import net_score


def test_tables_and_pictures_of_a_run(tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    trained = surefoot.train(
        "hexapod", evaluations=75, seed=2, archive="2,2,2,2,2,2", batch_size=5, episode_steps=20, out=run
    )
    found = report_run(run, out, episodes=3, say=lambda _: None)
    corrected = surefoot.evaluate(run, episodes=3, seed=0).repertoire
    cells = pd.read_csv(out / "elites.csv").set_index("cell")
    assert cells["objective"].count() == len(trained)
    assert cells["objective corrected"].count() == len(corrected)
    for row in range(len(corrected)):
        own = cells.loc[" ".join(map(str, corrected.cell(row)))]
        assert own["objective corrected"] == pytest.approx(corrected.elites.objectives[row], rel=1e-3)
        assert own["objective std"] == pytest.approx(corrected.spread.objective_std[row], rel=1e-3)
    curves = pd.read_csv(out / "history.csv")
    assert curves[["evaluations", "elites", "restarts"]].to_numpy().tolist() == [[75, len(trained), 0]]
    score = net_score(trained.elites.objectives, trained.settings.min_objective)
    assert curves["qd_score"].item() == pytest.approx(score, rel=1e-4)
    assert found == json.loads((out / "run.json").read_text())
    assert found["settings"]["seed"] == 2
    assert found["corrected"]["qd_score"] == pytest.approx(corrected.metrics.qd_score)
    assert {"history.png", "corrected.png"} <= {path.name for path in out.iterdir()}
