"""Tables of things by name."""

import pytest

from robots.errors import InvalidValueError, UnknownNameError
from robots.registry import Registry


def make(module: str) -> type:
    return type("Made", (), {"__module__": module, "__qualname__": "Made"})


def test_a_new_version_takes_the_place_of_a_thing_and_nothing_else_does():
    table = Registry("tool", [("saw", make("cell")), ("nails", 12)])
    table["saw"] = again = make("cell")
    table["nails"] = 12
    with pytest.raises(InvalidValueError, match=r"'saw' is registered twice, in .*errors.py: choose another"):
        table["saw"] = UnknownNameError
    with pytest.raises(InvalidValueError, match="the tool 'nails' is registered twice: choose another name"):
        table["nails"] = 13
    assert table == {"saw": again, "nails": 12}


def test_entries_that_name_their_code():
    table = Registry("tool", code=lambda entry: entry[0])
    table["saw"] = make("cell"), 1
    table["saw"] = again = make("cell"), 2
    with pytest.raises(InvalidValueError, match="the tool 'saw' is registered twice"):
        table["saw"] = make("elsewhere"), 2
    assert table.find("saw") is again


def test_an_unknown_name():
    with pytest.raises(UnknownNameError, match=r"unknown tool 'sav' .did you mean 'saw'.*; available: saw"):
        Registry("tool", [("saw", 1)]).find("sav")
