"""Marks in the texts of a reply, for the seats that read it later: which quoted words stand nowhere.

    clause 9.9 states "\u27e6unfound: the Supplier is liable without limit\u27e7"

Code alone writes these brackets: any in a text become square ones, so a reply can neither forge a mark nor close one
early. The words stay readable, inside the fence of their block. The brackets of a document stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial

import msgspec

from service.debate.facts import Facts
from service.debate.findings import Finding, TextsFound
from service.debate.masks import Span, apart
from service.debate.model import REWORDING, Turn, TurnId
from service.debate.replies import Projection, Reply
from service.debate.replies.texts import with_texts
from service.prompts.arguments import View, encoded
from service.prompts.fence import Block
from service.prompts.kept import once

BEGIN, END = "\u27e6unfound: ", "\u27e7"
MARKS_MAX = 3
"""The most marks in one text, and one for each `APART` characters; more become one, from the first passage to the last.
So a reply that quotes again and again stays within the bound on what it takes later (`service.money.prices`)."""
APART = 30
_BRACKETS = tuple(bracket.encode() for bracket in (BEGIN[0], END))


def marked_reply(facts: Facts, turn: TurnId) -> Reply:
    """The reply of a turn as later seats read it, with the marked passages of its texts between brackets."""
    reply, found = facts.said[turn], facts.found.get(f"{turn}/texts")
    return once(facts, (turn, "marked"), (reply, found), partial(_marked, reply, found), lambda _: 0)


def _marked(reply: Reply, found: Finding | None) -> Reply:
    spans: dict[str, list[Span]] = {}
    for passage in found.marked if isinstance(found, TextsFound) else ():
        spans.setdefault(passage.field, []).append(passage.span)
    if not spans and not _may_have_brackets(reply):
        return reply
    return with_texts(reply, lambda path, text: _bracketed(_square(text), spans.get(path, ())))


def _may_have_brackets(reply: Reply) -> bool:
    """Whether a text of a reply may have a bracket of a mark; in a projection's output it can be an escape of JSON."""
    said = msgspec.json.encode(reply)
    return isinstance(reply, Projection) or any(bracket in said for bracket in _BRACKETS)


def former_reply(facts: Facts, turn: Turn, seen: TurnId) -> Block | None:
    """The block with a decider's own former reply, if it is asked once more for its words and this is that reply."""
    if REWORDING not in turn.fragments or seen != turn.sees[-1]:
        return None
    return Block("former-reply", {}, encoded(plain(marked_reply(facts, seen))))


def said_block(facts: Facts, turn: Turn, seen: TurnId, how: Hashable, render: Callable[[], Block]) -> Block:
    """The block of a reply, rendered once for all turns that are shown it in the same way (``how``).

    It rests on the reply, on what the checks found in it, and on the seats of the debate, whose names are masked.
    """
    former = REWORDING in turn.fragments and seen == turn.sees[-1]
    found = facts.found
    rests_on = (facts.started, facts.said[seen], found.get(f"{seen}/texts"), found.get(f"{seen}/citations"))
    return once(facts, (seen, former, how), rests_on, render, lambda block: len(block.text))


def plain(reply: Reply) -> View:
    """A reply as a model gives it: without the kind that only records carry."""
    view: View = msgspec.to_builtins(reply)
    return {name: value for name, value in view.items() if name != "seat"}


def _square(text: str) -> str:
    """A text with square brackets in the place of those of marks; `str.translate` would look at each character."""
    return text.replace("\u27e6", "[").replace("\u27e7", "]")


def _bracketed(text: str, spans: Sequence[Span]) -> str:
    marked = apart(spans)
    if len(marked) > max(1, min(MARKS_MAX, len(text) // APART)):
        marked = [(marked[0][0], marked[-1][1])]
    for start, end in reversed(marked):
        text = f"{text[:start]}{BEGIN}{text[start:end]}{END}{text[end:]}"
    return text
