"""Figures in the pages are what the committed files say; `figures.yaml` names file and expression.

An entry of a page is read like this. `from` names files below `docs/`: CSV files become the table `d`, JSON
what it holds. `columns` adds columns, `where` keeps some rows, `let` names further values. `says` are
sentences of the page in which each {expression} stands for its value. `table` begins with the header of a
table, `rows` says by which query each of its rows is found (or `by`, which column names it, or `keys`, a
`key` of expressions), `row` names values of a row, and `cells` holds what its cells say: "{x:.1f} s | never"
says `never` where x is not finite, and "*" anything.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import surefoot
from adapt.damage.parts import RobotParts
from adapt.rehearsal.storage import read_table
from robots.robot import load_robot
from suites.paper.published import published_study
from suites.paper.results import read_trial
from suites.recovery.metrics import interquartile_mean, worst_tenth
from suites.statistics import mean_interval
from suites.transfer.stage import legs_of

ROOT = Path(__file__).parent.parent
FIGURES: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "figures.yaml").read_text())
PAGES = ["README.md", *(f"docs/results/{path.name}" for path in (ROOT / "docs/results").glob("*.md"))]
NUMBERS = "no one two three four five six seven eight nine ten eleven twelve thirteen".split()  # noqa: SIM905


def interval(values: pd.Series, decimals: int) -> str:
    """A mean and the half width of its 95% interval."""
    found = mean_interval(values.to_numpy())
    return f"{found.mean:,.{decimals}f} ± {found.half_width:,.{decimals}f}"


def read(names: str | list[str]) -> Any:
    """The contents of files below `docs`: tables one below the other with the column `file`, or JSON."""
    paths = [ROOT / "docs" / name for name in ([names] if isinstance(names, str) else names)]
    if paths[0].suffix == ".json":
        return json.loads(paths[0].read_text())
    every = [pd.read_csv(path).assign(file=path.parent.name) for path in paths]
    return pd.concat(every, ignore_index=True)


@cache
def parts(robot: str) -> RobotParts:
    return RobotParts(load_robot(robot))


def same_parts(study: str, damage: str, diagnosis: str) -> bool:
    """Whether a diagnosis is of the legs, floor or torso that are damaged."""
    known = parts(study.partition("-")[0])
    return legs_of(damage, known) == legs_of(diagnosis, known)


def rehearsed(robot: str) -> pd.DataFrame:
    """What the best elite and specialist walk in the included rehearsal by damage, and the latter's falls."""
    gaits = surefoot.load(robot)
    table = read_table(ROOT / "surefoot" / "data" / f"{robot}-rehearsal.h5", gaits)
    first = len(gaits.elites)
    far = np.asarray(table.distances)
    best = first + far[:, first:].argmax(axis=1)
    every = np.arange(len(far))
    return pd.DataFrame(
        {
            "damage": table.conditions,
            "elite": far[:, :first].max(axis=1),
            "specialist": far[every, best],
            "falls": table.falls[every, best],
        }
    )


KNOWN = {
    "np": np,
    "re": re,
    "ROOT": ROOT,
    "load_robot": load_robot,
    "published_study": published_study,
    "read_trial": read_trial,
    "read": read,
    "rehearsed": rehearsed,
    "same_parts": same_parts,
    "pd": pd,
    "interval": interval,
    "students": lambda values: mean_interval(np.asarray(values, float)),
    "worst_tenth": lambda values: float(worst_tenth(np.asarray(values, float))),
    "iqm": lambda values: interquartile_mean(np.asarray(values, float)),
    "median": lambda values, reached: np.median(np.where(reached, values, np.inf)),
    "words": lambda number: NUMBERS[number],
}


def told(text: str, names: dict[str, Any]) -> str:
    """A text with {expression} or {expression:format} replaced by its value; "" if one is not finite."""
    finite = True

    def value(found: re.Match[str]) -> str:
        nonlocal finite
        number = eval(found[1], names)
        finite &= not isinstance(number, float) or np.isfinite(number)
        return format(number, found[2] or "")

    text = re.sub(r"\{([^{}]+?)(?::([+,.\d]*[f%d]?))?\}", value, text)
    return text if finite else ""


def below(page: str, header: str) -> dict[str, list[str]]:
    """The cells of a table by the first cell of each row."""
    text = re.sub(r"^ +\|", "|", (ROOT / page).read_text(), flags=re.MULTILINE)
    lines = text[text.index(f"\n{header}") + 1 :].splitlines()
    rows = lines[2 : next((n for n, line in enumerate(lines) if not line.startswith("|")), None)]
    cells = [[cell.strip(" `*") for cell in row.strip("|").split("|")] for row in rows]
    return {first: rest for first, *rest in cells}


@pytest.mark.parametrize(
    ("page", "entry"), [(page, entry) for page, found in FIGURES["pages"].items() for entry in found]
)
def test_figures_are_those_of_the_committed_files(page: str, entry: dict[str, Any]) -> None:
    d, names = read(entry["from"]), dict(KNOWN)
    for name, text in entry.get("columns", {}).items():
        d = d.assign(**{name: eval(text, names | {"d": d})})
    if "where" in entry:
        d = d.query(entry["where"])
    names["d"] = d
    for name, text in entry.get("let", {}).items():
        names[name] = eval(text, names)
    d = names["d"]
    page_words = " ".join((ROOT / page).read_text().split())
    for sentence in entry.get("says", []):
        assert (known := told(sentence, names))
        assert known in page_words
    if entry.get("table") and (entry.get("rows") != {}):
        shown, found = below(page, entry["table"]), {}
        rows = entry.get("rows") or entry.get("keys")
        if rows is None:
            rows = {str(one): f"{entry['by']} == {one!r}" for one in d[entry["by"]].unique()}
        for row, key in rows.items():
            own = d.query(key) if key and "keys" not in entry else d
            if len(own):
                found[row] = cells(entry, names | {"d": own, "name": row, "key": key})
        for row, texts in found.items():
            assert [a if b == "*" else b for a, b in zip(shown[row], texts, strict=True)] == shown[row], row
        assert set(found) == set(shown)


def cells(entry: dict[str, Any], names: dict[str, Any]) -> list[str]:
    """What the cells of a row should say."""
    for name, text in entry.get("row", {}).items():
        names[name] = eval(text, names)
    texts = (str(cell).partition(" | ") for cell in entry["cells"])
    return [told(text, names) or otherwise for text, _, otherwise in texts]


@pytest.mark.parametrize("page", PAGES)
def test_every_table_is_computed_or_says_why_not(page: str) -> None:
    """Of a table without a file `figures.yaml` says why there is none."""
    text = re.sub(r"^ +\|", "|", (ROOT / page).read_text(), flags=re.MULTILINE)
    headers = re.findall(r"(?:^|\n\n)(\|.*)\n\| *[-:]", text)
    known = [entry["table"] for entry in FIGURES["pages"].get(page, []) if entry.get("table")]
    known += FIGURES["without files"].get(page, {})
    assert [header for header in headers if not any(header.startswith(start) for start in known)] == []
    assert [start for start in known if not any(header.startswith(start) for header in headers)] == []
