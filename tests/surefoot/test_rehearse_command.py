"""`surefoot rehearse` as a user types it."""

import re
from pathlib import Path

import pytest

from adapt.damage.library import damage_library
from adapt.rehearsal.storage import read_table
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from tests.adapt.rehearsal.small import small_repertoire, small_robot


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A small repertoire, and a short list of damages next to it."""
    write_repertoire(tmp_path / "gaits.h5", small_repertoire())
    (tmp_path / "few.yaml").write_text("- front_left:lost\n- back_right:dead\n")
    return tmp_path / "gaits.h5"


def few(file: Path) -> list[object]:
    return [file, "--damages", file.with_name("few.yaml"), "--threads", 1]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_rehearses_reports_saves_and_draws(run, file: Path) -> None:
    picture = file.with_name("left.png")
    code, out, err = run("rehearse", *few(file), "--episodes", 3, "--picture", picture)
    assert (code, err) == (0, "")
    saved = file.with_name("gaits-rehearsal.h5")
    assert names(file.parent) == ["few.yaml", "gaits-rehearsal.h5", "gaits.h5", "left.png"]
    table = read_table(saved, read_repertoire(file))
    assert table.conditions == ("healthy", "front_left:lost", "back_right:dead")
    assert table.episodes == 3
    assert re.search(r"3 conditions x 5 gaits x 3 episodes = 45 episodes: about \d+ s on 1 thread", out)
    best = table.objectives.max(axis=1)
    assert f"healthy {best[0]:,.4g} " in out
    for condition, value in zip(table.conditions[1:], best[1:], strict=True):
        assert f"{condition} {value:,.4g} {value / best[0]:.0%} " in out
    assert out.endswith(f"saved {saved} drawn to {picture}")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_default_is_the_library_of_the_robot(run, file: Path) -> None:
    code, _, err = run("rehearse", file, "--episodes", 1, "--out", file.with_name("all.h5"))
    assert (code, err) == (0, "")
    table = read_table(file.with_name("all.h5"), read_repertoire(file))
    assert list(table.conditions) == list(map(str, damage_library(small_robot())))


def test_a_dry_run_says_how_long_it_takes_and_leaves_nothing(run, file: Path) -> None:
    before = names(file.parent)
    code, out, err = run("rehearse", *few(file), "--dry-run")
    assert (code, err) == (0, "")
    assert re.fullmatch(r"3 conditions x 5 gaits x 2 episodes = 30 episodes: about \d+ s on 1 thread", out)
    assert names(file.parent) == before


def test_a_rehearsal_on_other_models_than_the_training_is_told(run, file: Path) -> None:
    code, out, _ = run("rehearse", *few(file), "--dry-run", "--randomization", "mass=0.8:1.2,models=2")
    assert code == 0
    assert "were trained on the robot as it is, and are rehearsed on 2 models: mass 0.8 to 1.2" in out


def test_bad_input_ends_in_one_sentence_and_changes_nothing(refused, file: Path) -> None:
    folder = file.parent
    (folder / "there.h5").write_text("")
    (folder / "other-unfinished.h5").write_bytes(file.read_bytes())
    (folder / "tail.yaml").write_text("- front_left:lost\n- tail:lost\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    cases = [
        ([file, "--out", file, "--overwrite"], "is the repertoire to be read"),
        ([file, "--out", folder / "there.h5"], "there.h5 exists already: choose another --out, or use"),
        ([*few(file), "--out", folder / "other.h5"], "or use --overwrite"),
        ([file, "--damages", folder / "none.yaml"], "none.yaml"),
        ([file, "--damages", folder / "tail.yaml"], "'tail'"),
    ]
    refused(cases, "rehearse")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
