"""The part of a report about votes: who voted for what in which phase, how that was counted, and the report itself."""

from __future__ import annotations

from collections.abc import Iterator

from service.debate.results import BallotResult, Cast
from service.report.outline import Bar, Block, Chart, Part, Segment, Table, Text, Verbatim
from service.report.shape import Result
from service.report.wording import PHASE, say


def votes(r: Result) -> Iterator[Block]:
    """The matrix of votes, the tally, and the nine lines of the reference as they are."""
    if not isinstance(r.result, BallotResult):
        return
    found = r.result
    yield Part("votes", "Votes")
    yield Text(
        "Code counts the latest vote of each debater after every phase. One option alone with "
        f"{found.consensus_threshold} of {found.seats} votes decides; two at once are a tie, and a vote that names no "
        "option is an abstention.",
        "note",
    )
    for number in dict.fromkeys(cast.round for cast in found.votes):
        yield _matrix(found, number)
    yield _tally(found)
    blind = ", ".join(f"{tally.vote}: {tally.count}" for tally in found.blind_tally)
    if blind:
        yield Text(f"The first proposals, before anybody had seen another's: {blind}.", "note")
    if r.ballot_report:
        yield Text("The report of the ballot, in the form of the bounded-debate pattern:", "note")
        yield Verbatim(tuple(r.ballot_report.split("\n")))


def _matrix(found: BallotResult, number: int) -> Table:
    """A row for each debater, a column for each phase of the round that was reached."""
    casts = {(cast.debater, cast.phase): cast for cast in found.votes if cast.round == number}
    phases = tuple(phase for phase in PHASE if any(phase == at for _, at in casts))
    head = ("Debater", *(say(PHASE, p) + (" (blind)" if (number, p) == (1, "proposal") else "") for p in phases))
    rows = ((name, *(_cell(casts.get((name, phase))) for phase in phases)) for name in found.debater_ids)
    return Table(f"Votes of round {number}", head, tuple(rows))


def _cell(cast: Cast | None) -> str:
    if cast is None:
        return "not asked"
    return cast.vote if cast.vote is not None else f"abstains (wrote “{cast.written}”)"


def _tally(found: BallotResult) -> Chart:
    bars = tuple(
        Bar(
            tally.vote,
            (Segment(tally.vote, tally.count, "good" if tally.count >= found.consensus_threshold else "info"),),
            found.seats,
            f"{tally.count} of {found.seats}",
        )
        for tally in found.vote_tally
    )
    return Chart(f"Latest votes; {found.consensus_threshold} are needed", bars)
