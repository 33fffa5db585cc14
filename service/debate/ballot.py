"""Format ballot/1: round-robin through four phases, and votes that code counts after each."""

from __future__ import annotations

from collections.abc import Mapping

from service.debate.entries import DebateStarted
from service.debate.model import Options, Outcome, Status, StopReason, Turn, TurnId
from service.debate.options import BallotOptions, debater_seats
from service.debate.replies import Reply
from service.debate.script import Script
from service.debate.table import Table

FORMAT = "ballot/1"
PHASES = ("proposal", "critique", "revision", "consensus")


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
    if not isinstance(options, BallotOptions):
        raise TypeError(f"expected the options of {FORMAT}")
    debaters = debater_seats(options)
    seats = {d: Turn(f"1.{d}.proposal.1", d, fragments=("ballot.proposal",), kind="ballot.debater") for d in debaters}
    apart = tuple((other, one) for i, one in enumerate(debaters) for other in debaters[i + 1 :])
    usual = dict.fromkeys(seats, options.max_rounds * len(PHASES))
    beginning = tuple(seats.values())
    closing: tuple[str, ...] = ()
    return Table(seats=seats, apart=apart, usual=usual, beginning=beginning, closing=closing)
