"""From a debate's facts to the request of a turn: pure, so that a verifier renders it again and compares its hash.

    house   the pinned system prompt
    data    the case: question, answer under review, positions, the documents introduced so far
    data    for the screener, the caller's texts to all seats (`screening`); for other seats
            the turn's own view: persona, proposition, statements, evaluations, the reasons of a repetition, and the
            fault of the former reply if it could not be used (formats other than the adversarial one: `transcript`);
            quoted words that stand nowhere are marked in all of it (`marks`)
    seat    the seat's pinned prompt and fragments, outside every fence

In a case without documents a pinned text gives way to the one for such cases (`undocumented`).

Struck arguments are left out of later seats' requests, and named with the reason. The moderator sees every party in
one uniform shape under neutral labels: no role, no model, no self-rating. What a reply says of its own model is masked
for every seat (`service.debate.self_naming`); citations, the case and the caller's texts are never masked so. In the
request of a masked turn the passages that the check of the case flagged are masked everywhere (`masked`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any, Protocol

from service.debate.entries import DebateStarted
from service.debate.facts import Facts
from service.debate.findings import CritiqueFound, StrikeReason
from service.debate.formats import FormatName, complete_formats
from service.debate.model import AdversarialOptions, Case, SeatPlan, Turn, TurnId, documents_of_round, labels, party
from service.debate.options import format_of, personas_of, positions_of
from service.debate.replies import Critique, Framing, Moderation, Proposal, Rebuttal, Reply
from service.debate.turns import SCREENER, is_masked, phase_of, round_of, seat_of, split_party
from service.prompts.arguments import View, argument_fields, encoded, shown_arguments, shown_reply, strikes
from service.prompts.fence import Block, fence, nonce
from service.prompts.kept import once
from service.prompts.marks import former_reply, marked_reply, said_block
from service.prompts.masked import Shown, as_shown
from service.prompts.request import Message, Request
from service.prompts.screening import round_shown, screener_blocks
from service.prompts.transcript import ballot_blocks, convergence_blocks, panel_blocks, stances_blocks
from service.prompts.undocumented import pin_of

SEPARATOR = "\n\n"
ERROR_MAX = 500
"""The most characters about a faulty reply in the request that repeats it."""


class Pinned(Protocol):
    """The pinned texts and schemas, by id."""

    def text(self, prompt: str) -> str:
        """A prompt's or fragment's text."""
        ...

    def schema(self, seat: str) -> dict[str, Any]:
        """The JSON Schema of a seat's reply."""
        ...


def render(
    pinned: Pinned, case: Case, sources: Mapping[str, str], facts: Facts, turn: Turn, plan: SeatPlan | None = None
) -> Request:
    """The request of a turn, to the model of ``plan``: the seat's own, unless its fallback is asked.

    ``sources`` maps document ids to their texts; raises `KeyError` if one is missing.
    """
    started = facts.started
    if started is None:
        raise ValueError("a debate that has not started has no requests")
    plan = plan or started.seat(turn.seat)
    mark, seen = nonce(started.seed), as_shown(case, sources, facts, turn)
    case, sources, facts, started = seen.case, seen.sources, seen.facts, seen.facts.started or started
    house, asked_for = pin_of(facts, "house"), pins(facts, turn, plan)
    beside = chain(turn_blocks(case, started, facts, turn), _repair(facts, turn, plan))
    return Request(
        seat=turn.seat,
        model=plan.model,
        model_name=plan.model_name,
        messages=(
            Message("house", pinned.text(house), (house,)),
            Message("data", _case_text(mark, seen, started, round_shown(case, turn))),
            Message("data", _fenced_once(facts, mark, seen.blocks(beside))),
            Message("seat", SEPARATOR.join(pinned.text(pin) for pin in asked_for), asked_for),
        ),
        schema_id=turn.asks,
        reply_schema=pinned.schema(turn.asks),
        max_output_tokens=plan.allowance,
        parameters=plan.parameters,
    )


def pins(facts: Facts, turn: Turn, plan: SeatPlan) -> tuple[str, ...]:
    """The ids of the pinned texts of the seat's message, in their order.

    If a model's own reply in this turn could not be used, it is asked to repeat it. Its fallback begins afresh.
    """
    repair = ("repair",) if facts.unusable(turn.id, plan.model) else ()
    return tuple(pin_of(facts, pin) for pin in (turn.prompt or turn.asks, *turn.fragments, *repair))


def case_blocks(case: Case, started: DebateStarted, sources: Mapping[str, str], round_: int) -> Iterator[Block]:
    """The blocks of every turn of a round, in the same bytes, so that vendors' caches hit."""
    yield Block("question", {}, case.question)
    if case.single_agent_answer:
        yield Block("answer-under-review", {}, case.single_agent_answer)
    for position in positions_of(started.options):
        yield Block("position", {"id": position.id}, position.text)
    given = documents_of_round(case, round_)
    for document in case.documents:
        if document.id in given:
            attributes = {"id": document.id, "title": document.title, "round": document.round}
            yield Block("document", attributes, sources[document.id])


def _case_text(mark: str, seen: Shown, started: DebateStarted, round_: int) -> str:
    """The message with the case, rendered once for all turns that are shown the same documents of it."""
    case, sources = seen.case, seen.sources
    given = documents_of_round(case, round_)

    def render_case() -> str:
        return _fenced(mark, seen.blocks(case_blocks(case, started, sources, round_)))

    rests_on = (case, started, seen.masks, *[sources[document] for document in given])
    return once(seen.facts, ("case", given), rests_on, render_case, len)


def turn_blocks(case: Case, started: DebateStarted, facts: Facts, turn: Turn) -> Iterator[Block]:
    """The blocks of this turn beside the case."""
    if turn.id == SCREENER:
        return screener_blocks(started.options)
    return _BLOCKS[format_of(started.options)](case, started, facts, turn)


def _adversarial_blocks(case: Case, started: DebateStarted, facts: Facts, turn: Turn) -> Iterator[Block]:
    if persona := personas_of(started.options).get(turn.seat):
        yield Block("persona", {}, persona)
    if not is_masked(turn.id) and (position := phase_of(turn.id)):
        yield Block("position-of-this-seat", {"id": position}, position)
    if "evidence" in turn.fragments:
        new = [d.id for d in case.documents if d.round == turn.round]
        yield Block("new-evidence", {"documents": new}, ", ".join(new))
    shown = labels(turn)
    for seen in turn.sees:
        how = _labels_in(turn, facts.said[seen], seen, shown)
        yield said_block(facts, turn, seen, how, partial(_seen, facts, turn, seen, shown))
    if "critic.retry" in turn.fragments:
        yield Block("retry", {}, encoded(_retry(facts, turn.sees[-1])))


def _repair(facts: Facts, turn: Turn, plan: SeatPlan) -> Iterator[Block]:
    """The fault of the model's former reply in this turn, in the words of its record."""
    if error := facts.unusable(turn.id, plan.model):
        yield Block("repair", {}, encoded({"error": error[:ERROR_MAX]}))


def _labels_in(turn: Turn, reply: Reply, seen: TurnId, shown: Mapping[str, str]) -> tuple[str, ...] | None:
    """The labels on which the block of a reply depends for a moderator: its own, and those of whom it answers."""
    if isinstance(reply, Framing | Moderation):
        return ()
    if turn.seat != "moderator":
        return None
    answered = {"critic": "proposer", "rebuttal": "critic"}.get(seat_of(seen))
    others = [words for words in shown.items() if split_party(words[0])[0] == answered]
    return (shown[party(seen)], *chain.from_iterable(others))


def _seen(facts: Facts, turn: Turn, seen: TurnId, shown: Mapping[str, str]) -> Block:
    reply, round_ = marked_reply(facts, seen), round_of(seen)
    if former := former_reply(facts, turn, seen):
        return former
    match reply:
        case Framing():
            return Block("proposition", {}, shown_reply(facts, _framing(reply)))
        case Moderation():
            return Block("evaluation", {"round": round_}, shown_reply(facts, _evaluation(reply)))
        case _:
            pass
    struck = strikes(facts, seen)
    if turn.seat == "moderator":
        attributes = {"label": shown[party(seen)], "round": round_}
        return Block("statement", attributes, shown_reply(facts, _neutral(facts, seen, reply, struck, shown)))
    attributes = {"by": party(seen), "round": round_}
    return Block("statement", attributes, shown_reply(facts, _named(facts, seen, reply, struck)))


def _named(facts: Facts, turn: TurnId, reply: Reply, struck: Mapping[int, StrikeReason]) -> View:
    """A reply as the debating seats see it: by its author's name, without struck arguments."""
    match reply:
        case Proposal():
            view: View = {
                "arguments": shown_arguments(facts, turn, reply.arguments, struck),
                "objections": [{"text": o.text, "answer": o.answer} for o in reply.objections],
            }
        case Critique():
            view = {"points": shown_arguments(facts, turn, reply.points, struck)}
        case Rebuttal():
            view = {
                "rebuttals": shown_arguments(facts, turn, reply.rebuttals, struck),
                "concessions": [{"n": c.n, "text": c.text} for c in reply.concessions],
            }
        case _:
            raise ValueError(f"the reply of {turn} is no statement")
    return {"thesis": reply.thesis, "conclusion": reply.conclusion, **view, **_shift(reply), **argument_fields(struck)}


def _neutral(
    facts: Facts, turn: TurnId, reply: Reply, struck: Mapping[int, StrikeReason], shown: Mapping[str, str]
) -> View:
    """A reply as the moderator sees it: one shape for every party, references by label."""
    phase = phase_of(turn)
    position = {"position": phase} if phase else {}
    match reply:
        case Proposal():
            arguments = shown_arguments(facts, turn, reply.arguments, struck)
            arguments += [{"text": o.text, "answer": o.answer} for o in reply.objections]
            view: View = {"thesis": reply.thesis, **position, "arguments": arguments}
        case Critique():
            arguments = shown_arguments(facts, turn, reply.points, struck)
            for argument in arguments:
                author = f"proposer.{argument['position']}" if "position" in argument else "proposer"
                attacked = argument.pop("attacks", ())
                argument["against"] = [{"label": shown[author], "n": n} for n in attacked if author in shown]
            view = {"thesis": reply.thesis, "arguments": arguments}
        case Rebuttal():
            critic = shown.get("critic", "the opposing statement")
            arguments = shown_arguments(facts, turn, reply.rebuttals, struck)
            for argument in arguments:
                argument["answers"] = {"label": critic, "n": argument["n"]}
            conceded = [{"answers": {"label": critic, "n": c.n}, "text": c.text} for c in reply.concessions]
            view = {"thesis": reply.thesis, **position, "arguments": arguments, "concedes": conceded}
        case _:
            raise ValueError(f"the reply of {turn} is no statement")
    return {**view, **_shift(reply), **argument_fields(struck)}


def _shift(reply: Proposal | Critique | Rebuttal) -> View:
    return {"shift": {"movement": reply.shift.movement, "because": reply.shift.because}} if reply.shift else {}


def _retry(facts: Facts, former: TurnId) -> View:
    """Why the critique is asked for again: its own rating if that is too low, and the findings of the check."""
    reply, found = facts.said[former], facts.found.get(f"{former}/critique")
    if facts.started is None or not isinstance(reply, Critique):
        raise ValueError(f"{former} is no critique of a debate that has started")
    rated = reply.challenge_strength < _retry_below(facts.started)
    signs = found.weak if isinstance(found, CritiqueFound) else ()
    reasons = [*(["selfRating"] if rated else []), *signs]
    return {"challengeStrength": reply.challenge_strength, "reasons": reasons}


def _retry_below(started: DebateStarted) -> int:
    options = started.options
    return options.require_critic_retry_below if isinstance(options, AdversarialOptions) else 0


def _framing(reply: Framing) -> View:
    documents = [{"sourceId": d.source_id, "why": d.why} for d in reply.key_documents]
    return {
        "thesis": reply.thesis,
        "scope": reply.scope,
        "criteria": list(reply.criteria),
        "keyDocuments": documents,
    }


def _evaluation(reply: Moderation) -> View:
    return {
        "resolvedPoints": list(reply.resolved_points),
        "unresolvedPoints": list(reply.unresolved_points),
        "synthesis": reply.synthesis,
        "confidenceLevel": reply.confidence_level,
        "explicitUncertainties": list(reply.explicit_uncertainties),
    }


def _fenced(mark: str, blocks: Iterator[Block]) -> str:
    return "\n".join(fence(mark, block) for block in blocks)


def _fenced_once(facts: Facts, mark: str, blocks: Iterator[Block]) -> str:
    """The same, with each block fenced once that is the same object in several turns (`said_block`)."""
    return "\n".join(_once_fenced(facts, mark, block) for block in blocks)


def _once_fenced(facts: Facts, mark: str, block: Block) -> str:
    # What is kept holds its block, so no other object gets that id meanwhile.
    return once(facts, ("fenced", id(block)), (facts.started, block), partial(fence, mark, block), len)


_BLOCKS: Mapping[FormatName, Callable[[Case, DebateStarted, Facts, Turn], Iterator[Block]]] = complete_formats(
    {
        "adversarial": _adversarial_blocks,
        "stances": stances_blocks,
        "ballot": ballot_blocks,
        "panel": panel_blocks,
        "convergence": convergence_blocks,
    },
    "prompts",
    __file__,
)
"""The blocks of a turn beside the case, by format."""
