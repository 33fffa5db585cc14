"""Format panel/1: a blind round, deliberation on anonymised answers until consensus, one synthesis, scores.

    screener              only where policy seats one; the debate goes on without its reply
    classifier            only where a turn of its own types the question; otherwise the type is known before
    round 1, blind        all debaters in parallel, none sees another
    each later round      all in parallel: a debater's own last answer, and the latest of every other as "Model A"...
    from round 3          devil's advocate: each also names the strongest flaw in the majority's position
    after every round     citations, consensus as code measures it, and a model's adjudication where there is one
    after the last        each other debater answers the strong objections that stand, and consensus is measured again
    consensus, or no more rounds   synthesizer, never a debater's model, on the whole transcript; then accuracy
    quotations                     code compares what every text quotes; a synthesizer that quotes what stands nowhere
                                   is asked once more, and its second take stands
    the synthesis                  code compares it with the claims that all debaters accept
    synthesizer masked             if policy asks for it and the case has a flagged passage, once more with the passages
                                   masked; another answer, and there is none (`panel_synthesis`)

A silent debater is missing from then on; with fewer than two in a round the debate fails. What consensus and accuracy
mean is in `service/checks/consensus`. Who stands where after a round is in `panel_standing`; who answers objections is
in `panel_answers`; which replies cannot be used is in `panel_usability`. This file is frozen once released: a change is
a new file and a new version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from service.debate.alike import identity, nearness
from service.debate.decision_members import Reading
from service.debate.ending import Conclusion, end, texts
from service.debate.entries import DebateStarted
from service.debate.findings import (
    AccuracyFound,
    ConsensusFound,
    SynthesisFound,
    TextsFound,
)
from service.debate.masked_decider import ask_masked, masked, masked_flags, masked_reply, masked_turns
from service.debate.model import (
    Check,
    Options,
    Outcome,
    SeatPlan,
    Status,
    StopReason,
    Turn,
    TurnId,
    reworded,
    seat_of,
    swapped,
)
from service.debate.options import DEBATERS_MAX, PanelOptions, debater_seats, instructions_of
from service.debate.panel_answers import DEVIL_FROM, accepts_a_risk, answered, answered_check, answering
from service.debate.panel_result import result_of
from service.debate.panel_standing import (
    TRIGGERS,
    agreed_blindly,
    answers,
    debaters_of,
    dimensions_used,
    is_order_sensitive,
    is_order_unchecked,
    labels_of,
    latest,
    options_of,
    question_type,
    standing,
    standings,
)
from service.debate.panel_synthesis import (
    is_injection_sensitive,
    is_masked_blurred,
    masked_check,
    opposes_claims,
    synthesis_of,
)
from service.debate.panel_usability import problem
from service.debate.quoted import examine, in_two_takes, settle
from service.debate.replies import (
    AccuracyReview,
    Adjudication,
    BlindAnswer,
    Classification,
    ConfidenceLevel,
    ObjectionAnswers,
    Reply,
    RevisedAnswer,
    Synthesis,
)
from service.debate.replies.panel import QuestionType
from service.debate.replies.pruning import Kept
from service.debate.roster import Roster, debating
from service.debate.screening import screen, with_screener
from service.debate.script import MoneyEnded, Script
from service.debate.takes import compare
from service.debate.turns import turn_id
from service.debate.voices import hear, mute

__all__ = ["FORMAT", "ended", "kept", "misfit", "play", "problem", "shown", "table"]

FORMAT = "panel/1"
CLASSIFIER = turn_id(0, "classifier")
ROUNDS_MAX = 10
"""The most rounds of a panel, with the blind one (the reference's largest plan)."""
SURE = 80
"""A mean confidence of the debaters below this, in per cent, caps a consensus at MODERATE."""
TELLING = 50
"""A mean confidence below this caps it at LOW: the debaters hold their own answers for more likely wrong than right."""


async def play(s: Script) -> Outcome:
    """The whole debate, read from the top."""
    options, r, reached = options_of(s), 0, False
    try:
        await screen(s, table)
        if options.typed_by == "classifier":
            # If the classifier is silent, the type from the rules stays.
            classifier = Turn(CLASSIFIER, "classifier", kind="panel.classifier")
            if await s.gather(Classification, classifier, quorum=0):
                await s.find(TextsFound, texts(classifier))
        last = min(options.max_rounds, ROUNDS_MAX)
        for r in range(1, last + 1):
            turns = _debaters(s, r)
            await s.gather(BlindAnswer if r == 1 else RevisedAnswer, *turns, quorum=2, holding=_closing(s, r, *turns))
            await examine(s, *turns)
            await s.find(ConsensusFound, _consensus(s, r))
            if r == last and r >= DEVIL_FROM:
                await _answer_objections(s, r)
            if reached := await _adjudicated(s, r):
                break
        await hear(s, *_answered(s))
        await s.ask(Synthesis, _synthesizer(s, r))  # no money is reserved for the scores: code can give them
        await settle(s, Synthesis, _synthesizer(s, r))
        await _compare_synthesis(s, r)
        await _ask_masked(s, r)
        await _assess(s, r)
        reason: StopReason = "consensus" if reached else "roundCeiling"
        return ended(s, "completed", reason, f"ended after round {r} of at most {options.max_rounds}")
    except MoneyEnded:
        await _close(s, r)
        return ended(s, "truncated", "budget", f"the money ended in round {r}")


def ended(s: Script, status: Status, reason: StopReason, detail: str) -> Outcome:
    """The outcome of a debate that ends here, with the state that it reached.

    A confidence is HIGH only if code found that all debaters took one side in the blind round, they kept it after they
    had read each other, and are sure of it. It is MODERATE for any other consensus that they do not doubt, LOW without
    one, and never above the synthesizer's own.
    """
    rounds, final = standings(s), synthesis_of(s)
    synthesis = s.facts.said[final] if final else None
    result = result_of(s, rounds, final)
    unchecked, unargued = is_order_unchecked(s, rounds), mute(s, _answered(s))
    sure = result.overall_confidence or 0
    measured, blind = bool(rounds), result.consensus_reached and result.rounds_completed == 1
    after_exchange = result.consensus_reached and result.rounds_completed > 1
    agreed = agreed_blindly(s)
    late, unknown = after_exchange and agreed is False, after_exchange and agreed is None
    risk, opposes = result.consensus_reached and accepts_a_risk(s), opposes_claims(s)
    words, sensitive, injected = _words(s, final), is_order_sensitive(s, rounds), is_injection_sensitive(s)
    takes = (*words, *filter(None, (masked_reply(s, final),)))
    used = dimensions_used(result.question_type, documented=s.facts.documented)
    reading = Reading(counted=used, threshold=rounds[-1].threshold if rounds else 0)
    caps: tuple[tuple[bool, str, ConfidenceLevel], ...] = (
        (measured and not result.consensus_reached, "noConsensus", "LOW"),
        (bool(result.missing), "debaterMissing", "MODERATE"),
        (measured and sure < SURE, "debatersUnsure", "MODERATE" if sure >= TELLING else "LOW"),
        (blind, "decidedBlind", "MODERATE"),
        (late, "agreedOnlyAfterExchange", "MODERATE"),
        (unknown, "blindNotCompared", "MODERATE"),
        (risk, "riskAccepted", "MODERATE"),
        (opposes, "synthesisOpposesClaims", "MODERATE"),
        (unchecked, "orderUnchecked", "MODERATE"),
        (unargued, "answersNotArgued", "MODERATE"),
    )
    return end(
        s,
        (status, reason, detail),
        Conclusion(
            synthesis.confidence_level if isinstance(synthesis, Synthesis) else "LOW",
            final,
            result,
            words,
            compare(s, takes, reading, sensitive=sensitive, injected=injected),
        ),
        roles=table(s.started.options).roles,
        flags={
            "noConsensus": measured and not result.consensus_reached,
            "decidedBlind": blind,
            "agreedOnlyAfterExchange": late,
            "blindNotCompared": unknown,
            "riskAccepted": risk,
            "synthesisOpposesClaims": opposes,
            "debaterMissing": bool(result.missing),
            "answersNotArgued": unargued,
            "orderSensitive": sensitive,
            "orderUnchecked": unchecked,
            **masked_flags(s, final, sensitive=injected, blurred=is_masked_blurred(s)),
            "adjudicatorSilent": any(seat_of(turn) == "adjudicator" for turn in s.facts.silent),
        },
        caps=caps,
    )


def misfit(started: DebateStarted) -> str | None:
    """Why a debate may not start like this: too few or too many debaters or rounds, seats that share a model."""
    options = started.options
    if not isinstance(options, PanelOptions):
        return f"expected the options of {FORMAT}, found those of another format"
    if not 2 <= options.debaters <= DEBATERS_MAX:
        return f"a panel has 2 to {DEBATERS_MAX} debaters, found {options.debaters}"
    if not 1 <= options.max_rounds <= ROUNDS_MAX:
        return f"a panel has 1 to {ROUNDS_MAX} rounds, the blind one among them, found maxRounds {options.max_rounds}"
    if missing := sorted(set(table(options).seats) - {plan.seat for plan in started.seats}):
        return f"no plan for the seats {missing}"
    if unset := sorted(set(TRIGGERS) - set(options.thresholds)):
        return f"no threshold for questions of the types {unset}"
    return _unseparated(started, options)


def kept(_: Script, __: Turn, reply: Reply) -> Kept:
    """The whole reply: its request asks for every part that it may have."""
    return Kept(reply)


def shown(s: Script, turn: Turn) -> Mapping[TurnId, str]:
    """The label of each answer that a turn sees: its debater's letter, the same in the whole debate."""
    label = labels_of(s)
    return {seen: label[seat_of(seen)] for seen in turn.sees if seat_of(seen) in label}


def table(options: Options) -> Roster:
    """The seats, and the turns of a debate of the usual course."""
    if not isinstance(options, PanelOptions):
        raise TypeError(f"expected the options of {FORMAT}")
    debaters = debater_seats(options)
    seats: dict[str, Turn] = {}
    if options.typed_by == "classifier":
        seats["classifier"] = Turn(CLASSIFIER, "classifier", kind="panel.classifier")
    seats |= {d: Turn(turn_id(1, d), d, kind="panel.blind") for d in debaters}
    if options.adjudicator == "model":
        seats["adjudicator"] = Turn(turn_id(1, "adjudicator"), "adjudicator", kind="panel.adjudicator")
    seats["synthesizer"] = Turn(turn_id(1, "synthesizer"), "synthesizer", kind="panel.synthesizer")
    seats = {s: replace(turn, fragments=_instructed(options, options.question_type, s)) for s, turn in seats.items()}
    apart = (
        *(("synthesizer", d) for d in debaters),
        *(("adjudicator", other) for other in (*debaters, "synthesizer") if "adjudicator" in seats),
        *((other, one) for i, one in enumerate(debaters) for other in debaters[i + 1 :]),
    )
    # Where there is a devil's advocate, each debater also answers the objections that stand after the last round.
    asked = options.max_rounds + (options.max_rounds >= DEVIL_FROM)
    usual = {seat: asked if seat in debaters else 1 for seat in seats}
    if "adjudicator" in seats:
        # Each round, the last one in both orders if it is asked twice, and the scores.
        usual["adjudicator"] = options.max_rounds + options.swapped + 1
    said = tuple(turn_id(1, d) for d in debaters)
    # At the end the adjudicator scores the debaters; it sees the synthesis too.
    sees = {"adjudicator": (*said, turn_id(1, "synthesizer")), "synthesizer": said}
    last = [replace(seats[seat], sees=seen) for seat, seen in sees.items() if seat in seats]
    beginning = (
        *(turn for seat, turn in seats.items() if seat in debaters or seat == "classifier"),
        *last,
        reworded(last[-1]),
        *((masked(last[-1]),) if options.masked else ()),
    )
    closing = tuple(turn.seat for turn in last)
    roles = debating(debaters, tuple(seat for seat in ("synthesizer", "adjudicator") if seat in seats))
    roster = Roster(seats=seats, apart=apart, usual=usual, beginning=beginning, closing=closing, roles=roles)
    return with_screener(options, roster)


def accuracy_check(s: Script, r: int) -> Check:
    """The check that scores all debaters' replies up to round ``r``."""
    return Check(f"{r}/accuracy", "accuracy", tuple(t for q in range(1, r + 1) for t in answers(s, q)))


async def _answer_objections(s: Script, r: int) -> None:
    """Ask for answers to the strong objections that stand after the last round, and measure consensus again."""
    if turns := answering(s, r, {seat: _fragments(s, seat) for seat in debaters_of(s)}):
        await s.gather(ObjectionAnswers, *turns, quorum=0, holding=_closing(s, r, *turns))
        await s.find(TextsFound, *(texts(turn) for turn in turns if s.said(turn.id)))
        await s.find(ConsensusFound, answered_check(s, r))


async def _adjudicated(s: Script, r: int) -> bool:
    """Whether a round ends the deliberation, by code's measures, or by a model's scores if one adjudicates.

    A model that would end it is asked again in the reverse order, if the options say so.
    """
    options = options_of(s)
    if options.adjudicator == "model":
        await _adjudicate(s, _adjudicator(s, r), r)
        once = standing(s, r, alone=True)
        if options.swapped and once and once.terminated and once.by == "model":
            await _adjudicate(s, swapped(_adjudicator(s, r)), r)
    now = standing(s, r)
    return now is not None and now.terminated


async def _adjudicate(s: Script, turn: Turn, r: int) -> None:
    if await s.gather(Adjudication, turn, quorum=0, holding=_closing(s, r)):
        await s.find(TextsFound, texts(turn))


def _words(s: Script, final: TurnId | None) -> tuple[TurnId, ...]:
    """The turns whose words carry the outcome: the synthesis, and the adjudication of the last round in both orders."""
    last = max((r for r in range(1, options_of(s).max_rounds + 1) if answers(s, r)), default=0)
    adjudications = (turn_id(last, "adjudicator", phase) for phase in ("", "swapped"))
    return tuple(turn for turn in (*((final,) if final else ()), *adjudications) if s.said(turn))


def _answered(s: Script) -> tuple[TurnId, ...]:
    """All answers of the debaters, round by round."""
    return tuple(turn for r in range(1, options_of(s).max_rounds + 1) for turn in answers(s, r))


async def _close(s: Script, r: int) -> None:
    """Close after the money has ended: the synthesis and the scores, as far as their reservations reach."""
    spoke = [turn for q in range(1, r + 1) for turn in answers(s, q)]
    if len({seat_of(turn) for turn in spoke}) < 2:
        return
    await examine(s, *(turn for q in range(1, r + 1) for turn in _debaters(s, q)))
    last = r if answers(s, r) else r - 1
    synthesizer = _synthesizer(s, last)
    funded = await s.close(Synthesis, synthesizer) is None or await settle(s, Synthesis, synthesizer)
    await _compare_synthesis(s, last)
    await _ask_masked(s, last)
    if funded and synthesizer.id not in s.facts.refused:
        await _assess(s, last)


async def _compare_synthesis(s: Script, r: int) -> None:
    """Find whether the synthesis that stands excludes what the debaters accept up to round ``r``."""
    final = s.facts.standing(turn_id(r, "synthesizer"))
    if s.said(final):
        said = tuple(t for q in range(1, r + 1) for t in answers(s, q))
        await s.find(SynthesisFound, Check(f"{r}/synthesis", "synthesis", (*said, final)))


async def _ask_masked(s: Script, r: int) -> None:
    """Ask for the synthesis once more with the flagged passages masked, and find whether the two exclude each other."""
    if synthesis_of(s) and await ask_masked(s, Synthesis, _synthesizer(s, r), lambda: _reviewer(s, r)):
        check = masked_check(s, r)
        await s.find(SynthesisFound, *((check,) if check else ()))


async def _assess(s: Script, r: int) -> None:
    """Every debater's scores: a model's if one adjudicates and answers, otherwise code's."""
    for turn in _reviewer(s, r):
        if await s.close(AccuracyReview, turn):
            return
    await s.find(AccuracyFound, accuracy_check(s, r))


def _debaters(s: Script, r: int) -> tuple[Turn, ...]:
    """A round's turns of the debaters that are not silent."""
    label, turns = labels_of(s), []
    here = [seat for seat in debaters_of(s) if not any(turn_id(q, seat) in s.facts.silent for q in range(1, r))]
    for seat in here:
        others = sorted((d for d in debaters_of(s) if d != seat), key=label.__getitem__)
        sees = tuple(t for d in (seat, *others) if (t := latest(s, d, before=r))) if r > 1 else ()
        fragments = _fragments(s, seat) + (("panel.devil",) if r >= DEVIL_FROM else ())
        turns.append(
            Turn(turn_id(r, seat), seat, sees, fragments, kind="panel.blind" if r == 1 else "panel.deliberation")
        )
    return tuple(turns)


def _closing(s: Script, r: int, *due: Turn) -> Callable[[], tuple[Turn, ...]]:
    """The turns that would end the debate if money ended after these."""

    def closing() -> tuple[Turn, ...]:
        synthesizer = _synthesizer(s, r, *due)
        return (*in_two_takes(synthesizer), *masked_turns(s, synthesizer), *_reviewer(s, r, *due))

    return closing


def _adjudicator(s: Script, r: int) -> Turn:
    turn = turn_id(r, "adjudicator")
    sees = _transcript(s, r, turn)
    return Turn(turn, "adjudicator", sees, _fragments(s, "adjudicator"), kind="panel.adjudicator")


def _synthesizer(s: Script, r: int, *due: Turn) -> Turn:
    turn = turn_id(r, "synthesizer")
    sees = _transcript(s, r, turn, *due)
    return Turn(turn, "synthesizer", sees, _fragments(s, "synthesizer"), kind="panel.synthesizer")


def _reviewer(s: Script, r: int, *due: Turn) -> tuple[Turn, ...]:
    """The adjudicator's turn that scores every debater; none if code adjudicates."""
    if options_of(s).adjudicator != "model":
        return ()
    turn = turn_id(r, "adjudicator", "accuracy")
    sees = _transcript(s, r, turn, *due)
    if s.said(synthesis := turn_id(r, "synthesizer")) or not s.facts.answered(synthesis):
        sees += (s.facts.standing(synthesis),)
    return (Turn(turn, "adjudicator", sees, _fragments(s, "adjudicator"), kind="panel.accuracy"),)


def _transcript(s: Script, r: int, drawn: TurnId, *due: Turn) -> tuple[TurnId, ...]:
    """All answers up to round ``r``, each round in an order from the seed, and then the answers to objections."""
    sees: list[TurnId] = []
    to_objections = {*answered(s, r), *(turn.id for turn in due if turn.asks == "panel.answer")}
    for q in range(1, r + 1):
        heard = {*answers(s, q), *(turn.id for turn in due if turn.round == q)} - to_objections
        sees += s.order(heard, drawn)
    return (*sees, *s.order(to_objections, drawn))


def _fragments(s: Script, seat: str) -> tuple[str, ...]:
    return _instructed(options_of(s), question_type(s), seat)


def _instructed(options: PanelOptions, kind: QuestionType, seat: str) -> tuple[str, ...]:
    """The ids of a seat's fragments: the framing and trigger of the question's type, and others that the seat needs."""
    if seat == "classifier":
        return ()
    instructed = ("instructions",) if instructions_of(options, seat) else ()
    ideas = ("panel.ideas",) if (seat, kind) == ("synthesizer", "brainstorm") else ()
    return (f"panel.{kind}", *instructed, *ideas)


def _consensus(s: Script, r: int) -> Check:
    return Check(f"{r}/consensus", "consensus", tuple(t for q in range(1, r + 1) for t in answers(s, q)))


def _unseparated(started: DebateStarted, options: PanelOptions) -> str | None:
    """Why models or families are not as distinct as the reference requires."""
    debaters = debater_seats(options)
    for one in ("synthesizer", *(("adjudicator",) if options.adjudicator == "model" else ())):
        others = debaters if one == "synthesizer" else (*debaters, "synthesizer")
        if same := sorted(other for other in others if _share(started.seat(one), started.seat(other))):
            return f"the {one}'s model, or its fallback, also sits in {same}; give the {one} a model of its own"
    families = {started.seat(d).family for d in debaters}
    if options.mode == "auto" and len(families) == 1:
        return "all debaters of an automatic panel are of one family; offer models of another, or choose by hand"
    return None


def _share(one: SeatPlan, other: SeatPlan) -> bool:
    """Whether two seats have a model in common, fallbacks included."""
    pairs = ((identity(a), identity(b)) for a in one.with_fallback for b in other.with_fallback)
    return any(nearness(a, b) == "sameModel" for a, b in pairs)
