"""What of the documents was cited: who, where, and what is left of them, whatever the order of the verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.checks.citations.text.outline import outline
from service.checks.coverage import DocumentCoverage, coverage, shares
from service.checks.coverage.parts import nested
from service.debate.findings import ArgumentVerdict, CitationVerdict
from service.debate.turns import TurnId
from tests.unit.checks.coverage.cited import AGREEMENT, a_case, at, citing, told

LINES = (
    "ARTICLE I Definitions",
    "ARTICLE II Terms",
    "# Agreement",
    "## 3. Scope",
    "### Status",
    "1. TERM",
    "2. FEES",
    "3. LAW",
    "1.1 The term is two years.",
    "2.1 Fees are due.",
    "9.2 Nothing else is owed.",
    "Section 4. Notices",
    "(a) an item of the clause",
    "Page 2",
    "Plain words that stand under whatever came before.",
    "",
    "\f",
)
texts = st.lists(st.sampled_from(LINES), min_size=1, max_size=30).map("\n".join)
turns = st.sampled_from(["1.proposer.1", "1.critic.1", "1.critic.2", "1.rebuttal.1", "2.proposer.adopt-x.1"])
verdicts = st.builds(
    CitationVerdict,
    st.sampled_from(["verified", "verified", "altered", "not_found"]),
    st.sampled_from(["D1", "D2", "D9", None]),
    st.none() | st.tuples(st.integers(-5, 700), st.integers(-5, 900)),
)
arguments = st.lists(
    st.builds(
        ArgumentVerdict,
        turns,
        st.integers(1, 9),
        st.lists(verdicts, max_size=3).map(tuple),
        st.none() | st.just("unverified_citation"),
    ),
    max_size=12,
)


def meets(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])


def both(one: str, other: str, found: Sequence[ArgumentVerdict]) -> dict[str, DocumentCoverage]:
    case, given_texts = a_case(one, other), {"D1": one, "D2": other}
    return {c.document_id: c for c in coverage(case, found, 2, given_texts)}


@given(texts, texts, arguments)
def test_cited_and_never_cited_are_always_the_whole_document_without_overlap(
    one: str, other: str, found: list[ArgumentVerdict]
) -> None:
    for name, told_of in both(one, other, found).items():
        pieces = sorted([*(c.span for c in told_of.cited), *told_of.never_cited])
        edges = [offset for piece in pieces for offset in piece]
        length = len({"D1": one, "D2": other}[name])

        assert edges[::2] == [0, *edges[1:-1:2]][: len(pieces)]
        assert edges[-1:] == ([length] if length else [])
        assert all(start < end for start, end in pieces)
        assert (told_of.cited_share == 0) == (not told_of.cited)
        assert (told_of.cited_share == 1) == (not told_of.never_cited and length > 0)


@given(texts, texts, arguments)
def test_who_cited_a_stretch_is_always_who_covers_it(one: str, other: str, found: list[ArgumentVerdict]) -> None:
    for told_of in both(one, other, found).values():
        for stretch in told_of.cited:
            covered = {at for by in stretch.by for start, end in by.spans for at in range(start, end)}
            assert covered == set(range(*stretch.span))


@given(texts, texts, arguments, st.randoms(use_true_random=False))
def test_the_order_of_the_verdicts_never_matters(
    one: str, other: str, found: list[ArgumentVerdict], order: Random
) -> None:
    shuffled = list(found)
    order.shuffle(shuffled)

    assert both(one, other, shuffled) == both(one, other, found)


@given(texts, arguments)
def test_the_ranges_always_name_exactly_the_parts_that_no_verified_citation_touches(
    text: str, found: list[ArgumentVerdict]
) -> None:
    told_of = both(text, "", found)["D1"]
    spans = [c.span for c in told_of.cited]
    if told_of.parts_are == "lines":
        start = 0
        ranges = [
            range(int(r.first.replace(",", "")), int(r.last.replace(",", "")) + 1) for r in told_of.never_cited_parts
        ]
        for n, line in enumerate(text.split("\n"), start=1):
            untouched = not any(meets((start, start + len(line) + 1), span) for span in spans)
            named = any(n in lines for lines in ranges)
            assert named <= untouched
            assert named or not untouched or not line.strip()
            start += len(line) + 1
    elif told_of.parts_are in ("places", "pages"):
        kinds = ("page",) if told_of.parts_are == "pages" else ("heading", "division", "clause")
        parts = nested([p for p in outline(text) if p.kind in kinds and p.span[0] < p.span[1]], text)
        ranges_of = [r.span for r in told_of.never_cited_parts]
        for part in parts:
            untouched = not any(meets(part.span, span) for span in spans)
            assert untouched == any(a <= part.start and part.stop <= b for a, b in ranges_of)
        assert sum(r.parts for r in told_of.never_cited_parts) == told_of.parts_never_cited
        assert len(told_of.places) + told_of.parts_never_cited == told_of.parts == len(parts)


@given(texts, texts, arguments)
def test_shares_without_the_texts_are_always_those_with_them(
    one: str, other: str, found: list[ArgumentVerdict]
) -> None:
    case = a_case(one, other)

    assert shares(case, found, 2) == {d: round(c.cited_share * 1_000) for d, c in both(one, other, found).items()}


def test_a_clause_is_cited_its_article_in_part_and_the_rest_never() -> None:
    found = told(citing(at("capped at the fees")), citing(at("fraud"), turn=TurnId("1.critic.1"), n=2))

    assert [(p.label, p.state, p.citations, p.seats) for p in found.places] == [
        ("Section 3", "partly", 2, ("proposer", "critic")),
        ("Section 3.1", "cited", 1, ("proposer",)),
        ("Section 3.2", "cited", 1, ("critic",)),
    ]
    assert [r.name for r in found.never_cited_parts] == [
        "the opening",
        "Sections 1 and 2",
        "Section 3.3",
        "Section 4",
        "Annex A",
    ]
    assert (found.parts, found.parts_never_cited, found.citations) == (15, 12, 2)


def test_an_article_is_cited_when_all_of_its_clauses_are() -> None:
    found = told(citing(at("1.1 This agreement"), at("1.2 It renews")))

    assert [(p.label, p.state) for p in found.places] == [
        ("Section 1", "cited"),
        ("Section 1.1", "cited"),
        ("Section 1.2", "cited"),
    ]


def test_what_holds_a_part_that_was_cited_in_part_was_cited_in_part_itself() -> None:
    text = "ARTICLE I Terms\n1. FEES\n1.1 Fees are due.\n1.2 Interest runs.\nARTICLE II Law\nSwiss law."

    found = told(citing(at("Fees are due", text)), text=text)

    assert [(p.label, p.state) for p in found.places] == [
        ("Article I", "partly"),
        ("Section 1", "partly"),
        ("Section 1.1", "cited"),
    ]


def test_a_part_has_a_title_in_json_only_where_the_document_gives_it_one() -> None:
    text = (
        "## Fees\n\nSection 7.3\n\nFees are due.\n\nSection 7.4 Interest\n\nIt runs.\n\n## <a id=x></a>\n\nSwiss law.\n"
    )

    found = told(citing((0, len(text))), text=text)

    places = json.loads(msgspec.json.encode(found))["places"]
    assert [(place["label"], place.get("title")) for place in places] == [
        ("“Fees”", "Fees"),
        ("Section 7.3", None),
        ("Section 7.4", "Interest"),
        ("“untitled”", None),
    ]


def test_a_citation_over_the_edge_of_two_clauses_is_one_of_both() -> None:
    start, end = at("two years.")[0], at("1.2 It renews")[1]

    found = told(citing((start, end)))

    assert [p.label for p in found.places] == ["Section 1", "Section 1.1", "Section 1.2"]
    assert [p.citations for p in found.places] == [1, 1, 1]


def test_citations_that_touch_are_one_stretch_that_tells_who_made_each() -> None:
    found = told(
        citing((10, 20), (15, 30), n=2),
        citing((30, 40), turn=TurnId("2.critic.1"), n=4),
        citing((12, 14), turn=TurnId("1.proposer.1"), n=3, struck="unverified_citation"),
    )

    (stretch,) = found.cited
    assert stretch.span == (10, 40)
    assert [(by.turn, by.seat, by.round, by.arguments, by.struck, by.spans) for by in stretch.by] == [
        ("1.proposer.1", "proposer", 1, (2,), False, ((10, 30),)),
        ("1.proposer.1", "proposer", 1, (3,), True, ((12, 14),)),
        ("2.critic.1", "critic", 2, (4,), False, ((30, 40),)),
    ]


def test_what_is_quoted_wrongly_is_told_apart_and_never_cited() -> None:
    found = told(citing(at("capped at the fees"), verdict="altered", n=3, turn=TurnId("1.rebuttal.adopt-x.1")))

    assert found.cited == ()
    (wrong,) = found.quoted_wrongly
    assert (wrong.span, wrong.seat, wrong.position, wrong.argument) == (
        at("capped at the fees"),
        "rebuttal",
        "adopt-x",
        3,
    )
    assert "Section 3" not in [p.label for p in found.places]


@pytest.mark.parametrize(
    "verdict",
    [
        CitationVerdict("not_found", "D1", (0, 10)),
        CitationVerdict("verified", "D1"),
        CitationVerdict("verified", None, (0, 10)),
        CitationVerdict("verified", "D7", (0, 10)),
        CitationVerdict("verified", "D1", (9, 9)),
        CitationVerdict("verified", "D1", (10_000, 10_010)),
    ],
)
def test_a_citation_without_a_passage_of_the_document_counts_as_none(verdict: CitationVerdict) -> None:
    assert told(ArgumentVerdict(TurnId("1.critic.1"), 1, (verdict,))).citations == 0


def test_documents_that_nobody_cited_come_first_and_those_that_nobody_was_given_last() -> None:
    case = a_case("one\ntwo", "three\nfour", "five\nsix", "seven\neight", rounds=(3, 1, 1, 2))
    given_texts = {"D1": "one\ntwo", "D2": "three\nfour", "D3": "five\nsix", "D4": "seven\neight"}

    found = coverage(case, [citing((0, 3), document="D2")], 2, given_texts)

    assert [(c.document_id, c.given, c.citations) for c in found] == [
        ("D3", True, 0),
        ("D4", True, 0),
        ("D2", True, 1),
        ("D1", False, 0),
    ]
    assert shares(case, [citing((0, 3), document="D2")], 2) == {"D2": 300, "D3": 0, "D4": 0}


def test_a_citation_from_before_a_documents_round_does_not_count() -> None:
    case = a_case("one\ntwo", rounds=(2,))

    early, later = citing((0, 3)), citing((0, 3), turn=TurnId("2.critic.1"))

    assert shares(case, [early], 2) == {"D1": 0}
    assert shares(case, [early, later], 2) == {"D1": 429}


@pytest.mark.parametrize(("text", "why"), [(None, "textNotStored"), ("another text", "textDiffers")])
def test_a_text_that_is_not_there_is_told_with_the_reason_and_its_spans_all_the_same(
    text: str | None, why: str
) -> None:
    found, *_ = coverage(a_case(AGREEMENT), [citing((0, 300))], 1, {} if text is None else {"D1": text})

    assert (found.absent, found.parts_are, found.cited_share) == (why, "characters", 0.721)
    assert [r.name for r in found.never_cited_parts] == [f"Characters 301 to {len(AGREEMENT)}"]


def test_texts_that_nobody_read_are_not_called_lost() -> None:
    (found,) = coverage(a_case(AGREEMENT), [], 1, None)

    assert (found.absent, found.parts_are) == ("textNotRead", "characters")


def test_long_texts_and_many_citations_are_told_in_work_that_grows_with_them() -> None:
    """Squares would take hours: 12,000 clauses, 6,000 citations that overlap one another, in a text of 3 MB."""
    clauses = [
        f"{n}.{m} The party of number {m} shall pay what it owes. {'x ' * 100}"
        for n in range(1, 121)
        for m in range(1, 101)
    ]
    text = "\n".join(clauses)
    many = [
        citing((k, len(text) // 2 + k), turn=TurnId(f"1.{'proposer' if k % 2 else 'critic'}.1"), n=k % 99)
        for k in range(6_000)
    ]

    found = told(*many, text=text)

    assert found.parts == 12_000
    assert len(found.cited) == 1
    assert len(msgspec.json.encode(found)) < 3_000_000


def test_debaters_are_told_by_number_and_their_phases_are_no_positions() -> None:
    words = at("Fees are due")
    turns = (TurnId("1.debater-10.proposal.1"), TurnId("1.debater-2.proposal.1"), TurnId("1.debater-1.proposal.1"))

    found = told(*(citing(words, turn=turn) for turn in turns), citing(at("bear"), turn=turns[0], verdict="altered"))

    (passage,) = found.cited
    assert [who.seat for who in passage.by] == ["debater-1", "debater-2", "debater-10"]
    assert {who.position for who in passage.by} == {None}
    assert [wrong.position for wrong in found.quoted_wrongly] == [None]
    assert next(p.seats for p in found.places if p.label == "Section 2.1") == ("debater-1", "debater-2", "debater-10")


def test_a_proposal_for_one_of_several_positions_is_told_with_it() -> None:
    found = told(citing(at("fraud"), turn=TurnId("1.proposer.adopt-x.1")))

    assert [who.position for passage in found.cited for who in passage.by] == ["adopt-x"]
