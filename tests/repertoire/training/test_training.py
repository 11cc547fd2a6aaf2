from pathlib import Path

import numpy as np
import pandas
import pytest

import surefoot
from adapt.damage.text import damaged_robots
from repertoire.evaluation.merging import merge
from repertoire.execution.running import software_versions
from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import read_repertoire, read_search
from repertoire.strategies.strategy import STOPS
from repertoire.training.runs import TrainingLog, resume_training, start_training
from robots.errors import InvalidFileError, InvalidValueError
from robots.simulation.threads import Threads
from tests.repertoire.conftest import SMALL, same_runs


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    with start_training("ant", "sep-cma-mae", out=path, backend=Threads(1), **SMALL) as training:
        training.run(path / FILE_NAME)
    return read_repertoire(path / FILE_NAME)


def stopped_and_resumed(run, path, batches, **options):
    """What a file holds of a run that was stopped after some batches and resumed."""
    steps = iter(range(100))
    with run as training:
        training.run(path, stop=lambda: next(steps) >= batches)
    assert read_search(path) is not None
    with resume_training(path.parent, **options) as resumed:
        assert resumed is not None
        assert resumed.evaluations == training.evaluations
        resumed.run(path)
    return read_repertoire(path)


def test_a_run_fills_an_archive_and_records_how(uninterrupted) -> None:
    history = uninterrupted.history
    assert history["evaluations"].tolist() == list(range(16, 97, 16))
    assert np.all(np.diff(history["qd_score"]) >= 0)
    assert np.all(np.diff(history["elites"]) >= 0)
    assert history["elites"][-1] == len(uninterrupted) > 5
    assert history["best"][-1] == uninterrupted.elites.objectives.max()
    assert uninterrupted.controller == "mlp-28-128-128-8"
    assert {"surefoot", "mujoco", "numpy"} <= uninterrupted.versions.keys()


@pytest.mark.parametrize(
    ("settings", "training", "difference"),
    [
        (
            {"damage_share": 0.5, "breaker": damaged_robots},
            "50% of episodes with one of front_left:lost, ",
            r"has the share of damaged episodes 0.5, but .* has 0.0",
        ),
        (
            {"randomization": "mass=0.8:1.2,noise=0:0.1,models=3"},
            "3 models: mass 0.8 to 1.2, noise 0 to 0.1",
            r"has the randomization 3 models: .*, but .* has none",
        ),
    ],
)
def test_a_run_on_several_robots_resumes_bit_for_bit(
    start, tmp_path, uninterrupted, settings, training: str, difference: str
) -> None:
    with start("whole", **settings) as whole:
        whole.run()
    breaker = settings.get("breaker")
    saved = stopped_and_resumed(start("part", **settings), tmp_path / "part" / FILE_NAME, 2, breaker=breaker)
    assert same_runs(saved, whole.repertoire())
    assert not same_runs(saved, uninterrupted)
    assert saved.problem.facts()["training"].startswith(training)
    with pytest.raises(InvalidValueError, match=difference):
        merge([uninterrupted, saved])


@pytest.mark.parametrize(("changes", "equal"), [({"backend": Threads(3)}, True), ({"seed": 4}, False)])
def test_the_seed_matters_and_threads_do_not(start, tmp_path, uninterrupted, changes, equal: bool) -> None:
    with start(**changes) as training:
        training.run(tmp_path / FILE_NAME)
    assert same_runs(read_repertoire(tmp_path / FILE_NAME), uninterrupted) == equal


@pytest.mark.parametrize("stop_after", [0, 1, 4])
def test_a_stopped_run_resumes_bit_for_bit(start, tmp_path, uninterrupted, stop_after: int) -> None:
    path = tmp_path / "run" / FILE_NAME
    assert same_runs(stopped_and_resumed(start(), path, stop_after), uninterrupted)
    assert read_search(path) is None
    with resume_training(path.parent) as again:
        assert again is None, "a finished run was taken up again"


@pytest.fixture
def training(start):
    with start() as training:
        yield training


@pytest.mark.parametrize("every", [1, 3])
def test_diverged_evaluations_are_counted_and_kept_out(training, tmp_path, monkeypatch, every: int) -> None:
    evaluate = training.problem.evaluate

    def some_fail(solutions, seeds, **options):
        evaluations = evaluate(solutions, seeds, **options)
        evaluations.diverged[::every] = True
        evaluations.objectives[::every] = np.nan
        evaluations.measures[::every] = np.nan
        return evaluations

    monkeypatch.setattr(training.problem, "evaluate", some_fail)
    training.run(tmp_path / FILE_NAME)
    assert training.progress().diverged == 6 * len(range(0, 16, every))
    repertoire = read_repertoire(tmp_path / FILE_NAME)
    assert np.isfinite(repertoire.elites.objectives).all()
    assert (len(repertoire) == 0) == (every == 1)
    if every == 1:
        flat = 1 + STOPS.index("flat values")
        assert repertoire.history["emitter_0/stop"].tolist() == [flat] * 6
        assert repertoire.history["emitter_0/restarts"].tolist() == [1, 2, 3, 4, 5, 6]
        assert not repertoire.history["emitter_0/improvements"].any()


def test_elites_repeat_with_their_seeds(training, tmp_path, monkeypatch) -> None:
    seeds_of: dict[bytes, int] = {}
    evaluate = training.problem.evaluate

    def watch(solutions, seeds, **options):
        seeds_of.update({row.tobytes(): int(seed) for row, seed in zip(solutions, seeds, strict=True)})
        return evaluate(solutions, seeds, **options)

    monkeypatch.setattr(training.problem, "evaluate", watch)
    training.run(tmp_path / FILE_NAME)
    elites = read_repertoire(tmp_path / FILE_NAME).elites
    again = evaluate(elites.solutions, np.array([seeds_of[row.tobytes()] for row in elites.solutions]))
    assert np.array_equal(again.objectives, elites.objectives)
    assert np.array_equal(again.measures, elites.measures)
    assert len(set(seeds_of.values())) == 96, "evaluations share seeds"


def test_other_software_is_named_and_what_a_file_does_not_tell_is_not() -> None:
    with start_training("sphere-4", "cma-mae", out=None, seed=1, evaluations=100) as training:
        training.saved_by = software_versions() | {"scipy": "0.1"}
        now = software_versions()["scipy"]
        message = f"saved with scipy 0.1, resumed with {now}: results may differ"
        assert training.changed_versions() == [message]
        del training.saved_by["scipy"]  # as in a file of an earlier version
        assert training.changed_versions() == []


SETTINGS = {"evaluations": 200, "emitters": 2, "batch_size": 10}


def part_of_a_run(folder: Path, log: Path, batches: int) -> None:
    """Train for some batches, the last of which is logged but not saved."""
    with start_training("sphere-4", "cma-mae", out=folder, seed=1, **SETTINGS) as training:
        write = TrainingLog(log, training.history)
        assert not log.exists()
        training.run(
            folder / "repertoire.h5", on_batch=write, stop=lambda: training.evaluations >= 20 * batches
        )
        training.run(None, on_batch=write, stop=lambda: training.evaluations >= 20 * (batches + 1))


def test_a_log_has_the_history_and_the_time(tmp_path: Path) -> None:
    rows: list[dict[str, float]] = []
    log = tmp_path / "log.csv"
    trained = surefoot.train("sphere-4", "cma-mae", on_batch=rows.append, log_csv=log, **SETTINGS)
    columns = pandas.read_csv(log)
    for name, values in trained.history.items():
        np.testing.assert_allclose(columns[name], values, rtol=1e-14, err_msg=name)
    assert (np.diff(columns["seconds"]) > 0).all()
    assert columns["qd_score"].tolist() == pytest.approx([row["qd_score"] for row in rows])
    with pytest.raises(InvalidValueError, match="exists already"):
        surefoot.train("sphere-4", log_csv=log, **SETTINGS)


def test_a_resumed_run_continues_its_log_where_it_was_saved(tmp_path: Path) -> None:
    folder, log = tmp_path / "run", tmp_path / "log.csv"
    part_of_a_run(folder, log, batches=4)
    before = pandas.read_csv(log)
    with log.open("a") as file:
        file.write("120,12")  # killed while it wrote
    surefoot.resume(folder, log_csv=log)
    after = pandas.read_csv(log)
    assert before["evaluations"].tolist() == [20, 40, 60, 80, 100]
    assert after["evaluations"].tolist() == list(range(20, 201, 20))
    assert after["seconds"][:4].tolist() == before["seconds"][:4].tolist()
    assert (np.diff(after["seconds"]) > 0).all()


@pytest.mark.parametrize("text", ["a note\n", "evaluations,seconds\n1,2,3\n", "evaluations,seconds\n1,x\n"])
def test_a_file_that_is_no_log_is_left_alone(tmp_path: Path, text: str) -> None:
    folder, log = tmp_path / "run", tmp_path / "log.csv"
    part_of_a_run(folder, log, batches=2)
    log.write_text(text)
    with pytest.raises(InvalidFileError, match=r"log\.csv is not the log of (a training|this run)"):
        surefoot.resume(folder, log_csv=log)
    assert log.read_text() == text
