"""Plugins: a file adds a damage and a selector without touching the package."""

import os
from copy import copy
from pathlib import Path

import pytest

from adapt.damage.damage import KINDS
from adapt.selectors import catalogue
from repertoire.algorithms.settings import ARCHIVES
from robots import plugins
from robots.errors import InvalidFileError

PLUGIN = '''"""A kind of damage and a selector."""

from adapt.damage.damage import DamageModification, SingleDamage, subjects, register
from adapt.damage.strength import Scale
from adapt.damage.edits import find_motors
from adapt.damage.parts import RobotParts, Target
from adapt.selectors import catalogue
from adapt.selectors.baselines import BestFirst


@register("halved")
class Halved(SingleDamage):
    """The motors give half of their torque."""

    title = "the motors give half of their torque"
    family = "weak"
    sorts = ("leg", "joint")

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        joints = parts.joints(target)

        def edit(spec):
            for motor in find_motors(spec, joints):
                motor.gear = 0.5 * motor.gear

        return self.modify(subjects("motor", joints), edit)


catalogue.register("first", "tries the best first, under another name")(BestFirst)
'''


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file; what it registers is forgotten afterwards."""
    monkeypatch.setattr(catalogue, "_SELECTORS", copy(catalogue._SELECTORS))
    monkeypatch.setattr(plugins, "_loaded", set())
    monkeypatch.delenv(plugins.VARIABLE, raising=False)
    path = tmp_path / "my_damage.py"
    path.write_text(PLUGIN)
    yield path
    KINDS.pop("halved", None)
    ARCHIVES.pop("squares", None)
    os.environ.pop(plugins.VARIABLE, None)


def test_a_file_adds_a_damage_and_a_selector(run, plugin: Path) -> None:
    assert run("damages", "ant", "--damage", "front_left:halved")[0] == 2
    code, out, err = run("--plugin", plugin, "damages", "ant", "--damage", "front_left:halved")
    assert (code, err) == (0, "")
    assert "the motors give half of their torque" in out
    assert "first: tries the best first, under another name" in run("recover", "--help")[1]
    assert os.environ[plugins.VARIABLE] == str(plugin)  # worker processes load it too
    plugins.load_plugins()  # once is enough


def test_what_cannot_be_loaded_is_said_in_a_sentence(run, plugin: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("raise KeyError('oh')")
    (tmp_path / "two:parts.py").write_text("")
    for path, message in (
        (tmp_path / "missing.py", "there is no such file"),
        (tmp_path / ("a" * 5000), "file name too long"),
        (tmp_path / "wrong.py", "cannot be loaded: KeyError: 'oh'"),
        (tmp_path / "two:parts.py", "its path must not contain ':'"),
    ):
        code, _, err = run("--plugin", path, "algorithms")
        assert (code, err.count("\n")) == (2, 1)
        assert message in err
        assert plugins.VARIABLE not in os.environ, "later calls would fail too"


def test_a_name_that_is_taken_and_an_exit_are_said_with_the_plugin(run, plugin: Path, tmp_path: Path) -> None:
    (tmp_path / "taken.py").write_text(
        "from repertoire.strategies.table import STRATEGIES\nSTRATEGIES['cma-es'] = None\n"
    )
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)\n")
    for name, reason in (
        ("taken", "'cma-es' is registered twice"),
        ("leaves", "SystemExit: 3"),
    ):
        code, _, err = run("algorithms", "--plugin", tmp_path / f"{name}.py")
        assert (code, err.count("\n")) == (2, 1)
        assert f"{name}.py cannot be loaded" in err
        assert reason in err


def test_a_plugin_that_failed_is_loaded_once_it_is_mended(run, plugin: Path, tmp_path: Path) -> None:
    own = "from repertoire.archives.grid import GridSpec\nclass Squares(GridSpec):\n    kind = 'squares'\n"
    own += "from repertoire.algorithms.settings import ARCHIVES\nARCHIVES['squares'] = Squares\n"
    plugin.write_text(PLUGIN + own + "raise KeyError('oh')\n")
    with pytest.raises(InvalidFileError, match="KeyError: 'oh'"):
        plugins.load_plugins(plugin)
    (tmp_path / "other.py").write_text("")
    plugin.write_text(PLUGIN.replace("half", "a share") + own)
    plugins.load_plugins([tmp_path / "other.py", plugin])
    assert KINDS["halved"].title == "the motors give a share of their torque"
    (tmp_path / "same.py").write_text(PLUGIN)
    with pytest.raises(
        InvalidFileError, match=r"'halved' is registered twice, in .*my_damage.py and .*same.py"
    ):
        plugins.load_plugins(tmp_path / "same.py")


def test_a_file_that_the_variable_names_too_is_loaded_once(plugin: Path, monkeypatch) -> None:
    monkeypatch.chdir(plugin.parent)
    monkeypatch.setenv(plugins.VARIABLE, plugin.name)
    plugins.load_plugins(str(plugin))
    assert os.environ[plugins.VARIABLE] == str(plugin)
