"""Every public method says what it does, itself or in its contract; files that texts name exist."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import adapt
import repertoire
import robots
import suites
import surefoot

ROOT, INSTALLED = Path(__file__).parent.parent, ["robots", "repertoire", "adapt", "suites", "surefoot"]
FOLDERS = "|".join(["docs", "examples", "tests", *INSTALLED])
NAMED = re.compile(rf"(?<![\w/.])(?:(?:{FOLDERS})/[\w./-]*|[A-Z]{{4,}})\.(?:md|py|sh|csv|json|xml|yaml)\b")


@pytest.mark.parametrize("package", [robots, repertoire, adapt, suites, surefoot])
def test_public_methods_are_described_where_they_are_promised(package) -> None:
    lacking = []
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if module.name.endswith(("__main__", "screening_child")):
            continue
        for kind in vars(importlib.import_module(module.name)).values():
            if not inspect.isclass(kind) or kind.__module__ != module.name or kind.__name__[0] == "_":
                continue
            for name, member in vars(kind).items():
                method = getattr(member, "fget", None) or getattr(member, "func", None) or member
                if inspect.isfunction(method) and method.__qualname__ == f"{kind.__qualname__}.{name}":
                    promised = (vars(base).get(name) for base in kind.__mro__)
                    if name[0] != "_" and not any(getattr(one, "__doc__", None) for one in promised):
                        lacking.append(f"{module.name}: {method.__qualname__}")
    assert [text for text in lacking if not text.endswith(".kernel") and ": Study" not in text] == []


def messages(path: Path):
    """Texts that users of an installation read: all but docstrings, which are help texts of commands."""
    tree, described = ast.parse(path.read_text()), set[ast.AST]()
    if path.parent.name != "commands":
        first = (getattr(node, "body", [node]) for node in ast.walk(tree))
        described = {
            body[0].value for body in first if isinstance(body, list) if isinstance(body[0], ast.Expr)
        }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in described:
            yield node.value


@pytest.mark.parametrize("folder", ["docs", "examples", *INSTALLED])
def test_no_file_that_is_named_is_missing(folder: str) -> None:
    for path in (one for one in (ROOT / folder).rglob("*.*") if one.suffix in (".py", ".md", ".yaml")):
        assert [named for named in NAMED.findall(path.read_text()) if not (ROOT / named).exists()] == [], path
        if path.suffix == ".py" and folder in INSTALLED:
            assert NAMED.findall("\n".join(messages(path))) == [], f"an installation lacks what {path} names"
