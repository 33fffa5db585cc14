"""The blocks of a turn of stances, ballot, panel or convergence beside the case.

    persona, instructions                      the caller's texts for this seat
    stance-of-this-seat                        stances: the stance that a debater argues for
    votes                                      ballot: the options, how many votes decide, how many seats vote
    label-of-this-seat                         panel: the letter by which the others know a debater
    end-of-debate                              panel: whether there was consensus and why it ended, for the synthesizer
    statement, own-statement                   earlier replies, each as JSON under the label of the format
    judgement, synthesis                       the reply of an earlier closing seat
    former-reply                               a closing seat's own, where it is asked once more for its words
    output-schema                              stances: the form that a synthesizer fills in

No seat, model or name that the caller gave appears with a reply, unless the case lets the judge see the names of
stances. Struck arguments are left out of every reply, also of a seat's own, and named with the reason. What a reply
says of its own model is masked (`service.debate.self_naming`), also in a seat's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from msgspec.structs import replace

from service.debate.entries import DebateStarted
from service.debate.facts import Facts
from service.debate.kernel import FORMATS
from service.debate.model import Case, Turn, TurnId, seat_of
from service.debate.options import (
    BallotOptions,
    Options,
    StancesOptions,
    debater_seats,
    instructions_of,
    output_schema_of,
    personas_of,
)
from service.debate.panel_standing import options_of, standing
from service.debate.replies import (
    AccuracyReview,
    Adjudication,
    Argument,
    Ballot,
    BlindAnswer,
    Classification,
    Critique,
    Framing,
    Judgement,
    Moderation,
    ObjectionAnswers,
    Position,
    Projection,
    Proposal,
    Rebuttal,
    Reply,
    RevisedAnswer,
    Ruling,
    Screening,
    Synthesis,
    statements,
)
from service.debate.script import Script
from service.debate.turns import phase_of, round_of
from service.prompts.arguments import View, argument_fields, encoded, shown_arguments, shown_reply, strikes
from service.prompts.fence import Block
from service.prompts.marks import former_reply, marked_reply, plain, said_block


def stances_blocks(_: Case, started: DebateStarted, facts: Facts, turn: Turn) -> Iterator[Block]:
    """The blocks of a turn of stances; raises `KeyError` if the format has no label for a statement."""
    options = started.options
    yield from _of_the_caller(options, turn)
    if isinstance(options, StancesOptions) and turn.seat in (seats := debater_seats(options)):
        yield Block("stance-of-this-seat", {}, options.debaters[seats.index(turn.seat)].stance)
    yield from _said(started, facts, turn)
    if turn.seat == "synthesizer":
        yield Block("output-schema", {}, encoded(output_schema_of(options)))


def ballot_blocks(_: Case, started: DebateStarted, facts: Facts, turn: Turn) -> Iterator[Block]:
    """The blocks of a turn of a ballot; raises `KeyError` if the format has no label for a statement."""
    options = started.options
    yield from _of_the_caller(options, turn)
    if isinstance(options, BallotOptions) and turn.seat in (seats := debater_seats(options)):
        votes: View = {"options": options.votes}
        if not options.drafts:  # a draft is asked as if there were no other
            votes |= {"threshold": options.consensus_threshold, "seats": len(seats)}
        yield Block("votes", {}, encoded(votes))
    yield from _said(started, facts, turn)


def panel_blocks(_: Case, started: DebateStarted, facts: Facts, turn: Turn) -> Iterator[Block]:
    """The blocks of a turn of a panel; raises `KeyError` if the format has no label for a statement."""
    yield from _of_the_caller(started.options, turn)
    if turn.seat in debater_seats(started.options):
        own = _labels(started, facts, replace(turn, sees=(turn.id,)))
        yield Block("label-of-this-seat", {}, own[turn.id])
    yield from _said(started, facts, turn)
    if turn.seat == "synthesizer":
        yield Block("end-of-debate", {}, encoded(_end(Script(started, facts), turn)))


def _end(s: Script, turn: Turn) -> View:
    """Whether a panel reached consensus, and why it ended.

    Money for the synthesis is reserved before the end is known, with the longest of the three reasons.
    """
    now = standing(s, turn.round)
    reached = now is not None and now.terminated
    why = "budget" if s.facts.money_ended else "consensus" if reached else "roundCeiling"
    rounds = options_of(s).max_rounds
    return {"consensus": reached, "endedBecause": why, "round": turn.round, "maxRounds": rounds}


def convergence_blocks(_: Case, started: DebateStarted, facts: Facts, turn: Turn) -> Iterator[Block]:
    """The blocks of a turn of convergence; raises `KeyError` if the format has no label for a statement."""
    yield from _of_the_caller(started.options, turn)
    yield from _said(started, facts, turn)


def _of_the_caller(options: Options, turn: Turn) -> Iterator[Block]:
    if persona := personas_of(options).get(turn.seat):
        yield Block("persona", {}, persona)
    if instructions := instructions_of(options, turn.seat):
        yield Block("instructions", {}, instructions)


def _said(started: DebateStarted, facts: Facts, turn: Turn) -> Iterator[Block]:
    labels = _labels(started, facts, turn)
    for seen in turn.sees:
        how = (labels.get(seen), seat_of(seen) == turn.seat)
        yield said_block(facts, turn, seen, how, partial(_seen, facts, turn, seen, labels))


def _labels(started: DebateStarted, facts: Facts, turn: Turn) -> Mapping[TurnId, str]:
    return FORMATS[started.format].shown(Script(started, facts), turn)


def _seen(facts: Facts, turn: Turn, seen: TurnId, labels: Mapping[TurnId, str]) -> Block:
    reply = marked_reply(facts, seen)
    if former := former_reply(facts, turn, seen):
        return former
    match reply:
        case Judgement() | Ruling():
            return Block("judgement", {}, shown_reply(facts, plain(reply)))
        case Synthesis():
            return Block("synthesis", {}, shown_reply(facts, plain(reply)))
        case _:
            pass
    attributes = {"label": labels[seen], "round": round_of(seen)}
    if phase := phase_of(seen):
        attributes["phase"] = phase
    kind = "own-statement" if seat_of(seen) == turn.seat else "statement"
    return Block(kind, attributes, shown_reply(facts, _statement(facts, seen, reply)))


def _statement(facts: Facts, turn: TurnId, reply: Reply) -> View:
    """A debater's reply with the verdicts on its citations and without struck arguments."""
    if isinstance(reply, ObjectionAnswers):
        return plain(reply)
    citing, struck = _citing(turn, reply), strikes(facts, turn)
    return {**plain(reply), citing: shown_arguments(facts, turn, statements(reply), struck), **argument_fields(struck)}


def _citing(turn: TurnId, reply: Reply) -> str:
    """The field of a debater's reply that carries its citations; raises `ValueError` for the reply of another seat."""
    match reply:
        case Argument() | Position():
            return "arguments"
        case Ballot():
            return "rationale"
        case BlindAnswer() | RevisedAnswer():
            return "claims"
        case Framing() | Proposal() | Critique() | Rebuttal() | Moderation() | Judgement() | Projection():
            raise ValueError(f"the reply of {turn} is no statement")
        case Classification() | ObjectionAnswers() | Adjudication() | AccuracyReview() | Synthesis() | Ruling():
            raise ValueError(f"the reply of {turn} is no statement")
        case Screening():
            raise ValueError(f"the reply of {turn} is no statement")
