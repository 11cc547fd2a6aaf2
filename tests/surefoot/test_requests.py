"""Keywords of functions and options of commands are the fields of requests, with their defaults and words."""

import inspect
import logging

import click
import pytest

import surefoot
from adapt.rehearsal import rehearsal
from adapt.requests import (
    CalibrationRequest,
    CorrectionRequest,
    RecoveryRequest,
    RehearsalRequest,
    StrengtheningRequest,
)
from robots.errors import InvalidValueError
from surefoot.commands.main import cli
from surefoot.keywords import asked
from tests.adapt.rehearsal.small import small_repertoire

REQUESTS = {
    "recover": RecoveryRequest,
    "rehearse": RehearsalRequest,
    "strengthen": StrengtheningRequest,
    "calibrate": CalibrationRequest,
    "evaluate": CorrectionRequest,
}


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_written_once(name: str) -> None:
    function, record = getattr(surefoot, name), REQUESTS[name]
    keywords = inspect.signature(function).parameters
    options = {one.name: one for one in command(name).params}
    assert "settings" not in keywords
    for field, one in record.model_fields.items():
        assert keywords[field].default == one.default
        assert f"\n        {field}: " in function.__doc__
        option = options[field]
        assert isinstance(option, click.Option)
        if field != "selector" and type(one.default) in (int, float, str):
            assert option.help
            assert option.default == one.default


def test_none_stands_for_the_default_and_wrong_settings_are_refused_by_name() -> None:
    assert asked(RecoveryRequest, {"trials": None, "max_falls": None}) == RecoveryRequest()
    for wrong, words in (({"trails": 3}, "trails"), ({"trials": 0}, "^trials"), ({"think": 0}, "^think")):
        with pytest.raises(InvalidValueError, match=words):
            asked(RecoveryRequest, wrong)


def test_options_have_the_types_and_bounds_of_the_fields(run) -> None:
    options = {one.name: one.type for one in command("recover").params}
    assert isinstance(options["objective"], click.Choice)
    assert (options["trials"].min, options["refine"].min, options["think"].min_open) == (1, 0, True)
    assert "above 0" in run("recover", "hexapod", "--damage", "x", "--think", 0)[2]


def test_that_legs_are_not_rehearsed_first_is_told(monkeypatch, caplog) -> None:
    monkeypatch.setattr(rehearsal, "_QUICK_STEPS", 100)
    with caplog.at_level(logging.INFO, "adapt"):
        assert rehearsal.quick_rehearsal(small_repertoire(), seed=1) is None
    assert "lost and dead legs are not rehearsed first" in caplog.text
