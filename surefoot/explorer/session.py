"""`Session`: serves one visitor. Messages are JSON objects, both ways; a `Request` is what a page asks."""

import logging
import queue
import threading
from collections.abc import Callable

import mujoco

from robots.errors import InvalidValueError, SurefootError
from robots.files.records import validate
from robots.files.texts import parse_json
from surefoot.explorer.answers import Answers, CancelledError, Message, Request
from surefoot.explorer.explorer import Explorer

log = logging.getLogger(__name__)


class Session:
    """Serves one visitor, in a thread of its own; requests are worked on one after the other.

    A view shows one thing at a time: a further request for it cancels what is under way.

    Args:
        explorer: the repertoire.
        send: takes answers; called from the session's thread and from those of the simulation.
    """

    def __init__(self, explorer: Explorer, send: Callable[[Message], None]) -> None:
        self._answers, self._send = Answers(explorer, send), send
        self._requests: queue.Queue[tuple[Request, threading.Event] | None] = queue.Queue()
        self._cancel = [threading.Event(), threading.Event()]  # of each view
        self._closed = threading.Event()
        self.thread = threading.Thread(target=self._work, name="explorer session", daemon=True)
        self.thread.start()

    def handle(self, text: str) -> None:
        """Take in a message of the page; whatever is wrong with it is answered in a sentence."""
        try:
            asked = parse_json(text)
            if not isinstance(asked, dict):
                raise InvalidValueError("a message must be a JSON object")
            request = validate(Request, asked)
        except SurefootError as error:
            self._send({"type": "error", "text": str(error)})
            return
        self._cancel[request.view].set()
        if request.do != "stop":
            self._cancel[request.view] = threading.Event()
            self._requests.put((request, self._cancel[request.view]))

    def close(self) -> None:
        """Stop whatever is under way; the session's thread ends within a step of it."""
        self._closed.set()
        for event in self._cancel:
            event.set()
        self._requests.put(None)

    def _work(self) -> None:
        while (item := self._requests.get()) is not None and not self._closed.is_set():
            request, cancel = item
            try:
                self._answers.answer(request, cancel.is_set)
            except CancelledError:
                self._send({"type": "stopped", "do": request.do, "view": request.view})
            except Exception as error:
                self._send({"type": "error", "text": _sentence(error), "do": request.do})


def _sentence(error: Exception) -> str:
    """What to tell of an error; one that is no user's is logged."""
    if isinstance(error, SurefootError | mujoco.FatalError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    log.error("a request failed", exc_info=error)
    return "this failed inside the server, whose terminal says why"
