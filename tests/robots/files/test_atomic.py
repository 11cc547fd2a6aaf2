"""Files that are replaced in one step."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from robots.errors import InUseError, InvalidFileError
from robots.files.atomic import make_folder, new_folder, replace_file, write_text
from robots.files.locks import locked


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "results.json"
    path.write_text("old")
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def dead_process():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_the_old_file_stays_until_the_body_ends_and_nothing_else_is_left(target):
    with replace_file(str(target)) as temporary:
        assert temporary == target.with_name(f".results.{os.getpid()}.partial.json")
        write_text(temporary, "new, süß")
        assert target.read_text() == "old"
    assert target.read_text(encoding="utf-8") == "new, süß"
    assert names(target.parent) == ["results.json"]


def test_what_cannot_be_replaced_is_refused(target):
    folder, pipe = target.parent, target.parent / "pipe"
    os.mkfifo(pipe)
    for path, reason in {
        folder / "nowhere" / "a.json": "there is no folder .*nowhere",
        target / "a.json": r"there is no folder .*results\.json",
        folder: "it is a folder",
        pipe: "it is not a regular file",
        "/": "it is the root of all folders",
    }.items():
        with pytest.raises(InvalidFileError, match=rf"cannot be written: {reason}$"):
            write_text(path, "x")
    assert pipe.is_fifo()


def test_a_link_stays_and_what_it_leads_to_is_replaced(target):
    link = target.parent / "elsewhere" / "link.json"
    link.parent.mkdir()
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_temporaries_of_dead_processes_are_swept_and_no_others(target):
    dead = target.with_name(f".results.{dead_process()}.partial.json")
    others = [
        target.with_name(f".results.{os.getppid()}.partial.json"),  # alive
        target.with_name(f".results.{dead_process()}.partial.png"),  # of another target
        target.with_name(f".other.{dead_process()}.partial.json"),
    ]
    for path in (dead, *others):
        path.touch()
    write_text(target, "new")
    assert names(target.parent) == sorted(["results.json", *(path.name for path in others)])


def test_a_process_killed_while_writing_leaves_the_old_file(target):
    code = (
        "import sys, time; from pathlib import Path; from robots.files.atomic import replace_file\n"
        "with replace_file(Path(sys.argv[1])) as temporary:\n"
        "    temporary.write_text('half'); print('half', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, target], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "half\n"
        process.send_signal(signal.SIGKILL)
    assert target.read_text() == "old"
    assert len(names(target.parent)) == 2
    write_text(target, "new")
    assert names(target.parent) == ["results.json"]


FULL = OSError(28, "No space left on device")


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), FULL])
def test_a_body_that_raises_leaves_the_old_file_and_no_temporary(target, error):
    def body():
        with replace_file(target) as temporary:
            temporary.write_text("half")
            raise error

    wanted = InvalidFileError if error is FULL else type(error)
    with pytest.raises(wanted, match=r"json cannot be written: no space left on device$|^no$|^$"):
        body()
    assert target.read_text() == "old"
    assert names(target.parent) == ["results.json"]


def interrupted(folder, *files):
    with new_folder(folder):
        for file in files:
            (folder / file).touch()
        raise KeyboardInterrupt


def test_a_new_folder_goes_if_its_body_fails_and_leaves_it_empty(tmp_path):
    with new_folder(tmp_path / "a" / "b"):
        pass
    for folder, *files in ((tmp_path / "a" / "c", "file"), (tmp_path / "e" / "f",)):
        with pytest.raises(KeyboardInterrupt):
            interrupted(folder, *files)
    assert names(tmp_path) == ["a"]
    assert names(tmp_path / "a") == ["b", "c"]
    assert names(tmp_path / "a" / "c") == ["file"]


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_names_that_no_file_can_have_are_refused(tmp_path, name):
    for attempt in (write_text, lambda path, _: make_folder(path), lambda path, _: locked(path).__enter__()):
        with pytest.raises(InvalidFileError, match="no file can have this name"):
            attempt(tmp_path / name, "text")


HOLD = """
import sys, time
from pathlib import Path
from robots.files.locks import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(60)
"""


def test_the_second_is_told_who_holds_it_until_that_process_dies(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"locked\n"
        told = rf"run is in use by process {process.pid} on \S+ since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d: wait"
        with pytest.raises(InUseError, match=told), locked(path):
            pass
        with locked(tmp_path / "another"):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
    with locked(path):
        pass
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


def test_a_lock_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("text")
    (tmp_path / ".run.lock").symlink_to("precious")
    for path in (tmp_path / "a" / "b", tmp_path / "run", Path("/")):
        with pytest.raises(InvalidFileError, match="cannot be locked"), locked(path):
            pass
    assert (tmp_path / "precious").read_text() == "text"
