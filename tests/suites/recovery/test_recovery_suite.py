"""`surefoot suite recovery` as a user types it."""

import csv
import re
from pathlib import Path

import pytest

import suites.recovery.videos
from repertoire.storage.repertoires import write_repertoire
from robots.files.locks import locked
from tests.adapt.rehearsal.small import save_rehearsal, small_repertoire

LIBRARY = ("healthy", "front_left:lost", "back_left:dead", "all:weak@0.5")
BROKEN = "- front_left:lost\n- all:weak@0.5\n- front_right:lost\n"
SMALL = ["--seeds", 2, "--trials", 3, "--episodes", 1, "--gaps", 2, "--processes", 1, "--no-videos"]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A folder with a repertoire, its rehearsal and a list of damages."""
    folder = tmp_path_factory.mktemp("files")
    repertoire = small_repertoire(8)
    write_repertoire(folder / "ant.h5", repertoire)
    save_rehearsal(folder / "ant-rehearsal.h5", repertoire, LIBRARY, episodes=1)
    (folder / "broken.yaml").write_text(BROKEN)
    return folder


def command(files: Path, out: Path, *more: object) -> list[object]:
    damages = ["--damages", files / "broken.yaml"]
    return ["suite", "recovery", files / "ant.h5", *damages, *SMALL, "--out", out, *more]


def test_a_benchmark_from_start_to_end(run, files, tmp_path) -> None:
    choice = ["--selectors", "random,map-bo,rehearsed", "--simulate", 1]
    code, out, err = run(*command(files, tmp_path / "study", *choice))
    assert (code, err) == (0, "")
    assert "table anticipated: 4 conditions x 8 gaits x 1 episodes, about " in out
    assert "replays: 3 damages x 3 selectors x 2 seeds in 7 tracks, about " in out
    assert out.count("saved ") == 5
    with (tmp_path / "study" / "recoveries.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == (2 * 2 + 7) * 3 * 2
    assert {row["track"] for row in rows if row["selector"] == "random"} == {
        "T0 T2 T3-damage T3 T3-limb",
        "T1 T1-family",
    }
    report = (tmp_path / "study" / "report.md").read_text()
    assert "Library: 4 conditions, means over one episode." in report
    assert "without the variation between its episodes, which one episode does not show" in report
    assert "Bootstrap intervals need 5 seeds: with 2 they are missing or too narrow." in report
    assert "## Simulated recoveries" in report
    again = run(*command(files, tmp_path / "study", *choice))
    assert again[0] == 0
    assert "table" not in again[1]
    assert (tmp_path / "study" / "recoveries.csv").read_text().splitlines()[1:] == [
        ",".join(row.values()) for row in rows
    ]


def test_a_dry_run_only_says_how_long(run, files, tmp_path) -> None:
    code, out, err = run(*command(files, tmp_path / "study", "--dry-run", "--tracks", "T0,T3"))
    assert (code, err) == (0, "")
    assert "table scores: 4 conditions" in out
    assert "gap" not in out
    assert "in all about" in out
    assert not (tmp_path / "study").exists()


def test_the_best_recoveries_are_filmed(run, files, tmp_path, monkeypatch) -> None:
    filmed = []
    monkeypatch.setattr(
        suites.recovery.videos, "film_next_to_each_other", lambda robot, gaits, **_: filmed.append(robot)
    )
    choice = ["--selectors", "rehearsed", "--tracks", "T2", "--videos"]
    code, out, err = run(*command(files, tmp_path / "study", *choice))
    assert (code, err) == (0, "")
    assert out.count("filmed ") == len(filmed) == 3
    report = (tmp_path / "study" / "report.md").read_text()
    found = re.findall(
        r"videos/ant-\d.mp4: (.*), recovery ratio (.*) without adaptation and (.*) with", report
    )
    gains = [float(after) - float(before) for _, before, after in found]
    assert gains == sorted(gains, reverse=True)
    assert [robot.modifications[0].label for robot in filmed] == [damage for damage, _, _ in found]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--selectors", "magic"], "unknown selector 'magic'; available: best-first, gp-ucb"),
        (["--tracks", "T7"], "unknown track 'T7'"),
        (["--trials", 9], "the number of trials must be at most the 8 gaits of the repertoire, not 9"),
        (["--rehearsal", "none.h5"], "none.h5 cannot be read"),
        (["--noise", "0.1"], "Option '--noise' requires 2 arguments"),
        (["--noise", 0.1, -1], "-1.0 is not in the range: it must be at least 0"),
        (["--seeds", 0], "0 is not in the range: it must be at least 1"),
    ],
)
def test_wrong_options(run, files, tmp_path, more, message) -> None:
    code, out, err = run(*command(files, tmp_path / "study", *more))
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("damages", "message"),
    [
        ("- healthy\n", "'healthy' cannot be a damage to recover from: nothing is broken"),
        ("[]\n", "must hold a list of damages"),
    ],
)
def test_wrong_damages(run, files, tmp_path, damages, message) -> None:
    (tmp_path / "broken.yaml").write_text(damages)
    code, out, err = run(*command(files, tmp_path / "study", "--damages", tmp_path / "broken.yaml"))
    assert (code, out) == (2, "")
    assert message in err


def test_one_process_at_a_time_works_in_a_folder(run, files, tmp_path) -> None:
    with locked(tmp_path):
        code, out, err = run(*command(files, tmp_path))
    assert (code, out) == (2, "")
    assert f"{tmp_path} is in use" in err
    assert run(*command(files, tmp_path, "--dry-run"))[0] == 0


def test_a_folder_of_another_benchmark_is_refused(run, files, tmp_path) -> None:
    first = command(files, tmp_path, "--selectors", "random", "--tracks", "T0")
    assert run(*first)[0] == 0
    code, _, err = run(*first, "--seed", 2)
    assert code == 2
    assert f"{tmp_path} holds another study (study recovery" in err
    assert "choose another folder with --out" in err
