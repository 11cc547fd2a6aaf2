"""The server: who is let in, and that it lives whatever comes."""

import http.client
import json
import logging
import os
import random
import socket
import threading
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from robots.errors import InvalidValueError
from surefoot.explorer import server as server_module
from surefoot.explorer.explorer import Explorer
from surefoot.explorer.server import Server
from surefoot.shipped import repertoire_path


@pytest.fixture(scope="module")
def server():
    explorer = Explorer(repertoire_path("hexapod"), "hexapod")
    with serving(Server(explorer, host="127.0.0.1", port=0)) as server:
        yield server


@contextmanager
def serving(server: Server):
    """Run a server in a thread."""
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(20)
    assert not thread.is_alive()


def get(server: Server, path: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    with closing(http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=10)) as asked:
        asked.request("GET", path, headers=headers)
        answer = asked.getresponse()
        return answer.status, answer.read().decode(), dict(answer.getheaders())


def visit(server: Server, *, token: str | None = None, origin: str | None = None) -> connect:
    place = urlsplit(server.address).netloc
    address = f"ws://{place}/socket?token={server.token if token is None else token}"
    return connect(address, origin=origin or f"http://{place}", max_size=None, proxy=None)  # type: ignore[arg-type]


def until(visitor: ClientConnection, kind: str) -> dict:
    while (message := json.loads(visitor.recv(timeout=120)))["type"] != kind:
        pass
    return message


def test_the_page_is_for_those_who_know_its_address(server: Server) -> None:
    status, page, headers = get(server, f"/?token={server.token}")
    assert status == 200
    assert "<main>" in page
    assert "default-src 'none'" in headers["content-security-policy"]
    assert get(server, "/")[0] == get(server, "/?token=guess")[0] == 403
    assert get(server, f"/?token={server.token}", Host="evil.example")[0] == 400
    assert get(server, "/static/three/three.min.js")[0] == 200
    for path in ("/static/../server.py", "/static/%2e%2e/server.py", "/socket"):
        assert get(server, path)[0] in (403, 404)
    assert get(server, "/static/page.html", Host="evil.example")[0] == 400


def test_a_server_at_an_address_of_ipv6() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with serving(Server(Explorer(repertoire_path("hexapod"), "hexapod"), host="::1", port=0)) as server:
        assert server.address.startswith("http://[::1]:")
        assert get(server, f"/?token={server.token}")[0] == 200
        assert get(server, f"/?token={server.token}", Host="evil.example")[0] == 400
        with visit(server) as visitor:
            assert until(visitor, "hello")["walks"]


def test_the_socket_is_for_the_page_alone(server: Server) -> None:
    for wrong in ({"token": "guess"}, {"origin": "http://evil.example"}, {"origin": "http://[x"}):
        with pytest.raises(InvalidStatus) as refused, visit(server, **wrong):
            pass
        assert refused.value.response.status_code == 403
    with visit(server) as visitor:
        assert until(visitor, "hello")["walks"]


def test_each_visitor_has_a_session_which_ends_with_the_page(server: Server) -> None:
    with visit(server) as one, visit(server) as other:
        recovery = {"do": "recover", "damage": "all:weak@0.5", "selector": "map-bo-tuned"}
        one.send(json.dumps(recovery))
        other.send(json.dumps({"do": "walk", "row": 1}))
        assert until(other, "walk")["row"] == 1
        until(one, "progress")
        threads = [session.thread for session in server.sessions]
        assert len(threads) == 2
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()
    assert not server.sessions


def nonsense(rng: random.Random) -> str | bytes:
    """A message that no page sends."""
    request = {"do": rng.choice(["walk", "mission", "recover", "stop", "x", 1, None])}
    values = [0, 1, -1, 1999, 2000, 10**30, 1.5, "", "left_front:lost", "all:weak@nan", None, True, [], {}]
    for name in ("row", "view", "damage", "selector"):
        if rng.random() < 0.5:
            request[name] = rng.choice(values)
    text = json.dumps(request)
    kind = rng.random()
    if kind < 0.2:
        place = rng.randrange(len(text))
        text = text[:place] + chr(rng.randrange(0x3000)) + text[place + rng.randrange(3) :]
    if kind > 0.9:
        return rng.randbytes(rng.randrange(50))
    return text * 500 if kind > 0.895 else text


def test_nonsense_does_no_harm(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    messages = int(os.environ.get("SUREFOOT_FUZZ_MESSAGES", "300"))
    rng = random.Random(1)
    sent = 0
    caplog.set_level(logging.ERROR)
    while sent < messages:  # the server hangs up after a message that is too long
        with visit(server) as visitor, suppress(ConnectionClosed):
            reader = threading.Thread(target=drain, args=(visitor,))
            reader.start()
            while sent < messages:
                sent += 1
                visitor.send(nonsense(rng))
        reader.join(10)
    assert not [record for record in caplog.records if "websockets.client" not in record.name]
    with visit(server) as another:
        another.send(json.dumps({"do": "walk", "row": 7}))
        assert until(another, "walked")["view"] == 0


def drain(visitor: ClientConnection) -> None:
    """Read all that comes, which is JSON."""
    with suppress(ConnectionClosed):
        for message in visitor:
            json.loads(message)


def test_a_port_in_use_is_told_in_a_sentence(server: Server) -> None:
    port = urlsplit(server.address).port
    assert port
    with pytest.raises(InvalidValueError, match=f"port {port} "):
        Server(server._explorer, host="127.0.0.1", port=port)


def test_silent_connections_keep_nobody_out_and_end_by_themselves(server: Server, monkeypatch) -> None:
    monkeypatch.setattr(server_module, "_LONGEST_CONNECTION", 1.0)
    place = urlsplit(server.address)
    with ExitStack() as stack, visit(server) as visitor:
        until(visitor, "hello")
        silent = []
        for _ in range(40):
            silent.append(stack.enter_context(socket.create_connection((place.hostname, place.port), 10)))
        until_time = time.monotonic() + 10
        while len(server._server.server_state.connections) > server_module._MOST_CONNECTIONS + 1:
            assert time.monotonic() < until_time
            time.sleep(0.05)
        assert get(server, f"/?token={server.token}")[0] == 200
        assert get(server, "/static/three/three.min.js")[0] == 200
        for one in silent:
            with suppress(ConnectionError):
                assert one.recv(1) == b""
        visitor.send(json.dumps({"do": "walk", "row": 0}))
        until(visitor, "walked")  # a visitor's socket has no end
