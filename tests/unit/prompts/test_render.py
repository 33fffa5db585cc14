"""What a turn is told beside the documents, and why a critique comes back."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from service.debate.entries import Entry, TurnAsked
from service.debate.facts import Facts
from service.debate.findings import CritiqueFound, Finding
from service.debate.kernel import decide
from service.debate.model import Ask, Check, Turn
from service.debate.replies import Critique, Reply
from service.prompts.render import turn_blocks
from tests.debates import a_case, a_start, canned, drive, found


def facts_at(entries: list[Entry], turn: str) -> tuple[Facts, Turn]:
    """What was known when a turn was asked, and the turn as it was asked."""
    n = next(n for n, e in enumerate(entries) if isinstance(e, TurnAsked) and e.turn == turn)
    facts = Facts.of(entries[:n])
    move = decide(facts)
    assert isinstance(move, Ask)
    return facts, move.turns[0]


@pytest.mark.parametrize(
    ("strength", "signs", "reasons"),
    [
        (4, (), ["selfRating"]),
        (9, ("littleNovelty",), ["littleNovelty"]),
        (4, ("noCitationVerified", "littleNovelty"), ["selfRating", "noCitationVerified", "littleNovelty"]),
    ],
)
def test_a_critique_that_comes_back_is_told_its_rating_and_every_reason(
    strength: int, signs: tuple[str, ...], reasons: list[str]
) -> None:
    def rated(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        return replace(reply, challenge_strength=strength) if isinstance(reply, Critique) else reply

    def weak(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        return replace(finding, weak=signs) if isinstance(finding, CritiqueFound) else finding

    entries = drive(a_start(), rated, findings=weak)
    facts, turn = facts_at(entries, "1.critic.2")

    assert facts.started is not None
    (retry,) = [b for b in turn_blocks(a_case(), facts.started, facts, turn) if b.kind == "retry"]
    assert json.loads(retry.text) == {"challengeStrength": strength, "reasons": reasons}
