"""Format convergence/1: independent answers, then rounds until all say the same, then a judge or a vote."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from service.debate.entries import DebateStarted
from service.debate.model import Options, Outcome, Status, StopReason, Turn, TurnId
from service.debate.options import ConvergenceOptions, debater_seats
from service.debate.replies import Reply
from service.debate.script import Script
from service.debate.table import Table

FORMAT = "convergence/1"


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
    if not isinstance(options, ConvergenceOptions):
        raise TypeError(f"expected the options of {FORMAT}")
    debaters = debater_seats(options)
    seats = {d: Turn(f"1.{d}.1", d, kind="convergence.debater") for d in debaters}
    if options.judge:
        seats["judge"] = Turn("1.judge.1", "judge", kind="convergence.judge")
    closing = ("judge",) if options.judge else ()
    apart = (
        *(("judge", d) for d in debaters if options.judge),
        *((other, one) for i, one in enumerate(debaters) for other in debaters[i + 1 :]),
    )
    usual = {seat: options.max_rounds + 1 if seat in debaters else 1 for seat in seats}
    if options.swapped and options.judge:
        usual["judge"] = 2
    said = tuple(f"0.{d}.1" for d in debaters)
    first = tuple(replace(seats[d], id=f"0.{d}.1") for d in debaters)
    last = tuple(replace(seats[seat], id="0.judge.1", sees=said) for seat in closing)
    beginning = first + last
    return Table(seats=seats, apart=apart, usual=usual, beginning=beginning, closing=closing)
