"""Every public method says what it does, itself or in the contract that it fulfils."""

import importlib
import inspect
import pkgutil

import pytest

import adapt
import repertoire
import robots
import suites
import surefoot


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
