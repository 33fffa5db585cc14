"""What is checked of the site once it is built; what is wrong is a warning, and so ends the build.

No page loads anything from outside, every link within the site and every anchor leads somewhere, each picture has words
in its place, no anchor stands twice on a page, and what `access.py` writes is there.
"""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_LOADS = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "audio": "src",
    "video": "src",
}


class Page(HTMLParser):
    """What a page links, what it loads, its anchors, and what is wrong with it by itself."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.faults: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag says."""
        named = {name: value or "" for name, value in attrs}
        if anchor := named.get("id"):
            self.faults += [f"the anchor #{anchor} stands twice"] if anchor in self.anchors else []
            self.anchors.add(anchor)
        if tag == "img" and "alt" not in named:
            self.faults.append(f"the picture {named.get('src')} has no words in its place")
        loaded = named.get(_LOADS.get(tag, ""), "")
        if loaded and (urlsplit(loaded).scheme not in ("", "data") or loaded.startswith("//")):
            self.faults.append(f"{loaded} is loaded from outside")
        if tag == "html" and not named.get("lang"):
            self.faults.append("the page does not say its language")
        if tag == "aside" and not named.get("aria-label"):
            self.faults.append("an aside has no name")
        if named.get("role") == "heading" and not named.get("aria-level"):
            self.faults.append("a heading has no level")
        if tag == "pre" and "tabindex" not in named:
            self.faults.append("a block of code is not reached by the keyboard")
        self.links += [link for link in (loaded, named.get("href", "") if tag == "a" else "") if link]


def faults(site: Path) -> list[str]:
    """What is wrong with the pages below a folder, each with its page."""
    pages = {page: Page(page.read_text("utf-8")) for page in sorted(site.rglob("*.html"))}
    found = [f"{page.relative_to(site)}: {fault}" for page, read in pages.items() for fault in read.faults]
    for page, read in pages.items():
        found += [f"{page.relative_to(site)}: {link} leads nowhere" for link in read.links if _dead(page, link, pages)]
    return found + [f"{sheet.relative_to(site)}: loads from outside" for sheet in site.rglob("*.css") if _loads(sheet)]


def _loads(sheet: Path) -> bool:
    text = sheet.read_text("utf-8")
    return any(begin in text for begin in ("url(http", 'url("http', "url('http", "url(//", "@import"))


def _dead(page: Path, link: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target in pages and parts.fragment:
        return unquote(parts.fragment) not in pages[target].anchors
    return not target.is_file()


def _check(app: Sphinx, exception: Exception | None) -> None:
    from sphinx.util import logging

    if exception is None and app.builder.name == "html":
        for fault in faults(Path(app.outdir).resolve()):
            logging.getLogger(__name__).warning("%s", fault, type="site")


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx asks of an extension."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
