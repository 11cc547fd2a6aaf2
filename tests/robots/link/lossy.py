"""A bad network: hands on what a robot and the computer that drives it tell each other, late or never."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import zmq

PAIRS = ((0, zmq.PULL, zmq.PUSH), (1, zmq.SUB, zmq.PUB))  # commands one way, states the other


@contextmanager
def bad_network(port: int, robot: int, *, loss: float, jitter: float, seed: int = 1) -> Iterator[None]:
    """Have a robot at a port of localhost be reached at another one.

    Args:
        port: where the computer that drives connects.
        robot: where the robot listens.
        loss: share of commands and states that are lost.
        jitter: by which each of the others is late at most [s].
        seed: of both.
    """
    context, over = zmq.Context(), threading.Event()
    threads = [threading.Thread(target=_hello, args=(context, over, port + 2, robot + 2))]
    for place, _, _ in PAIRS:
        arguments = (context, over, place, port + place, robot + place, loss, jitter, seed + place)
        threads.append(threading.Thread(target=_hand_on, args=arguments))
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
        context.destroy(linger=0)


def _hello(context: zmq.Context, over: threading.Event, port: int, robot: int) -> None:
    with context.socket(zmq.REP) as near, context.socket(zmq.REQ) as far:
        near.bind(f"tcp://127.0.0.1:{port}")
        far.connect(f"tcp://127.0.0.1:{robot}")
        while not over.is_set():
            if near.poll(50):
                far.send(near.recv())
                near.send(far.recv())


def _hand_on(context, over, place, port, robot, loss, jitter, seed) -> None:
    rng, waiting = random.Random(seed), []
    take, give = PAIRS[place][1:]
    with context.socket(take) as source, context.socket(give) as sink:
        if place == 0:
            source.bind(f"tcp://127.0.0.1:{port}")
            sink.connect(f"tcp://127.0.0.1:{robot}")
        else:
            source.connect(f"tcp://127.0.0.1:{robot}")
            source.subscribe(b"")
            sink.bind(f"tcp://127.0.0.1:{port}")
        while not over.is_set():
            if source.poll(1):
                message = source.recv()
                if rng.random() >= loss:
                    waiting.append((time.monotonic() + rng.uniform(0, jitter), message))
            while waiting and waiting[0][0] <= time.monotonic():
                sink.send(waiting.pop(0)[1])
