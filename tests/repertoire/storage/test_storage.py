"""Repertoires in files: exact round trips, refusals, and what survives a crash."""

import dataclasses
import os
import re
import subprocess
import sys
from contextlib import suppress
from unittest import mock

import h5py
import numpy as np
import pytest

from repertoire.algorithms.catalogue import ALGORITHMS
from repertoire.archives.archive import Elites
from repertoire.problems.locomotion import walking_record
from repertoire.repertoire import Repertoire, Specialists, Spread
from repertoire.storage.formats import Contents, read_group
from repertoire.storage.repertoires import fingerprint, read_repertoire, read_search, write_repertoire
from robots.errors import InvalidFileError, InvalidRobotError, InvalidValueError
from robots.robot import load_robot
from tests.adapt.rehearsal.small import small_robot
from tests.repertoire.conftest import arrays_in

GRID = (2, 3, 2, 1)
CELLS = [1, 4, 11]


@pytest.fixture(scope="module")
def robot():
    return small_robot()  # so that a file is small enough to be damaged byte by byte


def make_repertoire(robot, k=3):
    rng = np.random.default_rng(0)
    controller = robot.controller
    solutions = rng.standard_normal((k, controller.parameter_count), dtype=np.float32)
    settings = {"evaluations": 100, "seed": 2**70, "sigma0": 0.1}
    settings |= {"archive": GRID, "min_objective": -374.7}
    return Repertoire(
        problem=walking_record(robot.with_episode_steps(10)),
        settings=ALGORITHMS.find("cma-mae").settings(settings),
        elites=Elites(np.array(CELLS[:k], np.int64), solutions, rng.normal(size=k), rng.random((k, 4))),
        thresholds=np.append(rng.normal(size=11), -np.inf),
        history={
            "evaluations": np.array([40, 80]),
            "best": np.array([np.nan, 2.5]),
            "emitter_0/condition_number": np.array([np.nan, np.nan]),
            "emitter_0/stop": np.array([0, 3]),
        },
        versions={"surefoot": "0.1.0", "naïve": "é"},
    )


def with_problem(repertoire, **changes):
    return dataclasses.replace(repertoire, problem=dataclasses.replace(repertoire.problem, **changes))


def make_spread():
    return Spread(
        objective_std=np.array([0.0, 1.5, 2.5]),
        measure_std=np.linspace(0, 0.5, 12).reshape(3, 4),
        reproducibility=np.array([0.0, 0.5, 1.0]),
        episodes=10,
        seed=2**63 - 1,
    )


def make_specialists(robot):
    elites = make_repertoire(robot).elites
    gaits = Elites(np.array([11, 4]), *(column[:2] + 1 for column in list(vars(elites).values())[1:]))
    damages = (("front_left:lost",), ("all:weak", "floor:friction"))
    return Specialists(gaits, np.array([4, 4]), np.array([1000, 1]), damages)


@pytest.fixture
def repertoire(robot):
    return dataclasses.replace(
        make_repertoire(robot), spread=make_spread(), specialists=make_specialists(robot)
    )


@pytest.fixture
def path(tmp_path, repertoire):
    path = tmp_path / "repertoire.h5"
    write_repertoire(path, repertoire, search=SEARCH)
    return path


SEARCH = {
    "emitter_0/strategy/mean": np.linspace(0, 1, 7),
    "emitter_0/strategy/sigma": np.array(0.5),
    "emitter_0/restarts": np.array(2),
    "soft/thresholds": np.array([-np.inf, 0.5]),
    "bits": np.array([2**64 - 1, 0], np.uint64),
    "flags": np.array([True, False]),
    "empty": np.zeros((0, 3), np.float16),
    "big endian": np.arange(3, dtype=">f8"),
    "columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
}


def assert_same(actual, expected):
    for (name, one), (other, value) in zip(arrays_in(actual), arrays_in(expected), strict=True):
        assert (name, one.dtype, one.shape) == (other, value.dtype, value.shape)
        assert one.tobytes() == value.tobytes(), name


def assert_equal(actual, expected):
    for name in ("elites", "thresholds", "history", "spread", "specialists", "gaits"):
        assert_same(getattr(actual, name), getattr(expected, name))
    if expected.specialists:
        assert actual.specialists.damages == expected.specialists.damages
    for name in ("controller", "settings", "versions"):
        assert getattr(actual, name) == getattr(expected, name)
    assert (actual.robot.xml, actual.robot.yaml) == (expected.robot.xml, expected.robot.yaml)
    assert actual.robot.description == expected.robot.description


@pytest.mark.parametrize("kind", ["corrected", "strengthened", "uncorrected", "empty", "full network"])
def test_a_repertoire_comes_back_exactly(tmp_path, robot, kind):
    path = tmp_path / "a.h5"
    expected = make_repertoire(load_robot("ant") if "network" in kind else robot, k=3 * (kind != "empty"))
    if kind == "corrected":
        expected = dataclasses.replace(expected, spread=make_spread())
    if kind == "strengthened":
        expected = dataclasses.replace(expected, specialists=make_specialists(robot))
    write_repertoire(path, expected)
    assert_equal(read_repertoire(path), expected)
    assert read_search(path) is None, "the run is finished"


def test_a_fingerprint_tells_controllers_apart_but_not_settings(repertoire):
    settings = repertoire.settings.model_copy(update={"evaluations": 7})
    same = dataclasses.replace(repertoire, settings=settings, history={}, versions={})
    assert fingerprint(same) == fingerprint(repertoire)
    elites = dataclasses.replace(repertoire.elites, solutions=-repertoire.elites.solutions)
    for other in (
        dataclasses.replace(repertoire, elites=elites),
        with_problem(repertoire, controller="mlp-1"),
        dataclasses.replace(repertoire, specialists=None),
    ):
        assert fingerprint(other) != fingerprint(repertoire)


def test_a_search_state_comes_back_exactly(path):
    assert_same(read_search(path), SEARCH)


# What a file can have wrong: how it came to be so, and what the message says.


def replace(file, name, value):
    del file[name]
    file[name] = value


def change(name, edit):
    return lambda file: replace(file, name, edit(file[name][()]))


def with_value(array, index, value):
    array[index] = value
    return array


def text(edit):
    return lambda value: np.bytes_(edit(value.decode()).encode())


def link(name, target):
    return lambda file: replace(file, name, target)


def virtual(file):
    layout = h5py.VirtualLayout((12,), "<f8")
    layout[:] = h5py.VirtualSource("other.h5", "thresholds", (12,))
    del file["thresholds"]
    file.create_virtual_dataset("thresholds", layout)


def declare(name, shape, **options):
    def edit(file):
        del file[name]
        file.create_dataset(name, shape, "<f4", **options)

    return edit


SOUND_SEAL = {
    "no elites": (lambda file: file.pop("elites"), "the array 'elites/cells' is missing"),
    "half a spread": (lambda file: file.pop("spread/seed"), "the array 'spread/seed' is missing"),
    "wrong type": (change("elites/solutions", lambda a: a.astype("<f8")), "'elites/solutions' must be"),
    "cells twice": (change("elites/cells", lambda a: a * 0), "'elites/cells' must be different numbers"),
    "damages of no specialists": (
        lambda file: [
            file.pop(f"specialists/{name}") for name in list(file["specialists"]) if name != "damages"
        ],
        "the text 'specialists/damages' must be there if, and only if, there are specialists",
    ),
    "too few damages": (
        change("specialists/damages", text(lambda _: '[["front_left:lost"]]')),
        "'specialists/damages' must hold a list of texts for each of 2 specialists",
    ),
    "objectives beyond measure": (
        change("elites/objectives", lambda a: with_value(a, 1, -1e308)),
        r"'elites/objectives' must be finite and from -1e\+30 to 1e\+30, but 1 of 3 values are not",
    ),
    "control characters": (
        change("versions", text(lambda t: t.replace("surefoot", r"\u001b[2J"))),
        r"the character '\\x1b' cannot be part of a text",
    ),
    "another controller": (change("controller", text(lambda t: "mlp-1")), "its controllers are 'mlp-1'"),
    "MJCF including a file": (
        change("robot/mjcf", text(lambda t: t.replace("<worldbody>", "<include file='/etc/x'/><worldbody>"))),
        "its robot: the MJCF cannot be read: it refers to '/etc/x', which cannot be opened",
    ),
    "files that are no base64": (
        lambda file: file.create_dataset("robot/files", data=np.bytes_(b'{"policy.onnx": 3}')),
        "'robot/files' must hold texts in base64",
    ),
    "soft link": (link("thresholds", h5py.SoftLink("/elites/cells")), "the array 'thresholds' is missing"),
    "external link": (link("elites", h5py.ExternalLink("other.h5", "/elites")), "the array 'elites/cells'"),
    "virtual": (virtual, "'thresholds' must be stored in the file itself"),
    "external": (
        declare("thresholds", (12,), external=[("/etc/hostname", 0, 96)]),
        "'thresholds' must be stored in the file itself",
    ),
    "compressed": (
        declare("elites/solutions", (10**7, 10**3), chunks=(10**4, 10**3), compression="gzip"),
        r"'elites/solutions' claims shape \(10000000, 1000\)",
    ),
    "unknown": (
        lambda file: file.copy("elites/cells", "elites/again"),
        "the array 'elites/again' is not part of the format",
    ),
    "a filter for which HDF5 would look in libraries": (
        declare("thresholds", (12,), chunks=(12,), compression="lzf"),
        "'thresholds' must be compressed with gzip, or not at all",
    ),
    "another version": (lambda file: file.attrs.create("version", 7), "it is in version 7 of the format"),
}


def seal(file):
    """Give an edited file the checksum that its author would."""
    checksums, checksum = [], Contents.checksum

    def record(contents):
        checksums.append(checksum(contents))
        return checksums[-1]

    with mock.patch.object(Contents, "checksum", record), suppress(Exception):
        read_group(file, without="search")
    if checksums:  # otherwise the file is refused before the checksum matters
        file.attrs["checksum"] = np.bytes_(checksums[0].encode())


@pytest.mark.parametrize("case", SOUND_SEAL)
def test_refuses_what_is_not_a_sound_repertoire(path, case):
    edit, message = SOUND_SEAL[case]
    with h5py.File(path, "r+") as file:
        edit(file)
        seal(file)
    with pytest.raises(
        InvalidFileError, match=f"^{re.escape(str(path))}(: | is damaged or incomplete: )({message})"
    ):
        read_repertoire(path)


def test_refuses_a_search_state_that_does_not_match_its_checksum(path):
    with h5py.File(path, "r+") as file:
        file["search/emitter_0/strategy/sigma"][()] = 1
    read_repertoire(path)
    with pytest.raises(InvalidFileError, match="the content of /search does not match its checksum"):
        read_search(path)


@pytest.mark.parametrize("target", [h5py.SoftLink("/elites"), h5py.ExternalLink("other.h5", "/search")])
def test_refuses_a_search_state_that_is_a_link(path, target):
    with h5py.File(path, "r+") as file:
        link("search", target)(file)
    with pytest.raises(InvalidFileError, match="'search' is a link"):
        read_search(path)


@pytest.mark.parametrize("read", [read_repertoire, read_search])
def test_refuses_what_is_not_a_file_of_this_kind(path, tmp_path, read):
    whole = path.read_bytes()
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "half").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "short").write_bytes(whole[:-1])
    with h5py.File(tmp_path / "hdf5", "w") as other:
        other["a"] = 1
    for name, message in {
        "nowhere": " cannot be read: no such file or directory",
        ".": " cannot be read: it is a folder",
        "pipe": " cannot be read: it is not a regular file",
        "text": " cannot be read: it is not an HDF5 file",
        "empty": " cannot be read: it is not an HDF5 file",
        "half": " is damaged or incomplete: .*truncated",
        "short": " is damaged or incomplete: .*truncated",
        "hdf5": ": it is no repertoire file",
    }.items():
        with pytest.raises(InvalidFileError, match=f"^{re.escape(str(tmp_path / name))}{message}"):
            read(tmp_path / name)


def test_a_flipped_byte_is_refused_or_changes_nothing(path, repertoire):
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    refused = 0
    for position in rng.permutation(len(whole))[:60]:
        damaged = bytearray(whole)
        damaged[position] ^= rng.integers(1, 256)
        path.write_bytes(damaged)
        try:
            assert_equal(read_repertoire(path), repertoire)
            assert_same(read_search(path), SEARCH)
        except InvalidFileError:
            refused += 1
    assert refused > 50


def damaged(repertoire):
    robot = repertoire.robot.modified("a heavier torso", lambda spec: None)
    return with_problem(repertoire, robot=robot)


def with_reference(repertoire):
    robot = dataclasses.replace(repertoire.robot, xml="<mujoco><include file='a.xml'/></mujoco>")
    return with_problem(repertoire, robot=robot)


def changed(**changes):
    return lambda repertoire: dataclasses.replace(repertoire, **changes)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (changed(thresholds=np.zeros(3)), r"'thresholds' must have shape \(12,\), not \(3,\)"),
        (changed(history={"a": np.array(["x"])}), "'history/a' must be real numbers to be saved, not <U1"),
        (with_reference, "its robot: the MJCF cannot be read: it refers to 'a.xml'"),
        (damaged, "but this ant was modified in Python \\(a heavier torso\\)"),
    ],
)
def test_does_not_write_what_it_could_not_read(path, repertoire, edit, message):
    before = path.read_bytes()
    with pytest.raises(InvalidRobotError if edit is with_reference else InvalidValueError, match=message):
        write_repertoire(path, edit(repertoire))
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


FILL_THE_DISK = """
import resource, sys
from pathlib import Path
import numpy as np
from repertoire.storage.repertoires import read_repertoire, write_repertoire
from robots.errors import InvalidFileError
path = Path(sys.argv[1])
repertoire = read_repertoire(path)
search = {f"{i}/{j}": np.ones(9) for i in range(9) for j in range(9)} | {"big": np.ones(3000)}
write_repertoire(path.with_name("measure.h5"), repertoire, search=search)
size = path.with_name("measure.h5").stat().st_size
for part in range(1, 30):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size * part // 30, resource.RLIM_INFINITY))
    try:
        write_repertoire(path, repertoire, search=search)
    except InvalidFileError as error:
        print(error)
"""


def test_a_disk_that_fills_up_at_any_point_leaves_the_old_file(path, repertoire):
    before = path.read_bytes()
    command = [sys.executable, "-B", "-W", "error", "-c", FILL_THE_DISK, path]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [f"{path} cannot be written: file too large"] * 29
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["measure.h5", "repertoire.h5"]
