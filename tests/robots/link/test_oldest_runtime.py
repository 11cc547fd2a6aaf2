"""What is exported runs on an ONNX Runtime of 2023, as many a robot's computer has."""

import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from robots.link.export import onnx_model, write_onnx
from robots.robot import load_robot
from tests.robots.link.test_export import SEEN, quadruped, random_gait

OLDEST = "1.15.1"  # of those that pip installs for the Python of these tests
RUN = """
import sys, numpy, onnxruntime
session, given = onnxruntime.InferenceSession(sys.argv[1]), dict(numpy.load(sys.argv[2]))
numpy.savez(sys.argv[3], onnxruntime.__version__, *session.run(None, given))
"""


@pytest.mark.slow  # installs the old runtime
def test_an_old_runtime_computes_the_same(tmp_path: Path) -> None:
    venv.create(tmp_path / "old", with_pip=True)
    python = tmp_path / "old" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    packages = [f"onnxruntime=={OLDEST}", "numpy<2"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    gait, given, found = (tmp_path / name for name in ("gait.onnx", "given.npz", "found.npz"))
    for robot in (load_robot("hexapod"), quadruped(SEEN)):  # a periodic gait and a network
        write_onnx(gait, onnx_model(robot, random_gait(robot), gait="row 3"))
        session, rng = onnxruntime.InferenceSession(gait), np.random.default_rng(1)
        inputs = {one.name: rng.normal(size=one.shape).astype(np.float32) for one in session.get_inputs()}
        np.savez(given, **inputs)
        subprocess.run([python, "-c", RUN, gait, given, found], check=True)
        version, *outputs = np.load(found).values()
        assert str(version) == OLDEST
        for old, new in zip(outputs, session.run(None, inputs), strict=True):
            np.testing.assert_allclose(old, new, atol=1e-6)
