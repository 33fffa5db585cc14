"""Marks where people read: in report, page and terminal of every format, beside the words and at no other place."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from rich.console import Console

from service.cli.display import page
from service.debate.entries import Entry
from service.debate.facts import Facts
from service.debate.findings import Finding, TextsFound
from service.debate.model import Check, ConvergenceOptions, Options, PanelOptions, StancesOptions, Turn
from service.debate.replies import Moderation, Reply
from service.debate.replies.texts import texts_of
from service.report import Result, build_result, html, markdown
from service.report.document import pdf as typeset
from service.report.document.contents import report
from service.report.marks import MARK, OPEN
from tests.fixtures import formats
from tests.fixtures.debates import Replies, a_case, a_start, canned, drive, start_of, weak_first
from tests.unit.report.played import FORMATS, lines
from tests.unit.report.quoting import NOWHERE, marking, quoting, words_of

OTHERS: dict[str, Options] = {
    "alone": StancesOptions(formats.debaters(2, stances=True), 1, human_review=True, output_schema={}),
    "majority": ConvergenceOptions(3, 1, human_review=False, judge=False),
    "ideas": PanelOptions(2, 3, False, "brainstorm", "caller", formats.THRESHOLDS, "algorithmic", "manual"),
}
DEBATES = (*FORMATS, *OTHERS, "positions", "evidence")
QUOTED = re.compile(r'words of [^"“”]*? alone"')


def entries_of(name: str, replies: Replies = canned, findings: Any = marking) -> list[Entry]:
    match name:
        case "positions":
            start = a_start(positions=("adopt-x", "adopt-y"))
            start = replace(start, options=replace(start.options, swapped=True))
            return drive(start, replies, findings=findings)
        case "evidence":
            return drive(a_start(2), replies, case=a_case(1, 2), findings=findings)
        case _:
            options = OTHERS.get(name) or formats.plain(name)
            return drive(start_of(options), replies, findings=findings)


def weak(turn: Turn, facts: Facts) -> Reply:
    """Critics are asked twice, moderators want another round, and a projection has texts at every depth."""
    reply = weak_first(turn, facts)
    if isinstance(reply, Moderation) and turn.round == 1:
        reply = replace(reply, recommend_another_round=True)
    if turn.asks == "stances.synthesizer":
        return msgspec.convert({"seat": turn.asks, "output": '{"decision": "sign", "why": ["it is due"]}'}, Reply)
    return reply


def result(name: str, replies: Replies = canned, findings: Any = marking) -> Result:
    return build_result("d1", lines(entries_of(name, replies, findings)))


def terminal(r: Result, width: int = 80) -> str:
    """The page of a result on a file of 80 columns, on one line."""
    written = io.StringIO()
    page.show(Console(file=written, width=width, highlight=False, markup=False, emoji=False, color_system=None), r)
    wrapped = [line for line in written.getvalue().splitlines() if OPEN in line and not line.lstrip().startswith('"')]
    assert all(len(line.rstrip()) <= width for line in wrapped)
    return " ".join(written.getvalue().replace("┃", " ").split())


class Texts(HTMLParser):
    """The text of a page, and the text of every element that marks something."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.marks = "", list[str]()
        self._in_mark = False
        self.feed(page.partition("<body>")[2])

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self._in_mark = tag == "mark"
        if self._in_mark:
            self.marks.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_mark = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_mark:
            self.marks[-1] += data


def typeset_text(r: Result) -> str:
    """Every text that the PDF's template is given, without the breaks for long words."""
    found: list[str] = []

    def read(value: Any) -> None:
        if isinstance(value, str):
            found.append(value.replace("\u200b", ""))
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            read(inner)

    read(msgspec.json.decode(msgspec.json.encode(typeset._leaves(msgspec.to_builtins(report(r))))))
    return "\n".join(found)


def surfaces(r: Result) -> dict[str, str]:
    unescaped = re.sub(r"\\([\\`*_\[\]<>#|~&!@${}^.:=+-])", r"\1", markdown(r))
    return {"markdown": unescaped, "html": Texts(html(r)).text, "pdf": typeset_text(r), "terminal": terminal(r)}


@pytest.mark.parametrize("name", DEBATES)
def test_every_quotation_that_a_person_reads_has_its_mark_beside_it_wherever_it_stands(name: str) -> None:
    r = result(name, quoting(weak))

    assert r.passages
    for surface, shown in surfaces(r).items():
        found = [(m.group(), shown[m.end() : m.end() + len(NOWHERE) + 1]) for m in QUOTED.finditer(shown)]
        assert found, surface
        assert {words: after for words, after in found if after != f" {NOWHERE}"} == {}, surface


@pytest.mark.parametrize("name", DEBATES)
def test_the_report_shows_every_text_that_was_compared(name: str) -> None:
    """So no mark is missing because its text is."""
    r = result(name, quoting(weak))
    shown = surfaces(r)["markdown"]

    missing = {
        (one.turn, passage.field)
        for one in r.passages
        for passage in one.passages
        if words_of(one.turn, passage.field) not in shown
    }
    assert missing == set()


@pytest.mark.parametrize("name", DEBATES)
def test_the_json_keeps_every_text_as_the_seat_wrote_it_and_spans_find_the_words(name: str) -> None:
    entries = entries_of(name, quoting(weak))
    r = build_result("d1", lines(entries))
    said = Facts.of(entries).said

    assert OPEN not in msgspec.json.encode(replace(r, checks=())).decode()
    for one in r.passages:
        texts = dict(texts_of(said[one.turn]))
        for passage in one.passages:
            assert texts[passage.field][slice(*passage.span)] == words_of(one.turn, passage.field)
            assert passage.mark == "not in any document"
    assert {one.turn for one in r.passages} == {turn for turn, reply in said.items() if texts_of(reply)}


@pytest.mark.parametrize("name", DEBATES)
def test_a_result_without_marked_passages_is_shown_without_marks_and_without_their_key(name: str) -> None:
    def none(check: Check, facts: Facts) -> Finding:
        return TextsFound(()) if check.kind == "texts" else marking(check, facts)

    for shown in surfaces(result(name, quoting(weak), none)).values():
        assert not MARK.search(shown)
        assert "passages compared" in shown
        assert not re.search(r"code alone sets|\bMarked\b|, \d+ marked, because|once more", shown)
