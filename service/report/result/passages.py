"""From the findings about texts to their passages, the words of their marks, and their counts."""

from __future__ import annotations

from collections.abc import Iterator

from service.debate.entries import CheckFound
from service.debate.findings import Passage, TextsFound
from service.debate.model import TurnId
from service.debate.options import role_of
from service.debate.replies.texts import texts_of
from service.debate.turns import is_masked, round_of, seat_of, take_of
from service.report.formats import telling_of
from service.report.labels import PASSAGE, PHASE, label_of, seat_name
from service.report.result.history import History, debater_phase, is_swapped, position_of
from service.report.result.passage_types import PassageCounts, PassageDetail, TurnPassages
from service.report.result.transcript import spoken


def turn_passages(h: History) -> tuple[TurnPassages, ...]:
    """The compared replies of a debate, in the order of its record."""
    return tuple(passages_of(h, turn, engine, found) for turn, engine, found in _compared(h))


def passages_of(h: History, turn: TurnId, engine: str, found: TextsFound) -> TurnPassages:
    """The finding about one reply."""
    return TurnPassages(
        turn=turn,
        speaker=_speaker(h, turn),
        replaced=h.facts.standing(turn) != turn,
        round=round_of(turn),
        seat=seat_of(turn),
        position=position_of(turn),
        engine=engine,
        passages=tuple(_detail(h, passage) for passage in found.passages),
    )


def count_passages(h: History, compared: tuple[TurnPassages, ...]) -> PassageCounts | None:
    """The counts; ``None`` where no reply was compared, so that nothing is taken for checked."""
    if not compared:
        return None
    known = {one.turn for one in compared}
    quoted = [passage for one in compared for passage in one.passages if passage.kind != "verdict"]
    statuses = [passage.status for passage in quoted]
    return PassageCounts(
        replies=len(compared),
        not_compared=sum(turn not in known and bool(texts_of(reply)) for turn, reply in h.facts.said.items()),
        in_document=statuses.count("inDocument"),
        in_debate=statuses.count("inDebate"),
        only_in_debate=statuses.count("onlyInDebate"),
        unclear=statuses.count("unclear"),
        unchecked=statuses.count("unchecked"),
        nowhere=statuses.count("nowhere"),
        marked=sum(passage.marked for passage in quoted),
    )


def _compared(h: History) -> Iterator[tuple[TurnId, str, TextsFound]]:
    for line in h.lines:
        match line.entry:
            case CheckFound(check, engine, TextsFound() as found):
                yield TurnId(check.partition("/")[0]), engine, found
            case _:
                pass


def _detail(h: History, found: Passage) -> PassageDetail:
    return PassageDetail(
        field=found.field,
        span=found.span,
        kind=found.kind,
        status=found.status,
        attributed=found.attributed,
        source_id=found.source_id,
        turn=found.turn,
        reason=found.reason,
        mark=_mark(h, found) if found.marked or found.unclear or found.unchecked or found.opposed else None,
    )


def _mark(h: History, found: Passage) -> str:
    """The words of a mark; those of another reply name its speaker."""
    if found.kind == "clause" and found.status == "nowhere":
        return PASSAGE["noSuchClause"]
    if found.unchecked:
        return PASSAGE["unchecked"]
    if found.kind == "clause" and found.unclear:
        return PASSAGE["otherInClause" if found.source_id else "notGiven"]
    words = PASSAGE["notSaid" if (found.status, found.attributed) == ("nowhere", "debate") else found.status]
    if found.unclear and found.turn:  # a participant's, and perhaps given as a document's
        words = PASSAGE["onlyInDebate"]
    return f"{words}: {_speaker(h, found.turn)}" if found.turn else words


def _speaker(h: History, turn: TurnId) -> str:
    """``Critic, round 1``; a debater by the name that its format gives it in a report."""
    telling, seat, phase = telling_of(h.options), seat_of(turn), debater_phase(turn)
    debates = role_of(seat) == "debater"
    name = telling.who(spoken(h, turn)) if telling and debates else seat_name(seat)
    position = position_of(turn)
    parts = (
        f"{name} of {position}" if position else name,
        f"round {round_of(turn)}" if round_of(turn) or debates else "",  # framing and types come before all rounds
        label_of(PHASE, phase).lower() if phase else "",
        "in reverse order" if is_swapped(turn) else "",
        "with masked passages" if is_masked(turn) else "",
        f"take {take_of(turn)}" if take_of(turn) > 1 else "",
    )
    return ", ".join(filter(None, parts))
