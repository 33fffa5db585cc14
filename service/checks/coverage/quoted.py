"""From the recorded verdicts to the quoted stretches of each document, with the seats that quoted them.

    verified, with a span        cited, also if its argument was struck for other evidence
    altered, with a span         quoted wrongly: shown, and not cited
    any other verdict            left out: there is no passage

A verdict on a document that its round did not have, or that the case does not have, is left out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from service.checks.coverage.shape import CitedBy, CitedSpan, QuotedWrongly, Span
from service.checks.coverage.spans import union, within
from service.debate.findings import ArgumentVerdict
from service.debate.model import Case, TurnId, seat_of
from service.debate.options import role_of
from service.debate.turns import phase_of, round_of


class Quoted(NamedTuple):
    """One citation that has a passage."""

    span: Span
    turn: TurnId
    argument: int
    struck: bool

    @property
    def round(self) -> int:
        """The round of the citation."""
        return round_of(self.turn)


class Passages(NamedTuple):
    """The citations of one document: the verified ones, and the wrong quotations, in order."""

    verified: list[Quoted]
    altered: list[Quoted]


def passages(case: Case, arguments: Iterable[ArgumentVerdict]) -> dict[str, Passages]:
    """Document -> its citations, in the order of their places; the order of the verdicts does not matter."""
    documents = {d.id: d for d in case.documents}
    found = {d: Passages([], []) for d in documents}
    for argument in arguments:
        for verdict in argument.verdicts:
            document = documents.get(verdict.source_id or "")
            if document is None or verdict.span is None or verdict.verdict not in ("verified", "altered"):
                continue
            span = within(verdict.span, document.characters)
            quoted = Quoted(span, argument.turn, argument.n, argument.struck is not None)
            if span[0] < span[1] and document.round <= max(quoted.round, 1):
                kind = found[document.id].verified if verdict.verdict == "verified" else found[document.id].altered
                kind.append(quoted)
    return {d: Passages(sorted(given.verified), sorted(given.altered)) for d, given in found.items()}


def cited(verified: Sequence[Quoted]) -> tuple[CitedSpan, ...]:
    """Verified citations joined to stretches, each with the turns that cited it."""
    joined = union(q.span for q in verified)
    starts = [start for start, _ in joined]
    by: list[dict[tuple[TurnId, bool], list[Quoted]]] = [defaultdict(list) for _ in joined]
    for quoted in verified:
        by[bisect_right(starts, quoted.span[0]) - 1][quoted.turn, quoted.struck].append(quoted)
    return tuple(
        CitedSpan(span=span, by=tuple(_by(*key, who[key]) for key in sorted(who, key=_spoken)))
        for span, who in zip(joined, by, strict=True)
    )


def _spoken(who: tuple[TurnId, bool]) -> tuple[int, tuple[int, int], TurnId, bool]:
    """The sort key of a citing turn: the order in which seats speak, standing arguments before struck ones."""
    turn, struck = who
    return round_of(turn), in_order(seat_of(turn)), turn, struck


def in_order(seat: str) -> tuple[int, int]:
    """The place of a seat in the order of a round: debaters by number, then the closing seats."""
    order = ("framing", "proposer", "critic", "rebuttal", "moderator", "debater")
    role, number = role_of(seat), seat.rpartition("-")[2]
    place = order.index(role) if role in order else len(order)
    return place, int(number) if role != seat and number.isdigit() else 0


def _by(turn: TurnId, struck: bool, given: Sequence[Quoted]) -> CitedBy:
    return CitedBy(
        turn=turn,
        seat=seat_of(turn),
        round=given[0].round,
        position=_position(turn),
        arguments=tuple(sorted({q.argument for q in given})),
        struck=struck,
        spans=union(q.span for q in given),
    )


def quoted_wrongly(altered: Sequence[Quoted]) -> tuple[QuotedWrongly, ...]:
    """Each wrong quotation with its turn."""
    return tuple(
        QuotedWrongly(
            span=q.span,
            turn=q.turn,
            seat=seat_of(q.turn),
            round=q.round,
            position=_position(q.turn),
            argument=q.argument,
        )
        for q in altered
    )


def _position(turn: TurnId) -> str | None:
    """The position for which a turn speaks; a debater's phase is no position."""
    who, beside = seat_of(turn), phase_of(turn)
    return beside or None if who in ("proposer", "rebuttal") else None
