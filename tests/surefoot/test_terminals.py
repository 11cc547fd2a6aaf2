"""What commands do when their terminal is lost or has no width, and on Ctrl-C while they are imported."""

import importlib
import os
import signal
import subprocess
import sys

import click
import pytest

from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import read_search
from robots.errors import SurefootError
from surefoot.commands.main import run_commands
from surefoot.interrupts import interrupt_flag, raise_and_remember
from surefoot.printing import Printer

TRAIN = ["train", "sphere-5", "--evaluations", "300"]
LOST = {  # how standard output is lost: what a shell does, and whether that is an error
    "disk full": ('"$@" > /dev/full', True),
    "pipe closed": ('"$@" | true; exit "${PIPESTATUS[0]}"', False),
    "closed from the start": ('"$@" >&-', False),
    "all closed": ('"$@" >&- 2>&-', False),
}


@pytest.mark.parametrize("command", [TRAIN, ["--version"]], ids=lambda words: words[0])
@pytest.mark.parametrize("lost", LOST)
def test_work_goes_on_without_a_terminal_and_one_sentence_tells_of_it(tmp_path, lost, command) -> None:
    script, failure = LOST[lost]
    out = ["--out", str(tmp_path)] if command == TRAIN else []
    words = [sys.executable, "-m", "surefoot", *command, *out]
    ended = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True)
    assert ended.returncode == (2 if failure else 0), ended.stderr
    sentence = "surefoot: what was printed is lost, because standard output failed (No space left on device)"
    assert ended.stderr.startswith(sentence if failure else "")
    assert ended.stderr.count("\n") == failure
    if command == TRAIN:
        assert read_search(tmp_path / FILE_NAME) is None, "the run has not finished"


def test_a_terminal_without_a_width_is_printed_to(monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    Printer().print("as usual")
    assert capsys.readouterr().out == "as usual\n"


def test_an_interrupt_while_modules_are_imported_shows_no_traceback() -> None:
    code = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
from surefoot.__main__ import run
run()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
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
    assert err.startswith("surefoot: interrupted; files are as they were last saved")
    assert signal.getsignal(number) == before


def test_interrupts_that_a_process_ignores_stay_ignored(monkeypatch) -> None:
    for handled in (raise_and_remember(), interrupt_flag(print)):
        with monkeypatch.context() as patch:
            patch.setattr(signal, "getsignal", lambda number: signal.SIG_IGN)
            patch.setattr(signal, "signal", lambda *_: pytest.fail("as nohup had it"))
            with handled:
                pass


def test_other_errors_of_imports_are_not_hidden(run, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "surefoot.commands.robots", None)
    with pytest.raises(ImportError):
        run("robots")


@pytest.mark.parametrize("second", [False, True], ids=["once", "twice"])
def test_an_interrupted_process_is_not_taken_down_under_its_threads(second) -> None:
    code = f"""
import atexit, importlib, os, signal, sys, threading, time
from surefoot import interrupts
from surefoot.commands import main
from surefoot.printing import Printer
from surefoot.commands.main import run_commands
from surefoot.__main__ import run

def import_module(name):
    threading.Thread(target=time.sleep, args=(600,)).start()  # Python would wait for it
    os.kill(os.getpid(), signal.SIGINT)

def interrupted_again(*_):
    os.kill(os.getpid(), signal.SIGINT)

atexit.register(print, "put away")
if {second}:
    Printer.print = interrupted_again
importlib.import_module, sys.argv = import_module, ["surefoot", "robots"]
run()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert (ended.returncode, ended.stdout) == (130, "put away\n")
    assert ("interrupted" in ended.stderr) is not second


def test_an_interrupt_after_the_work_does_not_change_how_it_ends() -> None:
    code = """
import atexit, os, signal, sys
from surefoot.__main__ import run

atexit.register(lambda: [os.kill(os.getpid(), number) for number in (signal.SIGINT, signal.SIGTERM)])
sys.argv = ["surefoot", "--version"]
run()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_file_that_ends_too_early_is_no_interrupt(capsys) -> None:
    @click.group()
    def commands() -> None:
        pass

    @commands.command()
    def read() -> None:
        raise EOFError("a file ended")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["surefoot", "read"])
        with pytest.raises(click.exceptions.Abort) as caught:
            run_commands(commands)
    assert isinstance(caught.value.__cause__, EOFError)
    assert "interrupted" not in capsys.readouterr().err
