"""`surefoot export` writes a gait for the computer of a robot."""

import runpy
from pathlib import Path

import onnx
import pytest
import yaml

EXAMPLES = Path(__file__).parents[2] / "examples"
HEXAPOD = Path(__file__).parents[2] / "robots" / "models" / "hexapod" / "hexapod.xml"


@pytest.mark.filterwarnings("default")
def test_an_exported_gait_walks_in_plain_mujoco(run, tmp_path: Path) -> None:
    gait, description = tmp_path / "gait.onnx", tmp_path / "deploy.yaml"
    code, out, _ = run("export", "hexapod", "--best", "--onnx", gait, "--deploy-yaml", description)
    assert (code, "saved" in out) == (0, True)
    walk = runpy.run_path(str(EXAMPLES / "onnx_walk.py"))["walk"]
    assert walk(str(gait), str(HEXAPOD), 1.0) > 0.25, "2 m in 5 s"
    assert len(yaml.safe_load(description.read_text())["stiffness"]) == 18


def test_a_row_is_exported(run, tmp_path: Path) -> None:
    assert run("export", "hexapod", "--row", 5, "--onnx", tmp_path / "gait.onnx")[0] == 0
    assert onnx.load(tmp_path / "gait.onnx").ir_version == 8


def test_what_is_wrong_is_said_in_a_sentence(refused, tmp_path: Path) -> None:
    there, new = tmp_path / "there.onnx", tmp_path / "new.onnx"
    there.write_text("mine")
    cases = [
        (["hexapod", "--onnx", new], "say which gait"),
        (["hexapod", "--best"], "say what to write"),
        (["hexapod", "--best", "--onnx", tmp_path / "gait.txt"], "must end in .onnx"),
        (["hexapod", "--best", "--onnx", there], "exists already"),
        (["hexapod", "--cell", "9,9,9,9,9,9", "--onnx", new], "no cell 9,9"),
        (["hexapod", "--row", 100_000, "--onnx", new], "row"),
        (["ant", "--best", "--deploy-yaml", tmp_path / "d.yaml"], "is told torques"),
        (["hexapod", "--best", "--onnx", tmp_path / "nowhere" / "gait.onnx"], "cannot be written"),
    ]
    refused(cases, "export")
    assert there.read_text() == "mine"
    assert not new.exists()
