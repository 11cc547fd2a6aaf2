"""`python -m benchmarks physics`, over fewer and shorter walks than it measures."""

import json

import pytest

from benchmarks import physics

FIGURES = {"steps_per_s", "error", "error_90", "objective", "objective_error", "measures", "diverged"}


@pytest.fixture
def small(monkeypatch) -> None:
    """Two walks, four passages, and no more than the timing of one replay."""
    for name, value in {"_EPISODES": 2, "_STATES": 4, "_TIMED": 1, "_FINER": 4}.items():
        monkeypatch.setattr(physics, name, value)
    few = tuple(one for one in physics._CANDIDATES if one.label in ("2 x implicitfast", "4 x implicitfast"))
    monkeypatch.setattr(physics, "_CANDIDATES", few)


def test_it_compares_settings_with_a_reference_and_saves(works, small, tmp_path) -> None:
    out = works("physics", "--robot", "hopper", "--out", tmp_path / "physics.json")
    assert "hopper: 4 passages, reference of 16 x implicitfast" in out
    figures = json.loads((tmp_path / "physics.json").read_text())["hopper"]
    settings = figures["settings"]
    assert list(settings) == ["2 x implicitfast", "4 x implicitfast", "16 x implicitfast"]
    assert figures["chosen"] == "4 x implicitfast"
    assert all(one.keys() == FIGURES for one in settings.values())
    coarse, chosen, reference = settings.values()
    assert reference["error"] == 0
    assert 0 < chosen["error_90"] < coarse["error_90"] < 1
    assert min(one["steps_per_s"] for one in settings.values()) > 0
