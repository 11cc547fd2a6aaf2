"""`KeeperProcess`: a `Keeper` in a process of its own, which keeps a robot going while others think."""

import multiprocessing
import os
import select
import socket
import struct
import time
from collections import deque
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection
from pathlib import Path

from robots.errors import SurefootError
from robots.link.driving import Keeper, Motion, Seen, ask_for_priority
from robots.link.link import LinkError
from robots.plugins import load_plugins
from robots.robot import Robot
from robots.workers import starting_processes

_BEGIN = 120.0  # [s] that a keeper's process may take to begin
_ANSWER = 5.0  # [s] that it may take to answer, or to take what it is told
_GUARD = 'a script that makes a mission does so under `if __name__ == "__main__":`'


class KeeperProcess:
    """A `Keeper` of the robot at an address, in a process of its own that nothing holds up."""

    def __init__(self, robot: Robot, address: str, keys: Path | None) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_keep, args=(other,), daemon=True)
        self._words, self._lost = "", f"what keeps the robot going did not begin: {_GUARD}"
        try:
            _bound_waits(self._pipe, _BEGIN)
            with starting_processes():
                self._process.start()
            other.close()
            self._send((robot, address, keys))
            self._received()  # it has begun
            _bound_waits(self._pipe, _ANSWER)
        except BaseException as error:
            self._end()
            if isinstance(error, RuntimeError) and multiprocessing.current_process().name != "MainProcess":
                raise SystemExit(1) from None  # a script that is run again, to begin this very process
            raise
        self._lost = "what kept the robot going has ended: the robot damps itself"

    def begin(self, motion: Motion) -> None:
        """See `Keeper.begin`."""
        self._send(motion)

    def latest(self) -> Seen:
        """See `Keeper.latest`."""
        while self._pipe.poll():
            self._received()
        self._send(True)
        return self._received()

    def next(self) -> Seen:
        """See `Keeper.next`."""
        return self._received()

    def rest(self) -> None:
        """See `Keeper.rest`."""
        self._send(False)

    def close(self) -> str:
        """See `Keeper.close`."""
        with suppress(SurefootError):
            self._send(None)
            until = time.monotonic() + _ANSWER
            while time.monotonic() < until:
                self._received()
        self._process.join(_ANSWER)
        self._end()
        return self._words

    def _end(self) -> None:
        if self._process.pid is not None:
            self._process.kill()
            self._process.join()

    def _send(self, what: object) -> None:
        with suppress(OSError):  # of a process that ended or hangs, which what it told last explains
            self._pipe.send(what)

    def _received(self) -> Seen:
        try:
            found: Seen | str | SurefootError = self._pipe.recv()
        except BlockingIOError:
            self._end()
            raise LinkError(
                "what keeps the robot going hung, and was ended: the robot damps itself"
            ) from None
        except (EOFError, OSError):
            raise LinkError(self._lost) from None
        if isinstance(found, SurefootError):
            raise found
        if isinstance(found, str):
            self._words = found
            return self._received()
        return found


Driver = Keeper | KeeperProcess


def _bound_waits(pipe: Connection, seconds: float) -> None:
    """Have a pipe that can be neither read nor written for so long raise BlockingIOError."""
    limit = struct.pack("ll", int(seconds), 0)
    with socket.socket(fileno=os.dup(pipe.fileno())) as end:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            end.setsockopt(socket.SOL_SOCKET, option, limit)


def _keep(pipe: Connection) -> None:
    """Keep a robot going; the pipe tells which, then motions, whether states are wanted, and None to end."""
    from robots.link.remote import RemoteLink

    load_plugins()
    ask_for_priority()
    _bound_waits(pipe, _ANSWER)
    with suppress(EOFError, OSError), ExitStack() as stack:  # where whom it works for has ended, or hangs
        try:
            robot, address, keys = pipe.recv()
            link = RemoteLink(robot, address, keys=keys)
            stack.callback(link.close)
            keeper = Keeper(link)
            pipe.send(keeper.latest())
            _follow(keeper, pipe)
        except SurefootError as error:
            pipe.send(error)
            return
        pipe.send(keeper.close())


def _follow(keeper: Keeper, pipe: Connection) -> None:
    waiting: deque[Seen] = deque(maxlen=1000)
    tells = False
    while True:
        while pipe.poll():
            what: Motion | bool | None = pipe.recv()
            if what is None:
                return
            if isinstance(what, bool):
                tells = what
                waiting.clear()
                waiting.append(keeper.latest())
            else:
                keeper.begin(what)
        if keeper.tick() and tells:
            waiting.append(keeper.latest())
        while tells and waiting and select.select((), (pipe,), (), 0)[1]:  # or else it would wait
            pipe.send(waiting.popleft())
