"""What is fuzzed: every kind of file that is read, how one is made, changed, and read as a user would."""

import io
import json
import os
import pickle
import runpy
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import mujoco
import numba
import numpy as np

from adapt.damage.text import damage_facts, read_damages
from adapt.rehearsal.rehearsal import rehearsal, rehearsed_table
from adapt.rehearsal.storage import read_table, write_table
from adapt.self_model.calibration import (
    CalibratedGait,
    Calibration,
    read_calibration,
    read_randomization,
    read_traces,
    write_calibration,
)
from adapt.self_model.parameters import Parameters
from benchmarks.mutations import (
    Rng,
    mutate_bytes,
    mutate_csv,
    mutate_hdf5,
    mutate_json,
    mutate_xml,
    mutate_yaml,
)
from repertoire.evaluation.correction import correct, reevaluation
from repertoire.execution.cluster import scheduler_address
from repertoire.plots import draw_history, draw_repertoire
from repertoire.repertoire import Repertoire
from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import fingerprint, read_repertoire, write_repertoire
from repertoire.training.runs import resume_training, start_training
from robots.catalogue import MODELS
from robots.errors import SurefootError, shown
from robots.facts import robot_facts
from robots.files.records import validate
from robots.importing.draft import draft_robot
from robots.mjcf.reading import read_self_contained
from robots.randomization import draw_models
from robots.robot import Robot, find_robot
from robots.simulation.simulation import Simulation
from suites.identity import keep_identity
from suites.mission.results import MissionRecord
from suites.paper.results import SCALARS, TrialResult, read_trial, write_trial
from suites.records import read_record, write_record
from suites.recovery.results import RecoveryResult, parse_result
from suites.transfer.results import GAITS, TransferResult
from suites.transfer.suite import TransferSuite
from surefoot.api import deploy
from surefoot.commands.show import show
from surefoot.search import Search

_DAMAGES = "# comment\n- front_left:lost\n- joint=back_right_ankle:locked@0.9\n- all:weak@0.7+floor:slope@5\n"
_MESH = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 4\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
_OUTSIDE = "v 1 0 0\nv -1 0 0\nv 0 2 0\nv 0 -2 0\nv 0 0 3\nv 0 0 -3\n" + "".join(
    f"f {face}\n" for face in ("1 3 5", "3 2 5", "2 4 5", "4 1 5", "3 1 6", "2 3 6", "4 2 6", "1 4 6")
)
_MODEL = {  # a model of several files in a folder, and files outside
    "robot/robot.xml": """<mujoco><compiler meshdir="meshes"/><include file="part"/>
        <asset><mesh name="m" file="m.obj"/><model name="arm" file="arm.xml"/></asset>
        <worldbody><body name="b"><joint/><geom type="mesh" mesh="m"/></body>
        <attach model="arm" body="arm" prefix="a_"/></worldbody></mujoco>""",
    "robot/part": '<mujoco><option timestep="0.004"/><asset><mesh name="p" file="m.obj"/></asset></mujoco>',
    "robot/arm.xml": """<mujoco><compiler assetdir="meshes"/><asset><mesh file="m.obj"/></asset><worldbody>
        <body name="arm"><joint axis="0 1 0"/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>""",
    "robot/meshes/m.obj": _MESH,
    "outside.xml": """<mujoco><worldbody><body name="arm"><geom name="leak" size="1"/></body></worldbody>
        </mujoco>""",
    "outside.obj": _OUTSIDE,
}
_KERNEL = "from robots.compilation import compiled\n\n\n@compiled()\ndef kernel(x):\n    return x + 1\n"
_IDENTITY = {"of": "optimization", "evaluations": {"sphere-100": 2000}, "seed": 7, "options": "none"}
_ENVIRONMENT = {
    **{"MPLBACKEND": "agg", "MUJOCO_GL": "", "NUMBA_NUM_THREADS": 1, "NUMBA_THREADING_LAYER": "default"},
    **{"HDF5_USE_FILE_LOCKING": "FALSE", "COLUMNS": 80, "TERM": "dumb", "LC_ALL": "C"},
    **{"ulimit -n": 1024, "ulimit -v": 4_000_000},
}
_TOLD = {
    **{"solution_dim": 3, "measure_ranges": [[0, 1], [-2, 2]], "min_objective": -1, "initial": [0, 0, 0]},
    **{"name": "mine", "archive": "4,4", "objectives": [0.5] * 8, "measures": [[0.5, 1.5]] * 8},
}
_RECOVERY: dict[str, Any] = {
    **{"case": "T3-001", "selector": "rehearsed", "number": 0, "seed": 7, "damage": "front_left:lost"},
    **{"gait": 3, "final": 2.1, "score": 2.0, "took": 9.5},
    **{"scores": (0.5, 2.0), "falls": (True, False), "stop": 2, "seconds": 1.5, "explained": 0.8},
}
_MISSION: dict[str, Any] = {
    **{"case": "ant-model-1", "method": "mission", "number": 0, "seed": 7, "damage": "front_left:lost"},
    **{"reached": True, "seconds": 120.0, "distance": 25.5, "delay": 1.5, "falls": 2, "late": 0.25},
}
_WALKED: dict[str, Any] = {
    **{"case": "mine-gap", "method": GAITS, "number": 0, "seed": 7, "took": 2.5},
    "figures": {"nominal": 2.0, "mean": 0.9, "together": 0.9, "worst tenth": 0.1, "upright": 1.0},
}
_TRANSFER = TransferSuite(repertoires={}, worlds=())
_CHANGES = {
    ".csv": mutate_csv,
    ".h5": mutate_hdf5,
    ".yaml": mutate_yaml,
    ".xml": mutate_xml,
    "": mutate_xml,
    ".json": mutate_json,
}
_SEARCHES = ("cma-mae", "lm-ma-mae", "openai-mae", "cma-mega", "map-elites-line", "me-es")
_ROBOTS = ("ant", "hexapod")
_STEPS = 5  # control steps of the episodes that try a robot
_SLOW = 200  # physics steps in a control step from which on a robot is not tried


@dataclass(frozen=True)
class Subject:
    """A kind of file.

    Attributes:
        file: that is changed, in the folder of the corpus; its ending says how.
        read: reads it from the folder, and uses it as a user would.
        others: files and folders that reading it needs.
    """

    file: str
    read: Callable[[Path], Any]
    others: tuple[str, ...] = ()

    def change(self, folder: Path, rng: Rng) -> None:
        """Change the file in a folder."""
        path = folder / self.file
        change: Any = _CHANGES.get(path.suffix)
        if path.suffix == ".h5":
            change(path, rng)
        elif change is None:
            path.write_bytes(mutate_bytes(path.read_bytes(), rng))
        else:
            path.write_bytes(change(path.read_text(encoding="utf-8"), rng).encode("utf-8", "replace"))


def make_corpus(folder: Path) -> None:
    """Make a sound file of every kind, always the same."""
    for name in _ROBOTS:
        shutil.copytree(MODELS / name, folder / name)
    yaml = (folder / "ant" / "ant.yaml").read_text()
    (folder / "ant" / "ant.yaml").write_text(yaml.replace("hidden: [128, 128]", "hidden: [2]"))
    (folder / "damages.yaml").write_text(_DAMAGES)
    write_record(folder / "recovery.json", RecoveryResult(**_RECOVERY))
    write_record(folder / "mission.json", MissionRecord(**_MISSION))
    _TRANSFER.write(folder / "transfer.json", TransferResult(**_WALKED))
    (folder / "scheduler.json").write_text(json.dumps({"address": "tcp://10.0.0.1:8786", "workers": {}}))
    for name, text in _MODEL.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    _run_kernel(folder, keep=True)
    (folder / "environment.json").write_text(json.dumps(_ENVIRONMENT))
    (folder / "told.json").write_text(json.dumps(_TOLD))
    keep_identity(folder, _IDENTITY)
    for algorithm in _SEARCHES:
        out = folder / algorithm
        with start_training(
            "sphere-4", out=out, algorithm=algorithm, evaluations=10**6, seed=1, archive="5,5"
        ) as run:
            run.step()
            run.save(out / FILE_NAME)
    ant = str(folder / "ant" / "ant.yaml")
    settings: dict[str, Any] = {
        "evaluations": 8,
        "seed": 1,
        "archive": "3,3,3,3",
        "batch_size": 4,
        "emitters": 1,
    }
    with start_training(
        ant, out=folder / "walk", algorithm="cma-mae", episode_steps=_STEPS, threads=1, **settings
    ) as run:
        while not run.finished:
            run.step()
        trained = run.repertoire()
    _make_evaluations(folder, trained)


def _make_evaluations(folder: Path, trained: Repertoire) -> None:
    """Make the files that follow from a repertoire."""
    with reevaluation(trained, episodes=2, seed=0, threads=1) as evaluation:
        evaluation.run(folder / "episodes.h5")
        write_repertoire(folder / "corrected.h5", correct(evaluation).repertoire)
    write_repertoire(folder / FILE_NAME, trained)
    write_trial(folder / "trial.h5", _trial())
    damages = read_damages(folder / "damages.yaml", trained.robot)[:1]
    with rehearsal(trained, damages, episodes=1, seed=0, threads=1) as evaluation:
        evaluation.run()
    write_table(folder / "rehearsal.h5", rehearsed_table(evaluation), evaluation.identity)
    seconds = _STEPS * trained.robot.control_step
    deploy(trained, "best", seconds=seconds, csv=folder / "walk.csv")
    ((row, trace),) = read_traces([folder / "walk.csv"], trained)
    write_calibration(folder / "calibration.h5", _calibration(trained, row, trace))


def _trial() -> TrialResult:
    """The result of a trial that never was."""
    scalars = {name: kind(1) for name, kind in SCALARS.items()}
    history = {name: np.linspace(0, 1, 5) for name in ("evaluations", "qd_score", "coverage", "best")}
    return TrialResult(**scalars, history=history, objectives=np.zeros((3, 3), np.float32))


def _calibration(trained: Repertoire, row: int, trace: np.ndarray) -> Calibration:
    """A calibration that nobody fitted."""
    parameters, rng = Parameters(trained.robot), np.random.default_rng(0)
    values = parameters.values(rng.standard_normal((4, len(parameters.names))))
    known: dict[str, Any] = dict.fromkeys(CalibratedGait.model_fields, 1.0)
    known |= {"name": trained.label(row), "steps": len(trace), "joint": "the body"}
    known |= {"as_built": (1.0, 0.5), "calibrated": (1.0, 0.5)}
    solutions, noise = trained.gaits.solutions[row : row + 1], np.full(trace.shape[1], 0.1)
    return Calibration(parameters, values, noise, solutions, (trace,), (CalibratedGait(**known),))


def _draw_repertoire(path: Path) -> None:
    """Read and draw a repertoire."""
    repertoire = read_repertoire(path)
    draw_repertoire(repertoire, path.with_name("a.png"))
    draw_history(repertoire, path.with_name("b.png"))


def _read_repertoire(path: Path) -> None:
    """Read, print, save and read again a repertoire, and use its best controller."""
    with redirect_stdout(io.StringIO()):
        show.main([str(path)], standalone_mode=False)
    repertoire = read_repertoire(path)
    write_repertoire(path.with_name("again.h5"), repertoire)
    if fingerprint(read_repertoire(path.with_name("again.h5"))) != fingerprint(repertoire):
        raise AssertionError("it is not read as it was saved")
    if len(repertoire) and repertoire.problem.robot is not None:
        size = repertoire.robot.observation_dim
        repertoire.policy("best")(np.zeros(size))
        with warnings.catch_warnings(action="ignore"):
            action = repertoire.policy("best", on_invalid="damp")(np.resize([np.nan, np.inf, 1e300], size))
        if action.any():
            raise AssertionError("an action for observations that are not finite")


def _resume(name: str, folder: Path) -> None:
    """Go on with a run."""
    with resume_training(folder / name, threads=1) as training:
        if training is not None and len(training.ask()) <= 1000:
            training.repertoire()


def _draft(name: str, folder: Path) -> None:
    """Draft a YAML for an MJCF, and use it."""
    _walk_with(find_robot(str(draft_robot(folder / name / f"{name}.xml").path)))


def _run_kernel(folder: Path, *, keep: bool = False) -> None:
    """Run a kernel from the machine code in the folder, or keep its machine code there."""
    source = folder / "kernel.py"
    source.write_text(_KERNEL)
    os.utime(source, (0, 0))  # the index tells of it
    with patch.object(numba.config, "CACHE_DIR", str(folder)):
        kernel = runpy.run_path(str(source))["kernel"]
    entries = kernel._cache._cache_file
    places = {"kernel.nbi": entries._index_path, "kernel.nbc": entries._data_path(entries._data_name(1))}
    Path(entries._cache_path).mkdir(parents=True, exist_ok=True)
    for name, place in places.items():
        if not keep:
            shutil.copyfile(folder / name, place)
    with redirect_stderr(io.StringIO()):  # it says once that something was damaged
        if kernel(1.0) != 2:
            raise AssertionError("damaged machine code was used")
    for name, place in places.items():
        if keep:
            shutil.copyfile(place, folder / name)


def _assemble(folder: Path) -> None:
    """Read a model of several files, in which nothing may be found of those outside its folder."""
    model = mujoco.MjModel.from_xml_string(read_self_contained(folder / "robot" / "robot.xml"))
    if (
        "leak" in {model.geom(geom).name[-4:] for geom in range(model.ngeom)}
        or _OUTSIDE.count("v") in model.mesh_vertnum
    ):
        raise AssertionError("a file outside the folder was read")


def _walk(name: str, folder: Path) -> None:
    """Read a robot and use it."""
    _walk_with(find_robot(str(folder / name / f"{name}.yaml")))


def _walk_with(robot: Robot) -> None:
    """Describe a robot and let it walk a little."""
    robot_facts(robot)
    damage_facts(robot)
    if robot.description.substeps > _SLOW or robot.controller.parameter_count > 10**6:
        return
    with Simulation(robot.with_episode_steps(_STEPS), threads=1) as simulation:
        parameters = simulation.controller.initial(np.random.default_rng(0))[None]
        episodes = simulation.evaluate(parameters, np.zeros(1, np.int64))
        if not (episodes.diverged[0] or np.isfinite(episodes.objectives[0])):
            raise AssertionError("an objective that is not finite, without divergence")


def _read_damages(folder: Path) -> None:
    """Read damages and break a robot with them."""
    robot = find_robot("ant")
    for damage in read_damages(folder / "damages.yaml", robot)[:5]:
        damage.apply(robot)


def _read_rehearsal(folder: Path) -> None:
    """Read a rehearsal."""
    read_table(folder / "rehearsal.h5", read_repertoire(folder / FILE_NAME))


def _read_recovery(folder: Path) -> None:
    """Read the result of a trial of a recovery study, and write it again."""
    result = read_record(folder / "recovery.json", "recovery", parse_result)
    write_record(folder / "again.json", result)


def _read_calibration(folder: Path) -> None:
    """Read a calibration, use its models and traces, and write it again."""
    repertoire = read_repertoire(folder / FILE_NAME)
    robot, path = repertoire.robot, folder / "calibration.h5"
    calibration = read_calibration(path, robot)
    if not all(np.isfinite([one.low, one.middle, one.high]).all() for one in calibration.intervals):
        raise AssertionError("an interval that is not finite")
    calibration.before(repertoire)
    drawn = draw_models(robot, read_randomization(path))
    for model in (calibration.middle(robot), calibration.sample(robot, 0), drawn[0]):
        _walk_with(model)
    write_calibration(folder / "again.h5", calibration)


def _read_trace(folder: Path) -> None:
    """Read what a gait did."""
    ((_, trace),) = read_traces([folder / "walk.csv"], read_repertoire(folder / FILE_NAME))
    if not np.isfinite(trace).all():
        raise AssertionError("a trace that is not finite")


def _read_mission(folder: Path) -> None:
    """Read the result of a mission of a study, and write it again."""
    record = read_record(folder / "mission.json", "mission", partial(validate, MissionRecord))
    write_record(folder / "again.json", record)


def _read_transfer(folder: Path) -> None:
    """Read the result of a trial of a transfer study, and write it again."""
    _TRANSFER.write(folder / "again.json", _TRANSFER.read(folder / "transfer.json"))


def _spoken(path: Path) -> dict[str, Any]:
    """What a file says in place of a user, unchecked; nothing if it says nothing."""
    with suppress(ValueError, TypeError, RecursionError):
        return dict(json.loads(path.read_text(), strict=False))
    raise SurefootError("the case says nothing")


def _show_in(folder: Path) -> None:
    """Run a command in an environment with limits."""
    given = _spoken(folder / "environment.json")
    changed = {name: shown(given.get(name, "")).strip("'").replace("\0", "") for name in _ENVIRONMENT}
    least = {"ulimit -n": 8, "ulimit -v": 40_000}  # without which not even Python starts
    limits = [f"{name} {changed[name]}" for name in least if changed[name].isdecimal()]
    limits = [limit for limit in limits if least[limit[:9]] <= int(limit[10:]) < 2**53]  # in bash, 2**64 is 0
    environment = {name: value for name, value in changed.items() if "ulimit" not in name}
    ended = subprocess.run(
        [
            "bash",
            "-c",
            " && ".join([*limits, 'exec "$@"']),
            "bash",
            sys.executable,
            "-m",
            "surefoot",
            "robots",
        ],
        env=os.environ | environment,
        capture_output=True,
    )
    said = ended.stderr.decode(errors="replace")
    if ended.returncode == 2 and said.startswith("surefoot: ") and said.count("\n") == 1:
        raise SurefootError(said)
    absent = any(
        word in said for word in ("bash:", "shared libraries", "Fatal Python")
    )  # not even Python is there
    if (ended.returncode or said) and not absent:
        raise AssertionError(f"exit code {ended.returncode}: {said}")


def _tell(folder: Path) -> None:
    """Search with what a user's program says."""
    told: dict[str, Any] = {name: _spoken(folder / "told.json").get(name) for name in _TOLD}
    objectives, measures = told.pop("objectives"), told.pop("measures")
    search = Search(**told, batch_size=8, emitters=1)
    search.ask()
    search.tell(objectives, measures)
    search = pickle.loads(pickle.dumps(search))
    search.save(folder / "told.h5")
    read_repertoire(folder / "told.h5")
    search.draw(folder / "told.png")


def _restore(folder: Path) -> None:
    """Go on with an evaluation."""
    with reevaluation(read_repertoire(folder / FILE_NAME), episodes=2, seed=0, threads=1) as evaluation:
        evaluation.restore(folder / "episodes.h5")


def _subjects() -> dict[str, Subject]:
    """All subjects by name."""
    found = {
        "repertoire": Subject(FILE_NAME, lambda folder: _read_repertoire(folder / FILE_NAME)),
        "corrected repertoire": Subject(
            "corrected.h5", lambda folder: _draw_repertoire(folder / "corrected.h5")
        ),
        "rehearsal": Subject("rehearsal.h5", _read_rehearsal, (FILE_NAME,)),
        "episodes": Subject("episodes.h5", _restore, (FILE_NAME,)),
        "trial": Subject("trial.h5", lambda folder: read_trial(folder / "trial.h5")),
        "damages": Subject("damages.yaml", _read_damages),
        "study": Subject("study.json", lambda folder: keep_identity(folder, _IDENTITY)),
        "environment": Subject("environment.json", _show_in),
        "told": Subject("told.json", _tell),
        "index of machine code": Subject("kernel.nbi", _run_kernel, ("kernel.nbc",)),
        "machine code": Subject("kernel.nbc", _run_kernel, ("kernel.nbi",)),
        "recovery": Subject("recovery.json", _read_recovery),
        "mission": Subject("mission.json", _read_mission),
        "transfer": Subject("transfer.json", _read_transfer),
        "calibration": Subject("calibration.h5", _read_calibration, (FILE_NAME,)),
        "trace": Subject("walk.csv", _read_trace, (FILE_NAME,)),
        "scheduler": Subject("scheduler.json", lambda folder: scheduler_address(folder / "scheduler.json")),
    }
    for name in _SEARCHES:
        found[f"run of {name}"] = Subject(f"{name}/{FILE_NAME}", partial(_resume, name))
    for name in list(_MODEL)[:3]:
        found[f"{name} of several"] = Subject(name, _assemble, tuple(_MODEL))
    for name in _ROBOTS:
        found[f"YAML of {name}"] = Subject(
            f"{name}/{name}.yaml", partial(_walk, name), (f"{name}/{name}.xml",)
        )
        found[f"MJCF of {name}"] = Subject(
            f"{name}/{name}.xml", partial(_walk, name), (f"{name}/{name}.yaml",)
        )
        found[f"draft of {name}"] = Subject(f"{name}/{name}.xml", partial(_draft, name))
    return found


SUBJECTS = _subjects()
