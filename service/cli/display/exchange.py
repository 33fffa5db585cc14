"""The arguments of each seat with their quotations and verdicts, granted points, and open points."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding

from service.cli.display.arguments import LONGEST_QUOTE, bullets
from service.cli.display.console import counted, row, text
from service.report import Result
from service.report.labels import MOVEMENT, SEAT, SIGN, STRUCK, label_of
from service.report.result.terms import AdversarialTerms
from service.report.shortened import short

_MAINTAINED = {
    "unanswered": "no answer was given",
    "answerStruck": "the answer was struck",
    "rebuttalNotReached": "no rebuttal was reached",
}


def caught(r: Result) -> Iterator[RenderableType]:
    """The faults that code found: weak critiques, unverified evidence, turns that could not be funded."""
    lines = []
    for detail in r.round_details:
        if first := detail.critic_first_take:
            why = "; ".join(label_of(SIGN, reason) for reason in first.reasons)
            lines.append((f"Critic, round {detail.round_number}", f"asked again, because {why}"))
    lines += [
        (one.speaker, "asked once more, because of the marks in its words")
        for one in r.passages
        if one.replaced and one.seat != "critic"
    ]
    for one in r.struck:
        quotes = "; ".join(
            f"“{short(c.quote, LONGEST_QUOTE)}”" for c in one.argument.citations if c.verdict != "verified"
        )
        caught_text = (
            f"argument {one.argument.n} STRUCK, because {label_of(STRUCK, one.argument.struck or '')}:"
            f" {quotes or 'none'}"
        )
        lines.append((f"{label_of(SEAT, one.seat)}, round {one.round}", caught_text))
    lines += [
        ("Money", f"turn {', '.join(notice.turns)} was not asked: {notice.detail}")
        for notice in r.notices
        if notice.notice == "budgetRefused"
    ]
    if lines:
        yield Padding(text("Caught on the way", "bold"), (1, 0, 0, 0))
    for lead, body in lines:
        yield row(text(lead, "dim"), text(body), lead_width=18, indent=2)


def left_out(r: Result) -> Iterator[RenderableType]:
    """The parts of replies that nothing asked for, by turn."""
    notices = [notice for notice in r.notices if notice.notice == "partsLeftOut"]
    if notices:
        yield Padding(text("Left out of replies", "bold"), (1, 0, 0, 0))
    for notice in notices:
        yield row(text(", ".join(notice.turns), "dim"), text(notice.detail), lead_width=28, indent=2)


def uncertainties(r: Result) -> Iterator[RenderableType]:
    """The uncertainties of the last moderation."""
    if r.explicit_uncertainties:
        yield Padding(text("Uncertain", "bold"), (1, 0, 0, 0))
        yield from bullets(r.explicit_uncertainties)


def open_points(r: Result) -> Iterator[RenderableType]:
    """The limits of the conclusion: uncertainties, dissent, and shifts of seats after new evidence."""
    yield from uncertainties(r)
    dissent = r.result.dissent if isinstance(r.result, AdversarialTerms) else None
    if dissent and (dissent.unresolved_points or dissent.maintained):
        yield Padding(text("Dissent", "bold"), (1, 0, 0, 0))
        yield text(dissent.thesis)
        if dissent.unresolved_points:
            points = counted(len(dissent.unresolved_points), "point")
            yield from bullets([f"{points} left open by the last moderation, listed there"])
        for one in dissent.maintained:
            where = f"point {one.point.n} of round {one.round}, to which {label_of(_MAINTAINED, one.why)}"
            yield from bullets([f"{where}: {one.point.text}"])
    if r.shifts:
        yield Padding(text("New evidence", "bold"), (1, 0, 0, 0))
        for shift in r.shifts:
            who = label_of(SEAT, shift.seat) + (f" of {shift.position}" if shift.position else "")
            words = f"{label_of(MOVEMENT, shift.movement)} by {', '.join(shift.documents)}: {shift.because}"
            yield row(text(who, "dim"), text(words))
    yield ""
