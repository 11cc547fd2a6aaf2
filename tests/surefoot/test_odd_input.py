"""Odd names and texts end in one sentence, and nothing in them steers the terminal."""

from pathlib import Path

import pytest

from robots.catalogue import MODELS

LONG = "a" * 5000


def test_control_characters_of_a_file_are_refused_and_others_that_steer_are_shown(
    run, tmp_path: Path
) -> None:
    yaml = (MODELS / "ant" / "ant.yaml").read_text()
    title = next(line for line in yaml.splitlines() if line.startswith("title:"))
    (tmp_path / "ant.xml").write_text((MODELS / "ant" / "ant.xml").read_text())
    (tmp_path / "ant.yaml").write_text(yaml.replace(title, r'title: "red\u202e\r"'))
    code, out, err = run("robots", tmp_path / "ant.yaml")
    assert (code, err) == (0, "")
    assert r"red\u202e\r" in out
    for control in (r"\e[31m", r"\x9b2J", r"\a", r"\ud800"):
        (tmp_path / "ant.yaml").write_text(yaml.replace(title, f'title: "{control}"'))
        code, out, err = run("robots", tmp_path / "ant.yaml")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.endswith(r"cannot be part of a text" + "\n")
    (tmp_path / "ant.yaml").write_text(yaml.replace("torso:", r'"\e[2J": 1' + "\ntorso:"))
    code, out, err = run("robots", tmp_path / "ant.yaml")
    assert (code, out) == (2, "")
    assert "\x1b" not in err


@pytest.mark.parametrize(
    "command",
    [
        ("robots", LONG),
        ("robots", "--draft", f"{LONG}.xml"),
        ("train", f"sphere-{LONG}", "--out", "run"),
        ("show", LONG),
        ("merge", LONG, "--out", "merged.h5"),
    ],
)
def test_names_that_no_file_can_have_are_refused(
    run, command: tuple[str, ...], tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*command)
    assert (code, out) == (2, "")
    assert err.startswith("surefoot: ")
    assert err.endswith("file name too long\n")
    assert len(err) < 2100
    assert not list(tmp_path.iterdir())


def test_without_a_working_directory_paths_are_refused_in_a_sentence(refused, tmp_path, monkeypatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    refused(
        [(["deploy", "ant", "--best", "--csv", "a.csv"], "the working directory cannot be found: no such")]
    )


def test_networks_that_are_too_large_are_refused_in_a_sentence(run, tmp_path: Path) -> None:
    for hidden, message in (
        ("100000", "hidden.0: input should be less than or equal to 10000, not 100000"),
        ("10000,10000", "networks with hidden layers of 10000, 10000 would have 100,380,008 parameters"),
        (",".join("9" * 200), "hidden: tuple should have at most 100 items"),
    ):
        code, out, err = run("train", "ant", "--hidden", hidden, "--out", tmp_path / "run")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err


@pytest.mark.parametrize(
    "words",
    [
        ("train", "sphere-4", "--evaluations", "１００"),  # noqa: RUF001
        ("train", "sphere-4", "--evaluations", "1_000"),
        ("train", "sphere-1_0", "--evaluations", 100),
        ("train", "sphere-4", "--evaluations", 100, "--sigma0", "٣"),
        ("train", "sphere-4", "--evaluations", 100, "--archive", "cvt:1_0"),
        ("train", "sphere-4", "--evaluations", 100, "--archive", "cvt:10,seed=1,seed=2"),
        ("train", "hopper", "--evaluations", 100, "--hidden", "8,8_0"),
        ("train", "hopper", "--evaluations", 100, "--randomization", "mass=0.8:1_0"),
        ("train", "hopper", "--evaluations", 100, "--randomization", "mass=0.8:1.2,mass=0.8:1.2"),
        ("recover", "hexapod", "--damage", "all:weak@0.５"),  # noqa: RUF001
        ("deploy", "hexapod", "--cell", "1,1_0"),
    ],
)
def test_numbers_are_written_in_plain_digits_and_settings_once(run, tmp_path: Path, words) -> None:
    out = ["--out", tmp_path / "run"] if words[0] != "deploy" else []
    code, _, err = run(*words, *out)
    assert (code, err.count("\n")) == (2, 1)
    assert not list(tmp_path.iterdir())
