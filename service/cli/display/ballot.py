"""A ballot: the votes by phase, their count, and the report of nine lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from service.cli.display.arguments import arguments, heading
from service.cli.display.aspects import Page, in_rounds, why
from service.cli.display.console import counted, text
from service.cli.display.speakers import by_round, last_turns, rule, seated
from service.debate.model import BallotOptions
from service.debate.options import debater_seats
from service.debate.results import Tally
from service.report import Result
from service.report.decision_labels import RULE_OF_SPEAKERS
from service.report.labels import label_of
from service.report.result.terms import BallotTerms
from service.report.result.types import Spoken

ABSTAINS = "abstains"


def lines(r: Result) -> Iterator[tuple[str, Text]]:
    """The decision with the rule of its count, and its qualifications."""
    found = r.result
    if not isinstance(found, BallotTerms):
        return
    yield "Counted", text(_decided(found))
    yield "Votes", text(f"{tally(found.vote_tally)}; {found.votes_cast} of {found.seats} seats voted for an option")
    if found.tied:
        yield "Tied", text(", ".join(found.tied), "yellow")
    if found.blind_tally:
        yield "At first", text(f"{tally(found.blind_tally)}, before any debater had seen another's proposal")
    chosen_by = label_of(RULE_OF_SPEAKERS, found.speaker_selected_by or "")
    yield "Speakers", text(f"{', '.join(found.debater_ids)}, by {chosen_by}")
    models, families = counted(found.models, "model"), counted(found.families, "family", "families")
    yield "Voters", text(f"{counted(found.seats, 'debater')}, {models} of {families}")


def exchange(r: Result) -> Iterator[RenderableType]:
    """A matrix of votes for each round, the report, and every debater's last reply."""
    for number, turns in by_round(r):
        yield rule(f"Votes of round {number}")
        yield matrix(r, turns)
    if isinstance(r.result, BallotTerms):
        yield rule("Report")
        for line in r.result.report.splitlines():
            yield Text(text(line).plain, no_wrap=True)  # one field on each line, in a window of any width
    if r.transcript:
        yield rule("What each debater said last", f"all {len(r.transcript)} turns are in the report")
    for one in last_turns(r):
        yield heading(
            seated(r, one.seat),
            f"{one.phase} of round {one.round}, {f'votes {one.vote}' if one.vote else ABSTAINS}",
            one.stance or "",
        )
        yield from arguments(one.arguments)


def matrix(r: Result, turns: Iterable[Spoken]) -> RenderableType:
    """A row for each debater, a column for each phase of the round."""
    vote_of = {(one.seat, one.phase): _vote(one) for one in turns}
    phases = list(dict.fromkeys(phase for _, phase in vote_of if phase))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("debater", *phases):
        table.add_column(name)
    for seat in debater_seats(r.options) if isinstance(r.options, BallotOptions) else ():
        table.add_row(text(seated(r, seat)), *(vote_of.get((seat, phase), text("-", "dim")) for phase in phases))
    return Padding(table, (0, 0, 0, 2))


def tally(counts: Iterable[Tally]) -> str:
    """``release 1, revise 2``."""
    return ", ".join(f"{one.vote} {one.count}" for one in counts) or "none"


def _vote(one: Spoken) -> Text:
    """A vote as code read it; one that names no option is shown as an abstention."""
    return text(one.vote) if one.vote else text(ABSTAINS, "yellow")


def _decided(found: BallotTerms) -> str:
    rounds = counted(found.rounds_run, "round")
    if found.decision_rule == "threshold_vote":
        votes = next((one.count for one in found.vote_tally if one.vote == found.decision), 0)
        where = f"the {found.phase_sequence[-1]} of round {found.rounds_run}" if found.phase_sequence else rounds
        return f"{found.decision}, by {votes} of {found.seats} votes in {where}; {found.consensus_threshold} decide"
    if found.decision_rule == "max_rounds_exhausted":
        return f"{found.decision} to a person: no option led with {found.consensus_threshold} votes after {rounds}"
    return f"{found.decision} to a person: the ballot was cut short after {rounds}"


PAGE = Page(lines=lines, why=why, exchange=exchange, decider="", course=in_rounds)
