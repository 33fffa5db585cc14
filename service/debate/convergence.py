"""Format convergence/1: independent answers, then rounds until all answers are the same, then a judge or a vote.

    round 0:              every debater answers alone, all in parallel
    rounds 1 to the last: every debater sees the whole transcript and defends or updates its answer, all in parallel
    after each round:     citations, then (if switched on) whether all answers have converged
    stop:                 the answers have converged; the rounds are used up
    then:                 the judge on the whole transcript, or without one a majority vote on the last round's answers
    money ended:          the judge closes on the transcript so far; without one the vote of the last whole round stands
    voices:               code finds which debaters argued; one that only agreed, and a person decides
    quotations:           code compares what every text quotes; a judge that quotes what stands nowhere is asked once
                          more, and its second take stands
    judge masked:         if policy asks for it and the case has a flagged passage, once more with the passages masked;
                          another answer, and there is none (`masked_decider`)

A silent debater is missing from then on, and two must remain. A missing voice allows at most MODERATE. So do debaters
of one family, because their agreement may be a prior that they share. The confidence of a vote by code:

    HIGH       every debater gave the answer, most blind drafts had it, and models of several families gave it
    MODERATE   most debaters gave the answer, and most blind drafts had it or models of several families gave it
    LOW        anything else, a tie among it

"Most" is more than half of all seats, missing ones among them: agreement after an exchange is weaker evidence than that
of blind drafts, and models of one family share their errors (notes on debate, part 4).
This file is frozen once released: a change is a new file and a new version, so that recorded debates still replay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, NamedTuple

from service.debate.alike import families
from service.debate.answer_keys import folded, votes
from service.debate.convergence_grounds import argues, is_grounded, similarity
from service.debate.decision_members import Reading
from service.debate.ending import Conclusion, end
from service.debate.entries import DebateStarted
from service.debate.findings import ConvergenceFound
from service.debate.masked_decider import ask_masked, masked, masked_flags, masked_turns
from service.debate.model import (
    DEBATERS_MAX,
    Check,
    ConvergenceOptions,
    Options,
    Outcome,
    Status,
    StopReason,
    Turn,
    TurnId,
    seat_of,
    swapped,
)
from service.debate.options import debater_seats, instructions_of, personas_of, prompt_of, unclear_names
from service.debate.quoted import examine, in_two_takes, settle
from service.debate.replies import ConfidenceLevel, Position, Reply, Ruling
from service.debate.replies.pruning import Kept
from service.debate.results import AnswerVotes, ConvergenceResult
from service.debate.roster import Roster, debating
from service.debate.screening import screen, with_screener
from service.debate.script import MoneyEnded, Script
from service.debate.takes import compare
from service.debate.turns import MASKED, round_of, turn_id
from service.debate.voices import hear, mute

FORMAT = "convergence/1"
QUORUM = 2
"""The least number of debaters that makes a debate."""
WHOLE = 1_000
ROUNDS_MAX = 20
"""The most rounds after the independent one that the kernel plays; policy allows fewer."""


async def play(s: Script) -> Outcome:
    """The whole debate, read from the top."""
    options, r, converged = _options(s.started.options), 0, False
    try:
        await screen(s, table)
        for r in range(options.max_rounds + 1):
            debaters = _debaters(s, r)
            await s.gather(Position, *debaters, quorum=QUORUM, holding=_closing(s, debaters))
            await examine(s, *debaters)
            if converged := options.convergence_check and await _converged(s, r):
                break
        await hear(s, *_heard(s))
        if options.judge:
            await s.ask(Ruling, _judge(s, r))  # no money is reserved for its check: a ruling is worth more
            await settle(s, Ruling, _judge(s, r))
            await _ask_again(s, r)
        reason: StopReason = "consensus" if converged else "roundCeiling"
        return ended(s, "completed", reason, f"ended after round {r} of at most {options.max_rounds}")
    except MoneyEnded:
        if heard := _heard(s):
            await examine(s, *(turn for q in range(r + 1) for turn in _debaters(s, q)))
            await _close(s, _last(heard))
        return ended(s, "truncated", "budget", f"the money ended in round {r}")


def ended(s: Script, status: Status, reason: StopReason, detail: str) -> Outcome:
    """The outcome of a debate that ends here, with the state that it reached."""
    options, decision = _options(s.started.options), _decision(s, status)
    result = _result(s, decision)
    unchecked = options.swapped and decision.by == "judge" and result.swapped_answer is None
    alone = len({seat_of(turn) for turn in _heard(s)}) == 1
    held = {seat for group in result.votes for seat in group.seats}
    first = [group for group in result.blind_answers if not held.isdisjoint(group.seats)]
    late = len(result.votes) == 1 and _keys(first) != _keys(result.votes)
    flags = masked_flags(s, _ruled(s), sensitive=decision.injected)
    caps: tuple[tuple[bool, str, ConfidenceLevel], ...] = (
        (bool(result.missing), "debaterMissing", "MODERATE"),
        (unchecked, "orderUnchecked", "MODERATE"),
        (alone, "unchallenged", "LOW"),
        (_agreed_blindly(s, result), "decidedBlind", "MODERATE"),
        (late, "agreedOnlyAfterExchange", "MODERATE"),
        (len(result.votes) > 1, "debatersDivided", "MODERATE"),
        (
            decision.by == "judge" and bool(result.votes) and not _argued(s, decision.answer),
            "rulingUnargued",
            "MODERATE",
        ),
        (mute(s, _heard(s)), "answersNotArgued", "MODERATE"),
    )
    rulings = tuple(turn for phase in ("", "swapped", MASKED) if (turn := _ruled(s, phase)))
    takes = compare(s, rulings, Reading(key=folded), sensitive=decision.sensitive, injected=decision.injected)
    return end(
        s,
        (status, reason, detail),
        Conclusion(decision.level, _ruled(s), result, _carrying(s, decision), takes),
        roles=table(options).roles,
        flags={
            **{why: holds for holds, why, _ in caps},
            "orderSensitive": decision.sensitive,
            **flags,
            "tied": bool(decision.tied) and decision.by == "nobody",
            "tieBroken": bool(decision.tied) and decision.by == "majority",
        },
        caps=caps,
    )


def misfit(started: DebateStarted) -> str | None:
    """Why a debate may not start like this: a voice or a round too few, a bad similarity, a missing seat."""
    options = started.options
    if not isinstance(options, ConvergenceOptions):
        return f"expected the options of {FORMAT}, found those of another format"
    if not QUORUM <= (count := len(debater_seats(options))) <= DEBATERS_MAX:
        return f"a debate has {QUORUM} to {DEBATERS_MAX} debaters, found {count}"
    if unclear := unclear_names(options):
        return f"debaters have distinct names, found {unclear}"
    if not 1 <= options.max_rounds <= ROUNDS_MAX:
        return f"a debate has 1 to {ROUNDS_MAX} rounds after the independent one, found maxRounds {options.max_rounds}"
    if not 0 <= options.convergence_similarity <= WHOLE:
        return f"a similarity is 0 to 1, found {options.convergence_similarity / WHOLE:g}"
    if missing := sorted(set(table(options).seats) - {plan.seat for plan in started.seats}):
        return f"no plan for the seats {missing}"
    return None


def problem(_: Script, __: Turn, reply: Reply) -> str | None:
    """Why a reply of the right shape is unusable at this place: an answer with an empty key is no vote."""
    if isinstance(reply, Position | Ruling) and not folded(reply.final_answer):
        return "finalAnswer must hold an answer in letters or digits; it holds neither"
    return None


def kept(_: Script, __: Turn, reply: Reply) -> Kept:
    """The whole reply: its request asks for every part that it may have."""
    return Kept(reply)


def shown(s: Script, turn: Turn) -> dict[TurnId, str]:
    """The label of each reply that a turn sees: a letter for each debater, the same in the whole debate."""
    letters = labels(s)
    return {seen: letters[seat_of(seen)] for seen in turn.sees if seat_of(seen) in letters}


def labels(s: Script) -> dict[str, str]:
    """The neutral labels of the debaters, by seat and in their order: drawn from the seed, so they reveal no seat."""
    return {seat: f"Debater {chr(ord('A') + i)}" for i, seat in enumerate(_lettered(s))}


def _lettered(s: Script) -> list[str]:
    """The debaters' seats in the order of their letters."""
    return s.order(debater_seats(s.started.options), "labels")


def table(options: Options) -> Roster:
    """The seats, and the turns of a debate of the usual course."""
    options, debaters = _options(options), debater_seats(options)
    alone = {d: _turn(options, turn_id(0, d), (), "convergence.independent") for d in debaters}
    judge = _turn(options, turn_id(0, "judge"), tuple(turn.id for turn in alone.values()))
    judges = (*_with_second_takes(options, judge), *((masked(judge),) if options.masked else ()))
    seats = alone | ({"judge": _turn(options, turn_id(0, "judge"), ())} if options.judge else {})
    apart = (
        *(("judge", d) for d in debaters if options.judge),
        *((other, one) for i, one in enumerate(debaters) for other in debaters[i + 1 :]),
    )
    roster = Roster(
        seats=seats,
        apart=apart,
        usual={seat: options.max_rounds + 1 if seat in debaters else 1 + options.swapped for seat in seats},
        beginning=(*alone.values(), *(judges if options.judge else ())),
        closing=("judge",) if options.judge else (),
        roles=debating(debaters, ("judge",) if options.judge else ()),
    )
    return with_screener(options, roster)


def _options(options: Options) -> ConvergenceOptions:
    if not isinstance(options, ConvergenceOptions):
        raise TypeError(f"expected the options of {FORMAT}")
    return options


def _turn(options: ConvergenceOptions, turn: TurnId, sees: tuple[TurnId, ...], *fragments: str) -> Turn:
    seat = seat_of(turn)
    persona = ("persona",) if seat in personas_of(options) else ()
    instructed = ("instructions",) if instructions_of(options, seat) else ()
    kind = "convergence.judge" if seat == "judge" else "convergence.debater"
    return Turn(turn, seat, sees, (*fragments, *persona, *instructed), kind, prompt_of(options, seat))


def _debaters(s: Script, r: int) -> tuple[Turn, ...]:
    """All debaters of a round that were not silent before it; each sees all replies of the earlier rounds."""
    options = _options(s.started.options)
    gone = {seat_of(turn) for turn in s.facts.silent if round_of(turn) < r}
    sees = tuple(turn for q in range(r) for turn in _spoken(s, q))
    phase = "convergence.debate" if r else "convergence.independent"
    return tuple(_turn(options, turn_id(r, d), sees, phase) for d in debater_seats(options) if d not in gone)


def _rounds(s: Script) -> range:
    return range(_options(s.started.options).max_rounds + 1)


def _spoken(s: Script, r: int, due: Collection[TurnId] = ()) -> tuple[TurnId, ...]:
    """The debaters' turns of a round that spoke, in the order of their letters, and ``due`` as if they had."""
    return tuple(turn for seat in _lettered(s) if s.said(turn := turn_id(r, seat)) or turn in due)


def _heard(s: Script) -> tuple[TurnId, ...]:
    """All replies of the debaters, round by round."""
    return tuple(turn for r in _rounds(s) for turn in _spoken(s, r))


def _last(turns: Sequence[TurnId]) -> int:
    return max((round_of(turn) for turn in turns), default=0)


async def _converged(s: Script, r: int) -> bool:
    await s.find(ConvergenceFound, Check(f"{r}/convergence", "convergence", _spoken(s, r)))
    return _found_converged(s, r)


def _finding(s: Script, r: int) -> ConvergenceFound | None:
    found = s.facts.found.get(f"{r}/convergence")
    return found if isinstance(found, ConvergenceFound) else None


def _found_converged(s: Script, r: int) -> bool:
    found = _finding(s, r)
    return found is not None and found.converged


def _agreed_blindly(s: Script, result: ConvergenceResult) -> bool:
    """Whether round 0 gave the answer, which no debater challenged then: all drafts had it, and all debaters kept it.

    Such drafts are independent evidence only where code found that their words differ, and each has a verified ground.
    """
    found = _finding(s, 0)
    if found and found.converged:
        return True
    if found and "noWords" not in found.why_not and all(is_grounded(s, turn) for turn in _spoken(s, 0)):
        return False
    whole = all(len(group.seats) == len(debater_seats(s.started.options)) for group in result.blind_answers)
    return whole and len(result.votes) == 1 and _keys(result.votes) == _keys(result.blind_answers)


def _keys(groups: Sequence[AnswerVotes]) -> set[str]:
    return {folded(group.answer) for group in groups}


def _argued(s: Script, answer: str | None) -> bool:
    """Whether a debater gave this answer at the end, and an argument for it stands in any round."""
    if answer is None or (r := _last_whole(s)) is None:
        return False
    held = {seat for group in _votes(s, r) if folded(group.answer) == folded(answer) for seat in group.seats}
    return any(
        isinstance(reply := s.facts.said[turn], Position)
        and folded(reply.final_answer) == folded(answer)
        and argues(s, turn, reply)
        for turn in _heard(s)
        if seat_of(turn) in held
    )


class _Decision(NamedTuple):
    """The answer with its decider and its confidence, and the answers of a tied vote."""

    by: Literal["judge", "majority", "nobody"]
    answer: str | None
    level: ConfidenceLevel
    sensitive: bool = False
    tied: tuple[str, ...] = ()
    injected: bool = False


def _decision(s: Script, status: Status) -> _Decision:
    """The judge's decision, or that of a vote; an aborted or failed debate has no vote."""
    first, second, hidden = (_ruling(s, phase) for phase in ("", "swapped", MASKED))
    turned = bool(first and second and folded(first.final_answer) != folded(second.final_answer))
    injected = bool(first and hidden and folded(first.final_answer) != folded(hidden.final_answer))
    if first and (turned or injected):
        return _Decision("nobody", None, first.confidence_level, sensitive=turned, injected=injected)
    if first:
        return _Decision("judge", first.final_answer, first.confidence_level)
    if _options(s.started.options).judge or status not in ("completed", "truncated"):
        return _Decision("nobody", None, "LOW")
    return _voted(s, _votes(s, _last_whole(s)))


def _result(s: Script, decision: _Decision) -> ConvergenceResult:
    """The result of the debate; the votes show the debaters' answers, also where a judge decided."""
    second, hidden = _ruling(s, "swapped"), _ruling(s, MASKED)
    gone = {seat_of(turn) for turn in s.facts.silent}
    return ConvergenceResult(
        rounds=_last(_heard(s)),
        converged_in=next((r for r in _rounds(s) if _found_converged(s, r)), None),
        decided_by=decision.by,
        final_answer=decision.answer,
        swapped_answer=second.final_answer if second else None,
        masked_answer=hidden.final_answer if hidden else None,
        votes=_votes(s, _last_whole(s)),
        tied=decision.tied,
        similarities=tuple(similarity(found) for r in _rounds(s) if (found := _finding(s, r))),
        blind_answers=_votes(s, 0),
        missing=tuple(seat for seat in debater_seats(s.started.options) if seat in gone),
    )


def _carrying(s: Script, decision: _Decision) -> tuple[TurnId, ...]:
    """The turns whose words carry the outcome: the judge's in both orders, or the answers that won the vote."""
    ruled = tuple(turn for phase in ("", "swapped") if (turn := _ruled(s, phase)))
    if ruled or decision.by != "majority" or (r := _last_whole(s)) is None:
        return ruled
    won = next((group.seats for group in _votes(s, r) if group.answer == decision.answer), ())
    return tuple(turn_id(r, seat) for seat in won)


# The judge.


def _judge(s: Script, r: int, due: Sequence[Turn] = ()) -> Turn:
    """The judge's turn on all replies so far, and on ``due`` as if those turns had spoken.

    Each round is shown in an order of its own, drawn from the seed.
    """
    asked = {turn.id for turn in due}
    sees = tuple(t for q in range(r + 1) for t in s.order(_spoken(s, q, asked), f"{q}.judge"))
    return _turn(_options(s.started.options), turn_id(r, "judge"), sees)


def _judges(s: Script, r: int, due: Sequence[Turn] = ()) -> tuple[Turn, ...]:
    judge = _judge(s, r, due)
    return (*_with_second_takes(_options(s.started.options), judge), *masked_turns(s, judge))


def _with_second_takes(options: ConvergenceOptions, judge: Turn) -> tuple[Turn, ...]:
    judges = (judge, swapped(judge)) if options.swapped else (judge,)
    return in_two_takes(*judges)


def _closing(s: Script, due: Sequence[Turn]) -> Callable[[], tuple[Turn, ...]]:
    """The judge's turns that would end the debate if money ended after these."""
    judged = _options(s.started.options).judge
    return lambda: _judges(s, due[0].round, due) if judged and due else ()


async def _close(s: Script, r: int) -> None:
    """Ask the judge to close on the replies from before the money ended."""
    if (
        _options(s.started.options).judge
        and await s.close(Ruling, _judge(s, r))
        and await settle(s, Ruling, _judge(s, r))
    ):
        await _ask_again(s, r)


async def _ask_again(s: Script, r: int) -> None:
    """Ask the judge again in the reverse order, and with the passages masked, if the options say so."""
    judge = _judge(s, r)
    if _options(s.started.options).swapped:
        again = swapped(judge)
        if await s.close(Ruling, again, holding=lambda: masked_turns(s, judge)):
            await settle(s, Ruling, again)
    await ask_masked(s, Ruling, judge)


def _ruled(s: Script, phase: str = "") -> TurnId | None:
    """The standing take in which the judge has ruled, in whichever round the debate ended."""
    return next((s.facts.standing(turn) for r in _rounds(s) if s.said(turn := turn_id(r, "judge", phase))), None)


def _ruling(s: Script, phase: str = "") -> Ruling | None:
    ruling = s.reply(_ruled(s, phase))
    return ruling if isinstance(ruling, Ruling) else None


# The vote.


def _votes(s: Script, r: int | None) -> tuple[AnswerVotes, ...]:
    """The answers of a round with their seats; a seat that was silent there has no vote."""
    seats = debater_seats(s.started.options)
    said = {} if r is None else {seat: s.facts.said.get(turn_id(r, seat)) for seat in seats}
    return votes({d: reply.final_answer for d, reply in said.items() if isinstance(reply, Position)}, seats)


def _last_whole(s: Script) -> int | None:
    """The last round in which every asked debater has answered or is silent, and enough have answered."""
    whole = [r for r in _rounds(s) if len(_spoken(s, r)) >= QUORUM and _answered(s, r)]
    return max(whole, default=None)


def _answered(s: Script, r: int) -> bool:
    return all(t.id in s.facts.said or t.id in s.facts.silent for t in _debaters(s, r))


def _tied(standing: Sequence[AnswerVotes]) -> tuple[str, ...]:
    """The answers that share the lead; empty if one leads alone."""
    leading = [group.answer for group in standing if len(group.seats) == len(standing[0].seats)]
    return tuple(leading) if len(leading) > 1 else ()


def _voted(s: Script, standing: Sequence[AnswerVotes]) -> _Decision:
    """The answer of the most seats, and the confidence that the table at the top gives it."""
    options, tied, seats = _options(s.started.options), _tied(standing), len(debater_seats(s.started.options))
    if not standing or (tied and options.ties == "noAnswer"):
        return _Decision("nobody", None, "LOW", tied=tied)
    first = standing[0]
    blind = max((len(g.seats) for g in _votes(s, 0) if folded(g.answer) == folded(first.answer)), default=0)
    drafted, several = 2 * blind > seats, len(families(s, first.seats)) > 1
    level: ConfidenceLevel = "LOW"
    if len(first.seats) == seats and drafted and several:
        level = "HIGH"
    elif 2 * len(first.seats) > seats and (drafted or several):
        level = "MODERATE"
    return _Decision("majority", first.answer, level, tied=tied)
