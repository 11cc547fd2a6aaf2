"""What docs/tutorials/own-robot.md tells to do works."""

import re
import shlex
from pathlib import Path

from robots.description import Description

DOCS = Path(__file__).parents[3] / "docs" / "tutorials" / "own-robot.md"
QUICK = {
    "train": ("--emitters", "1", "--batch-size", "4", "--episode-steps", "30"),
    "recover": ("--trials", "1"),
}


def test_its_robot_can_be_drafted_checked_trained_and_broken(run, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = DOCS.read_text()
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "tripod.xml").write_text(re.search(r"```xml\n(.*?)```", text, re.DOTALL)[1])
    printed = []
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            program, command, *arguments = shlex.split(
                line.replace("--evaluations 1000", "--evaluations 4").replace("--seconds 5", "--seconds 0.1")
            )
            code, out, err = run(command, *arguments, *QUICK.get(command, ()))
            assert (program, code, err) == ("surefoot", 0, ""), line
            printed.append(out)
    assert "nothing looks wrong" in printed[1]
    assert (tmp_path / "my" / "tripod.png").exists()
    assert (tmp_path / "tripod.mp4").exists()


def test_the_keys_that_it_explains_exist() -> None:
    rows = re.findall(r"^\| (`.*?`) \|", DOCS.read_text(), re.MULTILINE)
    named = [key for row in rows for key in re.findall(r"`(\w+)`", row)]
    assert len(named) > 8
    assert set(named) <= set(Description.model_fields)
