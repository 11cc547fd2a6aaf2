"""`surefoot merge` as a user types it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adapt.records import RefinedGait
from adapt.relearning.keeping import keep_gaits
from repertoire.evaluation.correction import correct, reevaluation
from repertoire.problems.locomotion import walking_record
from repertoire.repertoire import Repertoire
from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from repertoire.training.runs import start_training
from robots.simulation.threads import Threads
from tests.repertoire.conftest import SMALL

SMALL_RUN = {key: value for key, value in SMALL.items() if key != "emitters"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Two small runs of other seeds: a and b."""
    made = tmp_path_factory.mktemp("runs")
    for name, seed in (("a", 3), ("b", 4)):
        with start_training(
            "ant", "map-elites", out=made / name, backend=Threads(1), **SMALL_RUN | {"seed": seed}
        ) as run:
            run.run(made / name / FILE_NAME)
    return made


@pytest.fixture(scope="module")
def both(folder) -> list[Repertoire]:
    return [read_repertoire(folder / name / FILE_NAME) for name in "ab"]


def test_the_best_of_each_cell_stays(run, folder, both, tmp_path) -> None:
    out = tmp_path / "all.h5"
    code, told, err = run("merge", *(folder / name / FILE_NAME for name in "ab"), "--out", out)
    assert (code, err) == (0, "")
    merged = read_repertoire(out)
    assert f"{len(merged)} gaits, best" in told
    assert merged.metrics.qd_score > max(one.metrics.qd_score for one in both)
    found: dict[int, tuple[float, bytes]] = {}
    for one in both:
        elites = one.elites
        for cell, objective, solution in zip(elites.cells, elites.objectives, elites.solutions, strict=True):
            if cell not in found or objective > found[cell][0]:
                found[cell] = (objective, solution.tobytes())
    assert merged.elites.cells.tolist() == sorted(found)
    for row, cell in enumerate(merged.elites.cells):
        assert (merged.elites.objectives[row], merged.elites.solutions[row].tobytes()) == found[cell]
    taken = sum(int(one.history["evaluations"][-1]) for one in both)
    assert merged.facts()["evaluations"].startswith(f"{taken} of {taken}")
    code, told, _ = run("show", out, "--picture", tmp_path / "picture.png")
    assert code == 0
    assert f"{taken} of {taken}" in told
    assert "map-elites, seed 3, merged with 1 other run settings" in told


def test_other_cells(run, folder, both, tmp_path) -> None:
    code, _, err = run(
        "merge", folder / "a" / FILE_NAME, "--archive", "2,1,2,3", "--out", tmp_path / "few.h5"
    )
    assert (code, err) == (0, "")
    few = read_repertoire(tmp_path / "few.h5")
    assert few.grid == (2, 1, 2, 3)
    assert len(few) < len(both[0])
    cells = np.minimum(both[0].elites.measures * few.grid, np.array(few.grid) - 1).astype(int)
    flat = np.ravel_multi_index(tuple(cells.T), few.grid)
    best = {int(cell): both[0].elites.objectives[flat == cell].max() for cell in flat}
    assert dict(zip(few.elites.cells.tolist(), few.elites.objectives, strict=True)) == best


def test_what_comes_out_can_be_corrected_but_not_resumed(run, folder, tmp_path) -> None:
    files = [folder / name / FILE_NAME for name in "ab"]
    assert run("merge", *files, "--out", tmp_path / FILE_NAME)[0] == 0
    assert "has finished already" in run("train", "--resume", tmp_path)[1]
    code, told, err = run("evaluate", tmp_path / FILE_NAME, "--episodes", 1)
    assert (code, err) == (0, "")
    assert "corrected" in told


def test_what_cannot_share_an_archive_is_refused(run, folder, both, tmp_path) -> None:
    a = folder / "a" / FILE_NAME
    evaluation = reevaluation(both[0], episodes=1, seed=0, backend=Threads(1))
    evaluation.run()
    write_repertoire(tmp_path / "corrected.h5", correct(evaluation).repertoire)
    specialist = RefinedGait(both[0].elites.solutions[0], 0, 0, 1.0, 0.0, 9, ("front_left:lost",))
    write_repertoire(tmp_path / "strong.h5", keep_gaits(both[0], [specialist], seed=0, backend=Threads(1)))
    longer = walking_record(both[1].robot.with_episode_steps(41))
    write_repertoire(tmp_path / "longer.h5", replace(both[1], problem=longer))
    before = sorted(path.name for path in tmp_path.iterdir())
    out = ["--out", tmp_path / "out.h5"]
    cases: list[tuple[list[object], str]] = [
        ([a], "Missing option '--out'"),
        ([a, tmp_path / "corrected.h5", *out], "corrected.h5 was corrected: merge the originals"),
        ([a, tmp_path / "strong.h5", *out], "strong.h5 has specialists: merge the originals"),
        (
            [a, tmp_path / "longer.h5", *out],
            "longer.h5 has the objective sum of rewards in up to 41 control",
        ),
        ([a, a, *out], "is named twice: choose different files"),
        ([a, tmp_path / "none.h5", "--out", tmp_path / "longer.h5", "--overwrite"], "none.h5"),
        ([a, tmp_path / "none.h5", *out], "none.h5"),
        ([a, "--out", a, "--overwrite"], "is named twice: choose different files"),
        ([a, "--out", tmp_path / "longer.h5"], "exists already"),
    ]
    for arguments, message in cases:
        code, told, err = run("merge", *arguments)
        assert (code, told, message in err) == (2, "", True), f"{arguments}: exit {code}, {err!r}"
        assert err.count("\n") == 1, err
    assert sorted(path.name for path in tmp_path.iterdir()) == before
