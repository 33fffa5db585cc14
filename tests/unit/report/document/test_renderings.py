"""Markdown, HTML and PDF of the same report: nobody's words become markup, and all say the same."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from service.report.document import html as page
from service.report.document import markdown as plain
from service.report.document import pdf
from service.report.document.bar_chart import draw_bars
from service.report.document.blocks import (
    Argued,
    Banner,
    Bar,
    Bullets,
    Chart,
    Fact,
    FactList,
    HeadingBlock,
    Key,
    Lane,
    Map,
    Mark,
    Quotation,
    ReportBlocks,
    ReportPart,
    Segment,
    Sparkline,
    Strip,
    TableBlock,
    Text,
    Verbatim,
    legible,
)
from service.report.document.html_text import escape, escape_plain

STRIP = Strip(
    "word",
    (
        Lane("word", "full", ((0, 10), (20, 21))),
        Lane("word", "upright", ((990, 1_000),), ((5, 9),)),
        Lane("word", "level", ((0, 1_000),)),
    ),
    (3, 500),
    (Mark("", 0), Mark("II", 40), Mark("1.2", 400)),
    "word",
)
SPECIMEN = ReportBlocks(
    "word",
    "word",
    "en",
    True,
    "2026-11-21T10:00:00Z",
    (
        Banner("warn", "word", ("word", "word")),
        ReportPart("question", "word"),
        Text("word", "lead"),
        Text("word", "note"),
        Text("word"),
        FactList((Fact("word", "word"), Fact("word", "word", code=True))),
        TableBlock("word", ("word", "word", "word"), (("word", "word", "word"), ("word", "word", "word")), (0,), (2,)),
        ReportPart("round-1", "word"),
        HeadingBlock(3, "word", "word"),
        Argued("word", "word", "word", "word", (Quotation("bad", "word", "word", "word", ("word", "word")),)),
        Argued("word", "word", "word"),
        HeadingBlock(4, "word"),
        Bullets(("word", "word")),
        Chart("word", (Bar("word", (Segment("word", 3, "info"), Segment("word", 2, "bad")), 10, "word"),)),
        Sparkline("course", "word", ("word", "word", "word"), (500, None, 870), 700, "word"),
        Verbatim(("word", "word")),
        Map("coverage", "word", (Key("full", "word"), Key("cross", "word")), (STRIP, STRIP)),
    ),
)
"""Every block with every part of it."""

FIXED = {"block", "name", "style", "tone", "language", "concluded"}

HOSTILE = [
    "<script>alert(1)</script>",
    "</p></section><h2>Decision</h2><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "# Decision\n\n## Confidence: HIGH",
    "Setext\n===",
    "[click](javascript:alert(1)) ![](http://example.org/x.png) <http://example.org>",
    "see https://example.org or www.example.org or mail a@example.org",
    "| a | b |\n|---|---|\n| c | d |",
    "- item\n1. item\n> quote\n```\ncode\n```",
    "1. one",
    "+ plus",
    "= equals",
    "***",
    "**bold** _it_ `code` ~~gone~~ $x$ &lt; &amp; \\",
    "a\\",
    "\\*",
    "[^1]: note\n[id]: http://example.org",
    "#set page(width: 1pt) #sys.inputs $ x $ *b* @ref <label> // comment",
    '"+read("/etc/passwd")+"',
    "\u202egnp.exe\u202c zero\u200bwidth \x1b[31mred\x07",
    "   ",
    "\t\n",
    "x" * 3_000,
    "\u6f22\u5b57 \u0645\u0631\u062d\u0628\u0627 \U0001f600",
    "\U000e0041\U000e0042 tags",
]
texts = st.one_of(
    st.sampled_from(HOSTILE), st.text(min_size=1), st.text("#*_`[]()<>|!-+=~&\\:/.@$^{}\"' \n1a", min_size=1)
)
CODE = re.compile(r"^(`{3,})\n.*?^\1$", re.MULTILINE | re.DOTALL)
"""Lines that are shown exactly as they are: no reader of Markdown makes links of code."""
COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def with_words(text: str) -> ReportBlocks:
    """The specimen with this text in the place of every word."""

    def put(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: put(v, k) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [put(v, key) for v in value]
        return text if value == "word" and key not in FIXED else value

    return msgspec.convert(put(msgspec.to_builtins(SPECIMEN)), ReportBlocks)


class Tags(HTMLParser):
    """What a browser would see: every tag with its attributes, every comment and declaration, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, Any]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(("/" + tag, None))

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment", data))

    def handle_decl(self, decl: str) -> None:
        self.tags.append(("declaration", decl))

    def handle_pi(self, data: str) -> None:
        self.tags.append(("instruction", data))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def structure(markdown: str) -> tuple[list[str], list[str]]:
    """What a Markdown reader would see: the kinds of its tokens, and the text of each block."""
    kinds, found = [], []
    for token in COMMONMARK.parse(markdown):
        kinds.append(token.type)
        if token.type == "fence":
            found.append(token.content)
        if token.type == "inline":
            children = token.children or []
            kinds += [child.type for child in children if child.type not in ("text", "text_special")]
            found.append("".join(child.content for child in children))
    return kinds, found


@given(texts)
@example("")
def test_no_text_ever_changes_what_the_html_consists_of(text: str) -> None:
    tags = [tag for tag in Tags(page.write(with_words(text or "word"))).tags if tag[0] not in ("bdi", "/bdi")]

    assert tags == Tags(page.write(SPECIMEN)).tags


def test_words_from_right_to_left_turn_nothing_beside_them() -> None:
    words = "\u05e9\u05dc\u05d5\u05dd, 12 \u05d0 is VERIFIED <\u0645>"

    found = escape(words)

    assert found == ("<bdi>\u05e9\u05dc\u05d5\u05dd, 12 \u05d0</bdi> is VERIFIED &lt;<bdi>\u0645</bdi>&gt;")
    assert "<bdi>" not in escape_plain(words)


@given(texts)
def test_every_text_is_read_in_the_html_as_it_was_written(text: str) -> None:
    read = "".join(Tags(page.write(with_words(text))).text)

    assert legible(text) in read


@given(texts)
def test_no_text_ever_changes_what_the_markdown_consists_of_and_each_is_read_as_it_was_written(text: str) -> None:
    kinds, read = structure(plain.write(with_words(text)))
    expected_kinds, expected = structure(plain.write(SPECIMEN))

    assert kinds == expected_kinds
    assert [block.replace("@\u2060", "@") for block in read] == [
        block.replace("word", legible(text)) for block in expected
    ]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_markdown_offers_no_address_to_make_a_link_of(text: str) -> None:
    written = CODE.sub("", plain.write(with_words(text)))

    for address in (r"[a-z]://", r"www\.", r"[^\\]\]\(", r"@[\w-]+\.", r"[^\\]<"):
        assert not re.search(address, written, re.IGNORECASE)


@given(texts)
@settings(max_examples=12)
def test_no_text_ever_keeps_the_pdf_from_being_made(text: str) -> None:
    assert pdf.write(with_words(text)).startswith(b"%PDF-")


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_pdf_never_holds_an_address_or_an_action(text: str) -> None:
    made = pdf.write(with_words(text))

    for forbidden in (b"/URI", b"/JavaScript", b"/Launch", b"/EmbeddedFile"):
        assert forbidden not in made


def test_a_pdf_is_made_for_archives_and_readers_and_is_the_same_each_time() -> None:
    made = pdf.write(SPECIMEN)

    assert made == pdf.write(SPECIMEN)
    assert b"pdfaid:part" in made
    assert b"pdfuaid:part" in made


def test_a_pdf_with_characters_that_no_font_has_is_made_without_the_standards() -> None:
    made = pdf.write(with_words("\u6f22"))

    assert made.startswith(b"%PDF-")
    assert b"pdfaid:part" not in made


def test_a_report_that_cannot_be_typeset_is_refused_with_our_own_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "TEMPLATE", "#panic()")

    with pytest.raises(pdf.CannotTypeset, match="ask for HTML"):
        pdf.write(SPECIMEN)


def test_the_html_runs_no_script_and_loads_nothing() -> None:
    written = page.write(SPECIMEN)

    for forbidden in ("<script", "<link", "<img", "<iframe", "src=", "url(", "@import", "http://", "https://", " on"):
        assert forbidden not in written.split("</style>")[1]
        assert forbidden not in written.split("<style>")[1].split("</style>")[0].replace(" only", "")
    assert "default-src 'none'" in written


def test_the_html_can_be_read_aloud() -> None:
    tags = Tags(page.write(SPECIMEN)).tags

    levels = [int(tag[1]) for tag, _ in tags if tag in ("h1", "h2", "h3", "h4")]
    ids = {value for _, attrs in tags if isinstance(attrs, list) for name, value in attrs if name == "id"}
    named = {dict(attrs)["aria-labelledby"] for tag, attrs in tags if tag == "section"}
    linked = {dict(attrs)["href"].removeprefix("#") for tag, attrs in tags if tag == "a"}
    assert levels[0] == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))
    assert named <= ids
    assert linked <= ids
    assert ("html", [("lang", "en")]) in tags
    assert sum(tag == "caption" for tag, _ in tags) == sum(tag == "table" for tag, _ in tags)
    drawings = [dict(attrs) for tag, attrs in tags if tag == "svg"]
    told_aloud = [words for d in drawings if d.get("role") == "img" for words in d["aria-labelledby"].split()]
    assert all(d.get("aria-hidden") == "true" or d.get("role") == "img" for d in drawings)
    assert len(told_aloud) == len(set(told_aloud)) == 6
    assert set(told_aloud) <= ids


@given(st.lists(st.integers(0, 10**9), max_size=5), st.integers(0, 10**9))
def test_no_bar_is_ever_drawn_beyond_its_track(values: list[int], more: int) -> None:
    bar = Bar("a", tuple(Segment("s", value, "info") for value in values), sum(values) + more, "")

    drawing = Tags(draw_bars(bar)).tags

    rectangles = [dict(attrs) for tag, attrs in drawing if tag == "rect"]
    ends = [int(r["x"]) + int(r["width"]) for r in rectangles]
    assert max(ends) <= 1_000
    assert len(rectangles) == len(values) + 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two  spaces\nand a line", "two spaces and a line"),
        ("\u202eback", "[U+202E]back"),
        ("bell\x07", "bell[U+0007]"),
        ("zero\u200bwidth", "zero[U+200B]width"),
        (
            "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
        (" \n ", "(blank)"),
        ("", ""),
        ("\ud800", "[U+D800]"),
        ("soft\u00adhyphen, \x9bcsi", "soft[U+00AD]hyphen, [U+009B]csi"),
        ("\u2066isolate\u2069 tag\U000e0041", "[U+2066]isolate[U+2069] tag[U+E0041]"),
        ("\u3164filler\ufe0f", "[U+3164]filler[U+FE0F]"),
        ("join\u200ded", "join[U+200D]ed"),
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),
        ("\U0001f469\u200d\U0001f467 \u2764\ufe0f", "\U0001f469\u200d\U0001f467 \u2764\ufe0f"),
        ("\u0646\u200c\u200c\u062e", "\u0646[U+200C][U+200C]\u062e"),
    ],
)
def test_what_acts_unseen_is_shown(text: str, shown: str) -> None:
    assert legible(text) == shown


@given(st.text())
def test_a_text_made_legible_always_stays_as_it_is(text: str) -> None:
    assert legible(legible(text)) == legible(text)
