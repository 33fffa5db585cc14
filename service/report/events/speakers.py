"""The members of an event that name a turn, its seat and its debater (`service.report.result.speakers`)."""

from __future__ import annotations

from typing import Any

from service.debate.amounts import usd
from service.debate.entries import TurnSpoke
from service.debate.model import TurnId
from service.debate.options import debater_seats
from service.debate.turns import round_of, seat_of
from service.money import Ledger
from service.report.events.types import DebaterSeat, TurnSeat
from service.report.formats.debaters import named
from service.report.result.account import tokens_of
from service.report.result.history import History, debater_phase, position_of
from service.report.result.speakers import speaker_of
from service.report.result.types import Line


def debaters_of(h: History, *, stances: bool = False) -> tuple[DebaterSeat, ...]:
    """All debaters in their declared order; empty in the adversarial format and before the start."""
    seats = debater_seats(h.options) if h.options else ()
    return tuple(
        DebaterSeat(
            seat=seat, **speaker_of(h, seat)._asdict(), stance=(named(h, seat).stance or None) if stances else None
        )
        for seat in seats
    )


def seated(h: History, turn: TurnId) -> dict[str, Any]:
    """The members of a turn and its seat that every event of a seat has, but for the round."""
    return {
        "turn": turn,
        "seat": seat_of(turn),
        **speaker_of(h, seat_of(turn))._asdict(),
        "position": position_of(turn),
        "phase": debater_phase(turn),
    }


def turn_seat(h: History, turn: TurnId) -> TurnSeat:
    """A turn that a notice concerns, with its seat."""
    return TurnSeat(round=round_of(turn), **seated(h, turn))


def placed(line: Line, h: History, turn: TurnId) -> dict[str, Any]:
    """The members of `PlacedTurn`."""
    return {"n": line.n, "at": line.at, **seated(h, turn)}


def placed_reply(line: Line, h: History, entry: TurnSpoke) -> dict[str, Any]:
    """The members of `PlacedReply`; ``h`` ends with the reply."""
    ledger = Ledger.of(known.entry for known in h.lines)
    return placed(line, h, entry.turn) | {
        "attempt": entry.attempt,
        "served_model": entry.served_model,
        "tokens": tokens_of(entry.charge),
        "charged_usd": usd(entry.charge.amount),
        "charge_basis": entry.charge.basis,
        "spent_usd": usd(ledger.spent),
        "left_usd": usd(ledger.remaining),
    }
