from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adapt.damage.text import damaged_robots
from repertoire.evaluation.merging import merge
from repertoire.execution.provenance import software_versions
from repertoire.repertoire import Repertoire
from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import read_repertoire, read_search
from repertoire.strategies.strategy import STOPS
from repertoire.training.runs import resume_training, start_training
from repertoire.training.training import Training
from robots.errors import InvalidValueError, SurefootError
from robots.simulation.threads import Threads
from tests.repertoire.conftest import SMALL, same_runs

LEARNING: dict[str, object] = {"critic_updates": 2, "buffer_size": 100}  # of which a batch fills more
KEEPING: dict[
    str, tuple[dict[str, object], list[int]]
] = {  # algorithms that keep more than an archive and a strategy
    "me-es": ({}, [2, 10]),
    "cma-mega-td3-es": (
        {"gradient_samples": 6, "critic_samples": 256, "batch_size": 3, **LEARNING},
        [14, 22],
    ),
    "pga-me": (LEARNING, [8, 16]),
}
TELEMETRY = ("sigma", "condition_number", "improvements", "restarts", "stop")


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> Repertoire:
    path = tmp_path_factory.mktemp("whole") / "run"
    with start_training("ant", "sep-cma-mae", out=path, backend=Threads(1), **SMALL) as training:
        training.run(path / FILE_NAME)
    return read_repertoire(path / FILE_NAME)


def stopped_and_resumed(
    run: AbstractContextManager[Training], path: Path, batches: int, **options: Any
) -> Repertoire:
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


def test_a_run_fills_an_archive_and_records_how(uninterrupted: Repertoire) -> None:
    history = uninterrupted.history
    assert history["evaluations"].tolist() == list(range(16, 97, 16))
    assert np.all(np.diff(history["qd_score"]) >= 0)
    assert np.all(np.diff(history["elites"]) >= 0)
    assert history["elites"][-1] == len(uninterrupted) > 5
    assert history["best"][-1] == uninterrupted.elites.objectives.max()
    assert uninterrupted.controller == "mlp-28-128-128-8"
    assert {"surefoot", "mujoco", "numpy"} <= uninterrupted.versions.keys()


def test_the_history_tells_how_each_emitter_did(uninterrupted: Repertoire) -> None:
    columns = {name: column for name, column in uninterrupted.history.items() if "/" in name}
    assert columns.keys() == {f"emitter_{i}/{name}" for i in range(2) for name in TELEMETRY}
    for i in range(2):
        sigma, condition, improvements, restarts, stop = (columns[f"emitter_{i}/{n}"] for n in TELEMETRY)
        assert sigma.dtype == condition.dtype == np.float64
        assert (sigma > 0).all()
        assert (condition > 1).all()
        assert ((improvements >= 0) & (improvements <= 8)).all()
        assert improvements.dtype.kind == restarts.dtype.kind == stop.dtype.kind == "i"
        assert (np.diff(restarts) == (stop[1:] > 0)).all()
        assert set(stop) <= set(range(1 + len(STOPS)))


@pytest.mark.parametrize("name", KEEPING)
def test_a_stopped_run_resumes_with_all_that_an_algorithm_keeps(start, tmp_path, name: str) -> None:
    own, first = KEEPING[name]
    settings = {"algorithm": name, "evaluations": 24, "batch_size": 4, "episode_steps": 20, **own}
    with start("whole", **settings) as whole:
        whole.run()
    saved = stopped_and_resumed(start("part", **settings), tmp_path / "part" / FILE_NAME, 2)
    assert saved.history["evaluations"].tolist()[:2] == first
    assert same_runs(saved, whole.repertoire())
    assert len(saved) > 1


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
    start, tmp_path, uninterrupted: Repertoire, settings, training: str, difference: str
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
def training(start) -> Iterator[Training]:
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


def test_a_folder_with_a_run_is_not_overwritten_unasked(start, tmp_path) -> None:
    with start(evaluations=16) as training:
        training.run(tmp_path / "run" / FILE_NAME)
    before = (tmp_path / "run" / FILE_NAME).read_bytes()
    refused = r"already holds a run: go on with surefoot train --resume .*, or use --overwrite"
    with pytest.raises(InvalidValueError, match=refused), start():
        pass
    assert (tmp_path / "run" / FILE_NAME).read_bytes() == before
    with start(overwrite=True):
        pass


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"evaluations": 0}, "evaluations: .*greater than 0, not 0"),
        ({"learning_rate": 1.5}, "learning_rate: .*less than or equal to 1, not 1.5"),
        ({"colour": 1}, "sep-cma-mae has no setting colour: it has emitters, batch_size"),
        ({"algorithm": "cma-mega"}, "cma-mega needs gradients, which ant does not know"),
    ],
)
def test_wrong_settings_are_refused(start, tmp_path, settings: dict, message: str) -> None:
    with pytest.raises(SurefootError, match=message), start(**settings):
        pass
    assert not (tmp_path / "run").exists()
