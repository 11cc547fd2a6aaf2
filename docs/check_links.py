"""Check the built pages and README: local links lead somewhere, and pages load nothing from elsewhere."""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt

ROOT = Path(__file__).parent.parent
BUILT = Path(__file__).parent / "_build" / "html"
LOADING = {"script", "img", "link", "video", "source", "iframe"}


class Page(HTMLParser):
    """The ids and the links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take a tag's id and its link."""
        values = dict(attrs)
        self.ids |= {values[name] or "" for name in ("id", "name") if name in values}
        self.links += [(tag, values[name] or "") for name in ("href", "src") if name in values]


def built(path: Path) -> Path:
    """The page that a Markdown file of the documentation becomes; other files are themselves."""
    inside = path.suffix == ".md" and path.is_relative_to(ROOT / "docs")
    return BUILT / path.relative_to(ROOT / "docs").with_suffix(".html") if inside else path


def faults(home: Path, page: Page, pages: dict[Path, Page]) -> Iterator[str]:
    """What is wrong with the links of a page that lies at `home`."""
    for tag, link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            if tag in LOADING and parts.scheme != "data":
                yield f"loads {link}"
            continue
        target = built((home.parent / unquote(parts.path)).resolve()) if parts.path else home
        if not target.exists():
            yield f"links to {link}, which does not exist"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
            yield f"links to {link}, which has no such section"


def main() -> None:
    """Print each fault; exit with 1 if there is one."""
    pages = {path: Page(path.read_text()) for path in BUILT.rglob("*.html")}
    readme = {
        ROOT / "README.md": Page(
            MarkdownIt("gfm-like", {"linkify": False}).render((ROOT / "README.md").read_text())
        )
    }
    found = [
        f"{home.relative_to(ROOT)} {fault}"
        for home, page in (pages | readme).items()
        for fault in faults(home, page, pages)
    ]
    print("\n".join(found) or f"{len(pages)} pages and README: every local link leads somewhere")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
