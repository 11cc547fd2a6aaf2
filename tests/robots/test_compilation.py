"""Where machine code is kept: a folder for each version of the sources, and none that is stale."""

import os
import re
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robots.compilation import prepare_cache, sources_hash

MONTH = 30 * 86_400


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


def test_folders_that_were_not_used_for_weeks_are_removed_and_nothing_else(root: Path) -> None:
    folder = root / "cache"
    old, recent, foreign = (folder / name for name in ("kernels-" + "a" * 16, "kernels-" + "b" * 16, "mine"))
    for path in (old, recent, foreign):
        path.mkdir(parents=True)
        (path / "code").write_text("")
    for path in (old, foreign):
        os.utime(path, (time.time() - MONTH, time.time() - MONTH))
    own = prepare_cache(root, folder)
    assert own.is_dir()
    assert not old.exists()
    assert (recent / "code").exists()
    assert (foreign / "code").exists()
    os.utime(own, (time.time() - MONTH, time.time() - MONTH))
    assert prepare_cache(root, folder) == own, "the folder in use is kept, however old"


def test_a_place_that_cannot_be_written_is_said_in_one_line(root: Path, capsys, monkeypatch) -> None:
    for variable in ("NUMBA_CACHE_DIR", "MPLCONFIGDIR"):  # which the call sets, for this process and its own
        monkeypatch.setenv(variable, "")
    (root / "file").write_text("")
    own = prepare_cache(root, root / "file")
    assert own.is_dir()
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "file cannot be written (Not a directory)" in message


@pytest.mark.parametrize("home", ["/proc/nothing", None])
def test_commands_work_without_a_home_and_say_so_once(tmp_path: Path, home: str | None) -> None:
    """Also in worker processes, which share the folder that takes the home's place, and in drawing."""
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
    environment |= {"TMPDIR": str(tmp_path), "PYTHONPATH": str(Path.cwd()), "NUMBA_DISABLE_JIT": "1"}
    study = ["suite", "optimization", "--domains", "sphere-2", "--algorithms", "map-elites", "--trials", "2"]
    ended = subprocess.run(
        [sys.executable, tmp_path / "main.py", *study, "--evaluations", "40", "--processes", "2"],
        cwd=tmp_path,
        env=environment | ({} if home is None else {"HOME": home}),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert re.fullmatch(r"surefoot: \S+ cannot be written \(.*\): compiling anew\n", ended.stderr)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["main.py", "studies"]


def test_a_caller_in_another_file_is_compiled_anew(tmp_path: Path) -> None:
    """Numba alone would go on with the callee that was compiled into the caller."""
    package = tmp_path / "robots"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "compilation.py").write_bytes(Path("robots/compilation.py").read_bytes())
    (package / "outer.py").write_text(
        "from robots.compilation import compiled\nfrom robots.inner import inner\n\n\n"
        "@compiled()\ndef outer(x):\n    return inner(x)\n\n\nprint(outer(1.0))\n"
    )
    printed = []
    for added in (1, 2):
        (package / "inner.py").write_text(
            "from robots.compilation import compiled\n\n\n"
            f"@compiled()\ndef inner(x):\n    return x + {added}\n"
        )
        printed.append(
            subprocess.run(
                [sys.executable, "-m", "robots.outer"],
                cwd=tmp_path,
                env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
    assert printed == ["2.0\n", "3.0\n"]
