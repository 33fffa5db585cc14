"""What was argued: each seat's arguments with their quotations and verdicts, what was granted, and what stays open."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule

from service.cli.clean import short
from service.cli.display.arguments import LONGEST_QUOTE, arguments, bullets, heading, indented, numbered
from service.cli.display.screen import counted, row, text
from service.report import Result
from service.report.shape import (
    ModeratorEvaluation,
    PositionDetail,
    RebuttalPosition,
    RoundDetail,
    RoundRecord,
)
from service.report.wording import MOVEMENT, SEAT, SIGN, STRUCK, say

_WIDE = len("answers 10")
_MAINTAINED = {
    "unanswered": "nobody answered",
    "answerStruck": "the answer was struck",
    "rebuttalNotReached": "no rebuttal was reached",
}


def rounds(r: Result) -> Iterator[RenderableType]:
    """Every round, in the order in which the seats spoke."""
    for record, detail in zip(r.rounds, r.round_details, strict=True):
        yield Padding(Rule(text(f"Round {record.round_number}"), align="left", style="dim"), (1, 0, 0, 0))
        if detail.new_documents:
            yield text(f"Introduced in this round: {', '.join(detail.new_documents)}")
        yield from _proposers(record, detail)
        yield from _critics(record, detail)
        yield from _rebuttals(record, detail)
        if record.moderator_evaluation:
            yield from _moderator(record.moderator_evaluation, detail)


def caught(r: Result) -> Iterator[RenderableType]:
    """What code caught on the way: weak critiques, evidence that is none, turns that the money did not reach."""
    lines = []
    for detail in r.round_details:
        if first := detail.critic_first_take:
            why = "; ".join(say(SIGN, reason) for reason in first.reasons)
            lines.append((f"Critic, round {detail.round_number}", f"asked again, because {why}"))
    for one in r.struck:
        quotes = "; ".join(
            f"“{short(c.quote, LONGEST_QUOTE)}”" for c in one.argument.citations if c.verdict != "verified"
        )
        told = f"argument {one.argument.n} STRUCK, because {say(STRUCK, one.argument.struck or '')}: {quotes or 'none'}"
        lines.append((f"{say(SEAT, one.seat)}, round {one.round}", told))
    lines += [
        ("Money", f"turn {', '.join(notice.turns)} was not asked: {notice.detail}")
        for notice in r.notices
        if notice.notice == "budgetRefused"
    ]
    if lines:
        yield Padding(text("Caught on the way", "bold"), (1, 0, 0, 0))
    for lead, body in lines:
        yield row(text(lead, "dim"), text(body), lead_width=18, indent=2)


def uncertainties(r: Result) -> Iterator[RenderableType]:
    """What the last moderation says could make the conclusion wrong."""
    if r.explicit_uncertainties:
        yield Padding(text("Uncertain", "bold"), (1, 0, 0, 0))
        yield from bullets(r.explicit_uncertainties)


def open_points(r: Result) -> Iterator[RenderableType]:
    """What could make the conclusion wrong: uncertainties, dissent, and how new evidence moved the seats."""
    yield from uncertainties(r)
    if r.dissent and (r.dissent.unresolved_points or r.dissent.maintained):
        yield Padding(text("Dissent", "bold"), (1, 0, 0, 0))
        yield text(r.dissent.thesis)
        if r.dissent.unresolved_points:
            points = counted(len(r.dissent.unresolved_points), "point")
            yield from bullets([f"{points} left open by the last moderation, listed there"])
        for one in r.dissent.maintained:
            where = f"point {one.point.n} of round {one.round}, to which {say(_MAINTAINED, one.why)}"
            yield from bullets([f"{where}: {one.point.text}"])
    if r.shifts:
        yield Padding(text("New evidence", "bold"), (1, 0, 0, 0))
        for shift in r.shifts:
            who = say(SEAT, shift.seat) + (f" of {shift.position}" if shift.position else "")
            words = f"{say(MOVEMENT, shift.movement)} by {', '.join(shift.documents)}: {shift.because}"
            yield row(text(who, "dim"), text(words))
    yield ""


def _proposers(record: RoundRecord, detail: RoundDetail) -> Iterator[RenderableType]:
    if detail.positions:
        for position in detail.positions:
            if position.proposer_position:
                yield heading(f"Proposer of {position.id}", _ranked(position), position.proposer_position.thesis)
                yield from arguments(position.proposer_position.supporting_arguments)
    elif record.proposer_position:
        yield heading("Proposer", _scored(record, "proposer"), record.proposer_position.thesis)
        yield from arguments(record.proposer_position.supporting_arguments)


def _critics(record: RoundRecord, detail: RoundDetail) -> Iterator[RenderableType]:
    first, critic = detail.critic_first_take, record.critic_position
    if first:
        why = "; ".join(say(SIGN, reason) for reason in first.reasons) or "it was weak"
        taken = "asked again" if first.replaced else "it could not be asked again, so this one stands"
        beside = f"strength {first.position.challenge_strength} of 10; {taken}, because {why}"
        yield heading("Critic, first take", beside, first.position.thesis if first.replaced else "")
    if critic:
        scored = _scored(record, "critic")
        strength = f"strength {critic.challenge_strength} of 10 by its own rating"
        yield heading("Critic", f"{strength}; {scored}" if scored else strength, critic.thesis)
        yield from arguments(critic.counter_arguments)
    if detail.critique_signs and (signs := (*detail.critique_signs.weak, *detail.critique_signs.soft)):
        yield indented(f"Code found of this critique: {'; '.join(say(SIGN, sign) for sign in signs)}.", "yellow")


def _rebuttals(record: RoundRecord, detail: RoundDetail) -> Iterator[RenderableType]:
    if detail.positions:
        for position in detail.positions:
            if position.rebuttal_position:
                score = f"score {position.rebuttal_score} of 10" if position.rebuttal_score else ""
                yield from _rebuttal(f"Rebuttal for {position.id}", score, position.rebuttal_position)
    elif record.rebuttal_position:
        yield from _rebuttal("Rebuttal", _scored(record, "rebuttal"), record.rebuttal_position)


def _rebuttal(title: str, beside: str, given: RebuttalPosition) -> Iterator[RenderableType]:
    yield heading(title, beside, given.thesis)
    yield from arguments(given.rebuttals, "answers ", _WIDE)
    for concession in given.concessions:
        yield numbered(f"grants {concession.n}", text(concession.text), _WIDE)


def _moderator(given: ModeratorEvaluation, detail: RoundDetail) -> Iterator[RenderableType]:
    more = "another round recommended" if given.recommend_another_round else "no further round recommended"
    yield heading("Moderator", f"confidence {given.confidence_level}; {more}", "")
    if detail.labels:
        seen = ", ".join(f"{label} is the {who.replace('.', ' of ')}" for who, label in detail.labels.items())
        yield Padding(text(f"It was shown no names: {seen}.", "dim"), (0, 0, 0, 2))
    for title, points in (("settled", given.resolved_points), ("open", given.unresolved_points)):
        for point in points:
            yield numbered(title, text(point), len("settled"))


def _ranked(position: PositionDetail) -> str:
    return f"ranked {position.rank}, score {position.proposer_score} of 10" if position.rank else ""


def _scored(record: RoundRecord, seat: str) -> str:
    found = record.moderator_evaluation
    score = getattr(found.argument_quality_score, seat) if found else None
    return f"the moderator's score {score} of 10" if score else ""
