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

PLUGIN = """
from adapt.damage.damage import SingleDamage, register
from adapt.damage.kinds.motors import Weak
from adapt.selectors import catalogue
from adapt.selectors.baselines import BestFirst
from repertoire.algorithms.settings import ARCHIVES
from repertoire.archives.grid import GridSpec

@register("halved")
class Halved(SingleDamage):
    title = "the motors give half of their torque"
    family = "weak"
    sorts = ("leg", "joint")

    def _modification(self, parts, target):
        return Weak(self.target, 0.5)._modification(parts, target)

class Squares(GridSpec):
    kind = "squares"

catalogue.register("first", "tries the best first, under another name")(BestFirst)
ARCHIVES["squares"] = Squares
"""
WRONG = {  # a plugin, and what is said of it
    "raise KeyError('oh')": "cannot be loaded: KeyError: 'oh'",
    "raise SystemExit(3)": "cannot be loaded: SystemExit: 3",
    "from repertoire.strategies.table import STRATEGIES\nSTRATEGIES['cma-es'] = 1": "'cma-es' is registered",
}


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file; what it registers is forgotten afterwards."""
    monkeypatch.setattr(catalogue, "_SELECTORS", copy(catalogue._SELECTORS))
    monkeypatch.setattr(plugins, "_loaded", set())
    monkeypatch.delenv(plugins.VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my_damage.py"
    path.write_text(PLUGIN)
    yield path
    KINDS.pop("halved", None)
    ARCHIVES.pop("squares", None)
    os.environ.pop(plugins.VARIABLE, None)


def test_a_file_adds_a_damage_and_a_selector(run, works, plugin: Path) -> None:
    assert run("damages ant --damage front_left:halved")[0] == 2
    out = works(f"--plugin {plugin} damages ant --damage front_left:halved")
    assert "the motors give half of their torque" in out
    assert "first: tries the best first, under another name" in run("recover --help")[1]
    assert os.environ[plugins.VARIABLE] == str(plugin)  # worker processes load it too
    plugins.load_plugins()  # once is enough


@pytest.mark.parametrize("code", WRONG)
def test_what_cannot_be_loaded_is_said_in_a_sentence(refused, plugin: Path, code: str) -> None:
    plugin.write_text(code)
    refused(([f"algorithms --plugin {plugin}"], said) for said in (plugin.name, WRONG[code]))


@pytest.mark.parametrize("name", ["missing.py", "a" * 5000, "two:parts.py"])
def test_a_file_that_cannot_be_a_plugin_is_refused(refused, plugin: Path, name: str) -> None:
    Path("two:parts.py").touch()
    refused([([f"--plugin {name} algorithms"], "")])
    assert plugins.VARIABLE not in os.environ, "later calls would fail too"


def test_a_plugin_that_failed_is_loaded_once_it_is_mended(plugin: Path) -> None:
    plugin.write_text(f"{PLUGIN}raise KeyError('oh')\n")
    with pytest.raises(InvalidFileError, match="KeyError: 'oh'"):
        plugins.load_plugins(plugin)
    Path("other.py").touch()
    plugin.write_text(PLUGIN.replace("half", "a share"))
    plugins.load_plugins(["other.py", plugin])
    assert KINDS["halved"].title == "the motors give a share of their torque"
    Path("same.py").write_text(PLUGIN)
    with pytest.raises(InvalidFileError, match="'halved'"):
        plugins.load_plugins("same.py")
