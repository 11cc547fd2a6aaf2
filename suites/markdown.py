"""Parts of a report in Markdown (GitHub's, for its tables), and numbers as reports print them.

A block is a string. Texts are plain: whatever Markdown would take for markup is escaped.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from robots.files.atomic import write_text
from suites.statistics import Anova, MeanInterval

NOTHING = "-"
FEWEST = 6  # values of which a bootstrap's interval covers about what it promises
_BOOTSTRAP = 2000


class Bold(str):
    """A text that a table prints bold."""

    __slots__ = ()


def bold_if(condition: object, text: str) -> str:
    """Return the text, bold if the condition holds."""
    return Bold(text) if condition else text


def heading(text: str, level: int = 2) -> str:
    """Return a heading; level 1 is the title of the document."""
    return f"{'#' * level} {_escape(text)}"


def paragraph(text: str) -> str:
    """Return running text, which is escaped where it would begin a heading, a quotation or a list."""
    line = re.sub(r"^(?=#+\s|[+-]\s|>|=+$|-+$)", r"\\", _escape(text))
    return re.sub(r"^(\d+)(?=[.)]\s)", r"\1\\", line)


def bullets(items: Iterable[str]) -> str:
    """Return a list."""
    return "\n".join(f"* {paragraph(item)}" for item in items)


def picture(name: str | Path, caption: str) -> str:
    """Return a link to a picture in the document's folder, and its caption."""
    path = Path(name)
    return f"![{path.stem}]({path.name})\n\n{paragraph(caption)}"


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "", text_columns: int = 1
) -> str:
    """Return a table.

    Args:
        header: of each column.
        rows: of as many cells, each a text or a `Bold` text.
        caption: says how to read the table; may be empty.
        text_columns: number of columns, from the left, that hold text; the others are aligned to the right.
    """
    rule = ["---" if column < text_columns else "---:" for column in range(len(header))]
    cells = (
        [f"**{_escape(text)}**" if isinstance(text, Bold) else _escape(text) for text in row] for row in rows
    )
    lines = [list(map(_escape, header)), rule, *cells]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{body}\n\n{paragraph(caption)}" if caption else body


def join(blocks: Iterable[str]) -> str:
    """Return blocks as one; empty ones are left out."""
    return "\n\n".join(filter(None, blocks))


def fill(template: Path, blocks: Mapping[str, str]) -> str:
    """Return a template with its blocks; a section is left out where all that it shows is empty."""
    sections = re.split(r"^(?=##)", template.read_text(encoding="utf-8"), flags=re.MULTILINE)
    names = [Template(section.partition("\n")[2]).get_identifiers() for section in sections]
    shown = (
        section for section, own in zip(sections, names, strict=True) if not own or any(map(blocks.get, own))
    )
    return re.sub(r"\n{3,}", "\n\n", Template("".join(shown)).substitute(blocks))


def save_report(folder: Path, text: str, *, decimals: int = 4, **tables: pd.DataFrame) -> list[Path]:
    """Write tables to CSV files of their names, and a text to `report.md`; returns the files."""
    *paths, report = (folder / name for name in (*(f"{table}.csv" for table in tables), "report.md"))
    for path, table in zip(paths, tables.values(), strict=True):
        write_text(path, table.to_csv(index=False, float_format=f"%.{decimals}f"))
    write_text(report, text)
    return [*paths, report]


def format_mean(interval: MeanInterval, decimals: int) -> str:
    """Return a mean ± its half width, to two digits of the latter and with at least so many decimals.

    A half width that would need more than three further decimals is printed as zero. A single value has no
    interval, and gets one further decimal.
    """
    reach = interval.half_width
    if math.isnan(reach):
        return f"{interval.mean:,.{decimals + 1}f}"
    if reach < 10 ** -(decimals + 3):
        return f"{interval.mean:,.{decimals}f} ± {0:.{decimals}f}"
    digits = max(decimals, 1 - math.floor(math.log10(reach)))
    return f"{interval.mean:,.{digits}f} ± {reach:,.{digits}f}"


def format_number(value: float) -> str:
    """Return a number with three significant digits, without an exponent unless it would be long."""
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        decimals = 2 - math.floor(math.log10(abs(value))) if value else 0
        return f"{value:,.{max(decimals, 0)}f}"
    return f"{value:.2e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def format_p(p: float | None) -> str:
    """Return the p of a test, or a dash where there is none."""
    return NOTHING if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def format_anova(anova: Anova) -> str:
    """Return an analysis of variance as papers print it: `Welch's F(3, 15.31) = 63320, p < 0.001`."""
    f = anova.statistic
    value = f"{f:.2f}" if f < 1000 else f"{f:.0f}" if f < 1e6 else format_number(f)
    p = "p < 0.001" if anova.p < 0.001 else f"p = {anova.p:.3f}"
    return f"Welch's F({anova.df_between}, {anova.df_within:.2f}) = {value}, {p}"


def format_share(count: int, total: int) -> str:
    """Return a share with Wilson's interval, in per cent."""
    if not total:
        return NOTHING
    low, high = stats.binomtest(count, total).proportion_ci(method="wilson")
    return f"{count / total:.0%} ({low:.0%} to {high:.0%})"


def format_interval(values: "pd.Series[float] | np.ndarray", statistic: Callable[..., Any]) -> str:
    """Return a statistic with its bootstrap interval, where that says something; a dash without values."""
    sample = np.asarray(values, np.float64)
    if not len(sample):
        return NOTHING
    if len(sample) < FEWEST or np.all(sample == sample[0]):
        return format_or_dash(statistic(sample))
    drawn = np.random.default_rng(0).choice(sample, (_BOOTSTRAP, len(sample)))
    low, high = np.quantile(statistic(drawn, axis=1), (0.025, 0.975), method="nearest")
    return f"{format_or_dash(statistic(sample))} ({format_or_dash(low)} to {format_or_dash(high)})"


def format_or_dash(value: float, decimals: int = 1) -> str:
    """Return a number with so many decimals, the sign of infinity, or a dash for what is neither."""
    return f"{value:.{decimals}f}" if np.isfinite(value) else "∞" if value == np.inf else NOTHING


def _escape(text: str) -> str:
    """Return a text on one line, with a backslash before what Markdown would take for markup."""
    line = " ".join(text.split())
    # `<` only where a tag could begin, `_` only at the edge of a word, where it could be emphasis
    return re.sub(r"[\\`*|~]|<(?=[A-Za-z/!?])|&(?=[#A-Za-z])|\](?=[(\[:])|\b_|_\b", r"\\\g<0>", line)
