"""`surefoot calibrate`, as a user types it, and what takes its result."""

from pathlib import Path

import pytest

import surefoot
from repertoire.repertoire import Repertoire
from repertoire.storage.files import RunFiles
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from robots.description import Randomization
from robots.randomization import read_randomization
from tests.adapt.rehearsal.small import small_repertoire


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A small repertoire, and in a folder next to it what one of its gaits did."""
    file, repertoire = tmp_path / "gaits.h5", small_repertoire()
    write_repertoire(file, repertoire)
    (tmp_path / "healthy").mkdir()
    surefoot.deploy(repertoire, seconds=_length(repertoire), csv=tmp_path / "healthy" / "1.csv")
    return file


def _length(repertoire: Repertoire) -> float:
    return repertoire.robot.description.episode_steps * repertoire.robot.control_step


def test_what_it_finds_lies_next_to_the_repertoire_and_is_used(run, file: Path) -> None:
    arguments = ["calibrate", file, "--traces", file.with_name("healthy"), "--prior", "friction=0.5:1.5"]
    code, out, err = run(*arguments, "--models", 6, "--threads", 1)
    assert (code, err) == (0, "")
    path = RunFiles(file).calibration
    assert "friction 0.55 to 1.45" in out
    assert out.endswith(f"saved {path}")
    code, _, err = run(*arguments, "--models", 6)
    assert code == 2
    assert "exists already" in err
    recover = (
        "recover",
        file,
        "--damage",
        "front_left:lost",
        "--threads",
        1,
        "--selector",
        "map-bo",
        "--trials",
        1,
    )
    code, out, err = run(*recover)
    assert (code, err) == (0, "")
    assert "the robot is one of the models of the calibration" in out
    code, out, err = run(*recover, "--overwrite", "--calibration", file)
    assert code == 2
    assert "calibration" in err
    run("evaluate", file, "--episodes", 1, "--randomization", path, "--out", file.with_name("again.h5"))
    assert len(read_repertoire(file.with_name("again.h5")))


def test_a_randomization_that_was_read_passes(file: Path) -> None:
    ranges = Randomization(friction=(0.5, 1.5))
    assert read_randomization(ranges, read_repertoire(file).robot) is ranges


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "Missing option '--traces'"),
        (("--traces", "nowhere"), "cannot read nowhere"),
        (("--traces", "healthy", "--models", 3), "at least"),
        (("--traces", "healthy", "--prior", "none"), "nothing to find out"),
        (("--traces", "healthy", "--sensors", "nose"), "unknown sensor 'nose'"),
        (("--traces", "healthy/1.csv", "--out", "healthy/1.csv"), "1.csv"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(run, file: Path, monkeypatch, options, words) -> None:
    monkeypatch.chdir(file.parent)
    code, out, err = run("calibrate", file, *options)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.strip().splitlines()) == 1
    assert not RunFiles(file).calibration.exists()
