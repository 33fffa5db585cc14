"""What a debate came to, in the terms of its format: a headline, the lines of the decision, and why."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from service.cli.clean import first_sentence
from service.cli.display import ballot, convergence, exchange, panel, stances
from service.cli.display.screen import text
from service.debate.model import BallotOptions, ConvergenceOptions, PanelOptions, StancesOptions
from service.debate.results import BallotResult, ConvergenceResult, PanelResult, StancesResult
from service.report import Result
from service.report.decided import ORDER
from service.report.wording import CONCLUSION, say


def decision(r: Result) -> str | None:
    """What was decided, in few words; ``None`` where nothing was."""
    match r.result:
        case StancesResult() as found:
            return stances.headline(r, found)
        case BallotResult() as found:
            return ballot.headline(r, found)
        case PanelResult() as found:
            return panel.headline(r, found)
        case ConvergenceResult() as found:
            return convergence.headline(r, found)
    return r.conclusion


def lines(r: Result) -> Iterator[tuple[str, Text]]:
    """The decision as term and words."""
    match r.result:
        case StancesResult() as found:
            yield from stances.lines(r, found)
        case BallotResult() as found:
            yield from ballot.lines(r, found)
        case PanelResult() as found:
            yield from panel.lines(r, found)
        case ConvergenceResult() as found:
            yield from convergence.lines(r, found)
        case None if r.conclusion:
            yield "Conclusion", text(say(CONCLUSION, r.conclusion).partition(": ")[2])
            if r.round_details and r.round_details[-1].swapped_moderation and ORDER not in r.flags:
                yield "Other order", text("shown the same in another order, the moderator concludes the same")


def why(r: Result) -> tuple[str, str] | None:
    """The reasoning of whoever decided, or the synthesis, and what it is.

    A panel's is the answer itself, of which the first sentence stands here and the whole with the exchange.
    """
    if isinstance(r.result, PanelResult):
        return ("Answer", first_sentence(r.synthesis)) if r.synthesis else None
    words = stances.why(r.result) if isinstance(r.result, StancesResult) else r.synthesis
    return ("Why", words) if words else None


def said(r: Result) -> Iterator[RenderableType]:
    """What was argued, in the way that suits the format."""
    match r.options:
        case StancesOptions():
            yield from stances.exchange(r)
        case BallotOptions():
            yield from ballot.exchange(r)
        case PanelOptions():
            yield from panel.exchange(r)
        case ConvergenceOptions():
            yield from convergence.exchange(r)
        case _:
            yield from exchange.rounds(r)


def decider(r: Result) -> str:
    """Whoever gave the confidence that rules may lower."""
    if isinstance(r.options, PanelOptions):
        return "the synthesizer"
    return "the judge" if isinstance(r.options, StancesOptions | ConvergenceOptions) else "the moderator"
