"""The ballot in results and reports: the votes by phase, their count, and the report of nine lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from msgspec.structs import asdict

from service.debate.ballot import PHASES, SPEAKERS_CHOSEN_BY, report_of
from service.debate.labels import read
from service.debate.model import Case, Outcome, Turn, TurnId
from service.debate.options import BallotOptions, debater_seats, prompt_of
from service.debate.replies import Ballot, Closing, Reply
from service.debate.results import BallotResult, Cast
from service.debate.turns import round_of, seat_of, turn_id
from service.report.decision_labels import RULE_OF_SPEAKERS, RULE_OF_VOTES
from service.report.document.blocks import (
    Bar,
    Block,
    Chart,
    Fact,
    HeadingBlock,
    ReportPart,
    Segment,
    TableBlock,
    Text,
    Verbatim,
)
from service.report.document.speakers import latest
from service.report.formats import debaters
from service.report.formats.aspects import Given, Telling
from service.report.labels import PHASE, label_of
from service.report.remarks import BLIND
from service.report.result.history import Folded, History, debater_phase
from service.report.result.terms import BallotTerms, ShownCast
from service.report.result.types import Result, Spoken


def _label(_: Folded, who: str) -> str:
    """A number by declared order."""
    return f"Debater {who.rpartition('-')[2]}"


def _blind(turn: TurnId) -> bool:
    return round_of(turn) == 1 and debater_phase(turn) == PHASES[0]


def _first_draft(h: History) -> tuple[TurnId, ...]:
    return tuple(turn for turn in debaters.turns(h) if _blind(turn))


def _given(h: History, turn: TurnId, reply: Reply) -> Given:
    debater, options = debaters.named(h, seat_of(turn)), h.facts.started.options if h.facts.started else None
    if not isinstance(reply, Ballot) or not isinstance(options, BallotOptions):
        return Given(name=debater.name)
    stance = reply.stance or debater.stance or None
    return Given(name=debater.name, stance=stance, vote=read(reply.vote, options.votes))


def _synthesis(_: Outcome, __: Closing | None) -> str | None:
    """None: votes decide, and no seat writes a synthesis."""
    return None


def _terms(_: Folded, outcome: Outcome, __: tuple[Spoken, ...]) -> BallotTerms | None:
    """The count with its nine lines in the form of their reference, and its rule for speakers."""
    found = outcome.result
    if not isinstance(found, BallotResult):
        return None
    kept = asdict(found) | {"votes": tuple(ShownCast(**asdict(one)) for one in found.votes)}
    return BallotTerms(**kept, report=report_of(found), speaker_selected_by=SPEAKERS_CHOSEN_BY)


def _facts(r: Result) -> Iterator[Fact]:
    if not isinstance(r.result, BallotTerms):
        return
    found = r.result
    yield Fact("Decided because", label_of(RULE_OF_VOTES, found.decision_rule))
    yield Fact("Votes that name an option", f"{found.votes_cast} of {found.seats}")
    yield Fact("Votes needed", str(found.consensus_threshold))
    yield Fact("Speakers chosen by", label_of(RULE_OF_SPEAKERS, SPEAKERS_CHOSEN_BY))
    if found.tied:
        yield Fact("Level with each other", ", ".join(found.tied))
    yield Fact(
        "Behind the seats",
        f"{debaters.count(found.models, 'model')}, {debaters.count(found.families, 'family', 'families')}",
    )


def _parameters(options: BallotOptions) -> Iterator[Fact]:
    yield from debaters.seated(options.debaters)
    yield Fact("Options of the vote", ", ".join(options.votes))
    yield Fact("Votes needed", f"{options.consensus_threshold} of {len(options.debaters)}")
    if options.drafts:
        yield Fact("Ends after", "one blind draft of each seat, without a debate")
    yield from debaters.instructed("Instructions to all", options.instructions)


def _who(one: Spoken) -> str:
    """``Ursula (Debater 1)``."""
    return f"{one.name} ({one.label})"


def _measured(r: Result) -> Iterator[Block]:
    """The matrix of votes, the tally, and the nine lines of the reference unchanged."""
    if not isinstance(r.result, BallotTerms):
        return
    found = r.result
    yield ReportPart("votes", "Votes")
    yield Text(
        "Code counts the latest vote of each debater after every phase. The option with the most votes decides once "
        f"it has {found.consensus_threshold} of {found.seats}; equal counts at the top are a tie, and a vote that "
        "names no option is an abstention.",
        "note",
    )
    for number in dict.fromkeys(cast.round for cast in found.votes):
        yield _matrix(found, number)
    yield _tally(found)
    blind = ", ".join(f"{tally.vote}: {tally.count}" for tally in found.blind_tally)
    if blind:
        yield Text(f"The first proposals, before anybody had seen another's: {blind}.", "note")
    if found.report:
        yield Text("The report of the ballot, in the form of the bounded-debate pattern:", "note")
        yield Verbatim(tuple(found.report.split("\n")))


def _matrix(found: BallotTerms, number: int) -> TableBlock:
    """A row for each debater, a column for each phase of the round that was reached."""
    casts = {(cast.debater, cast.phase): cast for cast in found.votes if cast.round == number}
    phases = tuple(phase for phase in PHASE if any(phase == at for _, at in casts))
    head = ("Debater", *(label_of(PHASE, p) + (" (blind)" if (number, p) == (1, "proposal") else "") for p in phases))
    rows = ((name, *(_cell(casts.get((name, phase))) for phase in phases)) for name in found.debater_ids)
    return TableBlock(f"Votes of round {number}", head, tuple(rows))


def _cell(cast: Cast | None) -> str:
    if cast is None:
        return "not asked"
    return cast.vote if cast.vote is not None else f"abstains (wrote “{cast.written}”)"


def _tally(found: BallotTerms) -> Chart:
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


def _argued(r: Result) -> Iterator[Block]:
    def blocks_of(turns: Sequence[Spoken]) -> Iterator[Block]:
        for name, spoken in groupby(turns, key=lambda one: one.phase):
            yield HeadingBlock(3, label_of(PHASE, name or ""))
            for i, one in enumerate(spoken):
                if i == 0 and one.blind:
                    yield Text(BLIND, "note")
                yield HeadingBlock(
                    4, _who(one), f"votes {one.vote}" if one.vote else "abstains: its vote names no option"
                )
                yield Text(one.stance or "", "lead")
                yield from debaters.reasons(r, one, "Reason")

    yield from debaters.rounds(r, lambda number: f"Round {number}", blocks_of)


def _against(r: Result) -> Iterator[Block]:
    """The debaters whose latest vote is for another option."""
    if not isinstance(r.result, BallotTerms) or not r.transcript:
        return
    decided = r.result.decision_rule == "threshold_vote"
    against = [one for one in latest(r) if one.vote != r.result.decision] if decided else None
    yield from debaters.dissent_standing(r, against, _who, lambda one: f"votes {one.vote}" if one.vote else "abstains")


def _further(options: BallotOptions, _: Case) -> Iterator[Turn]:
    """The phases after the first; drafts have none."""
    for seat in () if options.drafts else debater_seats(options):
        for phase in PHASES[1:]:
            turn = turn_id(1, seat, phase)
            yield Turn(turn, seat, (), (f"ballot.{phase}",), "ballot.debater", prompt_of(options, seat))


TELLING = Telling(
    label=_label,
    blind=_blind,
    first_draft=_first_draft,
    given=_given,
    closing=debaters.closing,
    synthesis=_synthesis,
    own=debaters.own,
    terms=_terms,
    title=debaters.TITLE,
    by_rounds=False,
    decider="",
    diversity=debaters.DIVERSITY,
    saw=lambda _: debaters.SAW_LABELS,
    facts=_facts,
    untested=debaters.unheard,
    parameters=_parameters,
    who=_who,
    measured=_measured,
    argued=_argued,
    cited=partial(debaters.cited, who=_who),
    against=_against,
    further=_further,
)
