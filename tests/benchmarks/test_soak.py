"""A minute of the soak, and that it notices what it looks for."""

import json

from benchmarks import soak

SEED = 31  # of a short case


def test_what_is_killed_at_random_leaves_the_files_of_an_undisturbed_run(run, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(soak, "_MOST_KILLS", 1)
    code, out, err = run("soak", "--minutes", 0, "--seed", SEED, "--out", tmp_path / "soak.json")
    figures = json.loads((tmp_path / "soak.json").read_text())
    assert (code, err, figures["different"], figures["complaints"]) == (0, "", [], [])
    assert figures["cases"] == 1
    assert figures["kills_in_all"] == figures["continued"] > 0
    assert figures["memory"]["most"] > 50
    assert [path.name for path in tmp_path.iterdir()] == ["soak.json"]
    assert "1 cases" in out


def test_a_difference_and_a_complaint_are_noticed(run, monkeypatch, tmp_path) -> None:
    plan = [["train", "sphere-5", "--evaluations", 300, "--out", "RUN"]]
    monkeypatch.setattr(soak.Case, "_plan", lambda case: iter(plan))

    def spoil(case: soak.Case, command: list[object]) -> None:
        part = case.folder / "part"
        part.mkdir()
        data = bytearray((case.folder / "whole" / "repertoire.h5").read_bytes())
        data[-1] ^= 1
        (part / "repertoire.h5").write_bytes(data)
        case._judge(command, 2, "", expected=[0])
        case._judge(command, 130, 'Traceback ... File "/surefoot/commands/main.py"', expected=[130])

    monkeypatch.setattr(soak.Case, "_disturbed", spoil)
    code, _, err = run("soak", "--minutes", 0, "--out", tmp_path / "soak.json")
    assert code == 2
    assert "not all went well" in err
    figures = json.loads((tmp_path / "soak.json").read_text())
    assert figures["different"] == [0]
    assert len(figures["complaints"]) == 2
    assert (tmp_path / "soak-work" / "case-0" / "part" / "repertoire.h5").exists()
