"""A document as a list of blocks, each of which can be Markdown and HTML: nothing is written twice."""

import base64
import html
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; }
body { max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.25; margin: 2.2rem 0 0.6rem; }
h1 { margin-top: 0; }
h2 { border-bottom: 1px solid #ccc; padding-bottom: 0.2rem; }
p, ul, figcaption, caption { max-width: 52rem; }
div { overflow-x: auto; margin: 0.8rem 0 1.4rem; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
caption { caption-side: bottom; text-align: left; color: #555; padding-top: 0.4rem; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid #e4e4e4; text-align: right; white-space: nowrap; }
thead th { border-bottom: 1px solid #555; vertical-align: bottom; }
.text { text-align: left; }
td.text { white-space: normal; }
td:first-child { white-space: nowrap; }
figure { margin: 1rem 0 1.6rem; }
figcaption { color: #555; font-size: 13px; }
img { max-width: 100%; height: auto; }
"""


class Block(ABC):
    """A part of a document. Its texts are plain: whatever either format would take for markup is escaped."""

    @abstractmethod
    def markdown(self) -> str:
        """The block in Markdown (GitHub's, for its tables), without a newline at the end."""

    @abstractmethod
    def html(self) -> str:
        """The block as an HTML element."""


@final
@dataclass(frozen=True)
class Heading(Block):
    """A heading; level 1 is the document's title."""

    text: str
    level: int = 2

    def markdown(self) -> str:
        """See `Block`."""
        return f"{'#' * self.level} {_escape_markdown(self.text)}"

    def html(self) -> str:
        """See `Block`."""
        return f"<h{self.level}>{html.escape(self.text)}</h{self.level}>"


@final
@dataclass(frozen=True)
class Paragraph(Block):
    """Running text."""

    text: str

    def markdown(self) -> str:
        """See `Block`."""
        return _escape_start(self.text)

    def html(self) -> str:
        """See `Block`."""
        return f"<p>{html.escape(self.text)}</p>"


@final
@dataclass(frozen=True)
class Bullets(Block):
    """A list."""

    items: tuple[str, ...]

    def markdown(self) -> str:
        """See `Block`."""
        return "\n".join(f"* {_escape_start(item)}" for item in self.items)

    def html(self) -> str:
        """See `Block`."""
        items = "".join(f"<li>{html.escape(item)}</li>\n" for item in self.items)
        return f"<ul>\n{items}</ul>"


@dataclass(frozen=True)
class Cell:
    """A cell of a table; strong ones are bold."""

    text: str
    strong: bool = False

    def markdown(self) -> str:
        """What stands between the strokes."""
        text = _escape_markdown(self.text)
        return f"**{text}**" if self.strong else text

    def html(self) -> str:
        """What stands in the element."""
        text = html.escape(self.text)
        return f"<strong>{text}</strong>" if self.strong else text


@final
@dataclass(frozen=True)
class Table(Block):
    """A table.

    Attributes:
        header: of each column.
        rows: of as many cells.
        caption: says how to read it.
        texts: number of columns, from the left, that hold text; the others are aligned to the right.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    texts: int = 1

    def markdown(self) -> str:
        """See `Block`."""
        lines = [
            [_escape_markdown(name) for name in self.header],
            ["---" if column < self.texts else "---:" for column in range(len(self.header))],
            *([cell.markdown() for cell in row] for row in self.rows),
        ]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"{table}\n\n{_escape_start(self.caption)}" if self.caption else table

    def html(self) -> str:
        """See `Block`."""
        caption = f"<caption>{html.escape(self.caption)}</caption>\n" if self.caption else ""
        header = self._html_row("th", [html.escape(name) for name in self.header])
        rows = "\n".join(self._html_row("td", [cell.html() for cell in row]) for row in self.rows)
        return (
            f"<div><table>\n{caption}<thead>\n{header}\n</thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>"
        )

    def _html_row(self, element: str, contents: Sequence[str]) -> str:
        """A row of cells."""
        kinds = {True: ' class="text"', False: ""}
        cells = (
            f"<{element}{kinds[column < self.texts]}>{text}</{element}>"
            for column, text in enumerate(contents)
        )
        return f"<tr>{''.join(cells)}</tr>"


@final
@dataclass(frozen=True)
class Picture(Block):
    """A PNG that lies beside the document; its bytes go into the HTML.

    Attributes:
        path: of the file, which must exist when the HTML is made.
        caption: says what it shows.
    """

    path: Path
    caption: str

    def markdown(self) -> str:
        """See `Block`."""
        return f"![{self.path.stem}]({self.path.name})\n\n{_escape_start(self.caption)}"

    def html(self) -> str:
        """See `Block`."""
        data = base64.b64encode(self.path.read_bytes()).decode("ascii")
        return (
            f'<figure><img alt="{html.escape(self.path.stem)}" src="data:image/png;base64,{data}">\n'
            f"<figcaption>{html.escape(self.caption)}</figcaption></figure>"
        )


def to_markdown(blocks: Iterable[Block]) -> str:
    """Return a document in Markdown; pictures are links to files beside it."""
    return "\n\n".join(block.markdown() for block in blocks) + "\n"


def to_html(blocks: Iterable[Block], *, title: str) -> str:
    """Return a document as one HTML file that needs no other and runs no script."""
    body = "\n".join(block.html() for block in blocks)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _escape_markdown(text: str) -> str:
    """A text on one line, with a backslash before what Markdown would take for markup."""
    line = " ".join(text.split())
    # `<` only where a tag could begin, `_` only at the edge of a word, where it could be emphasis
    return re.sub(r"[\\`*|~]|<(?=[A-Za-z/!?])|&(?=[#A-Za-z])|\](?=[(\[:])|\b_|_\b", r"\\\g<0>", line)


def _escape_start(text: str) -> str:
    """The same for a text that begins a line, where more is markup: headings, quotations and lists."""
    line = _escape_markdown(text)
    line = re.sub(r"^(?=#+\s|[+-]\s|>|=+$|-+$)", r"\\", line)
    return re.sub(r"^(\d+)(?=[.)]\s)", r"\1\\", line)
