"""Whatever PyYAML and Python's JSON raise comes out as one clear error, from every place that reads them."""

import os

import pytest

from adapt.damage.text import read_damages
from robots.catalogue import MODELS
from robots.description import parse_description
from robots.errors import InvalidFileError, InvalidRobotError, InvalidValueError, shown
from robots.files.texts import check_values, parse_json, parse_yaml, read_text
from robots.robot import load_robot
from suites.study import keep_identity

YAML = (MODELS / "ant" / "ant.yaml").read_text()
WRONG = {
    "no date": "2020-99-99",
    "no integer": "!!int x",
    "no number": "!!float x",
    "no binary integer": "0b_",
    "too deep": "[" * 1200,
    "too deep pairs": "{a: " * 3000,
    "not hashable": "{[1]: 2}",
    "a key twice": "a: 1\nb: {c: 1}\na: 2",
    "very long number": "!!int " + "1" * 5000,
    "code": "!!python/object/apply:os.system ['true']",
    "within itself": "&a [*a]",
    "large": "a" * 200_001,
    "laughs": "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdef", "bcdefg", strict=True)),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_yaml_that_is_wrong_in_any_way_is_one_error(wrong: str, tmp_path) -> None:
    path, robot = tmp_path / "damages.yaml", load_robot("ant")
    path.write_text(WRONG[wrong])
    with pytest.raises(InvalidValueError, match="YAML"):
        parse_yaml(WRONG[wrong])
    with pytest.raises(InvalidRobotError, match=r"^mine: .*YAML"):
        parse_description(WRONG[wrong], origin="mine")
    with pytest.raises(InvalidFileError, match=r"damages\.yaml: .*YAML"):
        read_damages(path, robot)


def test_a_key_that_is_there_twice_is_named() -> None:
    with pytest.raises(InvalidValueError, match=r"the key 'substeps' is there twice, see line 3$"):
        parse_yaml("task:\n  substeps: 4\n  substeps: 5")
    assert parse_yaml("- a: {a: 1, 1: 2}\n- a: 1") == [{"a": {"a": 1, 1: 2}}, {"a": 1}]


def test_aliases_that_repeat_little_are_followed() -> None:
    assert parse_yaml("a: &a [1, 2]\nb: *a\nc: {<<: {d: 1}}") == {"a": [1, 2], "b": [1, 2], "c": {"d": 1}}


@pytest.mark.parametrize("value", ["0x" + "f" * 5000, "[" + "x, " * 500 + "]"])
def test_values_are_shown_shortened(value: str) -> None:
    with pytest.raises(InvalidRobotError, match=r"substeps: |numbers can be from") as caught:
        parse_description(YAML.replace("substeps: 4", f"substeps: {value}"), origin="mine")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("content", ["[" * 100_000, "1" * 5000, '{"a": }', "NaN }"])
def test_json_that_is_wrong_in_any_way_is_one_error(content: str, tmp_path) -> None:
    (tmp_path / "study.json").write_text(content)
    with pytest.raises(InvalidFileError, match=r"study\.json.* it is not valid JSON: "):
        keep_identity(tmp_path, {"of": "nothing"})


@pytest.mark.parametrize("value", ["1e31", "-1e308", "1" + "0" * 400, '"\\u001b"', '"\\ud800"', '"\\u0000"'])
@pytest.mark.parametrize("place", ["{}", '{{"a": [[{}]]}}', "[1, [{}]]"])
@pytest.mark.parametrize("parse", [parse_json, parse_yaml])
def test_numbers_and_texts_that_nothing_can_use_are_refused_anywhere(parse, place: str, value: str) -> None:
    if parse is parse_yaml and value[0] != '"':
        value = value.replace("e", ".0e+")
    with pytest.raises(InvalidValueError, match=r"numbers can be from|cannot be part of a text"):
        parse(place.format(value))


def test_texts_of_several_lines_and_infinities_are_left_to_whoever_reads_them() -> None:
    check_values(["a\tb\r\nc", "é😀", 1e30, -(10**29), float("inf"), float("nan"), None, True, (1, {"a": 2})])
    for number in ("NaN", "-Infinity", "1e400"):
        with pytest.raises(InvalidValueError, match="numbers can be from"):
            parse_json(f"[{number}]", finite=True)
    with pytest.raises(InvalidValueError, match="cannot be part"):
        check_values({"\x7f": 1})
    with pytest.raises(InvalidValueError, match="a set has no order: write a list"):
        parse_yaml("joints: !!set {hip, knee}")


def test_a_text_is_read_only_from_a_regular_file_of_some_size(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "picture").write_bytes(b"\xff\xfe")
    (tmp_path / "text").write_text("text")
    for name, message in (("pipe", "it is not a regular file"), ("picture", "is not a text file")):
        with pytest.raises(InvalidFileError, match=message):
            read_text(tmp_path / name)
    assert read_text(tmp_path / "text") == "text"
    (tmp_path / "bell").write_text("\a")
    with pytest.raises(InvalidFileError, match=r"bell: the character '\\x07' cannot be part of a text"):
        read_text(tmp_path / "bell")
    with pytest.raises(InvalidFileError, match="it is larger than 0 MB"):
        read_text(tmp_path / "text", most=3)


def test_a_message_is_one_line_of_bounded_length() -> None:
    error = InvalidFileError("a\nb\u2028c  d" + "x" * 5000 + ": the end")
    assert str(error).startswith("a b c  dxx")
    assert str(error).endswith("xx: the end")
    assert len(str(error)) < 2100


def test_a_value_that_python_cannot_write_has_its_type_named() -> None:
    nested: list = []
    for _ in range(100_000):
        nested = [nested]
    assert (shown(nested), shown(10**5000)) == ("a very long list", "a very long int")
