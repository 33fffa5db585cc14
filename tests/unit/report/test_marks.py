"""Marks in a text: each behind its words, and no text that can fake, hide or end one."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.debate.model import HumanReview
from service.report.marks import CLOSE, MARK, OPEN, cut_marks, neutral, neutral_texts, pieces, place, without_marks

NOT = "not in any document"
SHOWN = f"{OPEN}{NOT}{CLOSE}"

texts = st.text(st.one_of(st.characters(), st.sampled_from(f'{OPEN}{CLOSE}\u301a\u301b[]"\u201d\u202e\u0338 '))).map(
    lambda text: text or "a"
)


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, list[tuple[tuple[int, int], str]]]:
    """A text with spans of it in any order, nested, overlapping, empty, at the start and at the end."""
    text = draw(texts)
    ends = st.integers(0, len(text))
    spans = draw(st.lists(st.tuples(ends, ends).map(lambda both: (min(both), max(both))), max_size=5))
    return text, [
        (span, draw(st.sampled_from([NOT, "only in the debate: Critic, round 1", OPEN, CLOSE]))) for span in spans
    ]


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ('It says "no limit" today.', "no limit", f'It says "no limit" {SHOWN} today.'),
        ("It says \u201cno limit\u201d.", "no limit", f"It says \u201cno limit\u201d {SHOWN}."),
        ("It says \u00abno limit\u00bb", "no limit", f"It says \u00abno limit\u00bb {SHOWN}"),
        ("clause 99.9 states so", "clause 99.9", f"clause 99.9 {SHOWN} states so"),
        ("no limit", "no limit", f"no limit {SHOWN}"),
        ('"no limit"and more', "no limit", f'"no limit" {SHOWN}and more'),
        ('"no limit"\u0338', "no limit", f'"no limit" {SHOWN} \u0338'),
        ('"no limit" \u27e6in D1\u27e7', "no limit", f'"no limit" {SHOWN} [in D1]'),
        ('\u27e6"no limit"', "no limit", f'["no limit" {SHOWN}'),
    ],
)
def test_a_mark_follows_its_words_and_the_quotation_mark_after_them(text: str, words: str, expected: str) -> None:
    start = text.index(words)

    assert place(text, [((start, start + len(words)), NOT)]) == expected


def test_marks_of_nested_and_overlapping_spans_each_stand_at_their_own_end() -> None:
    text = 'A "b "c" d" e'

    assert place(text, [((3, 10), "outer"), ((6, 7), "inner"), ((3, 7), "inner")]) == (
        f'A "b "c" {OPEN}inner{CLOSE} d" {OPEN}outer{CLOSE} e'
    )


def test_two_marks_at_one_place_are_both_said_and_the_same_one_once() -> None:
    assert place("a", [((0, 1), "x"), ((0, 1), "y"), ((0, 1), "x")]) == f"a {OPEN}x{CLOSE} {OPEN}y{CLOSE}"


@pytest.mark.parametrize(
    ("span", "expected"), [((0, 4), f"abc {SHOWN}"), ((5, 9), f"abc {SHOWN}"), ((-3, -1), f" {SHOWN}abc")]
)
def test_a_span_beyond_the_text_loses_no_mark(span: tuple[int, int], expected: str) -> None:
    assert place("abc", [(span, NOT)]) == expected


def test_a_mark_never_divides_a_word() -> None:
    assert place("a limit too", [((0, 4), NOT)]) == f"a limit {SHOWN} too"
    assert place("clause 9's cap", [((0, 8), NOT)]) == f"clause 9's {SHOWN} cap"
    assert place("says 'a limit' too", [((6, 13), NOT)]) == f"says 'a limit' {SHOWN} too"


@given(marked())
@example(("\u27e6not in any document\u27e7", []))
@example(('"x" \u27e6in D1\u27e7 \u202e', [((1, 2), NOT)]))
def test_whatever_a_text_holds_its_marks_are_exactly_those_that_were_placed(
    given_: tuple[str, list[tuple[tuple[int, int], str]]],
) -> None:
    text, marks = given_

    placed = place(text, marks)

    assert {mark[1:-1] for mark in MARK.findall(placed)} == {neutral(words) for _, words in marks}
    assert placed.count(OPEN) == placed.count(CLOSE) == len(MARK.findall(placed))
    assert len(neutral(text)) == len(text)
    if not re.search(r"[\u0300-\uffff]", text):  # no accent after a mark, which a blank keeps apart
        assert without_marks(placed) == neutral(text)
    assert "".join(piece for piece, _ in pieces(placed)) == placed
    assert all(is_mark == (OPEN in piece) and piece for piece, is_mark in pieces(placed))


@given(texts)
def test_a_text_without_marks_has_none(text: str) -> None:
    assert not MARK.search(neutral(text))
    assert place(text, []) == neutral(text)


def test_every_text_of_a_value_becomes_neutral_and_a_value_without_brackets_is_the_same_object() -> None:
    plain = ("a", ["b"], {"c": 1}, HumanReview(required=False), None)

    assert neutral_texts(plain)[1] is plain[1]
    assert neutral_texts(plain)[3] is plain[3]
    assert neutral_texts(({OPEN: [CLOSE, (OPEN,)]}, 1)) == ({"[": ["]", ("[",)]}, 1)


def test_the_marks_that_a_shorter_text_loses_are_kept_once_each() -> None:
    whole = f"a {OPEN}x{CLOSE} b {OPEN}y{CLOSE} c {OPEN}y{CLOSE}"

    assert cut_marks(whole, 1) == f"{OPEN}x{CLOSE} {OPEN}y{CLOSE}"
    assert cut_marks(whole, 7) == f"{OPEN}y{CLOSE}"
    assert cut_marks(whole, len(whole)) == ""
