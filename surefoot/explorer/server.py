"""`Server` of the explorer: a page, its files, and a socket for each visitor, whom a `Session` serves.

Messages are JSON objects, both ways; nothing can be uploaded.
"""

import asyncio
import json
import logging
import queue
import secrets
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import mujoco

from robots.errors import InvalidValueError, SurefootError, installed, shown
from robots.files.records import validate
from robots.files.texts import parse_json
from surefoot.explorer.answers import Answers, CancelledError, Message, Request
from surefoot.explorer.explorer import Explorer

with installed("the explorer needs starlette, uvicorn and websockets, which are", "'surefoot[explorer]'"):
    import uvicorn
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import Request as HttpRequest
    from starlette.responses import HTMLResponse, PlainTextResponse, Response
    from starlette.routing import Mount, Route, WebSocketRoute
    from starlette.staticfiles import StaticFiles
    from starlette.websockets import WebSocket, WebSocketDisconnect
    from uvicorn.protocols.http.h11_impl import H11Protocol

STATIC = Path(__file__).parent / "static"
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_ANYWHERE = ("0.0.0.0", "::")
_LONGEST_MESSAGE = 4096  # [bytes]
_LEAVING_SECONDS = 5.0
_MOST_CONNECTIONS = 16  # besides the sockets of visitors: a process may open as few as 64 files
_LONGEST_CONNECTION = 60.0  # [s]; pages connect again for the next file

log = logging.getLogger(__name__)


class _Connection(H11Protocol):
    """Asks for files, or for nothing: it ends after a minute, and the oldest idle one ends for a new one."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.limit = self.loop.call_later(_LONGEST_CONNECTION, self.end)
        every = [one for one in self.connections if isinstance(one, _Connection)]
        idle = [one for one in every if one.cycle is None or one.cycle.response_complete]
        if len(every) > _MOST_CONNECTIONS:
            min(idle, key=lambda one: one.limit.when()).end()

    def end(self) -> None:
        """Disconnect, unless the connection has become a visitor's socket."""
        if self in self.connections:
            self.connections.discard(self)
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.limit.cancel()
        super().connection_lost(exc)


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


class Server:
    """Serves an explorer until it is told to stop.

    Args:
        explorer: what to show.
        host: address of this machine to listen at.
        port: to listen at; 0 for any that is free.
        token: that the page's address must hold; a random one by default.

    Attributes:
        address: of the page.
        sessions: of the visitors who are there.
    """

    def __init__(self, explorer: Explorer, *, host: str, port: int, token: str | None = None) -> None:
        self.token = secrets.token_urlsafe(16) if token is None else token
        if not self.token or not all(c.isascii() and (c.isalnum() or c in "-_") for c in self.token):
            raise InvalidValueError("a token must consist of letters, digits, - and _")
        self._explorer = explorer
        self._socket = _listen(host, port)
        name = "localhost" if host in _ANYWHERE else f"[{host}]" if ":" in host else host
        self.address = f"http://{name}:{self._socket.getsockname()[1]}/?token={self.token}"
        self.sessions: set[Session] = set()
        config = uvicorn.Config(
            self._app(["*"] if host in _ANYWHERE else [name.lower(), *_LOOPBACK]),
            log_level="warning",
            access_log=False,
            http=_Connection,
            backlog=_MOST_CONNECTIONS // 2,  # so many are accepted before the oldest ones end
            workers=1,  # or else the environment would be asked
            ws="websockets-sansio",
            ws_max_size=_LONGEST_MESSAGE,
            timeout_graceful_shutdown=1,
            lifespan="off",
            server_header=False,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until the process is interrupted, or `stop` is called; then let all sessions end."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            for session in list(self.sessions):
                session.close()
                session.thread.join(_LEAVING_SECONDS)

    def stop(self) -> None:
        """Have `run` return."""
        self._server.should_exit = True

    def _app(self, hosts: list[str]) -> Starlette:
        routes = [
            Route("/", self._page),
            Mount("/static", StaticFiles(directory=STATIC)),
            WebSocketRoute("/socket", self._talk),
        ]
        guard = Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
        return Starlette(routes=routes, middleware=[guard])

    def _knows(self, token: str | None) -> bool:
        return secrets.compare_digest((token or "").encode(), self.token.encode())

    async def _page(self, request: HttpRequest) -> Response:
        if not self._knows(request.query_params.get("token")):
            text = "This address lacks the token that surefoot explore printed, or it is of an earlier start."
            return PlainTextResponse(text, status_code=403)
        nonce = secrets.token_urlsafe(16)
        policy = (
            f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        )
        headers = {
            "Content-Security-Policy": policy,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }
        page = (STATIC / "page.html").read_text("utf-8").replace("{nonce}", nonce)
        return HTMLResponse(page, headers=headers)

    async def _talk(self, visitor: WebSocket) -> None:
        """Serve a visitor; only the page itself is let in."""
        own = f"http://{visitor.headers.get('host')}"
        if visitor.headers.get("origin") != own or not self._knows(visitor.query_params.get("token")):
            await visitor.close(code=4403, reason="token or origin refused")
            return
        await visitor.accept()
        loop, waiting = asyncio.get_running_loop(), asyncio.Queue[Message]()

        def send(message: Message) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(waiting.put_nowait, message)

        session = Session(self._explorer, send)
        self.sessions.add(session)
        send(self._explorer.hello())
        writer = asyncio.create_task(_write(visitor, waiting))
        try:
            while True:
                message = await visitor.receive()
                if message["type"] == "websocket.disconnect":
                    break
                session.handle(message.get("text") or "")
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            writer.cancel()
            session.close()
            self.sessions.discard(session)


async def _write(visitor: WebSocket, waiting: "asyncio.Queue[Message]") -> None:
    while True:
        await visitor.send_text(json.dumps(await waiting.get(), allow_nan=False))


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        host.encode("idna")  # as it will be: a socket that cannot stays open
    except UnicodeError:
        raise InvalidValueError(f"a host is a name or an address, not {shown(host)}") from None
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).split(" (while")[0]
        raise InvalidValueError(
            f"nothing can listen at {host}, port {port} ({reason}): choose another port, or 0 for any"
        ) from error
