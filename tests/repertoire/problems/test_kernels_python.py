"""The kernels as Python runs them, uncompiled, give what the compiled ones do."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from repertoire.problems.catalogue import make_problem

NAMES = ("sphere-7", "sphere-40", "arm-7", "arm-40", "maze")
_UNCOMPILED = """
import sys
import numpy as np
from numba import config
from repertoire.problems.catalogue import make_problem
assert config.DISABLE_JIT
results = {}
with np.load(sys.argv[1]) as solutions:
    for name in solutions:
        evaluations = make_problem(name).evaluate(solutions[name], np.zeros(len(solutions[name]), int))
        for kind in ("objectives", "measures", "steps"):
            results[f"{name} {kind}"] = getattr(evaluations, kind)
np.savez(sys.argv[2], **results)
"""


def test_uncompiled_kernels_agree(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    solutions = {}
    for name in NAMES:
        problem = make_problem(name)
        initial = np.stack([problem.initial(rng) for _ in range(5)])
        solutions[name] = (initial + rng.normal(0, 0.5, initial.shape)).astype(np.float32)
    solutions["sphere-7"] *= 10
    np.savez(tmp_path / "solutions.npz", **solutions)
    subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-c",
            _UNCOMPILED,
            tmp_path / "solutions.npz",
            tmp_path / "results.npz",
        ],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        check=True,
    )
    with np.load(tmp_path / "results.npz") as results:
        for name in NAMES:
            evaluations = make_problem(name).evaluate(solutions[name], np.zeros(5, int))
            for kind in ("objectives", "measures", "steps"):
                expected = getattr(evaluations, kind)
                np.testing.assert_allclose(results[f"{name} {kind}"], expected, rtol=1e-9, atol=1e-9)
