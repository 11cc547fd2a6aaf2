"""Files that commands are tried on; each worker makes them once."""

import shutil
from pathlib import Path

import pytest

from repertoire.repertoire import Repertoire
from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import write_repertoire
from repertoire.training.runs import start_training
from robots.simulation.threads import Threads
from tests.adapt.rehearsal.small import CONDITIONS, save_rehearsal, small_repertoire
from tests.repertoire.conftest import SMALL


@pytest.fixture(scope="session")
def gaits() -> Repertoire:
    """Five gaits of an ant with tiny controllers."""
    return small_repertoire()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, gaits: Repertoire) -> Path:
    """A run of the Ant that has finished, the five gaits, and their rehearsal in another folder."""
    folder = tmp_path_factory.mktemp("made")
    with start_training("ant", "sep-cma-mae", out=folder / "ant", backend=Threads(1), **SMALL) as training:
        training.run(folder / "ant" / FILE_NAME)
    write_repertoire(folder / "gaits.h5", gaits)
    save_rehearsal(folder / "rehearsal.h5", gaits, CONDITIONS, episodes=2)
    (folder / "few.yaml").write_text("- front_left:lost\n- back_right:dead\n")
    return folder


@pytest.fixture
def work(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: it has copies of what was made."""
    shutil.copytree(made, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


@pytest.fixture
def rehearsed(work: Path) -> Path:
    """The same with the rehearsal next to the gaits."""
    (work / "rehearsal.h5").rename(work / "gaits-rehearsal.h5")
    return work


def names(folder: Path) -> list[str]:
    """Files and folders in a folder."""
    return sorted(path.name for path in folder.iterdir())
