"""What commands do without a terminal, and on Ctrl-C whenever it comes."""

import importlib
import os
import signal
import subprocess
import sys
import time

import pytest

from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import read_search
from robots.errors import SurefootError
from surefoot.interrupts import interrupt_flag, raise_and_remember


def test_output_that_is_closed_from_the_start_keeps_no_command_from_its_work(tmp_path) -> None:
    line = f"{sys.executable} -m surefoot train sphere-5 --evaluations 300 --out {tmp_path} >&- 2>&-"
    ended = subprocess.run(["bash", "-c", line], timeout=100)
    assert ended.returncode == 0
    assert read_search(tmp_path / FILE_NAME) is None, "the run has not finished"


def python(code: str) -> "subprocess.CompletedProcess[str]":
    """Run code in a process of its own, which can be interrupted."""
    start = "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    return subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True, timeout=50)


def test_an_interrupt_while_modules_are_imported_shows_no_traceback() -> None:
    ended = python("""
class Interrupt:
    def find_spec(self, name, *_):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from surefoot.__main__ import run
run()
""")
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("hidden", [ImportError("initialization failed"), SurefootError("a is damaged")])
def test_libraries_hide_that_they_were_interrupted(run, monkeypatch, number: int, hidden) -> None:
    def import_module(name: str) -> None:
        try:
            os.kill(os.getpid(), number)
        except KeyboardInterrupt:
            raise hidden from None

    monkeypatch.setattr(importlib, "import_module", import_module)
    before = signal.getsignal(number)
    code, out, err = run("robots")
    assert (code, out) == (130, "")
    assert "interrupted" in err
    assert signal.getsignal(number) == before


def test_interrupts_that_a_process_ignores_stay_ignored(monkeypatch) -> None:
    for handled in (raise_and_remember(), interrupt_flag(print)):
        with monkeypatch.context() as patch:
            patch.setattr(signal, "getsignal", lambda number: signal.SIG_IGN)
            patch.setattr(signal, "signal", lambda *_: pytest.fail("as nohup had it"))
            with handled:
                pass


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_interrupt_is_a_flag_and_a_later_one_interrupts(number: int, monkeypatch) -> None:
    before, told, clock = signal.getsignal(number), [], iter([7.0, 7.4, 7.6])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with interrupt_flag(told.append) as interrupted:
        assert not interrupted()
        os.kill(os.getpid(), number)
        assert interrupted()
        os.kill(os.getpid(), number)  # as `timeout` does, which signals a process and then its group
        assert len(told) == 1
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) == before


def test_other_errors_of_imports_are_not_hidden(run, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "surefoot.commands.robots", None)
    with pytest.raises(ImportError):
        run("robots")


@pytest.mark.parametrize("second", [False, True], ids=["once", "twice"])
def test_an_interrupted_process_is_not_taken_down_under_its_threads(second) -> None:
    ended = python(f"""
import atexit, importlib, threading, time
from rich.console import Console
from surefoot.__main__ import run

def import_module(name):
    threading.Thread(target=time.sleep, args=(600,)).start()  # Python would wait for it
    os.kill(os.getpid(), signal.SIGINT)

def interrupted_again(*_):
    os.kill(os.getpid(), signal.SIGINT)

atexit.register(print, "put away")
if {second}:
    Console.print = interrupted_again
import surefoot.commands.main
importlib.import_module, sys.argv = import_module, ["surefoot", "robots"]
run()
""")
    assert (ended.returncode, ended.stdout) == (130, "put away\n")
    assert ("interrupted" in ended.stderr) is not second


def test_an_interrupt_after_the_work_does_not_change_how_it_ends() -> None:
    ended = python("""
import atexit
from surefoot.__main__ import run

atexit.register(lambda: [os.kill(os.getpid(), number) for number in (signal.SIGINT, signal.SIGTERM)])
sys.argv = ["surefoot", "--version"]
run()
""")
    assert (ended.returncode, ended.stderr) == (0, "")
