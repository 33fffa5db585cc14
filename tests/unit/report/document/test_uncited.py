"""What was never cited: in the result, in sentences, in tables and as a picture."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.checks.coverage import coverage
from service.debate.entries import Entry
from service.debate.facts import Facts
from service.debate.findings import ArgumentVerdict, CitationsFound, CitationVerdict, Finding
from service.debate.model import Case, Check
from service.report import Line, Result, build_result, html, markdown, pdf
from service.report.document.blocks import Lane, Map, Mark, Pattern, Strip, TableBlock
from service.report.document.contents import report
from service.report.document.strip_chart import WIDTH, draw_strip, runs
from tests.fixtures.debates import World, a_case, a_start, drive, found
from tests.unit.checks.coverage.cited import AGREEMENT, at, citing

START = a_start(2)


def a_case_with(*texts: str) -> Case:
    """A case with these texts, the last of them given from the second round on."""
    case = a_case(*([1] * (len(texts) - 1)), 2)
    documents = tuple(replace(d, characters=len(t)) for d, t in zip(case.documents, texts, strict=True))
    return replace(case, documents=documents)


CASE = a_case_with(AGREEMENT, "An order form.\nOf two lines.", "Later.\nNews.")
TEXTS = {"D1": AGREEMENT, "D2": "An order form.\nOf two lines.", "D3": "Later.\nNews."}
SPANS = {"1.proposer.1": at("capped at the fees"), "1.critic.1": at("fraud"), "1.rebuttal.1": at("Late fees bear")}


def quoting(check: Check, facts: Facts) -> Finding:
    """Each seat cites another clause; the rebuttal does so wrongly, and the critic's second point is struck."""
    finding = found(check, facts)
    if not isinstance(finding, CitationsFound):
        return finding
    told_of = []
    for a in finding.arguments:
        span = SPANS[a.turn]
        wrong = a.turn == "1.rebuttal.1"
        verdicts = tuple(CitationVerdict("altered" if wrong else "verified", "D1", span) for _ in a.verdicts)
        struck = wrong or (a.turn, a.n) == ("1.critic.1", 2)
        told_of.append(ArgumentVerdict(a.turn, a.n, verdicts, "unverified_citation" if struck else None))
    return CitationsFound(tuple(told_of))


def told(entries: Sequence[Entry], texts: dict[str, str] = TEXTS) -> Result:
    lines = [Line(n, f"2026-11-21T10:00:{n % 60:02d}Z", entry) for n, entry in enumerate(entries)]
    return build_result("d1", lines, texts=texts)


ENTRIES = drive(a_start(1), case=CASE, findings=quoting)
CITED = told(ENTRIES)


def picture(r: Result) -> Map:
    (block,) = [block for block in report(r).blocks if isinstance(block, Map)]
    return block


def test_a_result_tells_by_document_what_was_cited() -> None:
    assert [(c.document_id, c.given, c.citations, c.parts_are) for c in CITED.coverage] == [
        ("D2", True, 0, "lines"),
        ("D1", True, 3, "places"),
        ("D3", False, 0, "lines"),
    ]
    read = msgspec.json.decode(msgspec.json.encode(CITED), type=dict[str, Any])["coverage"][1]
    assert read["neverCitedParts"][1]["name"] == "Sections 1 and 2"
    assert read["cited"][0]["by"][0]["seat"] == "proposer"


def test_nothing_is_called_uncited_before_the_debate_has_concluded() -> None:
    assert all(told(ENTRIES[:n]).coverage == () for n in range(1, len(ENTRIES)))


def test_a_debate_in_which_no_round_began_says_nothing_of_citations() -> None:
    failed = told(drive(a_start(), case=CASE, fails=lambda turn, _: turn == "0.framing.1"))

    assert failed.status == "failed"
    assert failed.coverage == ()
    assert "What was not cited" not in markdown(failed)


def test_citations_and_strikes_are_counted_in_the_result() -> None:
    counts = msgspec.json.decode(msgspec.json.encode(CITED), type=dict[str, Any])["citationCounts"]

    compared = {"verified": 3, "altered": 1, "tooShort": 0, "notFound": 0, "unchecked": 0}
    assert counts == {**compared, "uncited": 0, "struck": 2}


@given(st.builds(World, st.integers(0, 5_000), unverified=st.just(40), failing=st.sampled_from([0, 30])))
def test_the_counts_are_always_those_of_the_arguments_that_are_told(world: World) -> None:
    entries = world.drive(START, case=a_case(1, 2))

    r = told(entries, {})

    of_struck = [s.argument.struck for s in r.struck]
    assert r.citation_counts.struck == len(of_struck)
    assert r.citation_counts.uncited == of_struck.count("uncited")
    assert sum(c.citations for c in r.coverage) <= r.citation_counts.verified


@pytest.mark.parametrize(
    "said",
    [
        "**Nobody cited anything from Document 2 (D2). Document 1 (D1): the opening, Sections 1, 2, 3.3 and 4",
        "and Annex A were never cited. Document 3 (D3) was given to nobody: the debate ended before round 2.**",
        "Not cited is not the same as not read",
        "| Document 2 (D2) | Nothing of it was cited. |",
        "Quoted wrongly: 1. |",
        "| D2 | all of it | 28 |",
        f"| D1 | Section 3.3 | {len('3.3 No party owes lost profits.') + 1} |",
        "| D1 | Section 3 | LIABILITY | in part | 3 | proposer, critic |",
        "| 1.rebuttal.1 | 1 |",
        "- **Cited of D1 (Document 1):** 0.055 of the text was cited; never cited: the opening",
    ],
)
def test_a_report_says(said: str) -> None:
    assert said in markdown(CITED)


def test_a_part_without_a_title_has_none_in_the_table() -> None:
    cited = next(c for c in CITED.coverage if c.places)
    untitled = replace(cited.places[0], label="Section C7.4", title="")

    written = markdown(replace(CITED, coverage=(replace(cited, places=(untitled,)),)))

    assert "| Section C7.4 |  | " in written


def test_a_document_without_its_text_is_told_with_the_reason() -> None:
    written = markdown(told(ENTRIES, {"D1": AGREEMENT}))

    assert "Document 2 (D2): its text is not stored, so its parts cannot be named." in written
    assert "(D3): its text" not in written


def test_the_picture_shows_each_side_on_a_strip_of_its_own_and_what_only_struck_arguments_cite_as_outlines() -> None:
    blank, strip = picture(CITED).strips

    assert [(lane.label, lane.pattern) for lane in strip.lanes] == [
        ("Proposer", "full"),
        ("Critic", "upright"),
        ("Rebuttal", "level"),
    ]
    assert [bool(lane.solid) for lane in strip.lanes] == [True, True, False]
    assert [bool(lane.hollow) for lane in strip.lanes] == [False, True, False]
    assert len(strip.crosses) == 1
    assert [mark.label for mark in strip.marks] == ["1", "2", "3", "4", "A"]
    assert not any(lane.solid or lane.hollow for lane in blank.lanes)


def test_the_picture_is_in_the_html_with_its_words_and_in_the_pdf() -> None:
    written = html(CITED)

    drawings = re.findall(r'<svg viewBox="[^"]*" role="img".*?</svg>', written)
    assert len(drawings) == 2
    assert "<title id=" in drawings[0]
    assert "Nothing of it was cited.</desc>" in drawings[0]
    assert pdf(CITED).startswith(b"%PDF-")
    assert b"pdfaid:part" in pdf(CITED)


@given(
    st.lists(st.tuples(st.integers(0, 9_999), st.integers(1, 10_000)).filter(lambda s: s[0] < s[1]), max_size=60),
    st.integers(10_000, 10_000_000),
)
def test_runs_always_cover_their_stretches_and_never_leave_the_strip(spans: list[tuple[int, int]], total: int) -> None:
    drawn = runs(spans, total)

    assert all(0 <= a < b <= WIDTH for a, b in drawn)
    assert all(b < a for (_, b), (a, _) in pairwise(drawn))
    for start, end in spans:
        assert any(a * total <= start * WIDTH and end * WIDTH <= b * total for a, b in drawn)


def test_a_drawing_is_bounded_whatever_it_shows_and_is_well_formed() -> None:
    spans = [(n * 100, n * 100 + 1) for n in range(100_000)]
    patterns: tuple[Pattern, ...] = ("full", "upright", "level")
    drawn_runs = runs(spans, 10_000_000)
    lanes = tuple(Lane(f"<{p}>", p, drawn_runs, drawn_runs) for p in patterns)
    marks = tuple(Mark("<", at) for at in range(0, WIDTH, 5))

    drawn = draw_strip(Strip("& </svg>", lanes, tuple(range(0, WIDTH, 2)), marks, '"<script>'), "coverage-0")

    assert len(drawn) < 60_000
    ET.fromstring(drawn)
    assert "<script" not in drawn


def test_tables_are_cut_and_say_so() -> None:
    text = "".join(f"{n}.{m} Fees\nwords\n" for n in range(1, 61) for m in range(1, 11))
    starts = [text.index(f"\n{n}.{m} Fees") + 1 for n in range(1, 61) for m in (2, 4)]
    quoted = citing(*((start, start + 5) for start in starts))

    r = replace(CITED, coverage=coverage(a_case_with(text, "x"), [quoted], 1, {"D1": text}))

    tables = [b for b in report(r).blocks if isinstance(b, TableBlock) and b.caption.startswith("Parts that")]
    assert [len(table.rows) for table in tables] == [100, 100]
    assert markdown(r).count("more are in the result as JSON, under coverage.") == 2
