"""The parts of a report in the order in which a reviewer reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from service.debate.options import AdversarialOptions
from service.report import (
    answers,
    ballots,
    closing,
    deciders,
    exchange,
    money,
    opening,
    panels,
    speeches,
    uncited,
    unmoved,
)
from service.report.outline import Block, Report
from service.report.shape import Result

PARTS: tuple[Callable[[Result], Iterator[Block]], ...] = (
    opening.question,
    opening.decision,
    opening.gate,
    opening.proposition,
    ballots.votes,
    panels.consensus,
    answers.answers,
    exchange.rounds,
    speeches.transcript,
    deciders.deciders,
    exchange.struck,
    uncited.uncited,
    exchange.dissent,
    panels.challenged,
    unmoved.unmoved,
    exchange.uncertainties,
    closing.notices,
    money.cost,
    closing.models,
    closing.provenance,
    money.attempts,
    closing.about,
)


def _title(result: Result) -> str:
    if result.status == "declined":
        return "Record of a declined case"
    between_debaters = result.options is not None and not isinstance(result.options, AdversarialOptions)
    return "Record of a debate" if between_debaters else "Record of effective challenge"


def report(result: Result) -> Report:
    """A result as the blocks of its report."""
    return Report(
        title=_title(result),
        subtitle=result.debate_id,
        language="en",
        simulated=result.simulated,
        concluded=result.concluded_at or result.created_at,
        blocks=tuple(block for part in PARTS for block in part(result)),
    )
