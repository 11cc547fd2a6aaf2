"""Where machine code is kept: a folder for each version of the kernels, and none that is stale."""

import os
import re
import resource
import stat
import subprocess
import sys
import time
from pathlib import Path

from robots.compilation import _APART, sources_hash

MONTH = 30 * 86_400
PACKAGES = ("robots", "repertoire", "adapt", "suites", "surefoot")


def test_edits_of_what_a_kernel_could_import_give_another_folder(tmp_path: Path) -> None:
    names = ("robots/kernel.py", "robots/link/server.py", "repertoire/archive.py")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    counts = {}
    for name in names:
        before, source = sources_hash(tmp_path, ("robots",), ("link",)), tmp_path / name
        changed = source.stat()
        source.write_text("x = 2\n")
        os.utime(source, ns=(changed.st_atime_ns, changed.st_mtime_ns))
        counts[name] = sources_hash(tmp_path, ("robots",), ("link",)) != before
    assert [name for name, edited in counts.items() if edited] == ["robots/kernel.py"]
    before = sources_hash(tmp_path)
    source.rename(source.with_name("other.py"))
    assert sources_hash(tmp_path) != before


def test_kernels_import_no_room_whose_edits_do_not_count() -> None:
    modules = [
        ".".join(path.with_suffix("").parts)
        for package in PACKAGES
        for path in sorted(Path(package).rglob("*.py"))
        if {"from robots.compilation import compiled", "from numba"} & set(path.read_text().split("\n"))
    ]
    assert len(modules) > 5
    loaded = f"import sys, {', '.join(modules)}\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True).stdout.split()
    assert "robots.simulation.task" in loaded
    assert not [name for name in loaded if name.startswith(tuple(f"robots.{room}" for room in _APART))]


def run_python(folder: Path, code: str, **environment: str) -> str:
    """Run code with a cache of machine code in a folder; returns what it printed and complained of."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


MACHINE_CODE = "from robots.compilation import machine_code\nprint(machine_code('robots'))"


def test_folders_that_were_not_used_for_weeks_are_removed_and_nothing_else(tmp_path: Path) -> None:
    old, recent, foreign = (tmp_path / n for n in ("kernels-" + "a" * 16, "kernels-" + "b" * 16, "mine"))
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


def test_kernels_work_without_a_home_and_say_so_once(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(
        "import pwd\n"
        "def unknown(_): raise KeyError\n"
        "pwd.getpwuid = unknown\n"  # a user whom the system does not know
        "from robots.compilation import compiled\n"
        "@compiled()\ndef one(x):\n    return x + 1\n"
        "@compiled()\ndef two(x):\n    return one(x) + 1\n"
        "print(two(1.0))\n"
    )
    names = ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    command, environment["PYTHONPATH"] = [sys.executable, tmp_path / "kernels.py"], str(Path.cwd())
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.stdout == "3.0\n"
    assert re.fullmatch(r"surefoot: machine code is not kept, .* NUMBA_CACHE_DIR\n", ended.stderr)


def run_package(folder: Path, sources: dict[str, str], **options) -> subprocess.CompletedProcess[str]:
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


def run_kernels(folder: Path, **options) -> subprocess.CompletedProcess[str]:
    kernels = "".join(f"@compiled()\ndef f{number}(x):\n    return x + {number}\n" for number in range(3))
    source = (
        "from numba import types\nfrom robots.compilation import compiled, function_pointer\n"
        f"{kernels}def pointed(x):\n    x[0] += 6\n"
        "pointer = function_pointer(pointed, types.void(types.float64[:]))\n"
        "print(*(f(1.0) for f in (f0, f1, f2)))\n"
    )
    return run_package(folder, {"kernels": source}, **options)


def test_damaged_machine_code_is_removed_and_compiled_anew(tmp_path: Path) -> None:
    """As a power cut leaves files, of the index and of the code, one in each function; said in one line."""
    assert run_kernels(tmp_path).stderr == ""
    (folder,) = (tmp_path / "cache").glob("kernels-*")
    files = {path.name.split("-")[0]: {} for path in folder.rglob("*.nb?")}
    for path in folder.rglob("*.nb?"):
        files[path.name.split("-")[0]][path.suffix] = path
    assert sorted(files) == [*(f"kernels.f{number}" for number in range(3)), "kernels.pointed"]
    ways = (
        ("f0", ".nbi", b""),
        ("f1", ".nbc", bytes(1000)),
        ("f2", ".nbc", files["kernels.f2"][".nbc"].read_bytes()[:500]),
        ("pointed", ".nbi", b"\xff"),
    )
    for name, suffix, content in ways:
        files[f"kernels.{name}"][suffix].write_bytes(content)
    ended = run_kernels(tmp_path)
    assert ended.stdout == "1.0 2.0 3.0\n"
    assert re.fullmatch(r"surefoot: kept machine code was damaged, .*: compiling anew\n", ended.stderr)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb?")}
    assert len(before) == 8
    assert run_kernels(tmp_path).stderr == ""
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb?")} == before, "all of it was used"


def test_a_full_disk_under_the_machine_code_is_gone_on_without(tmp_path: Path) -> None:
    """A file can have no more than a few bytes, as on a disk that is nearly full."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # noqa: E731
    ended = run_kernels(tmp_path, preexec_fn=limit)
    assert ended.stdout == "1.0 2.0 3.0\n"
    assert re.fullmatch(r"surefoot: machine code cannot be kept .*: going on without\n", ended.stderr)
    assert not list((tmp_path / "cache").rglob("*.nb?"))
    assert run_kernels(tmp_path).stderr == ""
