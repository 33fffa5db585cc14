"""What debaters said in the formats that have them: one `Spoken` a turn, and what the references make of them."""

from __future__ import annotations

from typing import Any

import msgspec

from service.debate.adjudication import labels_of
from service.debate.ballot import PHASES, report_of
from service.debate.convergence import labels
from service.debate.folding import read
from service.debate.model import Outcome, TurnId
from service.debate.money import usd
from service.debate.options import (
    BallotOptions,
    ConvergenceOptions,
    Debater,
    PanelOptions,
    StancesOptions,
    debater_seats,
    role_of,
)
from service.debate.replies import (
    Ballot,
    BlindAnswer,
    Judgement,
    Moderation,
    Position,
    Reply,
    RevisedAnswer,
    Ruling,
    Synthesis,
)
from service.debate.results import BallotResult, ConvergenceResult, PanelResult, StancesResult
from service.debate.script import Script
from service.debate.turns import round_of, turn_id
from service.report.account import tokens_of
from service.report.history import History, is_swapped, phase, seat
from service.report.rounds import arguments
from service.report.seated import Weighed
from service.report.shape import Argument, Spoken

ORDER = "orderSensitive"
Closing = Judgement | Synthesis | Ruling
"""The reply of a seat that closes a debate between debaters with what it makes of it."""


def transcript(h: History) -> tuple[Spoken, ...]:
    """Every turn of a debater, by round, phase and declared order; empty in the adversarial format."""
    if h.facts.started is None or h.adversarial:
        return ()
    seats = debater_seats(h.facts.started.options)
    turns = [turn for turn in h.facts.said if seat(turn) in seats]
    return tuple(spoken(h, turn) for turn in sorted(turns, key=lambda turn: _place(seats, turn)))


def _place(seats: tuple[str, ...], turn: TurnId) -> tuple[int, int, int]:
    named = phase(turn)
    return round_of(turn), PHASES.index(named) if named in PHASES else 0, seats.index(seat(turn))


def spoken(h: History, turn: TurnId) -> Spoken:
    """One turn of a debater; raises `KeyError` where it has not spoken."""
    reply, told = h.facts.said[turn], arguments(h, turn)
    tokens, charged = _cost(h, turn)
    debater = named(h, seat(turn))
    return Spoken(
        turn=turn,
        round=round_of(turn),
        phase=phase(turn),
        seat=seat(turn),
        name=debater.name if debater else None,
        stance=_stance(reply) or (debater.stance if debater else None) or None,
        label=letter(h, seat(turn)),
        model=h.facts.spoke(turn),
        blind=blind(h, turn),
        text=text(told),
        arguments=told,
        vote=_vote(h, reply),
        answer=_answer(reply),
        confidence=reply.overall_confidence if isinstance(reply, BlindAnswer | RevisedAnswer) else None,
        reply=msgspec.to_builtins(reply),
        tokens=tokens,
        charged_usd=charged,
    )


def weighed(h: History) -> tuple[Weighed, ...]:
    """What every other seat said, in the order in which it came."""
    return tuple(_weighed(h, turn) for turn in h.facts.said if role_of(seat(turn)) != "debater")


def _weighed(h: History, turn: TurnId) -> Weighed:
    tokens, charged = _cost(h, turn)
    return Weighed(
        turn=turn,
        round=round_of(turn),
        seat=seat(turn),
        swapped=is_swapped(turn),
        model=h.facts.spoke(turn),
        reply=msgspec.to_builtins(h.facts.said[turn]),
        tokens=tokens,
        charged_usd=charged,
    )


def _cost(h: History, turn: TurnId) -> tuple[int, str]:
    """All tokens of a turn's attempts, and what was charged for them in US dollars."""
    charges = [a.charge for a in h.attempts if a.asked.turn == turn and a.charge]
    return sum(tokens_of(charge) for charge in charges), usd(sum(charge.amount for charge in charges))


def text(told: tuple[Argument, ...]) -> str:
    """Statements as paragraphs."""
    return "\n\n".join(argument.text for argument in told)


def named(h: History, who: str) -> Debater | None:
    """The caller's debater in a seat, in the formats where the caller names them."""
    options = h.facts.started.options if h.facts.started else None
    if not isinstance(options, StancesOptions | BallotOptions) or who not in debater_seats(options):
        return None
    return options.debaters[debater_seats(options).index(who)]


def letter(h: History, who: str) -> str:
    """The neutral label under which others see a debater: one in the whole debate, whatever the turn.

    The stance where one is assigned; else a number by declared order, or a letter by the order that the seed gives.
    """
    started = h.facts.started
    if started is None:
        return who
    options, debater = started.options, named(h, who)
    if isinstance(options, StancesOptions) and debater:
        return debater.stance
    if isinstance(options, BallotOptions):
        return f"Debater {debater_seats(options).index(who) + 1}"
    script = Script(started, h.facts)
    letters = labels_of(script) if isinstance(options, PanelOptions) else labels(script)
    return letters[who]


def blind(h: History, turn: TurnId) -> bool:
    """Whether a debater spoke before it had seen anything of another: the first drafts, kept as such."""
    options = h.facts.started.options if h.facts.started else None
    match options:
        case BallotOptions():
            return round_of(turn) == 1 and phase(turn) == PHASES[0]
        case PanelOptions():
            return round_of(turn) == 1
        case ConvergenceOptions():
            return round_of(turn) == 0
    return False


def first_draft(h: History) -> tuple[TurnId, ...]:
    """The turns that spoke before anything was challenged: without them nobody can tell what the debate changed."""
    said = h.facts.said
    if h.adversarial:
        return tuple(t for t in said if seat(t) == "proposer" and round_of(t) == 1)
    if h.facts.started and isinstance(h.facts.started.options, StancesOptions):
        return tuple(t for t in said if t == turn_id(1, "debater-1"))
    return tuple(one.turn for one in transcript(h) if one.blind)


def _vote(h: History, reply: Reply) -> str | None:
    options = h.facts.started.options if h.facts.started else None
    return read(reply.vote, options.votes) if isinstance(reply, Ballot) and isinstance(options, BallotOptions) else None


def _stance(reply: Reply) -> str | None:
    return reply.stance if isinstance(reply, Ballot | BlindAnswer | RevisedAnswer) else None


def _answer(reply: Reply) -> str | None:
    if isinstance(reply, BlindAnswer | RevisedAnswer):
        return reply.answer
    return reply.final_answer if isinstance(reply, Position) else None


def closing(h: History) -> Closing | None:
    """What the seat that closes the debate made of it, as it was asked first; ``None`` until the debate is over."""
    if h.facts.concluded is None:
        return None
    found = [r for turn, r in h.facts.said.items() if isinstance(r, Closing) and not is_swapped(turn)]
    return found[-1] if found else None


def raw(h: History, outcome: Outcome | None, told: tuple[Spoken, ...]) -> dict[str, Any] | None:
    """The stances' reference output, with the statements that stand; ``verdict`` is null where none stands."""
    if outcome is None or not isinstance(outcome.result, StancesResult):
        return None
    return {
        "rounds": outcome.result.rounds,
        "question": h.case.question,
        "transcript": [
            {
                "round": one.round,
                "agentName": one.name,
                "stance": one.stance,
                "text": text(tuple(a for a in one.arguments if not a.struck)),
            }
            for one in told
        ],
        "verdict": msgspec.to_builtins(outcome.result.verdict),
    }


def synthesis(outcome: Outcome | None, reply: Moderation | Closing | None) -> str | None:
    """What the closing seat concluded, in its words; ``None`` where the order of presentation decided."""
    if outcome and isinstance(reply, Moderation):
        return None if ORDER in outcome.flags else reply.synthesis
    match outcome.result if outcome else None:
        case StancesResult(verdict=verdict):
            return verdict.verdict if verdict else None
        case PanelResult(synthesis=found):
            return found
        case ConvergenceResult(final_answer=str(answer)) if isinstance(reply, Ruling):
            return f"{answer}\n\n{reply.justification}"
    return None


def ballot_report(outcome: Outcome | None) -> str | None:
    """The nine lines of a ballot, in the very form of their reference; ``None`` in any other format."""
    if outcome is None or not isinstance(outcome.result, BallotResult):
        return None
    return report_of(outcome.result)
