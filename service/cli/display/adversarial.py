"""A debate of proposer and critic: each seat's arguments round by round, and the moderator's conclusion."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from service.cli.display.arguments import arguments, heading, indented, numbered
from service.cli.display.aspects import Page, why
from service.cli.display.console import counted, text
from service.debate.model import AdversarialOptions
from service.debate.options import positions_of
from service.report import Result
from service.report.labels import SIGN, label_of
from service.report.result.decision import ORDER
from service.report.result.round_types import (
    ModeratorEvaluation,
    PositionDetail,
    RebuttalPosition,
    RoundDetail,
    RoundRecord,
)
from service.report.result.terms import AdversarialTerms

FIRST_TAKE = "asked once more, because of the marks in its words"
"""What is said beside a reply of a decider that a second take replaced."""
WORDS = "code does not compare their words"
"""What is said beside two decisions that agree."""
_WIDE = len("answers 10")


def lines(r: Result) -> Iterator[tuple[str, Text]]:
    """Whether the moderator concluded the same when it was asked again; the order of several positions."""
    found = r.result
    if r.round_details and (hidden := r.round_details[-1].masked_moderation):
        said = f"concludes the same; {WORDS}" if hidden.agrees else f"concludes otherwise: {hidden.conclusion}"
        yield "Masked", text(f"shown the case without the flagged passages, the moderator {said}")
    if isinstance(found, AdversarialTerms) and found.conclusion:
        if r.round_details and r.round_details[-1].swapped_moderation and ORDER not in r.flags:
            yield "Other order", text(f"shown the same in another order, the moderator concludes the same; {WORDS}")
        texts = {p.id: p.text for p in positions_of(r.options)} if r.options else {}
        for ranked in found.ranking:
            words = texts.get(ranked.position, ranked.position)
            yield f"Rank {ranked.rank}", text(f"{ranked.position} (score {ranked.score} of 10): {words}")


def course(options: AdversarialOptions) -> str:
    """All turns that the options allow, in words."""
    return f"{counted(options.max_rounds, 'round')}, the critic asked twice"


def rounds(r: Result) -> Iterator[RenderableType]:
    """Every round, in the order in which the seats spoke."""
    for record, detail in zip(r.rounds, r.round_details, strict=True):
        yield Padding(Rule(text(f"Round {record.round_number}"), align="left", style="dim"), (1, 0, 0, 0))
        if detail.new_documents:
            yield text(f"Introduced in this round: {', '.join(detail.new_documents)}")
        yield from _proposers(record, detail)
        yield from _critics(record, detail)
        yield from _rebuttals(record, detail)
        for first in detail.moderator_first_takes:
            beside = "asked again in the other order, " if first.swapped else ""
            words = f"{beside}{first.conclusion}, confidence {first.evaluation.confidence_level}; {FIRST_TAKE}"
            yield heading("Moderator, first take", words, first.evaluation.synthesis)
        if record.moderator_evaluation:
            yield from _moderator(record.moderator_evaluation, detail)


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
        why = "; ".join(label_of(SIGN, reason) for reason in first.reasons) or "it was weak"
        taken = "asked again" if first.replaced else "it could not be asked again, so this one stands"
        beside = f"strength {first.position.challenge_strength} of 10; {taken}, because {why}"
        yield heading("Critic, first take", beside, first.position.thesis if first.replaced else "")
    if critic:
        scored = _scored(record, "critic")
        strength = f"strength {critic.challenge_strength} of 10 by its own rating"
        yield heading("Critic", f"{strength}; {scored}" if scored else strength, critic.thesis)
        yield from arguments(critic.counter_arguments)
    if detail.critique_signs and (signs := (*detail.critique_signs.weak, *detail.critique_signs.soft)):
        yield indented(f"Code found of this critique: {'; '.join(label_of(SIGN, sign) for sign in signs)}.", "yellow")


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


PAGE = Page(lines=lines, why=why, exchange=rounds, decider="the moderator", course=course)
