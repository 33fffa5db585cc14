"""What follows in a debate from what its texts quote: the findings `texts` of every reply.

    a debater, a framing    marked passages stay, and are marked for later seats; ``unfoundQuotation``
    a decider               is asked once more with the marks in its own words, and the second take stands
    without money or reply  the first take stands, with its marks
    a given reply           stands as it is, with its marks: no model is asked for another one in its place
    words that decide       marked passages that stay in them are ``inventedQuotation``: at most LOW, for a person

A decider is the moderator, a judge or a synthesizer, in either order in which it is asked. The caps are in `ending`.
What follows where its two takes differ is in `takes`.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from service.debate.ending import citations, marked, texts
from service.debate.findings import CitationsFound, TextsFound
from service.debate.model import Check, Turn, reworded
from service.debate.replies import Reply
from service.debate.script import Script
from service.debate.turns import once_more

R = TypeVar("R", bound=Reply)


def in_two_takes(*deciders: Turn) -> tuple[Turn, ...]:
    """Each of these turns followed by its second take: all that may close a debate."""
    return tuple(turn for first in deciders for turn in (first, reworded(first)))


async def examine(s: Script, *turns: Turn) -> None:
    """Find the citations of these turns together, then what their texts quote; a turn without a reply has neither."""
    spoke = [turn for turn in turns if s.said(turn.id)]
    await s.find(CitationsFound, *(citations(turn.id) for turn in spoke))
    await s.find(TextsFound, *(_check(turn) for turn in spoke))


async def settle(s: Script, kind: type[R], turn: Turn) -> bool:
    """Check the words of a decider that spoke, and ask it once more if passages in them are marked.

    Returns whether the money was there for all of it.
    """
    await s.find(TextsFound, texts(turn))
    if not marked(s, turn.id) or turn.id in s.facts.given:
        return True
    again = reworded(turn)
    if await s.close(kind, again):
        await s.find(TextsFound, _check(again))
    return again.id not in s.facts.refused


def _check(turn: Turn) -> Check:
    """The check of a turn's texts without its own former take: no text can vouch for itself."""
    return texts(replace(turn, sees=tuple(seen for seen in turn.sees if once_more(seen) != turn.id)))
