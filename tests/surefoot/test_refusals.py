"""What a command cannot do ends in one sentence and exit code 2, before anything is written."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import surefoot
from adapt.records import RefinedGait
from adapt.relearning.refinement import keep_gaits
from repertoire.archives.archive import Elites
from repertoire.evaluation.correction import correct, reevaluation
from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from repertoire.training.runs import start_training
from robots.link.export import onnx_model, write_onnx
from robots.simulation.threads import Threads
from suites.study import keep_identity
from tests.adapt.rehearsal.small import STEPS, save_rehearsal

CASES = Path(__file__).with_name("refusals.txt").read_text().splitlines()  # a command, and what it says


@pytest.fixture(scope="module")
def place(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What was made, and files that are empty, damaged, or of something else."""
    folder = shutil.copytree(made, tmp_path_factory.mktemp("refusals") / "place")
    whole, gaits = (folder / "ant" / FILE_NAME).read_bytes(), read_repertoire(folder / "gaits.h5")
    for name, data in {
        **{"file": b"", "there.h5": b"", "there.onnx": b"", "free-rehearsal.h5": b""},
        **{"text.h5": b"no repertoire", "cut.h5": whole[:-5000], "other-unfinished.h5": whole},
        **{"tampered.h5": whole.replace(b"sep-cma-mae", b"sep-cma-may")},
        **{"tail.yaml": b"- tail:lost", "unknown.yaml": b"- all:dead", "healthy.yaml": b"- healthy"},
    }.items():
        (folder / name).write_bytes(data)
    with start_training("sphere-5", "cma-mae", out=folder / "sphere", evaluations=60, seed=1) as training:
        training.run(folder / "sphere" / FILE_NAME)
    for name, kept in (("empty", 0), ("fewer", -1)):
        elites = Elites(*(column[:kept] for column in vars(gaits.elites).values()))
        write_repertoire(folder / f"{name}.h5", replace(gaits, elites=elites))
    evaluation = reevaluation(gaits, episodes=1, seed=0, backend=Threads(1))
    evaluation.run()
    write_repertoire(folder / "corrected.h5", correct(evaluation).repertoire)
    specialist = RefinedGait(gaits.elites.solutions[0], 0, 0, 1.0, 0.0, 9, ("front_left:lost",))
    write_repertoire(folder / "strong.h5", keep_gaits(gaits, [specialist], seed=0, backend=Threads(1)))
    write_repertoire(folder / "known.h5", gaits)
    save_rehearsal(folder / "known-rehearsal.h5", gaits, ["front_left:lost", "back_right:dead"], episodes=2)
    varied = {"randomization": "friction=0.5:1,models=2", "episodes": 1, "threads": 1}
    surefoot.rehearse(gaits, "front_left:lost", **varied, out=folder / "varied.h5")
    (folder / "traces").mkdir()
    surefoot.deploy(gaits, seconds=STEPS * gaits.robot.control_step, csv=folder / "traces" / "1.csv")
    surefoot.deploy("hexapod", "best", seconds=1, csv=folder / "walk.csv", mcap=folder / "walk.mcap")
    (folder / "cut.mcap").write_bytes((folder / "walk.mcap").read_bytes()[:9000])
    hexapod = surefoot.load("hexapod")
    gait = onnx_model(hexapod.robot, hexapod.gaits.solutions[hexapod.find("best")], gait="best")
    write_onnx(folder / "gait.onnx", gait)
    trials = folder / "study" / "trials" / "sphere-10"
    trials.mkdir(parents=True)
    (trials / "sep-cma-mae-00.h5").write_text("no trial")
    keep_identity(folder / "study", {"study": "optimization", "seed": 1, "evaluations": {"sphere-10": 400}})
    return folder


def contents(folder: Path) -> dict[Path, bytes]:
    """The files of a folder that are not hidden."""
    return {path: path.read_bytes() for path in folder.rglob("[!.]*") if path.is_file()}


@pytest.fixture(scope="module")
def before(place: Path) -> dict[Path, bytes]:
    return contents(place)


@pytest.fixture(scope="module")
def words(place: Path) -> dict[str, str]:
    """What words of the table stand for: a cell that is empty, and a name that is too long."""
    used = set(read_repertoire(place / "ant" / FILE_NAME).elites.cells.tolist())
    empty = np.unravel_index(next(cell for cell in range(6**4) if cell not in used), (6, 6, 6, 6))
    return {"EMPTY": ",".join(map(str, empty)), "LONG": "a" * 5000}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_in_a_sentence(refused, place: Path, before, words, monkeypatch, case: str) -> None:
    monkeypatch.chdir(place)
    for word, text in words.items():
        case = case.replace(word, text)
    line, _, reason = (part.strip() for part in case.rpartition(" : "))
    refused([([line], reason)])
    assert contents(place) == before
