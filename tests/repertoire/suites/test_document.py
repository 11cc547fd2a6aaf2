"""Both formats say the same, whatever the texts."""

import base64
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from repertoire.suites.document import (
    Block,
    Bullets,
    Cell,
    Heading,
    Paragraph,
    Picture,
    Table,
    to_html,
    to_markdown,
)

VOID = {"meta", "img"}
NASTY = [
    "a < b > c & d",
    "<script>alert('x')</script>",
    "a|b",
    "**strong** and *weak* and _weak_ and ~~gone~~",
    "`code` and \\backslash",
    "[text](address) and &amp; and &#65;",
    "# no heading",
    "1. no list",
    "- no list",
    "+ no list",
    "> no quotation",
    "---",
    "quotes \" and '",
    "snake_case_name",
]


class Texts(HTMLParser):
    """Collects (element, text) of an HTML body, and checks that elements are closed."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, str]] = []
        self.sources: list[str] = []
        self.feed(source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and "head" not in self.open:
            self.found.append((self.open[-1], " ".join(data.split())))


def of_markdown(blocks: list[Block]) -> Texts:
    return Texts(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(to_markdown(blocks)))


def of_html(blocks: list[Block]) -> Texts:
    return Texts(to_html(blocks, title="t"))


@pytest.mark.parametrize("text", NASTY)
def test_texts_are_not_taken_for_markup(text: str):
    table = Table((text, "number"), ((Cell(text), Cell("1")), (Cell(text, strong=True), Cell("2"))))
    blocks: list[Block] = [Heading(text, 3), Paragraph(text), Bullets((text, "plain")), table]
    expected = [
        ("h3", text),
        ("p", text),
        ("li", text),
        ("li", "plain"),
        ("th", text),
        ("th", "number"),
        ("td", text),
        ("td", "1"),
        ("strong", text),
        ("td", "2"),
    ]
    assert of_markdown(blocks).found == expected
    assert of_html(blocks).found == expected


def test_a_title_is_escaped():
    assert "<title>a &lt; b</title>" in to_html([], title="a < b")


def test_texts_are_one_line():
    assert to_markdown([Paragraph("two\n\n# lines")]) == "two # lines\n"


def test_numbers_are_aligned_to_the_right():
    table = Table(("a", "b", "c"), ((Cell("x"), Cell("y"), Cell("1")),), caption="how to read it", texts=2)
    assert "| --- | --- | ---: |" in table.markdown()
    assert table.html().count('class="text"') == 4
    assert of_markdown([table]).found[-1] == ("p", "how to read it")
    assert ("caption", "how to read it") in of_html([table]).found


def test_pictures_are_linked_and_embedded(tmp_path: Path):
    path = tmp_path / "curves.png"
    path.write_bytes(b"\x89PNG...")
    picture = Picture(path, "what it shows")
    assert of_markdown([picture]).sources == ["curves.png"]
    (source,) = of_html([picture]).sources
    kind, data = source.split(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(data) == b"\x89PNG..."
    assert of_html([picture]).found == [("figcaption", "what it shows")]
    assert of_markdown([picture]).found == [("p", "what it shows")]
