"""Numbered statements from passages, in the words of a model's family, and statements without a passage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from service.checks.citations import claims_evidence
from service.debate.replies import Statement
from service.simulated.evidence import BearingSentence
from service.simulated.gaps import missing
from service.simulated.grounds import considerations
from service.simulated.pairs import counterpart
from service.simulated.passage_choice import Desk
from service.simulated.phrases import TAIL, claim, does, follows, upper
from service.simulated.proposer import cite

GRANTED = "On the other side stands"
"""The words with which a debater names a passage against its own answer."""


def state(desk: Desk, found: Sequence[BearingSentence], side: int = 0, first: int = 1) -> list[Statement]:
    """A statement for each passage; one on the other side than ``side`` is granted as such."""
    seen: Counter[str] = Counter()
    made = []
    for n, e in enumerate(found, start=first):
        name = e.rule.name if e.rule else ""
        if side and e.side == -side:
            text = f"{GRANTED} {e.where}: it {does(e)}, and {follows(e, seen[name])}."
        else:
            text = claim(desk.strategy.family, e, seen[name], counterpart(desk, e))
        made.append(Statement(n, text, cite(e)))
        seen[name] += 1
    return made


def without_passage(desk: Desk, side: int, most: int, first: int = 1) -> list[Statement]:
    """Arguments for a side from the documents' silence, or at last from the question alone.

    In a case without documents they are general considerations.
    """
    if not desk.documents:
        grounds = considerations(desk, side, most)
        return [Statement(n, text, (), "reasoning") for n, text in enumerate(grounds, start=first)]
    sides = (side,) if side else (1, -1)
    items = [item for s in sides for item in missing(desk, s)]
    texts = [f"{upper(item.lacks)}." for item in items[:most]]
    if not texts:
        texts = [TAIL[desk.wanted.proposition.kind] if side < 0 else NOTHING]
    return [Statement(n, text, (), "reasoning") for n, text in enumerate(texts[: max(1, most)], start=first)]


NOTHING = (
    "No passage of the documents supplied bears on the matter directly, so what is said here rests on the question "
    "alone and cannot be shown from the file."
)


def reasoned(n: int, text: str, plainer: str) -> Statement:
    """A statement without a passage; ``plainer`` is used if the text would read like a quotation."""
    said = Statement(n, text, (), "reasoning")
    return Statement(n, plainer, (), "reasoning") if claims_evidence(said) else said
