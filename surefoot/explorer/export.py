"""A page that needs no server: the archive, recorded gaits and a recovery in a single file."""

import base64
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from adapt.damage.library import damage_library
from repertoire.repertoire import Repertoire
from robots.errors import InvalidValueError
from robots.files.atomic import write_text
from surefoot.explorer.answers import Answers, Message, Request
from surefoot.explorer.explorer import Explorer

STATIC = Path(__file__).parent / "static"
_MOST_GAITS = 12
_SPACING = 0.04  # between poses [s]
_MODULES = {
    "three": "three/three.min.js",
    **{
        name: f"{name}.js"
        for name in ("archive", "connection", "main", "mission", "recovery", "stage", "view")
    },
}


def export_page(
    explorer: Explorer,
    page: Path,
    *,
    damage: str | None = None,
    on_progress: Callable[[str, float], None] = lambda _what, _share: None,
) -> int:
    """Write a page with a recovery, a dozen gaits, healthy and damaged, and the mission, if there is one.

    Args:
        explorer: what to show.
        page: the .html file.
        damage: of the recovery; by default the first of the library, usually the first leg lost.
        on_progress: called with what is done, in words, and the share of it that is.

    Returns:
        The number of gaits.
    """
    if page.suffix.lower() not in (".html", ".htm"):
        raise InvalidValueError(f"{page} must end in .html")
    hello, rows = explorer.hello(), list[int]()
    scenes: list[Message] = []
    answers: dict[str, list[Message]] = {}
    now: list[Message] = []

    def take(message: Message) -> None:
        if message["type"] == "progress":
            on_progress(message["what"], message["share"])
        elif message["type"] != "ran":  # the trial itself follows at once
            (scenes if message["type"] == "scene" else now).append(message)

    asking = Answers(explorer, take, spacing=_SPACING)

    def record(name: str, request: Request) -> list[Message]:
        now.clear()
        asking.answer(request)
        answers[name] = [*now]
        return answers[name]

    if explorer.walks:
        damages = (one for one in damage_library(explorer.repertoire.robot) if one.singles)
        broken = str(next(damages)) if damage is None else damage
        wanted = Request(do="recover", damage=broken, selector=explorer.selector)
        *_, recovered = record(f"recover {broken}", wanted)
        if explorer.mission is not None:
            record("mission", Request(do="mission"))
        chosen = (recovered["incumbent"], recovered["row"], *_spread_rows(explorer.repertoire))
        rows = list(dict.fromkeys(chosen))[:_MOST_GAITS]
        for number, row in enumerate(rows):
            on_progress("recording gaits", number / len(rows))
            for one in ("", broken):
                record(f"walk {row} {one}", Request(do="walk", row=row, damage=one))
        on_progress("recording gaits", 1.0)
        selectors = {explorer.selector: hello["selectors"][explorer.selector]}
        hello |= {"damages": {"recorded": [broken]}, "selectors": selectors, "start": rows[0]}
    hello["recorded"] = rows if explorer.walks else None
    write_text(page, _page({"hello": hello, "scenes": scenes, "answers": answers}))
    return len(rows)


def _spread_rows(repertoire: Repertoire) -> Iterator[int]:
    """Rows of good gaits that differ: the best, and the best of each half and third of every measure."""
    elites = repertoire.elites
    low, high = np.array(repertoire.problem.measure_ranges).T
    shares = np.clip((elites.measures - low) / (high - low), 0, 0.999)
    order = np.argsort(-elites.objectives, kind="stable")
    for parts in (1, 2, 3):
        _, first = np.unique((shares[order] * parts).astype(int), axis=0, return_index=True)
        yield from (int(row) for row in order[np.sort(first)])


def _page(recorded: Message) -> str:
    modules = {name: (STATIC / path).read_text("utf-8") for name, path in _MODULES.items()}
    text = (STATIC / "page.html").read_text("utf-8")
    before, rest = text.split('<script type="importmap"')
    _, after = rest.split('<script type="module" src="static/main.js"></script>')
    style = (STATIC / "explorer.css").read_text("utf-8")
    before = before.replace('<link rel="stylesheet" href="static/explorer.css">', f"<style>{style}</style>")
    boot = (STATIC / "boot.js").read_text("utf-8")
    content = json.dumps({"modules": modules, "recorded": recorded}, allow_nan=False).encode()
    packed = base64.b64encode(gzip.compress(content, mtime=0)).decode()
    end = f'<script type="text/plain" id="packed">{packed}</script>\n<script>{boot}</script>\n</body>'
    return before + after.replace("</body>", end)
