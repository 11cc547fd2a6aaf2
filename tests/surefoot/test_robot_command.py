"""`surefoot robot` and `surefoot deploy --robot`."""

import pytest

DEPLOY = ("deploy", "hexapod", "--best")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("robot", "hexapod"), "say where it listens"),
        (("robot", "hexapod", "--serve", "tcp://0.0.0.0:6000"), "can be reached by others"),
        (("robot", "hopper", "--serve"), "moves in a plane"),
        (("robot", "nobody", "--serve"), "nobody"),
        ((*DEPLOY, "--keys", "keys"), "name one with --robot"),
        ((*DEPLOY, "--robot", "tcp://10.0.0.1:6000"), "can be reached by others"),
        ((*DEPLOY, "--robot", "here"), "must be tcp://HOST:PORT"),
        ((*DEPLOY, "--robot", "tcp://127.0.0.1:6000", "--damage", "left_front:lost"), "with --robot"),
        ((*DEPLOY, "--mcap", "walk.csv"), "telemetry is written as .mcap, not walk.csv"),
    ],
)
def test_wrong_options_are_told(run, arguments: tuple[str, ...], said: str) -> None:
    code, _, error = run(*arguments)
    assert code == 2
    assert said in " ".join(error.split())
