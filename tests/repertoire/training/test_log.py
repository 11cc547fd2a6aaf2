import sys
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import surefoot
from repertoire.training.log import TrainingLog, read_log
from repertoire.training.runs import start_training
from robots.errors import InvalidFileError, InvalidValueError, SurefootError

SETTINGS = {"evaluations": 200, "emitters": 2, "batch_size": 10}
ROW = {"evaluations": 1.0, "seconds": 2.0, "evaluations_per_s": 0.5}


def part_of_a_run(folder: Path, log: Path, batches: int) -> None:
    """Train for some batches, the last of which is logged but not saved."""
    with (
        start_training("sphere-4", "cma-mae", out=folder, seed=1, **SETTINGS) as training,
        TrainingLog(log, None, training.history) as write,
    ):
        training.run(
            folder / "repertoire.h5", on_batch=write, stop=lambda: training.evaluations >= 20 * batches
        )
        training.run(None, on_batch=write, stop=lambda: training.evaluations >= 20 * (batches + 1))


def test_a_log_has_the_history_and_the_time(tmp_path: Path) -> None:
    rows: list[dict[str, float]] = []
    log, board = tmp_path / "log.csv", tmp_path / "board"
    trained = surefoot.train(
        "sphere-4", "cma-mae", on_batch=rows.append, log_csv=log, tensorboard=board, **SETTINGS
    )
    columns = read_log(log)
    for name, values in trained.history.items():
        np.testing.assert_array_equal(columns[name], values, err_msg=name)
    assert (np.diff(columns["seconds"]) > 0).all()
    assert (columns["evaluations_per_s"] > 0).all()
    assert columns["qd_score"].tolist() == [row["qd_score"] for row in rows]
    events = EventAccumulator(str(board)).Reload().Tensors("qd_score")
    assert [event.step for event in events] == trained.history["evaluations"].tolist()
    assert events[-1].tensor_proto.float_val[0] == pytest.approx(trained.metrics.qd_score)
    with pytest.raises(InvalidValueError, match="exists already"):
        surefoot.train("sphere-4", log_csv=log, **SETTINGS)


def test_a_resumed_run_continues_its_log_where_it_was_saved(tmp_path: Path) -> None:
    folder, log = tmp_path / "run", tmp_path / "log.csv"
    part_of_a_run(folder, log, batches=4)
    before = read_log(log)
    with log.open("a") as file:
        file.write("120,12")  # killed while it wrote
    surefoot.resume(folder, log_csv=log)
    after = read_log(log)
    assert before["evaluations"].tolist() == [20, 40, 60, 80, 100]
    assert after["evaluations"].tolist() == list(range(20, 201, 20))
    np.testing.assert_array_equal(after["seconds"][:4], before["seconds"][:4])
    assert (np.diff(after["seconds"]) > 0).all()


def test_the_log_of_a_long_run_can_be_read(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(f"evaluations,seconds,evaluations_per_s\n1,2,{'0' * 51_000_000}3\n")
    assert read_log(log)["evaluations_per_s"].tolist() == [3.0]


@pytest.mark.parametrize(
    "text",
    ["a note\n", *(f"evaluations,seconds,evaluations_per_s\n{row}\n" for row in ("1,2", "1,2,x", "1,2,3"))],
)
def test_a_file_that_is_no_log_is_left_alone(tmp_path: Path, text: str) -> None:
    folder, log = tmp_path / "run", tmp_path / "log.csv"
    part_of_a_run(folder, log, batches=2)
    log.write_text(text)
    with pytest.raises(InvalidFileError, match=r"log\.csv is not the log of (a training|this run)"):
        surefoot.resume(folder, log_csv=log)
    assert log.read_text() == text


def test_a_log_begins_with_its_first_row_and_replaces_another_then(tmp_path: Path) -> None:
    with TrainingLog(tmp_path / "new.csv", None, {}):
        assert not (tmp_path / "new.csv").exists()
    (tmp_path / "old.csv").write_text("text")
    with TrainingLog(tmp_path / "old.csv", None, {}) as write:
        assert (tmp_path / "old.csv").read_text() == "text"
        write(ROW)
    assert read_log(tmp_path / "old.csv") == ROW


def test_without_tensorboard_there_is_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.summary", None)
    with pytest.raises(SurefootError, match=r"pip install 'surefoot\[tensorboard\]'"):
        surefoot.train("sphere-4", tensorboard=tmp_path / "board", **SETTINGS)
    assert not (tmp_path / "board").exists()
