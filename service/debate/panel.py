"""Format panel/1: a blind round, deliberation on anonymised answers until consensus, one synthesis."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from service.debate.entries import DebateStarted
from service.debate.model import Options, Outcome, Status, StopReason, Turn, TurnId
from service.debate.options import PanelOptions, debater_seats
from service.debate.replies import Reply
from service.debate.script import Script
from service.debate.table import Table

FORMAT = "panel/1"


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
    if not isinstance(options, PanelOptions):
        raise TypeError(f"expected the options of {FORMAT}")
    debaters = debater_seats(options)
    seats: dict[str, Turn] = {}
    if options.typed_by == "classifier":
        seats["classifier"] = Turn("0.classifier.1", "classifier", kind="panel.classifier")
    seats |= {d: Turn(f"1.{d}.1", d, kind="panel.blind") for d in debaters}
    if options.adjudicator == "model":
        seats["adjudicator"] = Turn("1.adjudicator.1", "adjudicator", kind="panel.adjudicator")
    seats["synthesizer"] = Turn("1.synthesizer.1", "synthesizer", kind="panel.synthesizer")
    apart = (
        *(("synthesizer", d) for d in debaters),
        *(("adjudicator", other) for other in (*debaters, "synthesizer") if "adjudicator" in seats),
        *((other, one) for i, one in enumerate(debaters) for other in debaters[i + 1 :]),
    )
    usual = {seat: options.max_rounds if seat in debaters else 1 for seat in seats}
    if "adjudicator" in seats:
        usual["adjudicator"] = options.max_rounds + 1
    said = tuple(f"1.{d}.1" for d in debaters)
    last = [replace(seats[seat], sees=said) for seat in ("adjudicator", "synthesizer") if seat in seats]
    beginning = (*(turn for seat, turn in seats.items() if seat in debaters or seat == "classifier"), *last)
    closing = tuple(turn.seat for turn in last)
    return Table(seats=seats, apart=apart, usual=usual, beginning=beginning, closing=closing)
