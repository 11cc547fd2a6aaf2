"""Of an MJCF, the files in its folder are read and no others, as the system's calls show."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

import robots.mjcf.reading
from robots.errors import InvalidFileError, InvalidRobotError
from robots.mjcf.reading import read_self_contained
from robots.mjcf.screening import screen

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 4\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
MESH = '<mujoco><asset><mesh name="m" file="{}"/></asset></mujoco>'
BODY = '<worldbody><body name="b"><joint/><geom type="mesh" mesh="m"/></body></worldbody>'


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write files below a folder; returns the path of the first."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / next(iter(files))


def model(inner: str) -> str:
    return f"<mujoco>{inner}</mujoco>"


OUTSIDE = {
    "include": {"a.xml": model('<include file="../secret.xml"/>')},
    "absolute": {"a.xml": model('<asset><hfield name="h" file="{tmp}/secret.png" size="1 1 1 1"/></asset>')},
    "folder": {"a.xml": model('<compiler meshdir=".."/><asset><mesh name="m" file="secret.obj"/></asset>')},
    "written as entities": {"a.xml": model('<include file="&#x2e;./secret.xml"/>')},
    "backslashes in an include": {
        "a.xml": model('<include file="i.xml"/>'),
        "i.xml": MESH.format("..\\secret.obj"),
    },
    "folder in an include": {
        "a.xml": model('<include file="i"/><asset><mesh name="m" file="secret.obj"/></asset>'),
        "i": model('<compiler meshdir="../"/>'),
    },
    "attribute that looks like another": {
        "a.xml": model("""<asset><mesh name="file='" file="../secret.obj"/><mesh name="'"/></asset>""")
    },
    "comment that looks like an end": {
        "a.xml": model('<!-- <x y="--> <include file="../secret.xml"/> <!-- "/> -->')
    },
    "flexible": {
        "a.xml": model(
            '<worldbody><flexcomp name="f" type="mesh" file="../secret.obj" radius="1"/></worldbody>'
        )
    },
    "link": {"a.xml": MESH.format("link.obj")},
}
SECRET = {"secret.xml": model(""), "secret.obj": TETRAHEDRON, "secret.png": ""}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder next to secrets, with a link to one."""
    write(tmp_path, SECRET)
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / "link.obj").symlink_to(tmp_path / "secret.obj")
    return tmp_path / "robot"


@pytest.mark.parametrize("case", OUTSIDE)
def test_a_file_outside_the_folder_is_refused(case: str, folder: Path) -> None:
    files = {name: text.replace("{tmp}", str(folder.parent)) for name, text in OUTSIDE[case].items()}
    with pytest.raises(InvalidRobotError, match=r"outside its folder: copy the file into it$"):
        read_self_contained(write(folder, files))


WITHIN = {
    "folders of assets": {
        "a.xml": model(f'<compiler meshdir="x/y"/><asset><mesh file="m.OBJ"/></asset>{BODY}'),
        "x/y/m.OBJ": TETRAHEDRON,
    },
    "includes in includes": {
        "a.xml": model('<include file="x/i.xml"/>'),
        "x/i.xml": model(f'<include file="j.xml"/><asset><mesh file="m.obj"/></asset>{BODY}'),
        "x/j.xml": model('<option timestep="0.001"/>'),
        "x/m.obj": TETRAHEDRON,
    },
    "relative to the main file": {
        "a.xml": model('<include file="x/i.xml"/>'),
        "x/i.xml": model(f'<include file="x/j.xml"/><asset><mesh file="x/m.obj"/></asset>{BODY}'),
        "x/j.xml": model('<compiler angle="radian"/>'),
        "x/m.obj": TETRAHEDRON,
    },
    "folders in names do not count": {
        "a.xml": model(
            f'<compiler strippath="true" assetdir="x"/><asset><mesh file="/y/m.obj"/></asset>{BODY}'
        ),
        "x/m.obj": TETRAHEDRON,
    },
    "comments that are not XML": {
        "a.xml": model(f'<!-- -- a -- --><asset><mesh file="m.obj"/></asset>{BODY}'),
        "m.obj": TETRAHEDRON,
    },
}


@pytest.mark.parametrize("case", WITHIN)
def test_files_are_found_where_mujoco_finds_them(case: str, tmp_path: Path) -> None:
    path = write(tmp_path, WITHIN[case])
    ours = mujoco.MjModel.from_xml_string(read_self_contained(path))
    theirs = mujoco.MjModel.from_xml_path(str(path))
    assert ours.nmesh == theirs.nmesh == 1
    assert ours.njnt == 1
    for name in ("body_mass", "body_inertia", "mesh_vert"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-6, err_msg=name)


def opened(script: str, folder: Path) -> list[str]:
    """The calls of the system, in a Python process and its children, that open files below a folder."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    log = folder.with_name("log")
    command = ["strace", "-f", "-e", "trace=open,openat,openat2", "-o", log, sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, text=True)
    if "ptrace" in ended.stderr:
        pytest.skip("strace is not permitted")
    assert ended.returncode == 0, ended.stderr
    return [line for line in log.read_text().splitlines() if str(folder) in line]


def test_mujoco_opens_none_of_the_files(tmp_path: Path) -> None:
    """Those of the model are opened once each, by the process that reads them; it starts another one."""
    files = WITHIN["includes in includes"]
    path = write(tmp_path / "robot", files)
    script = f"""
from pathlib import Path
from robots.mjcf.reading import read_self_contained
read_self_contained(Path({str(path)!r}))
"""
    calls = opened(script, tmp_path / "robot")
    assert len({call.split()[0] for call in calls}) == 1, "only one process opens any"
    assert sorted(call.split('"')[1] for call in calls) == sorted(str(path.parent / name) for name in files)


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.obj")
    (tmp_path / "n.obj").symlink_to("/dev/zero")
    for name, error, message in (
        ("m.obj", InvalidFileError, r"m\.obj: it is not a regular file"),
        (".", InvalidFileError, "it is a folder"),
        ("n.obj", InvalidRobotError, "outside its folder"),
    ):
        with pytest.raises(error, match=message):
            read_self_contained(write(tmp_path, {"a.xml": MESH.format(name)}))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.xml": model('<include file="i"/>'), "i": "<mujoco>"}, "'i' is not XML, see line 1"),
        ({"a.xml": '<!DOCTYPE mujoco [<!ENTITY x "y">]><mujoco/>'}, "it declares a type of document"),
        ({"a.xml": model("<x>" * 600 + "</x>" * 600)}, "its elements are nested too deeply"),
        ({"a.xml": model("<x/>" * 400_001)}, "more than 400,000 elements and attributes"),
        ({"a.xml": "<!--" * 1_000_000}, "it is not XML, see line 1"),
        ({"a.xml": model('<texture file=""/><layer/>' * 40_000)}, "Schema violation"),
        ({"a.xml": model('<texture file="x"/><layer/>' * 40_000)}, "Schema violation"),
        ({"a.xml": model('<asset><model name="a" file="b"/></asset>')}, "it attaches the model 'b'"),
        (
            {
                "a.xml": model('<include file="i"/><asset><mesh name="m" file="m.obj"/></asset>'),
                "m.obj": "v" * 600_000,
                "i": "<mujoco>" + " " * 600_000 + "</mujoco>",
            },
            "its files take more than 1 MB",
        ),
        ({"a.xml": MESH.format("m" * 300)}, "file name too long"),
    ],
)
def test_what_would_take_too_much_is_refused(files, message, tmp_path, monkeypatch):
    monkeypatch.setattr(robots.mjcf.reading, "_MOST_BYTES", 3_000_000 if "1 MB" not in message else 1_000_000)
    with pytest.raises((InvalidRobotError, InvalidFileError), match=message):
        read_self_contained(write(tmp_path, files))


def test_a_mesh_that_is_changed_is_read_anew(tmp_path: Path) -> None:
    """MuJoCo by itself often reuses the former one, because the files have one name."""
    path = write(tmp_path, {"a.xml": model(f'<asset><mesh name="m" file="m.obj"/></asset>{BODY}')})
    for height in ("1", "3", "5", "7", "9"):
        (tmp_path / "m.obj").write_text(TETRAHEDRON.replace("0 0 4", f"0 0 {height}"))
        ours = mujoco.MjModel.from_xml_string(read_self_contained(path))
        assert ours.body_mass[1] == pytest.approx(1000 * 2 * float(height) / 6)


def test_a_text_is_accepted_with_its_files_and_not_without(tmp_path: Path) -> None:
    text = model('<asset><mesh name="m" file="m.obj"/></asset>' + BODY)
    screen(text, "mine", {"m.obj": TETRAHEDRON.encode()})
    with pytest.raises(InvalidRobotError, match=r"it refers to 'm\.obj', which cannot be opened"):
        screen(text, "mine")
