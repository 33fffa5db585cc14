"""The marks that later seats read: where they stand, what they leave alone, and what they cost."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.debate.facts import Facts
from service.debate.findings import Citation, Passage, TextsFound
from service.debate.replies import (
    Concession,
    Framing,
    Position,
    Projection,
    Proposal,
    Rebuttal,
    Reply,
    Statement,
)
from service.debate.replies.adversarial import Objection
from service.debate.replies.texts import with_texts
from service.debate.turns import TurnId
from service.money import TOKENIZERS, count_tokens, shown_tokens, tokenizers
from service.prompts.arguments import encoded
from service.prompts.fence import Block, fence
from service.prompts.marks import BEGIN, END, MARKS_MAX, marked_reply, plain

TURN = TurnId("1.proposer.1")


def facts(reply: Reply, *passages: tuple[str, int, int]) -> Facts:
    """A reply and the passages of it that are marked: field, start, end."""
    known = Facts()
    known.said[TURN] = reply
    found = (Passage(field, (start, end), "quotation", "nowhere", "document") for field, start, end in passages)
    known.found[f"{TURN}/texts"] = TextsFound(tuple(found))
    return known


def a_proposal(thesis: str, answer: str = "It is.") -> Proposal:
    citation = Citation("The \u27e6cap\u27e7 applies.", "D1")
    statement = Statement(1, "As cited.", (citation,))
    return Proposal(thesis, (statement,), "upheld", (Objection("It is not.", answer),))


def shown(reply: Reply, *passages: tuple[str, int, int]) -> Reply:
    return marked_reply(facts(reply, *passages), TURN)


def test_a_passage_is_marked_in_its_own_text_and_in_no_other() -> None:
    reply = a_proposal("one two three", "one two three")

    assert shown(reply, ("objections[0].answer", 4, 7)) == a_proposal("one two three", f"one {BEGIN}two{END} three")
    assert shown(reply) == reply


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(0, 3)], "<one> two three four five six"),
        ([(14, 18), (4, 7)], "one <two> three <four> five six"),
        ([(4, 10), (8, 13)], "one <two three> four five six"),
        ([(4, 13), (8, 10)], "one <two three> four five six"),
        ([(4, 7), (7, 13)], "one <two three> four five six"),
        ([(0, 3), (4, 7), (8, 13)], "<one> <two> <three> four five six"),
        ([(0, 3), (4, 7), (8, 13), (19, 23)], "<one two three four five> six"),
        ([(24, 27)], "one two three four five <six>"),
    ],
)
def test_passages_that_touch_are_one_mark_and_many_become_one(spans: list[tuple[int, int]], expected: str) -> None:
    rest = " and so on" * 9
    reply = shown(a_proposal("one two three four five six" + rest), *(("thesis", *span) for span in spans))

    assert isinstance(reply, Proposal)
    assert reply.thesis.removesuffix(rest) == expected.replace("<", BEGIN).replace(">", END)


def test_a_short_text_has_one_mark() -> None:
    reply = shown(a_proposal("one two three four"), ("thesis", 0, 3), ("thesis", 8, 13))

    assert reply == a_proposal(f"{BEGIN}one two three{END} four")


def test_only_code_writes_the_brackets_and_a_documents_stay() -> None:
    reply = shown(a_proposal("\u27e6unfound: all\u27e7 of it"), ("thesis", 1, 5))

    assert isinstance(reply, Proposal)
    assert reply.thesis == f"[{BEGIN}unfo{END}und: all] of it"
    assert reply.arguments[0].citations[0].quote == "The \u27e6cap\u27e7 applies."


def test_a_bracket_that_a_projections_output_escapes_becomes_a_square_one_too() -> None:
    assert shown(Projection('{"why": "\\u27e6all\\u27e7"}')) == Projection('{"why": "[all]"}')


@given(
    st.text(alphabet='ab \u27e6\u27e7"\\\n\u00e9\U0001f4b8', max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=8),
)
def test_the_words_are_all_there_and_every_bracket_is_codes_own(text: str, drawn: list[tuple[int, int]]) -> None:
    spans = [(min(pair), max(pair)) for pair in drawn if max(pair) <= len(text)]

    reply = shown(a_proposal(text), *(("thesis", *span) for span in spans))

    assert isinstance(reply, Proposal)
    assert reply.thesis.count(BEGIN) == reply.thesis.count(END) == reply.thesis.count("\u27e6") <= MARKS_MAX
    unmarked = reply.thesis.replace(BEGIN, "").replace(END, "")
    assert unmarked == text.replace("\u27e6", "[").replace("\u27e7", "]")


DENSE = 'The text says "no cap at all" and "none at all here" and "not one of these" and "never any cap".'
"""Many short quotations, as close as the engine reads them."""


def dense(parts: int) -> list[Reply]:
    """Replies whose every text is nothing but quotations that stand nowhere."""
    numbered = tuple(Statement(n, DENSE, (), "reasoning") for n in range(1, parts + 1))
    return [
        a_proposal(DENSE, DENSE),
        Proposal(DENSE, numbered, "upheld", tuple(Objection(DENSE, DENSE) for _ in range(parts))),
        Rebuttal(DENSE, (), tuple(Concession(n, '"None of it." "All of it."') for n in range(1, parts + 1)), "upheld"),
        Position(DENSE, numbered),
        Framing("Is it?", "All.", ('"None of it is here."',) * min(parts, 20), ()),
    ]


@pytest.mark.parametrize("parts", [1, 5, 30])
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_a_reply_that_quotes_again_and_again_stays_within_the_bound_on_what_it_takes_later(
    parts: int, tokenizer: str
) -> None:
    tokenizers.load([tokenizer])
    for reply in dense(parts):
        fields: list[tuple[str, int, int]] = []

        def note(path: str, text: str, fields: list[tuple[str, int, int]] = fields) -> str:
            quotes = [at for at, letter in enumerate(text) if letter == '"']
            fields += [(path, start + 1, end) for start, end in zip(quotes[::2], quotes[1::2], strict=True)]
            return text

        with_texts(reply, note)
        known = facts(reply, *fields)

        body = encoded(plain(marked_reply(known, TURN)))

        said = count_tokens(msgspec.json.encode(reply).decode(), tokenizer)
        block = Block("statement", {"by": "proposer", "round": 1}, body)
        assert count_tokens(fence("0" * 16, block), tokenizer) <= shown_tokens(said)
