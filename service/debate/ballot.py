"""Format ballot/1: round-robin through four phases, and votes that code counts after each.

    screener          only where policy seats one; the debate goes on without its reply
    each round (2):   proposal, critique, revision, consensus; in each, every debater in declared order
    first proposals   are blind: no debater has seen another's
    after a phase     of the options at the threshold the one with the most votes decides, by the latest votes of
                      distinct debaters
    equal counts      at the top are a tie, and the ballot goes on: an earlier vote must not win because it is earlier
    voices            code finds which votes their debaters argued for; too few of them for the decision, and a person
                      decides
    rounds used up    without a decision: escalate
    money ended       without a decision: escalate; only the count of votes closes a ballot
    drafts            if the options say so, the blind first proposals are all: one vote decides, of one debater or of
                      several, and their request speaks of no debate

No model chooses the next speaker or declares agreement. A vote that names no option is an abstention, and it counts as
the debater's latest vote: code does not guess that a debater still holds its earlier vote.
This file is frozen once released: a change is a new file and a new version, so that recorded debates still replay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Literal

from service.debate.alike import count_models, families
from service.debate.ending import Conclusion, end
from service.debate.entries import DebateStarted
from service.debate.labels import clashing, read
from service.debate.model import (
    DEBATERS_MAX,
    BallotOptions,
    Debater,
    Options,
    Outcome,
    Status,
    StopReason,
    Turn,
    TurnId,
    seat_of,
)
from service.debate.options import debater_seats, instructions_of, personas_of
from service.debate.quoted import examine
from service.debate.replies import Ballot, ConfidenceLevel, Reply
from service.debate.replies.pruning import Kept
from service.debate.results import BallotResult, Cast, Tally
from service.debate.roster import Roster, debating
from service.debate.screening import screen, with_screener
from service.debate.script import MoneyEnded, Script
from service.debate.turns import turn_id
from service.debate.voices import argued, hear

FORMAT = "ballot/1"
PHASES = ("proposal", "critique", "revision", "consensus")
DRAFT = "ballot.draft"
"""The prompt of a debater that writes a draft and debates with no other."""
ESCALATE = "escalate"
"""The option that debaters may always vote for, and the outcome of a ballot without a decision."""
SPEAKERS_CHOSEN_BY: Literal["schedule"] = "schedule"
"""The rule by which the next speaker is chosen in every ballot of this version."""
ABSTENTION = "abstention"
"""The name in the tally of votes that name no option."""
ROUNDS_MAX = 10
"""The most rounds that the kernel plays; policy allows fewer."""

Place = tuple[int, str, TurnId]
"""A place in the schedule: round, phase, turn."""


async def play(s: Script) -> Outcome:
    """The whole debate, read from the top."""
    options, r, phase = _options(s.started.options), 0, ""
    try:
        await screen(s, table)
        for r in range(1, options.max_rounds + 1):
            for phase in _phases(options):
                await _hear(s, r, phase)
                if _decided(options, _latest(_casts(s, _phase(options, r, phase)))):  # all have voted in it
                    await hear(s, *(turn for _, _, turn in _schedule(options)))
                    return ended(s, "completed", "consensus", f"the votes decided after the {phase} of round {r}")
        return ended(s, "completed", "roundCeiling", f"no option led with enough votes after all {r} rounds")
    except MoneyEnded:
        return ended(s, "truncated", "budget", f"the money ended in the {phase} of round {r}")


def ended(s: Script, status: Status, reason: StopReason, detail: str) -> Outcome:
    """The outcome of a debate that ends here, with what was counted; only a ballot that was played can decide.

    ========  ====================================================================================================
    MODERATE  the threshold was met by the votes of more than half of the seats
    LOW       it was not, or it was met for ``escalate``: then a person decides
    ========  ====================================================================================================

    A count is never HIGH. Votes that agree before the debaters have read each other are independent but were not
    challenged. Votes that agree afterwards were challenged but are not independent.
    """
    options = _options(s.started.options)
    result = _result(s, decided=reason == "consensus")
    blind = reason == "consensus" and result.phase_sequence == PHASES[:1]
    unargued = _argued_votes(s, result) < options.consensus_threshold and result.decision_rule == "threshold_vote"
    return end(
        s,
        (status, reason, detail),
        Conclusion(_level(result), None, result, _carrying(s, result)),
        roles=table(options).roles,
        flags={
            "decidedBlind": blind,
            "votesNotArgued": unargued,
            "abstentions": any(tally.vote == ABSTENTION for tally in result.vote_tally),
            "tied": bool(result.tied),
        },
        caps=(
            (status == "completed" and result.decision == ESCALATE, "escalated", "LOW"),
            (blind, "decidedBlind", "MODERATE"),
            (unargued, "votesNotArgued", "MODERATE"),
        ),
    )


def misfit(started: DebateStarted) -> str | None:
    """Why a debate may not start like this: names or options that fold to the same, a threshold that cannot be met."""
    options = started.options
    if not isinstance(options, BallotOptions):
        return f"expected the options of {FORMAT}, found those of another format"
    if not 1 <= options.max_rounds <= ROUNDS_MAX:
        return f"a debate has 1 to {ROUNDS_MAX} rounds, found maxRounds {options.max_rounds}"
    fewest = 1 if options.drafts else 2
    if not fewest <= len(options.debaters) <= DEBATERS_MAX:
        return f"a debate has {fewest} to {DEBATERS_MAX} debaters, found {len(options.debaters)}"
    if options.drafts and (options.max_rounds, options.consensus_threshold) != (1, 1):
        found = f"maxRounds {options.max_rounds} and consensusThreshold {options.consensus_threshold}"
        return f"drafts have one round, and one vote decides, found {found}"
    names = [debater.name for debater in options.debaters]
    if len(set(names)) != len(names) or not all(name.strip() and name.isprintable() for name in names):
        return f"debaters have distinct names of one printable line, found {names}"
    if ESCALATE not in options.votes or len(options.votes) < 2:
        return f"votes are at least one option and {ESCALATE!r}, found {list(options.votes)}"
    if clashing((*options.votes, ABSTENTION)) or not all(vote.isprintable() for vote in options.votes):
        return f"votes differ in more than case and punctuation; none is {ABSTENTION!r}, found {list(options.votes)}"
    if not 1 <= options.consensus_threshold <= len(options.debaters):
        return (
            f"a threshold is 1 to {len(options.debaters)} votes, found consensusThreshold {options.consensus_threshold}"
        )
    if missing := sorted(set(table(options).seats) - {plan.seat for plan in started.seats}):
        return f"no plan for the seats {missing}"
    return None


def problem(_: Script, __: Turn, ___: Reply) -> str | None:
    """Every reply of the right shape can be used: a vote that names no option is an abstention."""
    return None


def kept(_: Script, __: Turn, reply: Reply) -> Kept:
    """The whole reply: its request asks for every part that it may have."""
    return Kept(reply)


def shown(s: Script, turn: Turn) -> Mapping[TurnId, str]:
    """The label of each reply that a turn sees: ``Debater 1``... in declared order, never the caller's names."""
    labels = {seat: f"Debater {n}" for n, seat in enumerate(debater_seats(s.started.options), start=1)}
    return {t: labels[seat_of(t)] for t in turn.sees}


def table(options: Options) -> Roster:
    """The seats, and the turns of a debate of the usual course."""
    options = _options(options)
    debaters = debater_seats(options)
    seats = {d: _turn(options, turn_id(1, d, "proposal"), "proposal") for d in debaters}
    apart = tuple((other, one) for i, one in enumerate(debaters) for other in debaters[i + 1 :])
    usual = dict.fromkeys(seats, options.max_rounds * len(_phases(options)))
    closing: tuple[str, ...] = ()
    beginning, roles = tuple(seats.values()), debating(debaters)
    roster = Roster(seats=seats, apart=apart, usual=usual, beginning=beginning, closing=closing, roles=roles)
    return with_screener(options, roster)


def report_of(result: BallotResult) -> str:
    """The nine fields in the form of the bounded-debate reference, a line each."""
    tally = ", ".join(f"{counted.vote}: {counted.count}" for counted in result.vote_tally)
    return "\n".join(
        [
            f"debater_ids: [{', '.join(result.debater_ids)}]",
            f"rounds_run: {result.rounds_run}",
            f"max_rounds: {result.max_rounds}",
            f"phase_sequence: [{', '.join(result.phase_sequence)}]",
            f"consensus_threshold: {result.consensus_threshold}",
            f"vote_tally: {{{tally}}}",
            f"decision: {result.decision}",
            f"decision_rule: {result.decision_rule}",
            f"speaker_schedule: [{', '.join(result.speaker_schedule)}]",
        ]
    )


def _options(options: Options) -> BallotOptions:
    if not isinstance(options, BallotOptions):
        raise TypeError(f"expected the options of {FORMAT}")
    return options


def _turn(options: BallotOptions, turn: TurnId, phase: str, sees: tuple[TurnId, ...] = ()) -> Turn:
    """A turn of a debater; one with a prompt of its own has neither role nor instructions, and a draft has no phase."""
    seat = seat_of(turn)
    persona = ("persona",) if seat in personas_of(options) else ()
    instructions = ("instructions",) if instructions_of(options, seat) else ()
    speech = () if options.drafts else (f"ballot.{phase}",)
    own = _debater(options, seat).prompt or (DRAFT if options.drafts else "")
    return Turn(turn, seat, sees, (*speech, *persona, *instructions), "ballot.debater", own)


def _debater(options: BallotOptions, seat: str) -> Debater:
    return options.debaters[debater_seats(options).index(seat)]


def _phases(options: BallotOptions) -> Sequence[str]:
    """The phases of a round: drafts end with the first."""
    return PHASES[:1] if options.drafts else PHASES


def _phase(options: BallotOptions, r: int, phase: str) -> list[Place]:
    """The places of a phase in declared order."""
    return [(r, phase, turn_id(r, seat, phase)) for seat in debater_seats(options)]


def _schedule(options: BallotOptions) -> Iterator[Place]:
    """Every place of a ballot that never decides, in the order in which its turns are asked."""
    for r in range(1, options.max_rounds + 1):
        for phase in _phases(options):
            yield from _phase(options, r, phase)


async def _hear(s: Script, r: int, phase: str) -> None:
    """Ask the debaters of a phase, each with all earlier replies; the first proposals without any.

    A turn is built only until its reply is checked, because a script is run many times.
    """
    options = _options(s.started.options)
    for _, _, turn in _phase(options, r, phase):
        if f"{turn}/texts" not in s.facts.found:
            asked = _turn(options, turn, phase, () if (r, phase) == (1, "proposal") else _before(options, turn))
            await s.ask(Ballot, asked)
            await examine(s, asked)


def _before(options: BallotOptions, turn: TurnId) -> tuple[TurnId, ...]:
    """Every turn that is scheduled before this one."""
    return tuple(takewhile(turn.__ne__, (scheduled for _, _, scheduled in _schedule(options))))


def _casts(s: Script, places: Iterable[Place]) -> list[Cast]:
    """The votes that were cast at these places, in their order."""
    options = _options(s.started.options)
    name = {seat: debater.name for seat, debater in zip(debater_seats(options), options.debaters, strict=True)}
    return [
        Cast(name[seat_of(turn)], r, phase, read(reply.vote, options.votes), reply.vote)
        for r, phase, turn in places
        if isinstance(reply := s.facts.said.get(turn), Ballot)
    ]


def _latest(casts: Iterable[Cast]) -> list[str]:
    """The latest vote of each debater, in the order in which they first spoke."""
    return list({cast.debater: cast.vote or ABSTENTION for cast in casts}.values())


def _decided(options: BallotOptions, latest: Sequence[str]) -> str | None:
    """The option that leads alone with at least the threshold's votes; ``None`` if there is none."""
    leading, votes = _lead(latest)
    return leading[0] if len(leading) == 1 and votes >= options.consensus_threshold else None


def _lead(latest: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """The options with the most votes, and how many those are; an abstention is no option."""
    counted = Counter(vote for vote in latest if vote != ABSTENTION)
    most = max(counted.values(), default=0)
    return tuple(vote for vote, count in counted.items() if count == most), most


def _tied(latest: Sequence[str]) -> tuple[str, ...]:
    """The options that share the lead; empty if one leads alone. Options with unequal counts are not tied."""
    leading, _ = _lead(latest)
    return leading if len(leading) > 1 else ()


def _tally(latest: Iterable[str]) -> tuple[Tally, ...]:
    return tuple(Tally(vote, count) for vote, count in Counter(latest).items())


def _result(s: Script, *, decided: bool) -> BallotResult:
    """The result of the count. A ballot that was stopped has no decision of its own, whatever its votes are."""
    options = _options(s.started.options)
    casts = _casts(s, _schedule(options))
    latest = _latest(casts)
    decision = _decided(options, latest) if decided else None
    seats = debater_seats(options)
    return BallotResult(
        debater_ids=tuple(debater.name for debater in options.debaters),
        rounds_run=max((cast.round for cast in casts), default=0),
        max_rounds=options.max_rounds,
        phase_sequence=tuple(phase for _, phase in dict.fromkeys((cast.round, cast.phase) for cast in casts)),
        consensus_threshold=options.consensus_threshold,
        vote_tally=_tally(latest),
        decision=decision or ESCALATE,
        decision_rule=_rule(options, casts, decision),
        speaker_schedule=tuple(cast.debater for cast in casts),
        votes_cast=sum(vote != ABSTENTION for vote in latest),
        seats=len(seats),
        blind_tally=_tally(_latest(cast for cast in casts if (cast.round, cast.phase) == (1, "proposal"))),
        tied=_tied(latest),
        votes=tuple(casts),
        models=count_models(s, seats),
        families=len(families(s, seats)),
    )


def _carrying(s: Script, result: BallotResult) -> tuple[TurnId, ...]:
    """The latest turns of the debaters whose votes gave the decision: their words carry it."""
    if result.decision_rule != "threshold_vote":
        return ()
    options = _options(s.started.options)
    latest = {seat_of(turn): turn for _, _, turn in _schedule(options) if s.said(turn)}
    ballots = {turn: reply for turn in latest.values() if isinstance(reply := s.facts.said[turn], Ballot)}
    return tuple(turn for turn, cast in ballots.items() if read(cast.vote, options.votes) == result.decision)


def _argued_votes(s: Script, result: BallotResult) -> int:
    """The votes for the decision whose debater, in a turn in which it voted so, gave an argument of its own."""
    options = _options(s.started.options)
    voted = {
        seat_of(turn)
        for turn in argued(s) or ()
        if isinstance(reply := s.reply(turn), Ballot) and read(reply.vote, options.votes) == result.decision
    }
    return len(voted & {seat_of(turn) for turn in _carrying(s, result)})


def _rule(
    options: BallotOptions, casts: Sequence[Cast], decision: str | None
) -> Literal["threshold_vote", "max_rounds_exhausted", "cut_short"]:
    if decision:
        return "threshold_vote"
    played = len(casts) == options.max_rounds * len(_phases(options)) * len(options.debaters)
    return "max_rounds_exhausted" if played else "cut_short"


def _level(result: BallotResult) -> ConfidenceLevel:
    """The confidence of a decision by its count alone; `ended` adds the caps for families and for ``escalate``."""
    votes = max((tally.count for tally in result.vote_tally if tally.vote == result.decision), default=0)
    if result.decision_rule != "threshold_vote" or 2 * votes <= result.seats:
        return "LOW"
    return "MODERATE"
