"""A browser shows every payload of a report as words: even without the page's own policy nothing runs or is loaded."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from service.report.document import html
from service.report.document.blocks import Bullets, ReportBlocks, ReportPart, TableBlock, Verbatim, legible
from tests.fixtures.chromium import needs_browser, shown
from tests.fixtures.payloads import PAYLOADS


class Items(HTMLParser):
    """The words of each item of a list, and the names of all elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: set[str] = set()
        self._in = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not any(name.startswith("on") or "javascript:" in (value or "") for name, value in attrs)
        self._in = tag == "li" or self._in
        if tag == "li":
            self.words.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in = tag != "li" and self._in

    def handle_data(self, data: str) -> None:
        if self._in:
            self.words[-1] += data


@needs_browser
async def test_a_browser_shows_every_payload_as_words(tmp_path: Path) -> None:
    words = tuple(PAYLOADS.values())
    blocks = (
        ReportPart("part", "Payloads"),
        Bullets(words),
        TableBlock("Cells", ("a", "b"), tuple((one, one) for one in words), code=(1,)),
        Verbatim(words),
    )
    page = html.write(ReportBlocks("Title", "sub", "en", False, "2026-11-25T00:00:00Z", blocks))
    unguarded = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    assert unguarded != page
    path = tmp_path / "report.html"
    path.write_text(unguarded, "utf-8")

    seen = await shown(path.as_uri(), tmp_path)

    found = Items(seen.dom)
    assert [one for one in found.words if one != "Payloads"] == [legible(one) for one in words]
    assert not found.tags & {"script", "img", "iframe", "object", "embed", "form", "base", "link"}
    assert not seen.hosts
    assert not seen.console
