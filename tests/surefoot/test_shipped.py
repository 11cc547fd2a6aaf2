"""The repertoires that come along, and how they are named."""

from pathlib import Path

import numpy as np
import pytest

import surefoot
from adapt.rehearsal.storage import read_table
from repertoire.evaluation.evaluator import Evaluator
from repertoire.storage.files import RunFiles
from repertoire.storage.repertoires import read_repertoire
from robots.errors import InvalidFileError
from surefoot import shipped
from surefoot.shipped import included, recovery_folder, repertoire_path, result_files


@pytest.mark.parametrize(
    ("name", "shortest"), [("ant", 20.0), ("hexapod", 1.5), ("quadruped", 4.0), ("quadruped-policy", 10.0)]
)
def test_what_is_shipped_is_whole_and_small_and_walks(name: str, shortest: float) -> None:
    assert name in included()
    file = repertoire_path(name)
    repertoire = read_repertoire(file)
    assert repertoire.robot.name == name.removesuffix("-policy")
    assert repertoire.elites.objectives.min() >= repertoire.settings.min_objective
    best = np.argmax(repertoire.elites.objectives)
    walks = Evaluator(repertoire, {"intact": repertoire.robot}).run(np.full(2, best), np.arange(2))
    assert walks.distances.min() > shortest
    assert not walks.fell.any()
    assert read_table(RunFiles(file).rehearsal, repertoire).conditions[0] == "healthy"
    assert file.stat().st_size + RunFiles(file).rehearsal.stat().st_size < 10_000_000


def test_another_repertoire_is_trained_for_the_robot_of_one_with_its_policy() -> None:
    settings = {"evaluations": 8, "emitters": 1, "batch_size": 8, "episode_steps": 20, "threads": 1}
    trained = surefoot.train("quadruped-policy", **settings)
    assert list(trained.robot.description.controller.files) == ["ppo-slow.onnx"]
    assert surefoot.train(shipped.DATA / "hexapod.h5", **settings).robot.name == "hexapod"


def test_names_folders_and_files_lead_to_repertoires(work: Path) -> None:
    assert repertoire_path("hexapod") == shipped.DATA / "hexapod.h5"
    assert result_files(repertoire_path("hexapod")).repertoire == Path("hexapod.h5")
    assert recovery_folder(repertoire_path("hexapod")) == Path("hexapod-recovery")
    assert repertoire_path("ant") == Path("ant/repertoire.h5"), "a folder with a run goes first"
    assert repertoire_path("missing/gaits.h5") == Path("missing/gaits.h5")  # reading it says what is wrong
    assert result_files(Path("runs/a.h5")).repertoire == Path("runs/a.h5")
    assert recovery_folder(Path("runs/a.h5")) == Path("runs")
    with pytest.raises(InvalidFileError, match="included: ant, hexapod"):
        repertoire_path("octopod")
