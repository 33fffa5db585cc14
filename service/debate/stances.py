"""Format stances/1: debaters argue assigned stances, one judge reads the whole transcript at the end."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from service.debate.entries import DebateStarted
from service.debate.model import Options, Outcome, Status, StopReason, Turn, TurnId
from service.debate.options import StancesOptions, debater_seats
from service.debate.replies import Reply
from service.debate.script import Script
from service.debate.table import Table

FORMAT = "stances/1"


def play(s: Script) -> Outcome:
    """The whole debate, read from the top."""
    raise NotImplementedError


def ended(s: Script, status: Status, reason: StopReason, detail: str) -> Outcome:
    """The outcome of a debate that ends here, with the state that it reached."""
    raise NotImplementedError


def misfit(started: DebateStarted) -> str | None:
    """Why a debate may not start like this."""
    raise NotImplementedError


def problem(s: Script, turn: Turn, reply: Reply) -> str | None:
    """What makes a reply of the right shape unusable at this place."""
    raise NotImplementedError


def shown(s: Script, turn: Turn) -> Mapping[TurnId, str]:
    """Under which label a turn sees each reply."""
    raise NotImplementedError


def table(options: Options) -> Table:
    """The seats, and what a debate of the usual course asks of them."""
    if not isinstance(options, StancesOptions):
        raise TypeError(f"expected the options of {FORMAT}")
    debaters = debater_seats(options)
    seats = {d: Turn(f"1.{d}.1", d, kind="stances.debater") for d in debaters}
    seats["judge"] = Turn("1.judge.1", "judge", kind="stances.judge")
    closing: tuple[str, ...] = ("judge",)
    if options.synthesizer:
        seats["synthesizer"] = Turn("1.synthesizer.1", "synthesizer", kind="stances.synthesizer")
        closing = ("judge", "synthesizer")
    apart = (
        *(("judge", d) for d in debaters),
        *((other, one) for i, one in enumerate(debaters) for other in debaters[i + 1 :]),
    )
    usual = {seat: options.max_rounds if seat in debaters else 1 for seat in seats}
    if options.swapped:
        usual["judge"] = 2
    said = tuple(f"1.{d}.1" for d in debaters)
    first = tuple(replace(seats[d], sees=said[:i]) for i, d in enumerate(debaters))
    last = tuple(replace(seats[seat], sees=said) for seat in closing)
    beginning = first + last
    return Table(seats=seats, apart=apart, usual=usual, beginning=beginning, closing=closing)
