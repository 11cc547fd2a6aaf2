"""Where machine code is kept: a folder for each version of the kernels, and none that is stale."""

import ast
import os
import re
import resource
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from robots.compilation import kernels_hash, sources_hash

MONTH = 30 * 86_400
PACKAGES = ("robots", "repertoire", "adapt", "suites", "surefoot")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A package of one function that calls another one's in another file."""
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "inner.py").write_text("x = 1\n")
    return tmp_path


def test_an_edit_of_any_source_gives_another_folder(root: Path) -> None:
    source, before = root / "robots" / "inner.py", sources_hash(root)
    changed = source.stat()
    source.write_text("x = 2\n")
    os.utime(source, ns=(changed.st_atime_ns, changed.st_mtime_ns))
    assert sources_hash(root) != before
    source.write_text("x = 1\n")
    assert sources_hash(root) == before
    source.rename(source.with_name("other.py"))
    assert sources_hash(root) != before


def test_machine_code_outlives_edits_of_what_no_kernel_imports(tmp_path: Path) -> None:
    """Whichever way a module is imported, its edits count; those of commands and of texts do not."""
    imports = (
        "import robots.compilation\nfrom robots.direct import X\nfrom robots.room import (\n    module,\n)\n"
    )
    sources = {
        "robots/kernel.py": imports,
        "robots/direct.py": "def f():\n    import robots.lazy as lazy\n",
        "robots/lazy.py": "",
        "robots/room/__init__.py": "",
        "robots/room/module.py": "",
        "surefoot/command.py": "from robots.kernel import kernel\n",
        "robots/room/other.py": "",
    }
    for name, source in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    counts = {}
    for name, source in sources.items():
        before = kernels_hash(tmp_path)
        (tmp_path / name).write_text(source + "# edited\n")
        counts[name] = kernels_hash(tmp_path) != before
    assert [name for name, edited in counts.items() if not edited] == [
        "surefoot/command.py",
        "robots/room/other.py",
    ]


def test_all_that_a_kernel_could_take_constants_from_counts(monkeypatch) -> None:
    """The scan of the lines finds what Python's parser finds, for every module that uses numba."""
    paths = {
        ".".join(path.with_suffix("").parts).removesuffix(".__init__"): path
        for package in PACKAGES
        for path in Path(package).rglob("*.py")
    }
    trees = {name: ast.parse(path.read_bytes()) for name, path in paths.items()}
    imported: dict[str, set[str]] = {}
    for name, tree in trees.items():
        found = {name.rpartition(".")[0]}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name} has a relative import"
                found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
        imported[name] = found
    needed = {name for name, found in imported.items() if found & {"numba", "robots.compilation.compiled"}}
    while more := {found for name in needed for found in imported[name] & paths.keys()} - needed:
        needed |= more
    monkeypatch.setattr("robots.compilation._hash", lambda sources: " ".join(sorted(sources)))
    assert needed - set(kernels_hash(Path.cwd()).split()) == set()


def run_python(folder: Path, code: str, **environment: str) -> str:
    """Run code with a cache of machine code in a folder; returns what it printed and complained of."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


MACHINE_CODE = "from robots.compilation import machine_code\nprint(machine_code())"


def test_folders_that_were_not_used_for_weeks_are_removed_and_nothing_else(tmp_path: Path) -> None:
    old, recent, foreign = (
        tmp_path / name for name in ("kernels-" + "a" * 16, "kernels-" + "b" * 16, "mine")
    )
    for path in (old, recent, foreign):
        path.mkdir(parents=True)
        (path / "code").write_text("")
    for path in (old, foreign):
        os.utime(path, (time.time() - MONTH, time.time() - MONTH))
    own = Path(run_python(tmp_path, MACHINE_CODE).strip())
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    assert not old.exists()
    assert (recent / "code").exists()
    assert (foreign / "code").exists()
    os.utime(own, (time.time() - MONTH, time.time() - MONTH))
    assert Path(run_python(tmp_path, MACHINE_CODE).strip()) == own, "the folder for these sources is kept"


def test_a_place_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    message = (
        "cannot be written (Not a directory): machine code is not kept; NUMBA_CACHE_DIR names another folder"
    )
    assert run_python(tmp_path / "file", MACHINE_CODE) == f"None\nsurefoot: {tmp_path / 'file'} {message}\n"


def test_commands_work_without_a_home_and_say_so_once(tmp_path: Path) -> None:
    """Once in each process, which compile anew."""
    code = (
        "import os, pwd, sys\n"
        "def unknown(_): raise KeyError\n"
        "pwd.getpwuid = unknown\n"  # a user whom the system does not know
        "from surefoot.commands.main import main\n"
        "if __name__ == '__main__': main()\n"
    )
    (tmp_path / "main.py").write_text(code)
    names = ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "MPLCONFIGDIR", "XDG_CONFIG_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment |= {"MPLCONFIGDIR": str(tmp_path), "PYTHONPATH": str(Path.cwd())}
    train = ["train", "sphere-2", "--algorithm", "map-elites", "--evaluations", "40", "--out", "run"]
    ended = subprocess.run(
        [sys.executable, tmp_path / "main.py", *train],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert re.fullmatch(r"surefoot: this user has no home folder: .* NUMBA_CACHE_DIR .*\n", ended.stderr)
    assert (tmp_path / "run").is_dir()


def run_package(folder: Path, sources: dict[str, str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `kernels` among modules with kernels, in a package of its own with a cache next to it."""
    package = folder / "robots"
    package.mkdir(exist_ok=True)
    for name in ("__init__", "compilation"):
        (package / f"{name}.py").write_bytes(Path(f"robots/{name}.py").read_bytes())
    for name, source in sources.items():
        path = package / f"{name}.py"
        if not path.exists() or path.read_text() != source:  # before Numba 0.68 its time counts
            path.write_text(source)
    return subprocess.run(
        [sys.executable, "-B", "-m", "robots.kernels"],  # no byte code, which a limit of files would cut off
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
        **options,
    )


def test_a_caller_in_another_file_is_compiled_anew(tmp_path: Path) -> None:
    """Numba alone would go on with the callee that was compiled into the caller."""
    head, printed = "from robots.compilation import compiled\n", []
    outer = f"{head}from robots.inner import inner\n@compiled()\ndef outer(x):\n    return inner(x)\n"
    for added in (1, 2):
        inner = f"{head}@compiled()\ndef inner(x):\n    return x + {added}\n"
        ended = run_package(tmp_path, {"inner": inner, "kernels": f"{outer}print(outer(1.0))\n"})
        printed.append(ended.stdout)
    assert printed == ["2.0\n", "3.0\n"]


def run_kernels(folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run seven kernels."""
    kernels = "".join(f"@compiled()\ndef f{number}(x):\n    return x + {number}\n" for number in range(6))
    source = (
        "from numba import types\nfrom robots.compilation import compiled, function_pointer\n"
        f"{kernels}def pointed(x):\n    x[0] += 6\n"
        "pointer = function_pointer(pointed, types.void(types.float64[:]))\n"
        "print(*(f(1.0) for f in (f0, f1, f2, f3, f4, f5)))\n"
    )
    return run_package(folder, {"kernels": source}, **options)


def damage(path: Path, way: str) -> None:
    content = path.read_bytes()
    changed = {
        "empty": b"",
        "cut": content[: len(content) // 2],
        "zeros": bytes(len(content)),
        "other bytes": b"\xff" + content[1:],
    }
    path.write_bytes(changed[way])


def test_damaged_machine_code_is_removed_and_compiled_anew(tmp_path: Path) -> None:
    """As a power cut leaves files, of the index and of the code, one in each function; said in one line."""
    assert run_kernels(tmp_path).stderr == ""
    (folder,) = (tmp_path / "cache").glob("kernels-*")
    files = {path.name.split("-")[0]: {} for path in folder.rglob("*.nb?")}
    for path in folder.rglob("*.nb?"):
        files[path.name.split("-")[0]][path.suffix] = path
    assert sorted(files) == [*(f"kernels.f{number}" for number in range(6)), "kernels.pointed"]
    ways = (
        ("f0", ".nbi", "empty"),
        ("f1", ".nbi", "cut"),
        ("f2", ".nbc", "empty"),
        ("f3", ".nbc", "cut"),
        ("f4", ".nbc", "zeros"),
        ("f5", ".nbc", "other bytes"),
        ("pointed", ".nbi", "other bytes"),
    )
    for name, suffix, way in ways:
        damage(files[f"kernels.{name}"][suffix], way)
    ended = run_kernels(tmp_path)
    assert ended.stdout == "1.0 2.0 3.0 4.0 5.0 6.0\n"
    assert re.fullmatch(r"surefoot: machine code in \S+ was damaged, .*: compiling anew\n", ended.stderr)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb?")}
    assert len(before) == 14
    assert run_kernels(tmp_path).stderr == ""
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb?")} == before, "all of it was used"


def test_a_full_disk_under_the_machine_code_is_gone_on_without(tmp_path: Path) -> None:
    """A file can have no more than a few bytes, as on a disk that is nearly full."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # noqa: E731
    ended = run_kernels(tmp_path, preexec_fn=limit)
    assert ended.stdout == "1.0 2.0 3.0 4.0 5.0 6.0\n"
    assert re.fullmatch(r"surefoot: machine code cannot be kept in .*: going on without\n", ended.stderr)
    assert not list((tmp_path / "cache").rglob("*.nb?"))
    assert run_kernels(tmp_path).stderr == ""


def test_a_function_that_comes_from_no_file_is_compiled_each_time() -> None:
    names: dict[str, Any] = {}
    exec("from robots.compilation import compiled\n@compiled()\ndef f(x):\n    return 2 * x\n", names)
    assert names["f"](2.0) == 4
