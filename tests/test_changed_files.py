"""A changed file of any kind is read as what it holds, or refused in one sentence.

`SUREFOOT_EXAMPLES=2000` tries so many changes of each kind of file instead of a few, always the same.
"""

import json
import os
import shutil
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import h5py
import mujoco
import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from adapt.damage.text import read_damages
from adapt.rehearsal.storage import read_table
from adapt.self_model.calibration import read_traces
from repertoire.storage.files import FILE_NAME
from repertoire.storage.formats import Contents, write_group
from repertoire.storage.repertoires import fingerprint, read_repertoire, write_repertoire
from repertoire.training.runs import resume_training, start_training
from robots.errors import SurefootError
from robots.importing.draft import draft_robot
from robots.mjcf.reading import read_self_contained
from robots.robot import Robot, find_robot
from robots.simulation.threads import Threads
from suites.records import read_record
from suites.recovery.results import parse_result
from suites.study import keep_identity
from surefoot.api import deploy
from tests.adapt.rehearsal.small import save_rehearsal, small_repertoire, small_robot
from tests.robots.stepping import run_episodes

tried = settings(
    max_examples=int(os.environ.get("SUREFOOT_EXAMPLES", "8")),
    derandomize=True,
    phases=[Phase.generate],  # to look for the smallest change that fails takes minutes
    database=None,
    deadline=None,
    suppress_health_check=[*HealthCheck],
)
IDENTITY = {"of": "optimization", "evaluations": {"sphere-100": 2000}, "seed": 7, "options": "none"}
RECOVERY = {
    **{"case": "T3-001", "selector": "rehearsed", "number": 0, "seed": 7, "damage": "front_left:lost"},
    **{"gait": 3, "final": 2.1, "score": 2.0, "took": 9.5},
    **{"scores": (0.5, 2.0), "falls": (True, False), "stop": 2, "seconds": 1.5, "explained": 0.8},
}
TETRAHEDRON = "v 0 0 0\nv {0} 0 0\nv 0 {0} 0\nv 0 0 {0}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
OUTSIDE = '<mujoco><worldbody><body name="arm"><geom name="leak" size="1"/></body></worldbody></mujoco>'
PARTS = {  # a model of several files in a folder, and files outside
    "parts/robot.xml": """<mujoco><compiler meshdir="meshes"/><include file="part"/>
        <asset><mesh name="m" file="m.obj"/><model name="arm" file="arm.xml"/></asset>
        <worldbody><body name="b"><joint/><geom type="mesh" mesh="m"/></body>
        <attach model="arm" body="arm" prefix="a_"/></worldbody></mujoco>""",
    "parts/part": '<mujoco><option timestep="0.004"/><asset><mesh name="p" file="m.obj"/></asset></mujoco>',
    "parts/arm.xml": '<mujoco><worldbody><body name="arm"><geom size="1"/></body></worldbody></mujoco>',
    "parts/meshes/m.obj": TETRAHEDRON.format(1),
    "outside.xml": OUTSIDE,
    "outside.obj": TETRAHEDRON.format(1) + TETRAHEDRON.format(2),  # the only file of eight vertices
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """A sound file of every kind."""
    folder = tmp_path_factory.mktemp("corpus")
    robot = small_robot()
    (folder / "small").mkdir()
    (folder / "small" / "small.yaml").write_text(robot.yaml)
    (folder / "small" / "small.xml").write_text(robot.xml)
    (folder / "damages.yaml").write_text("- front_left:lost\n- all:weak@0.7+floor:slope@5\n")
    (folder / "recovery.json").write_text(json.dumps(RECOVERY))
    keep_identity(folder, IDENTITY)
    for name, text in PARTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    trained = small_repertoire()
    write_repertoire(folder / FILE_NAME, trained)
    save_rehearsal(folder / "rehearsal.h5", trained, ["front_left:lost"], episodes=1)
    deploy(trained, "best", seconds=5 * trained.robot.control_step, csv=folder / "walk.csv")
    for algorithm in ("cma-mae", "openai-mae", "map-elites-line"):
        out = folder / algorithm
        with start_training("sphere-4", algorithm, out=out, evaluations=10**6, archive="5,5", seed=1) as run:
            run.step()
            run.save(out / FILE_NAME)
    return folder


def check(corpus: Path, name: str, change: Callable[[Path], object], read: Callable[[Path], object]) -> None:
    """Change a file in a copy of the corpus, and read it as a user would."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = shutil.copytree(corpus, Path(temporary) / "files")
        change(folder / name)
        with suppress(SurefootError):
            read(folder)


# What files are changed to

PLACES = st.floats(0, 1, exclude_max=True)  # as a share of all places
NUMBERS = (2**63, 10**30, 10**400, 1e31, -1e308, float("nan"), float("inf"))
EXTREMES = st.sampled_from([*NUMBERS, "a" * 5000, "\x1b[31m", "../x", [0] * 3000])
VALUES = EXTREMES | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
TREE_KINDS = st.sampled_from(["replace", "replace", "delete", "rename", "repeat"])
TREE_EDITS = st.lists(st.tuples(PLACES, TREE_KINDS, VALUES), min_size=1, max_size=3)
BYTE_EDITS = st.lists(st.tuples(PLACES, st.integers(0, 20), st.binary(max_size=10)), min_size=1, max_size=4)
ASCII = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=9)
WORDS = st.sampled_from(["", "0 0", "nan", "-1", "0", "1e308", "900G", "&#27;", "a" * 500]) | ASCII
PATHS = st.sampled_from(
    ["../outside.xml", "../outside.obj", "..\\outside.obj", "outside.obj", "/etc/passwd", "part", "..", "/"]
)
ATTRIBUTES = st.sampled_from(
    ["timestep", "iterations", "size", "pos", "quat", "mass", "gear", "kp", "range", "count", "memory"]
)
ELEMENTS = st.sampled_from(
    [
        "<body name='extra' pos='0 0 9'><freejoint/><geom size='1' type='sphere'/></body>",
        "<replicate count='50' offset='1 0 0'><geom size='1' type='sphere'/></replicate>",
        "<asset><hfield name='hills' nrow='9000' ncol='9000' size='1 1 1 1'/></asset>",
        "<asset><texture name='sky' builtin='flat' width='20000' height='20000'/></asset>",
        "<asset><hfield name='png' file='../outside.xml' size='1 1 1 1'/></asset>",
        "<include file='../outside.xml'/>",
        "<size memory='100K'/>",
        "<compiler balanceinertia='true' boundmass='1' settotalmass='1e9' meshdir='..'/>",
        "<default><geom density='1e9' friction='0 0 0'/></default>",
        "<extension><plugin plugin='mujoco.pid'/></extension>",
    ]
)
XML_KINDS = st.sampled_from(["change", "change", "add", "delete"])
XML_EDITS = st.lists(st.tuples(PLACES, XML_KINDS, ATTRIBUTES, WORDS, PATHS, ELEMENTS), min_size=1, max_size=3)
DTYPES = st.sampled_from([np.float32, np.float64, np.int64, np.uint8, np.bool_])
SHAPES = array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
ARRAYS = DTYPES.flatmap(lambda dtype: arrays(dtype, SHAPES))


def change_bytes(data: bytes, edits: list[tuple[float, int, bytes]]) -> bytes:
    for place, removed, added in edits:
        at = int(place * len(data))
        data = data[:at] + added + data[at + removed :]
    return data


def change_tree(tree, edits):
    """Change values, keys and the nesting of what a YAML or JSON holds."""
    tree = [tree]  # so that the whole can be changed, too
    for place, kind, value in edits:
        found, waiting = [], [tree]
        while waiting:
            parent = waiting.pop()
            keys = range(len(parent)) if isinstance(parent, list) else list(parent)
            found += [(parent, key) for key in keys]
            waiting += [parent[key] for key in keys if isinstance(parent[key], list | dict)]
        parent, key = found[int(place * len(found))]
        if kind == "delete" and isinstance(parent, dict):
            del parent[key]
        elif kind == "rename" and isinstance(parent, dict):
            parent[str(value)[:9]] = parent.pop(key)
        elif kind == "repeat" and isinstance(parent[key], list):
            parent[key] = parent[key] * 2
        else:
            parent[key] = value
    return tree[0]


def change_xml(text: str, edits: list[tuple[float, str, str, str, str, str]]) -> str:
    """Change attributes and elements of an MJCF."""
    root = ElementTree.fromstring(text)
    for place, kind, name, word, path, element in edits:
        parts = [part for part in root.iter() if len(part) or part.attrib]
        part = parts[int(place * len(parts))]
        users = [name for name in ("file", "meshdir", "assetdir") if name in part.attrib]
        if kind == "delete" and len(part):
            part.remove(part[0])
        elif kind == "add":
            part.append(ElementTree.fromstring(element))
        elif users:
            part.set(users[0], path)
        else:
            part.set(next(iter(part.attrib)) if part.attrib and kind == "change" else name, word)
    return ElementTree.tostring(root, encoding="unicode")


def change_hdf5(path: Path, place: float, array: np.ndarray, texts: list, numbers: list) -> None:
    """Replace an array, or change a text as the JSON or MJCF that it is; checksums are made anew."""
    with h5py.File(path, "r") as file:
        attributes, names = dict(file.attrs), list[str]()
        file.visit(names.append)
        found = {name: file[name][()] for name in names if isinstance(file[name], h5py.Dataset)}
    name = list(found)[int(place * len(found))]
    old = found[name]
    if not isinstance(old, bytes):
        with np.errstate(all="ignore"):
            fitted = np.resize(array, old.shape).astype(old.dtype)
        found[name] = array if len(texts) == 1 else fitted
    elif old[:1] in b"{[":
        found[name] = json.dumps(change_tree(json.loads(old), texts)).encode()
    else:
        found[name] = change_bytes(old, numbers).decode(errors="replace").encode()
    with h5py.File(path, "w", libver="v108") as file:
        for attribute, value in attributes.items():
            file.attrs[attribute] = value
        for group in ("", "search/"):
            inside = {
                name.removeprefix(group): value
                for name, value in found.items()
                if name.startswith("search/") == bool(group)
            }
            if inside:
                texts = {name: value.decode() for name, value in inside.items() if isinstance(value, bytes)}
                rest = {name: np.asarray(value) for name, value in inside.items() if name not in texts}
                write_group(file.require_group(f"/{group}"), Contents(rest, texts))


# How a user reads them


def use_repertoire(folder: Path) -> None:
    repertoire = read_repertoire(folder / FILE_NAME)
    write_repertoire(folder / "again.h5", repertoire)
    assert fingerprint(read_repertoire(folder / "again.h5")) == fingerprint(repertoire)
    if len(repertoire):
        assert np.isfinite(repertoire.policy("best")(np.zeros(repertoire.robot.observation_dim))).all()


def use_run(folder: Path, algorithm: str) -> None:
    with resume_training(folder / algorithm, backend=Threads(1)) as training:
        if training is not None and len(training.ask()) <= 1000:
            training.repertoire()


def use_robot(robot: Robot) -> None:
    if robot.description.substeps > 200 or robot.controller.parameter_count > 10**6:
        return  # it is slow, as a description may ask for
    episodes = run_episodes(robot.with_episode_steps(5), robot.controller.initial(np.random.default_rng(0)))
    assert episodes.diverged[0] or np.isfinite(episodes.objectives[0])


def use_parts(folder: Path) -> None:
    model = mujoco.MjModel.from_xml_string(read_self_contained(folder / "parts" / "robot.xml"))
    assert "leak" not in {model.geom(geom).name[-4:] for geom in range(model.ngeom)}, "a file outside"
    assert 8 not in model.mesh_vertnum, "a file outside was read"


HDF5: dict[str, Callable[[Path], object]] = {
    FILE_NAME: use_repertoire,
    "rehearsal.h5": lambda folder: read_table(folder / "rehearsal.h5", read_repertoire(folder / FILE_NAME)),
    f"cma-mae/{FILE_NAME}": lambda folder: use_run(folder, "cma-mae"),
    f"openai-mae/{FILE_NAME}": lambda folder: use_run(folder, "openai-mae"),
    f"map-elites-line/{FILE_NAME}": lambda folder: use_run(folder, "map-elites-line"),
}
TREES: dict[str, Callable[[Path], object]] = {
    "small/small.yaml": lambda folder: use_robot(find_robot(str(folder / "small" / "small.yaml"))),
    "damages.yaml": lambda folder: [
        damage.apply(small_robot()) for damage in read_damages(folder / "damages.yaml", small_robot())[:3]
    ],
    "study.json": lambda folder: keep_identity(folder, IDENTITY),
    "recovery.json": lambda folder: read_record(folder / "recovery.json", "recovery", parse_result),
}
MJCF: dict[str, tuple[str, Callable[[Path], object]]] = {
    "robot": ("small/small.xml", TREES["small/small.yaml"]),
    "draft": (
        "small/small.xml",
        lambda folder: use_robot(
            find_robot(str(draft_robot(folder / "small" / "small.xml", overwrite=True).path))
        ),
    ),
    "parts": ("parts/robot.xml", use_parts),
    "included": ("parts/part", use_parts),
    "attached": ("parts/arm.xml", use_parts),
}


@pytest.mark.parametrize("name", HDF5)
@given(PLACES, ARRAYS, TREE_EDITS, BYTE_EDITS)
@tried
def test_hdf5(corpus, name, place, array, texts, numbers) -> None:
    check(corpus, name, lambda path: change_hdf5(path, place, array, texts, numbers), HDF5[name])


@pytest.mark.parametrize("name", TREES)
@given(TREE_EDITS)
@tried
def test_yaml_and_json(corpus, name, edits) -> None:
    def change(path: Path) -> None:
        tree = change_tree(yaml.safe_load(path.read_text()), edits)
        path.write_text(json.dumps(tree) if path.suffix == ".json" else yaml.safe_dump(tree))

    check(corpus, name, change, TREES[name])


@pytest.mark.parametrize("name", MJCF)
@given(XML_EDITS)
@tried
def test_mjcf(corpus, name, edits) -> None:
    file, read = MJCF[name]
    check(corpus, file, lambda path: path.write_text(change_xml(path.read_text(), edits)), read)


@pytest.mark.parametrize("name", [*HDF5, *TREES, "small/small.xml", "walk.csv"])
@given(BYTE_EDITS)
@tried
def test_bytes(corpus, name, edits) -> None:
    read = HDF5.get(name) or TREES.get(name) or TREES["small/small.yaml"]
    if name == "walk.csv":
        read = lambda folder: read_traces([folder / name], read_repertoire(folder / FILE_NAME))  # noqa: E731
    check(corpus, name, lambda path: path.write_bytes(change_bytes(path.read_bytes(), edits)), read)
