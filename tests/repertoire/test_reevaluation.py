"""Elites run the same episodes, and interruptions change nothing."""

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from repertoire.archives.archive import Elites
from repertoire.problems import Evaluations
from repertoire.reevaluation import Reevaluation
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint, read_repertoire, write_repertoire
from repertoire.training.runs import FILE_NAME, start_training
from robots.errors import InvalidFileError, InvalidValueError
from robots.simulation.simulation import Simulation
from tests.repertoire.conftest import SMALL

EPISODES = 3


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    """The file of a small run."""
    folder = tmp_path_factory.mktemp("run") / "ant"
    with start_training("ant", "sep-cma-mae", out=folder, threads=1, **SMALL) as training:
        training.run(folder / FILE_NAME)
    return folder / FILE_NAME


@pytest.fixture(scope="module")
def trained(path: Path) -> Repertoire:
    return read_repertoire(path)


@pytest.fixture(scope="module")
def expected(trained: Repertoire, tmp_path_factory) -> str:
    """Fingerprint of what an uninterrupted evaluation on one thread gives."""
    with Reevaluation(trained, episodes=EPISODES, seed=5, threads=1) as evaluation:
        evaluation.run(tmp_path_factory.mktemp("whole") / "unfinished.h5")
    return fingerprint(evaluation.correction().repertoire)


def test_every_elite_runs_the_same_fresh_episodes(trained: Repertoire, tmp_path, monkeypatch) -> None:
    seeds: list[np.ndarray] = []
    evaluate = Simulation.evaluate

    def watch(self, parameters, chosen, **options):
        seeds.append(chosen)
        return evaluate(self, parameters, chosen, **options)

    monkeypatch.setattr(Simulation, "evaluate", watch)
    with Reevaluation(trained, episodes=EPISODES, seed=5, threads=1, block=7) as evaluation:
        evaluation.run(tmp_path / "unfinished.h5")
    table = np.concatenate(seeds).reshape(-1, EPISODES)
    assert (table == table[0]).all()
    assert len(set(table[0])) == EPISODES
    robot = trained.robot.with_episode_steps(SMALL["episode_steps"])
    with Simulation(robot, threads=1) as simulation:
        again = evaluate(simulation, trained.elites.solutions, np.full(len(trained), table[0, 1]))
    objectives = evaluation._samples.objectives.reshape(-1, EPISODES)
    assert np.array_equal(objectives[:, 1], again.objectives)
    assert evaluation.correction().reassessed.objectives == pytest.approx(objectives.mean(axis=1))


@pytest.mark.parametrize(("threads", "block", "stop_after"), [(1, 1, 1), (2, 4, 2), (3, 5, 0), (2, 1000, 1)])
def test_neither_threads_nor_blocks_nor_a_stop_change_anything(
    trained: Repertoire, expected: str, tmp_path, threads: int, block: int, stop_after: int
) -> None:
    unfinished, steps = tmp_path / "unfinished.h5", iter(range(10**6))
    with Reevaluation(trained, episodes=EPISODES, seed=5, threads=threads, block=block) as evaluation:
        evaluation.run(unfinished, stop=lambda: next(steps) >= stop_after)
    done = min(stop_after * block, evaluation.total)
    assert evaluation.done == done
    with Reevaluation(trained, episodes=EPISODES, seed=5, threads=1) as evaluation:
        evaluation.restore(unfinished)
        assert evaluation.done == done
        evaluation.run(unfinished)
    assert fingerprint(evaluation.correction().repertoire) == expected


@pytest.mark.parametrize(("episodes", "seed"), [(EPISODES, 6), (EPISODES + 1, 5)])
def test_seed_and_episodes_matter(trained: Repertoire, expected: str, tmp_path, episodes, seed) -> None:
    with Reevaluation(trained, episodes=episodes, seed=seed, threads=1) as evaluation:
        evaluation.run(tmp_path / "unfinished.h5")
    assert fingerprint(evaluation.correction().repertoire) != expected


def test_a_killed_evaluation_goes_on_bit_for_bit(path: Path, trained, expected: str, tmp_path) -> None:
    """SIGKILL at later and later moments, until it has finished."""
    unfinished = tmp_path / "unfinished.h5"
    code = (
        "from pathlib import Path; from repertoire.reevaluation import Reevaluation\n"
        "from repertoire.storage.repertoires import read_repertoire\n"
        f"repertoire = read_repertoire(Path({str(path)!r}))\n"
        f"evaluation = Reevaluation(repertoire, episodes={EPISODES}, seed=5, block=1)\n"
        f"unfinished = Path({str(unfinished)!r})\n"
        "if unfinished.exists(): evaluation.restore(unfinished)\n"
        "print('ready', flush=True)\n"
        "evaluation.run(unfinished, checkpoint_seconds=0)\n"
        "evaluation.close()\n"
    )
    kills, done = 0, 0
    with Reevaluation(trained, episodes=EPISODES, seed=5, threads=1) as evaluation:
        for attempt in range(60):
            with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                process.stdout.readline()
                time.sleep(0.25 * attempt)
                process.send_signal(signal.SIGKILL)
                kills += process.wait() == -signal.SIGKILL
            if unfinished.exists():
                evaluation.restore(unfinished)  # whole at every instant
                assert evaluation.done >= done, "it lost what it had finished"
                done = evaluation.done
                if evaluation.finished:
                    break
        assert evaluation.finished, "it never got to its end"
        assert kills >= 2, "it was never interrupted"
        assert fingerprint(evaluation.correction().repertoire) == expected


def test_progress_counts_up_and_goes_on_after_a_stop(trained: Repertoire, tmp_path) -> None:
    seen: list[int] = []
    unfinished = tmp_path / "unfinished.h5"
    with Reevaluation(trained, episodes=EPISODES, seed=5, threads=1, block=5) as evaluation:
        evaluation.run(unfinished, on_progress=seen.append, stop=lambda: len(seen) >= 5)
        assert seen == [1, 2, 3, 4, 5]
        with pytest.raises(RuntimeError, match=r"5 of \d+ episodes are finished"):
            evaluation.correction()
        evaluation.run(unfinished, on_progress=seen.append)
    assert seen == list(range(1, evaluation.total + 1))


def test_diverged_episodes_come_back_from_the_file(trained: Repertoire, tmp_path, monkeypatch) -> None:
    with Reevaluation(trained, episodes=2, seed=5, threads=1) as evaluation:
        evaluate = evaluation.problem.evaluate

        def one_fails(solutions, seeds, **options):
            found: Evaluations = evaluate(solutions, seeds, **options)
            found.objectives[1], found.measures[1] = np.nan, np.nan
            return found

        monkeypatch.setattr(evaluation.problem, "evaluate", one_fails)
        evaluation.run(tmp_path / "unfinished.h5")
    with Reevaluation(trained, episodes=2, seed=5, threads=1) as again:
        again.restore(tmp_path / "unfinished.h5")
    assert again.correction().left_out == 1
    assert fingerprint(again.correction().repertoire) == fingerprint(evaluation.correction().repertoire)


def test_a_correction_can_be_read_and_corrected_again(trained: Repertoire, tmp_path) -> None:
    with Reevaluation(trained, episodes=2, seed=0, threads=1) as evaluation:
        evaluation.run(tmp_path / "unfinished.h5")
    write_repertoire(tmp_path / "corrected.h5", evaluation.correction().repertoire)
    corrected = read_repertoire(tmp_path / "corrected.h5")
    with Reevaluation(corrected, episodes=2, seed=0, threads=1) as evaluation:
        evaluation.run(tmp_path / "unfinished.h5")
    again = evaluation.correction()
    assert again.losses["qd_score"] == 0, "the same episodes give the same means"
    assert fingerprint(again.repertoire) == fingerprint(corrected)


def test_an_unfinished_file_of_something_else_is_refused(trained: Repertoire, tmp_path) -> None:
    unfinished = tmp_path / "unfinished.h5"
    with Reevaluation(trained, episodes=2, seed=5, threads=1) as evaluation:
        evaluation.run(unfinished, stop=lambda: True)
    other = replace(trained, elites=replace(trained.elites, solutions=trained.elites.solutions + 1))
    for repertoire, episodes, seed, difference in (
        (trained, 3, 5, "episodes 2, not 3"),
        (trained, 2, 6, "seed 5, not 6"),
        (trained, 3, 6, "episodes 2, not 3; seed 5, not 6"),
        (other, 2, 5, "repertoire [0-9a-f]{16}, not [0-9a-f]{16}"),
    ):
        with Reevaluation(repertoire, episodes=episodes, seed=seed, threads=1) as evaluation:
            message = rf"unfinished\.h5: it belongs to another evaluation \({difference}\)"
            with pytest.raises(InvalidFileError, match=message):
                evaluation.restore(unfinished)
            assert evaluation.done == 0


def test_software_that_differs_is_named(trained: Repertoire, tmp_path, monkeypatch) -> None:
    with Reevaluation(trained, episodes=2, seed=5, threads=1) as evaluation:
        evaluation.save(tmp_path / "unfinished.h5")
    monkeypatch.setattr("repertoire.reevaluation.software_versions", lambda: {"mujoco": "0.1"})
    with (
        Reevaluation(trained, episodes=2, seed=5, threads=1) as evaluation,
        pytest.raises(InvalidFileError, match=r"another evaluation \(mujoco .*, not 0\.1\)"),
    ):
        evaluation.restore(tmp_path / "unfinished.h5")


def test_an_unfinished_file_that_is_damaged_is_refused(path: Path, trained: Repertoire, tmp_path) -> None:
    unfinished = tmp_path / "unfinished.h5"
    with Reevaluation(trained, episodes=2, seed=5, threads=1, block=4) as evaluation:
        evaluation.step()
        evaluation.save(unfinished)
        whole = unfinished.read_bytes()
        unfinished.write_bytes(whole[:-9])
        with pytest.raises(InvalidFileError, match="is damaged or incomplete"):
            evaluation.restore(unfinished)
        unfinished.write_bytes(whole)
        with h5py.File(unfinished, "r+") as file:
            file["objectives"][0] += 1
        with pytest.raises(InvalidFileError, match="does not match its checksum"):
            evaluation.restore(unfinished)
        with pytest.raises(InvalidFileError, match="it holds no samples in version 1"):
            evaluation.restore(path)
        good = evaluation._samples
        for objectives, measures, message in (
            (good.objectives[:3], good.measures, "must hold the objectives and 4 measures of at most"),
            (good.objectives, good.measures[:, :3], "must hold the objectives and 4 measures"),
            (good.objectives.astype("<f4"), good.measures, "as float64"),
            (np.zeros(10**4), np.zeros((10**4, 4)), "of at most"),
            (good.objectives * np.nan, good.measures, "nan in the same episodes"),
            (good.objectives + np.inf, good.measures, "must be finite"),
        ):
            evaluation._samples = replace(good, objectives=objectives, measures=measures)
            evaluation.save(unfinished)
            with pytest.raises(InvalidFileError, match=message):
                evaluation.restore(unfinished)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episodes": 0}, "episodes must be at least 1 and at most 10000, not 0"),
        ({"episodes": 10_001}, "episodes must be at least 1 and at most 10000, not 10001"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"seed": 2**63}, "seed must be at least 0 and at most"),
        ({"threads": 0}, "threads must be at least 1"),
    ],
)
def test_wrong_numbers_are_refused(trained: Repertoire, changes: dict, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        Reevaluation(trained, **({"episodes": 2, "seed": 0} | changes))


def test_an_empty_repertoire_is_refused(trained: Repertoire) -> None:
    empty = replace(trained, elites=Elites(*(column[:0] for column in vars(trained.elites).values())))
    with pytest.raises(InvalidValueError, match="the repertoire is empty: there is nothing to evaluate"):
        Reevaluation(empty, episodes=2, seed=0)
