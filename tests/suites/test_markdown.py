"""Markdown shows texts as they are, and numbers have the digits that they deserve."""

import math
from itertools import pairwise

import pytest
from markdown_it import MarkdownIt

from suites.markdown import Bold, bullets, format_mean, format_number, heading, join, paragraph, table
from suites.statistics import MeanInterval, mean_interval

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


def shown(markdown: str) -> list[tuple[str, str, set[str]]]:
    """The texts of a rendered document: the element that each is in, the text, and the markup in it."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    return [
        (around.tag, "".join(part.content for part in text.children), {part.type for part in text.children})
        for around, text in pairwise(tokens)
        if text.type == "inline"
    ]


@pytest.mark.parametrize("text", NASTY)
def test_texts_are_not_taken_for_markup(text: str):
    rows = [(text, "1"), (Bold(text), "2")]
    blocks = [heading(text, 3), "", paragraph(text), bullets((text, "plain")), table((text, "number"), rows)]
    found = shown(join(blocks))
    plain = [(tag, content) for tag, content, _ in found if content != text]
    assert plain == [("p", "plain"), ("th", "number"), ("td", "1"), ("td", "2")]
    bold = {"text", "strong_open", "strong_close"}
    markup = [(tag, kinds) for tag, content, kinds in found if content == text]
    assert markup == [*((tag, {"text"}) for tag in ("h3", "p", "p", "th", "td")), ("td", bold)]


@pytest.mark.parametrize(
    ("mean", "reach", "text"),
    [
        (0.5412, 0.0123, "0.541 ± 0.012"),
        (0.54123, 0.00123, "0.5412 ± 0.0012"),
        (0.7, 0.12, "0.700 ± 0.120"),
        (0.0070312, 0.0000201, "0.007031 ± 0.000020"),
        (1234.5, 8.0, "1,234.500 ± 8.000"),
        (100.0, 1e-9, "100.000 ± 0.000"),
        (0.5412, math.nan, "0.5412"),
    ],
)
def test_means_have_as_many_digits_as_their_interval_supports(mean: float, reach: float, text: str):
    assert format_mean(MeanInterval(mean, mean - reach, mean + reach), 3) == text
    assert format_mean(mean_interval([2.0]), 2) == "2.000"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0076812, "0.00768"),
        (-1.4, "-1.40"),
        (399.6, "400"),
        (12345, "12,345"),
        (3.0812e6, "3.08e6"),
        (2.5e-7, "2.50e-7"),
        (-4.2e12, "-4.20e12"),
    ],
)
def test_numbers_keep_three_digits(value: float, text: str):
    assert format_number(value) == text
