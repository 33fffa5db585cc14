"""From a document to sentences with places, and from a question to a proposition."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.simulated.evidence import Document, gather, query
from service.simulated.index import Shelf
from service.simulated.propositions import frame
from service.simulated.segments import QUOTE_MOST, Sentence, clip, sentences
from service.simulated.tables import TABLES, judge


def found(text: str) -> list[tuple[str, str]]:
    return [(s.location, text[s.start : s.end]) for s in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "12. LIMITATION OF LIABILITY\n\n12.2 Subject to Section 12.4, the cap applies. It is final.",
            [("12.2", "Subject to Section 12.4, the cap applies."), ("12.2", "It is final.")],
        ),
        (
            "Section 7.01. Limitation on Liability. No party shall have any Liability.",
            [("Section 7.01", "No party shall have any Liability.")],
        ),
        (
            "§ 1080.6 Demands.\n\n(a) In general. The Bureau may issue one.\n\n(1) Material.\n\n(i) It shall say so.",
            [
                ("§ 1080.6(a)", "The Bureau may issue one."),
                ("§ 1080.6(a)(1)", "Material."),
                ("§ 1080.6(a)(1)(i)", "It shall say so."),
            ],
        ),
        ("## Idle Timeout\n\nSessions must end.", [("Idle Timeout", "Sessions must end.")]),
        ("- Rotate keys.\n- Log access.", [("", "Rotate keys."), ("", "Log access.")]),
        (
            "Acme Inc. shall pay, e.g. by wire, under 12 U.S.C. 5562 in full. Nothing else is owed.",
            [
                ("", "Acme Inc. shall pay, e.g. by wire, under 12 U.S.C. 5562 in full."),
                ("", "Nothing else is owed."),
            ],
        ),
        ("A line that is\nwrapped goes on.", [("", "A line that is\nwrapped goes on.")]),
        ("Terms apply within\n\nPage 3 of 9\n\nthirty days.", [("", "Terms apply within"), ("", "thirty days.")]),
        ("3.5 payment-core validates tokens.", [("3.5", "payment-core validates tokens.")]),
        (
            "The growth of the year was\n\n3.5 percent in all.",
            [("", "The growth of the year was"), ("", "3.5 percent in all.")],
        ),
        ("```\ncode shall not count.\n```\nText counts.", [("", "Text counts.")]),
    ],
)
def test_a_document_falls_into_sentences_at_the_place_a_reader_would_cite(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert found(text) == expected


@given(st.text(alphabet=st.sampled_from("aA1.;:,()-#|\n §“”é責[]*"), max_size=300))
def test_sentences_never_overlap_and_always_lie_in_the_document(text: str) -> None:
    ends = 0
    for sentence in sentences(text):
        assert ends <= sentence.start < sentence.end <= len(text)
        ends = sentence.end


@given(st.lists(st.sampled_from(["the Supplier", "shall not", "; (a)", ", except", "pay.", "and"]), max_size=200))
def test_a_clip_is_a_part_of_its_sentence_and_no_longer_than_a_quotation_may_be(words: list[str]) -> None:
    text = "X " + " ".join(words)
    sentence = Sentence(0, len(text), "", "", "", "prose")

    start, end = clip(text, sentence, len)

    assert 0 <= start <= end <= len(text)
    assert end - start <= QUOTE_MOST


@pytest.mark.parametrize(
    ("question", "thesis", "kind", "direction"),
    [
        (
            "Does this agreement expose us to uncapped liability?",
            "This agreement exposes us to uncapped liability.",
            "exposure",
            1,
        ),
        ("Is our liability capped at fees?", "Our liability is capped at fees.", "exposure", -1),
        (
            "Is the session management design sufficient against session hijacking?",
            "The session management design is sufficient against session hijacking.",
            "sufficiency",
            1,
        ),
        ("Should we adopt Crossplane?", "We should adopt Crossplane.", "adoption", 1),
        (
            "Is the thesis that revenue will grow 20 percent sound?",
            "The thesis that revenue will grow 20 percent is sound.",
            "soundness",
            1,
        ),
        (
            "Does our procedure meet the recordkeeping requirement?",
            "Our procedure meets the recordkeeping requirement.",
            "conformity",
            1,
        ),
        ("Can the buyer terminate early?", "The buyer can terminate early.", "presence", 1),
        ("Do they comply with the rule?", "They comply with the rule.", "conformity", 1),
        ("Assess whether the right is exclusive.", "The right is exclusive.", "presence", 1),
        ("Liability?", "The documents supplied settle the matter of liability.", "presence", 1),
        (
            "What are the risks of it?",
            "The documents supplied settle the question: what are the risks of it.",
            "presence",
            1,
        ),
        ("", "The documents supplied settle the matter.", "presence", 1),
    ],
)
def test_a_question_becomes_a_proposition_of_its_kind(question: str, thesis: str, kind: str, direction: int) -> None:
    framed = frame(question, None, "")

    assert (framed.thesis, framed.kind, framed.direction) == (thesis, kind, direction)


def test_an_answer_that_says_no_turns_the_proposition_round() -> None:
    framed = frame("Is the design secure?", "No. Tokens are not bound to the client.", "")

    assert framed.thesis == "The design is not secure: tokens are not bound to the client."
    assert (framed.kind, framed.direction) == ("sufficiency", -1)


def test_a_proposition_that_is_turned_round_turns_every_side_round() -> None:
    document = Document("D1", "Terms", "1.1 The Supplier's liability shall not exceed the Fees paid in the year.")
    sides = []

    for question in ("Is the liability uncapped?", "Is the liability capped?"):
        proposition = frame(question, None, "")
        sides.append([e.side for e in gather((document,), query(proposition, question, "", ()))])

    assert sides == [[-1], [1]]


def test_every_row_of_every_table_can_be_reached_and_speaks_for_both_sides() -> None:
    for kind, rows in TABLES.items():
        for rule in rows:
            assert judge(kind, frozenset(rule.cues)) is not None
            assert 1 <= rule.weight <= 5
            assert rule.says
            assert all(rule.so)
            assert rule.meet.endswith(".")


def test_what_was_read_longest_ago_makes_room_when_the_shelf_is_full() -> None:
    shelf: Shelf[str, int] = Shelf(10)
    made: list[str] = []

    def make(key: str) -> int:
        made.append(key)
        return len(made)

    for key in ("a", "b", "a", "c", "a", "b"):
        shelf.get(key, 4, partial(make, key))

    assert made == ["a", "b", "c", "b"]
