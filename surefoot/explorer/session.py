"""`Session`: serves one visitor. Messages are JSON objects, both ways.

A page asks with `do`: `walk` (a gait in one of two views), `mission` (which was walked), `video` (a film of a
gait), `recover` or `stop`.
Everything else is refused in a sentence.
"""

import json
import logging
import queue
import threading
from collections.abc import Callable
from typing import Any

import mujoco

from robots.errors import InvalidValueError, SurefootError
from surefoot.explorer.answers import Answers, Message
from surefoot.explorer.explorer import Explorer
from surefoot.explorer.recording import CancelledError

_VIEWS = (0, 1)
_VIDEO = "video"  # which is made for no view
_REQUESTS = ("walk", "mission", "video", "recover", "stop")
_LONGEST_MESSAGE = 2000  # characters
_MOST_WAITING = 20  # requests

log = logging.getLogger(__name__)


class Session:
    """Serves one visitor, in a thread of its own; requests are worked on one after the other.

    A view shows one thing at a time: a further request for it cancels what is under way. Every further
    request cancels a video that is being made.

    Args:
        explorer: the repertoire.
        send: takes answers; called from the session's thread and from those of the simulation.
    """

    def __init__(self, explorer: Explorer, send: Callable[[Message], None]) -> None:
        self._answers, self._send = Answers(explorer, send), send
        self._requests: queue.Queue[tuple[Message, threading.Event] | None] = queue.Queue()
        self._cancel: dict[int | str, threading.Event] = {
            place: threading.Event() for place in (*_VIEWS, _VIDEO)
        }
        self._closed = threading.Event()
        self.thread = threading.Thread(target=self._work, name="explorer session", daemon=True)
        self.thread.start()

    def handle(self, text: str) -> None:
        """Take in a message of the page; whatever is wrong with it is answered in a sentence."""
        try:
            request = _read(text)
            place = _VIDEO if request["do"] == "video" else request.get("view", 0)
            for cancelled in (place, _VIDEO):
                self._cancel[cancelled].set()
            if request["do"] == "stop":
                return
            if self._requests.qsize() >= _MOST_WAITING:
                raise InvalidValueError(f"{_MOST_WAITING} requests are waiting: wait until some are answered")
            self._cancel[place] = threading.Event()
            self._requests.put((request, self._cancel[place]))
        except SurefootError as error:
            self._send({"type": "error", "text": str(error)})

    def close(self) -> None:
        """Stop whatever is under way; the session's thread ends within a step of it."""
        self._closed.set()
        for event in self._cancel.values():
            event.set()
        self._requests.put(None)

    def _work(self) -> None:
        """Answer requests until the session is closed."""
        while (item := self._requests.get()) is not None and not self._closed.is_set():
            request, cancel = item
            try:
                if cancel.is_set():
                    raise CancelledError
                getattr(self._answers, request["do"])(request, cancel)
            except CancelledError:
                self._send({"type": "stopped", "do": request["do"], "view": request.get("view", 0)})
            except Exception as error:
                self._send({"type": "error", "text": _sentence(error), "do": request["do"]})


def _sentence(error: Exception) -> str:
    """What to tell of an error; one that is no user's is logged."""
    if isinstance(error, SurefootError | mujoco.FatalError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    log.error("a request failed", exc_info=error)
    return "this failed inside the server, whose terminal says why"


def _read(text: str) -> Message:
    """Check a message of a page, which may be anything."""
    if len(text) > _LONGEST_MESSAGE:
        raise InvalidValueError(f"a message has at most {_LONGEST_MESSAGE} characters, not {len(text)}")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("do") not in _REQUESTS:
        raise InvalidValueError(f"a message must be a JSON object with do: {', '.join(_REQUESTS)}")
    expected: dict[str, tuple[type, Any]] = {"damage": (str, ""), "pictures": (bool, False)}
    if found["do"] in ("walk", "video"):
        expected |= {"row": (int, None), "view": (int, 0)}  # a gait is never guessed
    if found["do"] == "recover":
        expected |= {"selector": (str, "")}
    read: Message = {"do": found["do"]}
    for name, (kind, default) in expected.items():
        read[name] = found.get(name, default)
        if type(read[name]) is not kind:
            raise InvalidValueError(f"{name} of a message must be a {kind.__name__}")
    if read.get("view", 0) not in _VIEWS or read.get("row", 0) < 0:
        raise InvalidValueError("the view of a message must be 0 or 1, and its row a number of a gait")
    return read
