"""Format adversarial/1: proposer, critic, rebuttal and moderator (reference EAAPL-MAG005, sections 6 and 7).

    framing, and a screener before it where policy seats one
    each round (1 to 3):  proposer(s)  ->  critic, asked again once when weak  ->  rebuttal(s)  ->  moderator
    stop:                 the moderator wants no more and all evidence has been introduced; the rounds are used up
    money ended:          the moderator closes on the replies since its last turn
    quotations:           code compares what every text quotes; a moderator that quotes what stands nowhere is asked
                          once more, and its second take stands
    swapped:              if the options say so, the last moderation is asked for again in the reverse order: the same
                          conclusion stands, and a person decides about a different one
    masked:               if the options say so and the case has a flagged passage, it is asked for once more with the
                          passages masked; the same holds for it (`masked_decider`)
    until:              if the options name the critic, its standing critique of the first round ends the debate, and
                        nothing is decided
    given:              a given critique stands, however weak, because no model is asked for another one in its place

With several positions there is one proposer and one rebuttal each, asked in parallel; one critic attacks them all.
This file is frozen once released: a change is a new file and a new version, so that recorded debates still replay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from service.debate.adversarial_agreement import agreement, first_conclusion
from service.debate.adversarial_moderations import final_of, former_of, turned_of, wants_another
from service.debate.adversarial_support import support
from service.debate.adversarial_table import APART, FRAMING, ROLES, SEATS, table
from service.debate.adversarial_usability import kept, problem
from service.debate.alike import alike
from service.debate.decision_members import Reading
from service.debate.ending import (
    at_most,
    human_review,
    masked_caps,
    passage_caps,
    quotation_flags,
    screening_flags,
    texts,
    validation_failures,
)
from service.debate.entries import DebateStarted
from service.debate.findings import CritiqueFound, TextsFound
from service.debate.masked_decider import (
    ask_masked,
    masked_flags,
    masked_reply,
    masked_turns,
)
from service.debate.model import (
    ROUND_CEILING,
    AdversarialOptions,
    Cap,
    Check,
    Outcome,
    Position,
    RankedPosition,
    Status,
    StopReason,
    Turn,
    TurnId,
    labels,
    party,
    swapped,
)
from service.debate.options import personas_of, positions_of
from service.debate.quoted import examine, in_two_takes, settle
from service.debate.replies import (
    ConfidenceLevel,
    Critique,
    Framing,
    Moderation,
    Proposal,
    Rebuttal,
)
from service.debate.screening import screen
from service.debate.script import MoneyEnded, Script
from service.debate.takes import Compared, compare
from service.debate.turns import phase_of, round_of, split_party, turn_id
from service.debate.voices import hear

__all__ = ["APART", "FORMAT", "SEATS", "ended", "kept", "misfit", "moderated", "play", "problem", "shown", "table"]

FORMAT = "adversarial/1"
PROMPT_REVIEW_BELOW = 5
"""A critic's own rating below this calls for a review of its prompt (reference 10.1)."""
EMPTY = (
    *("critiqueWeak", "critiqueConcedes", "critiqueNamesNothing", "proposerRejects", "sameConclusion"),
    *("criticAndModeratorAsProposer", "rebuttalGaveUp", "moderatorAlone"),
)
"""The flags of a challenge that may have been none, or had no effect: they cap the confidence, and a person decides."""


async def play(s: Script) -> Outcome:
    """The whole debate, read from the top."""
    options, r, satisfied = _options(s.started), 0, False
    try:
        await screen(s, table)
        framing = Turn(FRAMING, "framing", fragments=_fragments(s, "framing", 0))
        await s.ask(Framing, framing)
        await s.find(TextsFound, texts(framing))
        for r in range(1, min(options.max_rounds, ROUND_CEILING) + 1):
            proposers = _proposers(s, r)
            await s.ask(Proposal, *proposers, holding=_closing(s, r, *proposers))
            await examine(s, *proposers)
            if await _challenge(s, r, take=1):
                await _challenge(s, r, take=2)
            if options.until:
                return ended(s, "truncated", "untilCritic", "ended after the critique, as the evaluation asks")
            rebuttals = _rebuttals(s, r)
            await s.ask(Rebuttal, *rebuttals, holding=_closing(s, r, *rebuttals))
            await examine(s, *rebuttals)
            await s.ask(Moderation, _moderator(s, r))  # its second take, like the second order, was held before
            await settle(s, Moderation, _moderator(s, r))
            satisfied = not wants_another(s, r) and r >= _last_evidence(s)
            if satisfied:
                break
        await hear(s, _critique(s, r), *(turn.id for turn in _rebuttals(s, r)))
        await _ask_again(s)
        reason: StopReason = "moderatorSatisfied" if satisfied else "roundCeiling"
        return ended(s, "completed", reason, f"ended after round {r} of at most {options.max_rounds}")
    except MoneyEnded:
        closed = not options.until
        if closed and _standing(s, r) and not s.said(turn_id(r, "moderator")):
            await examine(s, *_proposers(s, r), _critic(s, r, 1), _critic(s, r, 2), *_rebuttals(s, r))
            closed = await s.close(Moderation, _moderator(s, r)) is not None
        if s.said(turn_id(r, "moderator")):
            closed = await settle(s, Moderation, _moderator(s, r))
        if closed:
            await _ask_again(s)
        return ended(s, "truncated", "budget", f"the money ended in round {r}")


def ended(s: Script, status: Status, reason: StopReason, detail: str) -> Outcome:
    """The outcome of a debate that ends here, with the state that it reached (reference 7.1, step 6)."""
    final = final_of(s)
    moderation = s.facts.said[final] if final else None
    failures = validation_failures(s)
    words = (final, *turned_of(s)) if final else ()
    reading = Reading(parties=lambda turn: {label: who for who, label in moderated(s, turn).items()})
    sensitive, injected, again = _order(s).get("orderSensitive", False), _injected(s), masked_reply(s, final)
    takes = compare(
        s, (*words, *filter(None, (again,))), reading, former=former_of(s), sensitive=sensitive, injected=injected
    )
    flags = _flags(s, status, words, takes)
    caps = _caps(s, status, flags, bool(failures), takes)
    level: ConfidenceLevel = moderation.confidence_level if isinstance(moderation, Moderation) else "LOW"
    level = at_most(level, caps)
    several = bool(positions_of(s.started.options))
    decided = moderation if isinstance(moderation, Moderation) and not (sensitive or injected) else None
    conclusion = decided.conclusion if decided else None
    return Outcome(
        status=status,
        stop_reason=reason,
        detail=detail,
        confidence_level=level,
        conclusion=conclusion,
        agrees_with_first_proposal=None if several or conclusion is None else conclusion == first_conclusion(s),
        final_turn=final,
        caps=caps,
        flags=flags,
        critical_validation_failures=failures,
        human_review=human_review(s, caps, level),
        ranking=_ranking(s, final, decided) if several and final and decided else (),
        differing=takes.differing,
    )


def misfit(started: DebateStarted) -> str | None:
    """Why a debate may not start like this: a round too many, a seat too few, positions that are not distinct."""
    options = started.options
    if not isinstance(options, AdversarialOptions):
        return f"expected the options of {FORMAT}, found those of another format"
    if not 1 <= options.max_rounds <= ROUND_CEILING:
        return f"a debate has 1 to {ROUND_CEILING} rounds, found maxRounds {options.max_rounds}"
    if options.until and options.max_rounds != 1:
        return f"a debate until its {options.until} has one round, found maxRounds {options.max_rounds}"
    if missing := sorted(set(table(options).seats) - {plan.seat for plan in started.seats}):
        return f"no plan for the seats {missing}"
    names = [position.id for position in options.positions]
    if len(names) == 1 or len(set(names)) != len(names):
        return f"a debate is between several positions with distinct ids or about one proposition, found ids {names}"
    return None


def shown(_: Script, turn: Turn) -> dict[TurnId, str]:
    """The label of each reply that a turn sees: a neutral one for the moderator, its author for the other seats."""
    neutral = labels(turn)
    return {t: neutral[party(t)] if turn.seat == "moderator" else party(t) for t in turn.sees if party(t) in neutral}


def _options(started: DebateStarted) -> AdversarialOptions:
    if not isinstance(started.options, AdversarialOptions):
        raise TypeError(f"expected the options of {FORMAT}")
    return started.options


def moderated(s: Script, turn: TurnId) -> dict[str, str]:
    """The neutral labels of a moderation: party -> label, in the order in which it saw them."""
    first = _moderator(s, round_of(turn))
    return labels(swapped(first) if phase_of(turn) == "swapped" else first)


async def _challenge(s: Script, r: int, take: int) -> bool:
    """Ask the critic and check the critique; returns whether it is so weak that it is asked for again."""
    turn = _critic(s, r, take)
    (critique,) = await s.ask(Critique, turn, holding=_closing(s, r, turn))
    await examine(s, turn)
    (found,) = await s.find(CritiqueFound, _critique_check(s, r, turn.id))
    weak = critique.challenge_strength < _options(s.started).require_critic_retry_below or bool(found.weak)
    return weak and turn.id not in s.facts.given


def _positions(s: Script) -> tuple[Position | None, ...]:
    return positions_of(s.started.options) or (None,)


def _named(position: Position | None) -> str:
    """The phase of the turns that speak for a position."""
    return position.id if position else ""


def _proposers(s: Script, r: int) -> tuple[Turn, ...]:
    sees = _earlier(s, r)
    extra = ("proposer.position",) if positions_of(s.started.options) else ()
    fragments = extra + _fragments(s, "proposer", r)
    return tuple(Turn(turn_id(r, "proposer", _named(p)), "proposer", sees, fragments) for p in _positions(s))


def _critic(s: Script, r: int, take: int) -> Turn:
    sees = _earlier(s, r) + tuple(turn_id(r, "proposer", _named(p)) for p in _positions(s))
    extra = ("critic.positions",) if positions_of(s.started.options) else ()
    fragments = extra + _fragments(s, "critic", r)
    if take == 1:
        return Turn(turn_id(r, "critic"), "critic", sees, fragments)
    return Turn(turn_id(r, "critic", take=take), "critic", (*sees, turn_id(r, "critic")), (*fragments, "critic.retry"))


def _rebuttals(s: Script, r: int) -> tuple[Turn, ...]:
    extra = ("rebuttal.position",) if positions_of(s.started.options) else ()
    fragments = extra + _fragments(s, "rebuttal", r)
    turns = []
    for p in _positions(s):
        sees = (*_earlier(s, r), turn_id(r, "proposer", _named(p)), _critique(s, r))
        turns.append(Turn(turn_id(r, "rebuttal", _named(p)), "rebuttal", sees, fragments))
    return tuple(turns)


def _closing(s: Script, r: int, *due: Turn) -> Callable[[], tuple[Turn, ...]]:
    """The moderations that would end the debate if money ended after these turns, with their second takes."""

    def closing() -> tuple[Turn, ...]:
        if _options(s.started).until:
            return ()
        moderator = _moderator(s, r, *due)
        both = (moderator, swapped(moderator)) if _options(s.started).swapped else (moderator,)
        return (*in_two_takes(*both), *masked_turns(s, moderator))

    return closing


def _moderator(s: Script, r: int, *due: Turn) -> Turn:
    """The moderation of round ``r`` on the standing replies, and on ``due`` as if those turns had spoken.

    The moderator sees the parties of every round in one seeded order, and never its own earlier evaluations: it judges
    the arguments afresh.
    """
    turn = turn_id(r, "moderator")
    heard = [t for q in range(1, r + 1) for t in _standing(s, q)]
    for asked in due:
        heard = [t for t in heard if (round_of(t), party(t)) != (r, asked.party)]
        heard.append(asked.id)
    order = s.order({party(t) for t in heard}, turn)
    heard.sort(key=lambda t: (round_of(t), order.index(party(t))))
    fragments = ("moderator.positions",) if positions_of(s.started.options) else ()
    return Turn(turn, "moderator", (FRAMING, *heard), fragments + _fragments(s, "moderator", r))


async def _ask_again(s: Script) -> None:
    """Ask for the last moderation again in the reverse order, and with the passages masked, if the options say so."""
    if (final := final_of(s)) is None:
        return
    moderator = _moderator(s, round_of(final))
    if _options(s.started).swapped:
        again = swapped(moderator)
        if await s.close(Moderation, again, holding=lambda: masked_turns(s, moderator)):
            await settle(s, Moderation, again)
    await ask_masked(s, Moderation, moderator)


def _critique(s: Script, r: int) -> TurnId:
    return turn_id(r, "critic", take=2) if s.said(turn_id(r, "critic", take=2)) else turn_id(r, "critic")


def _standing(s: Script, r: int) -> tuple[TurnId, ...]:
    """The standing replies of a round: the second take of a critique replaces the first."""
    turns = [turn_id(r, "proposer", _named(p)) for p in _positions(s)]
    turns.append(_critique(s, r))
    turns += [turn_id(r, "rebuttal", _named(p)) for p in _positions(s)]
    return tuple(turn for turn in turns if s.said(turn))


def _earlier(s: Script, r: int) -> tuple[TurnId, ...]:
    """The framing, and the standing replies of the earlier rounds with their moderations."""
    moderations = {q: s.facts.standing(turn_id(q, "moderator")) for q in range(1, r)}
    return (FRAMING, *(t for q, moderation in moderations.items() for t in (*_standing(s, q), moderation)))


def _introduced(s: Script, r: int) -> bool:
    return r > 1 and s.facts.case is not None and any(d.round == r for d in s.facts.case.documents)


def _last_evidence(s: Script) -> int:
    return max((d.round for d in s.facts.case.documents), default=1) if s.facts.case else 1


def _fragments(s: Script, seat: str, r: int) -> tuple[str, ...]:
    persona = ("persona",) if seat in personas_of(s.started.options) else ()
    evidence = ("evidence",) if seat != "moderator" and _introduced(s, r) else ()
    return persona + evidence


def _critique_check(s: Script, r: int, turn: TurnId) -> Check:
    """The check over the proposals under attack, the critic's own earlier takes and rounds, and the critique."""
    proposals = tuple(turn_id(r, "proposer", _named(p)) for p in _positions(s))
    takes = (turn_id(q, "critic", take=k) for q in range(1, r + 1) for k in (1, 2))
    earlier = tuple(t for t in takes if s.said(t) and t < turn)
    return Check(f"{turn}/critique", "critique", (*proposals, *earlier, turn))


def _flags(s: Script, status: Status, words: Sequence[TurnId], takes: Compared) -> tuple[str, ...]:
    """The flags beside the outcome; each is a fact that the entries show."""
    options, said = _options(s.started), s.facts.said
    critiques = {t: reply for t, reply in said.items() if isinstance(reply, Critique)}
    judged = {t: f for t in critiques if isinstance(f := s.facts.found.get(f"{t}/critique"), CritiqueFound)}
    standing = [_critique(s, r) for r in range(1, ROUND_CEILING + 1) if _critique(s, r) in critiques]
    near, final = alike(s, ROLES), final_of(s)
    several, view = bool(positions_of(options)), _view(s, final) if final else None
    facts = {
        "DEBATE_TRUNCATED": status == "truncated",
        "unchallenged": not critiques and any(isinstance(reply, Proposal) for reply in said.values()),
        "critiqueWeak": any(
            critiques[t].challenge_strength < options.min_challenge_strength or (t in judged and judged[t].weak)
            for t in standing
        ),
        "promptReview": any(c.challenge_strength < PROMPT_REVIEW_BELOW for c in critiques.values()),
        "softenedCritique": any(found.softening for found in judged.values()),
        **agreement(said, judged, standing, final, several=several),
        **support(s, view, _rebuttals(s, round_of(final)) if final else (), several=several),
        "criticOfProposersFamily": near.critic_of_proposers_family,
        **near.flags,
        **screening_flags(s),
        "providerOverrun": s.facts.excess > 0,
        "usageBelowFloor": s.facts.below_floor,
        "fallbackModel": s.used_fallback,
        **quotation_flags(s, words),
        **takes.flags,
        **_order(s),
        **masked_flags(s, final, sensitive=_injected(s)),
    }
    return tuple(flag for flag, holds in facts.items() if holds)


def _order(s: Script) -> dict[str, bool]:
    """The result of asking for the last moderation again in the reverse order, if the options say so."""
    final = final_of(s)
    if final is None or not _options(s.started).swapped:
        return {}
    again = turned_of(s)
    return {"orderSensitive": any(_view(s, final) != _view(s, turn) for turn in again), "orderUnchecked": not again}


def _injected(s: Script) -> bool:
    """Whether the moderator concluded otherwise without the flagged passages."""
    final = final_of(s)
    again = masked_reply(s, final)
    return final is not None and again is not None and _view(s, final) != _view(s, again)


def _view(s: Script, turn: TurnId) -> str | None:
    """The conclusion of a moderation: the position that it ranks first, or its word on the one proposition."""
    moderation = s.facts.said[turn]
    if not isinstance(moderation, Moderation):
        return None
    if positions_of(s.started.options):
        return next((ranked.position for ranked in _ranking(s, turn, moderation)), None)
    return moderation.conclusion


def _caps(s: Script, status: Status, flags: tuple[str, ...], failures: bool, takes: Compared) -> tuple[Cap, ...]:
    """The reasons for which code lowers the confidence; code can never raise it."""
    near = alike(s, ROLES)
    facts: list[tuple[bool, str, ConfidenceLevel]] = [
        (status == "truncated", "truncated", "LOW"),
        (status in ("failed", "aborted"), "incomplete", "LOW"),
        ("unchallenged" in flags, "unchallenged", "LOW"),
        *passage_caps(flags),
        *takes.caps,
        ("orderSensitive" in flags, "orderSensitive", "LOW"),
        *masked_caps(flags),
        (failures, "criticalValidationFailure", "MODERATE"),
        ("orderUnchecked" in flags, "orderUnchecked", "MODERATE"),
        *((flag in flags, flag, "MODERATE") for flag in EMPTY),
        (near.critic_on_proposers_model, "criticOnProposersModel", "MODERATE"),
        (near.decider_of_proposers_family, "moderatorOfProposersFamily", "MODERATE"),
        *near.caps,
    ]
    return tuple(Cap(reason, at_most) for holds, reason, at_most in facts if holds)


def _ranking(s: Script, final: TurnId, moderation: Moderation) -> tuple[RankedPosition, ...]:
    """The moderator's labels, read back as positions."""
    whose = {label: split_party(who)[1] for who, label in moderated(s, final).items()}
    score = {given.label: given.score for given in moderation.scores}
    return tuple(RankedPosition(i, whose[label], score[label]) for i, label in enumerate(moderation.ranking, start=1))
