"""`python -m benchmarks selectors`: every selector is timed, on made-up repertoires."""

import json
from pathlib import Path

from adapt.selectors.catalogue import selector_entries


def test_every_selector_is_measured_and_saved(run, tmp_path: Path) -> None:
    code, out, err = run("selectors", "--out", tmp_path / "selectors.json")
    assert (code, err) == (0, "")
    names = [name for name, entry in selector_entries().items() if not entry.thinks]
    assert out.startswith(" ".join(names)), out  # told as it goes
    figures = json.loads((tmp_path / "selectors.json").read_text())
    assert list(figures) == names
    assert all(figure.keys() == {"choice_ms", "tell_ms"} for figure in figures.values())
    assert all(figure["choice_ms"] > 0 for figure in figures.values())
