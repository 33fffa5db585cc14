"""Format stances/1: debaters argue assigned stances, one judge reads the whole transcript at the end.

    screener:         only where policy seats one; the debate goes on without its reply
    each round (2):   every debater in declared order; each sees all earlier arguments, under stances alone
    judge:            once, after the last round; each round in seeded order, so that no place in it is favoured
    judge again:      if policy asks for it, with each round in reverse order; a different answer: the order decided
    judge masked:     if policy asks for it and the case has a flagged passage, once more with the passages masked; a
                      different answer: nothing is decided (`masked_decider`)
    synthesizer:      projects the transcript and the verdict to the caller's own shape, or is switched off
    money ended:      judge and synthesizer close on the arguments so far
    voices:           code finds which debaters argued: a winner that no seat argued, or a stance whose debaters only
                      agreed or repeated another side, is at most MODERATE, for a person
    quotations:       code compares what every text quotes; a judge or synthesizer that quotes what stands nowhere is
                      asked once more, and its second take stands

Debaters and judge never decide whether to go on: every round is played (unlike a moderator that is asked each round).
This file is frozen once released: a change is a new file and a new version, so that recorded debates still replay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from msgspec.structs import replace

from service.debate.decision_members import Reading, listed_strings
from service.debate.emptiness import says_nothing
from service.debate.ending import Conclusion, end
from service.debate.entries import DebateStarted
from service.debate.labels import fold
from service.debate.masked_decider import ask_masked, masked, masked_flags, masked_reply, masked_turns, suspicions
from service.debate.masks import Masks, masked_debaters
from service.debate.model import (
    DEBATERS_MAX,
    Debater,
    Options,
    Outcome,
    StancesOptions,
    Status,
    StopReason,
    Turn,
    TurnId,
    seat_of,
    swapped,
)
from service.debate.options import debater_seats, instructions_of, output_schema_of, personas_of, unclear_names
from service.debate.projection import unreadable
from service.debate.projection import value as output_of
from service.debate.quoted import examine, in_two_takes, settle
from service.debate.replies import Argument, ConfidenceLevel, Judgement, Projection, Reply
from service.debate.replies.pruning import Kept
from service.debate.results import StancesResult, Verdict
from service.debate.roster import Roster, debating
from service.debate.screening import screen, with_screener
from service.debate.script import MoneyEnded, Script
from service.debate.takes import compare
from service.debate.turns import round_of, turn_id
from service.debate.voices import argued, hear

FORMAT = "stances/1"
_BESIDE = frozenset(["", *"the stance position side debater winner of by argued".split()])
"""The words that may stand beside a stance where a winner names it."""
ROUNDS_MAX = 20
"""The most rounds that the kernel plays. Policy allows fewer; sensible numbers are up to `MANY_ROUNDS`."""
MANY_ROUNDS = 4
"""A debate with more rounds is flagged: that is unusual, and sycophancy grows with length."""


async def play(s: Script) -> Outcome:
    """The whole debate, read from the top."""
    options, r = _options(s.started.options), 0
    try:
        await screen(s, table)
        for r in range(1, options.max_rounds + 1):
            for turn in _debaters(s, r):
                await s.ask(Argument, turn, holding=_closing(s, r, turn.id))
                await examine(s, turn)
        await s.ask(Judgement, _judge(s, r))  # no money is reserved for the later turns: a verdict is worth more
        await _follow(s, r)
        if _projects(s):
            await s.ask(Projection, _synthesizer(s, r))  # answered by now; raises if it is silent or was not funded
        return ended(s, "completed", "roundCeiling", f"judged after all {r} rounds")
    except MoneyEnded:
        if _argued(s):
            await s.close(Judgement, _judge(s, r))
            await _follow(s, r)
        return ended(s, "truncated", "budget", f"the money ended in round {r} of {options.max_rounds}")


def ended(s: Script, status: Status, reason: StopReason, detail: str) -> Outcome:
    """The outcome of a debate that ends here, with the state that it reached."""
    options = _options(s.started.options)
    first, second = _judgements(s)
    undecided, injected = _order_decided(s), _passages_decided(s)
    result, silent = _result(s), bool(_mute(s))
    winner_alone = _winner_alone(s, result)
    level: ConfidenceLevel = first.confidence_level if first else "LOW"
    unchecked = options.swapped and first is not None and second is None
    # Without a winner in either order, nothing is left that code could compare.
    blurred = first is not None and second is not None and first.winner is second.winner is None
    words = (_spoken(s, "judge"), _spoken(s, "judge", "swapped"), _spoken(s, "synthesizer"))
    takes, again = tuple(turn for turn in words if turn), _without_passages(s)
    reading = Reading(key=partial(_key, options), listed=listed_strings(output_schema_of(options)))
    alone = len(_sides(s, _argued(s))) == 1
    compared = compare(s, (*takes, *filter(None, (again,))), reading, sensitive=undecided, injected=injected)
    hidden = s.reply(again)
    open_ended = isinstance(hidden, Judgement) and first is not None and first.winner is hidden.winner is None
    return end(
        s,
        (status, reason, detail),
        Conclusion(level, _spoken(s, "judge"), result, takes, compared),
        roles=table(options).roles,
        flags={
            "manyRounds": options.max_rounds > MANY_ROUNDS,
            "unchallenged": alone,
            "winnerNotArgued": winner_alone,
            "opponentSilent": silent,
            "orderSensitive": undecided,
            "orderUnchecked": unchecked,
            "orderNotCompared": blurred,
            **masked_flags(s, _spoken(s, "judge"), sensitive=injected, blurred=open_ended),
        },
        caps=(
            (alone, "unchallenged", "LOW"),
            (winner_alone, "winnerNotArgued", "MODERATE"),
            (silent, "opponentSilent", "MODERATE"),
            (unchecked, "orderUnchecked", "MODERATE"),
            (blurred, "orderNotCompared", "MODERATE"),
        ),
    )


def misfit(started: DebateStarted) -> str | None:
    """Why a debate may not start like this: debaters with the same name, a missing seat or stance."""
    options = started.options
    if not isinstance(options, StancesOptions):
        return f"expected the options of {FORMAT}, found those of another format"
    if not 1 <= options.max_rounds <= ROUNDS_MAX:
        return f"a debate has 1 to {ROUNDS_MAX} rounds, found maxRounds {options.max_rounds}"
    if not 2 <= len(options.debaters) <= DEBATERS_MAX:
        return f"a debate has 2 to {DEBATERS_MAX} debaters, found {len(options.debaters)}"
    if unclear := unclear_names(options):
        return f"debaters have distinct names, found {unclear}"
    if without := [debater.name for debater in options.debaters if not fold(debater.stance)]:
        return f"every debater has a stance in words to argue, found none for {without}"
    if options.output_schema is not None and not options.synthesizer:
        return "an output schema needs a synthesizer to apply it to; found outputSchema with synthesizer false"
    if missing := sorted(set(table(options).seats) - {plan.seat for plan in started.seats}):
        return f"no plan for the seats {missing}"
    return None


def problem(_: Script, __: Turn, reply: Reply) -> str | None:
    """Why a reply of the right shape is unusable at this place."""
    match reply:
        case Judgement(winner=str() as winner) if not fold(winner):
            return "winner is null where the verdict combines stances, and else names one in words; it is empty here"
        case Judgement() if says_nothing(reply.reasoning):
            return "reasoning says which arguments decided and on which evidence; it says nothing here"
        case Judgement(winner=None) if says_nothing(reply.verdict):
            return "winner is null, so verdict says what the stances come to together; it says nothing here"
        case Projection():
            return unreadable(reply.output)
        case _:
            return None


def kept(_: Script, __: Turn, reply: Reply) -> Kept:
    """The whole reply: its request asks for every part that it may have."""
    return Kept(reply)


def shown(s: Script, turn: Turn) -> Mapping[TurnId, str]:
    """The label of each argument that a turn sees: its stance; with its name only if the judge may know it."""
    options = _options(s.started.options)
    who = _by_seat(options)
    named = turn.seat in ("judge", "synthesizer") and not options.anonymize_transcript
    return {t: _label(who[seat_of(t)], named=named) for t in turn.sees if seat_of(t) in who}


def table(options: Options) -> Roster:
    """The seats, and the turns of a debate of the usual course."""
    options = _options(options)
    debaters = debater_seats(options)
    seats = {d: _turn(options, turn_id(1, d)) for d in debaters}
    seats["judge"] = _turn(options, turn_id(1, "judge"))
    closing: tuple[str, ...] = ("judge",)
    if options.synthesizer:
        seats["synthesizer"] = _turn(options, turn_id(1, "synthesizer"))
        closing = ("judge", "synthesizer")
    apart = (
        *(("judge", d) for d in debaters),
        *((other, one) for i, one in enumerate(debaters) for other in debaters[i + 1 :]),
    )
    usual = {seat: options.max_rounds if seat in debaters else 1 for seat in seats}
    if options.swapped:
        usual["judge"] = 2
    said = tuple(turn_id(1, d) for d in debaters)
    roster = Roster(
        seats=seats,
        apart=apart,
        usual=usual,
        beginning=(
            *(_turn(options, turn, said[:i]) for i, turn in enumerate(said)),
            *_closings(options, 1, said, hidden=options.masked),
        ),
        closing=closing,
        roles=debating(debaters, ("judge",)),  # the synthesizer projects a verdict that it cannot change
    )
    return with_screener(options, roster)


def _options(options: Options) -> StancesOptions:
    if not isinstance(options, StancesOptions):
        raise TypeError(f"expected the options of {FORMAT}")
    return options


def _by_seat(options: StancesOptions) -> dict[str, Debater]:
    return dict(zip(debater_seats(options), options.debaters, strict=True))


def _label(debater: Debater, *, named: bool) -> str:
    return f"{debater.name} [{debater.stance}]" if named else debater.stance


def _turn(options: StancesOptions, turn: TurnId, sees: tuple[TurnId, ...] = ()) -> Turn:
    """A turn of its seat's kind; a debater with a prompt of its own has neither role nor instructions."""
    seat = seat_of(turn)
    debater = _by_seat(options).get(seat)
    persona = ("persona",) if seat in personas_of(options) else ()
    instructions = ("instructions",) if instructions_of(options, seat) else ()
    kind = "stances.debater" if debater else f"stances.{seat}"
    return Turn(turn, seat, sees, persona + instructions, kind, (debater.prompt or "") if debater else "")


def _debaters(s: Script, r: int) -> tuple[Turn, ...]:
    """The debaters of a round in declared order, each with all earlier arguments."""
    options = _options(s.started.options)
    seats = debater_seats(options)
    earlier = tuple(turn_id(q, seat) for q in range(1, r) for seat in seats)
    now = tuple(turn_id(r, seat) for seat in seats)
    return tuple(_turn(options, turn, earlier + now[:i]) for i, turn in enumerate(now))


def _argued(s: Script, due: TurnId | None = None) -> tuple[TurnId, ...]:
    """The debaters' turns that have spoken, round by round in declared order, and ``due`` as if it had."""
    options = _options(s.started.options)
    turns = (turn_id(r, seat) for r in range(1, options.max_rounds + 1) for seat in debater_seats(options))
    return tuple(turn for turn in turns if turn == due or s.said(turn))


def _closing(s: Script, r: int, due: TurnId) -> Callable[[], tuple[Turn, ...]]:
    """The turns that would end the debate if money ended after this one."""
    hidden = bool(masked_turns(s, _judge(s, r)))
    return lambda: _closings(_options(s.started.options), r, _argued(s, due), hidden=hidden)


def _closings(options: StancesOptions, r: int, argued: tuple[TurnId, ...], *, hidden: bool) -> tuple[Turn, ...]:
    """Every closing turn after round ``r`` and its second take; the judge's order does not change the cost.

    ``hidden`` says that the judge may be asked once more with the flagged passages masked.
    """
    judge = _turn(options, turn_id(r, "judge"), argued)
    closings = [judge]
    if options.swapped:
        closings.append(_turn(options, turn_id(r, "judge", "swapped"), argued))
    if options.synthesizer:
        closings.append(_turn(options, turn_id(r, "synthesizer"), (*argued, judge.id)))
    return (*in_two_takes(*closings), *((masked(judge),) if hidden else ()))


def _judge(s: Script, r: int) -> Turn:
    """The judge at the end, on each round in an order of its own."""
    options = _options(s.started.options)
    rounds: dict[int, list[TurnId]] = {}
    for turn in _argued(s):
        rounds.setdefault(round_of(turn), []).append(turn)
    sees: list[TurnId] = []
    for q, turns in rounds.items():
        sees += s.order(turns, turn_id(q, "judge")) if options.shuffle_for_judge else turns
    return _turn(options, turn_id(r, "judge"), tuple(sees))


def _synthesizer(s: Script, r: int) -> Turn:
    """The synthesizer, on the transcript in its original order and the standing verdict."""
    judge = s.facts.standing(turn_id(r, "judge"))
    return _turn(_options(s.started.options), turn_id(r, "synthesizer"), (*_argued(s), judge))


async def _follow(s: Script, r: int) -> None:
    """The turns after a verdict: the check of its order, and the projection. Neither can undo the verdict."""
    if not s.said(turn_id(r, "judge")):
        return
    await settle(s, Judgement, _judge(s, r))
    await hear(s, *_argued(s))
    options, judge = _options(s.started.options), _judge(s, r)
    again, last = swapped(judge), masked_turns(s, judge)
    if options.swapped and await s.close(
        Judgement, again, holding=lambda: (*last, *(_synthesizer(s, r),) * options.synthesizer)
    ):
        await settle(s, Judgement, again)
    await ask_masked(s, Judgement, judge, holding=lambda: (_synthesizer(s, r),) * options.synthesizer)
    if _projects(s) and await s.close(Projection, _synthesizer(s, r)):
        await settle(s, Projection, _synthesizer(s, r))


def _projects(s: Script) -> bool:
    """Whether a synthesizer projects the verdict.

    If the order or the flagged passages decided, there is no winner. A projection of either verdict would claim one, so
    none is asked for.
    """
    return _options(s.started.options).synthesizer and not _order_decided(s) and not _passages_decided(s)


def _spoken(s: Script, seat: str, phase: str = "") -> TurnId | None:
    """The standing take of a closing seat that has spoken, in whichever round the debate ended."""
    rounds = range(1, _options(s.started.options).max_rounds + 1)
    return next((s.facts.standing(turn) for r in reversed(rounds) if s.said(turn := turn_id(r, seat, phase))), None)


def _judgements(s: Script) -> tuple[Judgement | None, Judgement | None]:
    """The judge's reply, and its reply in the reverse order."""
    first, second = (s.reply(_spoken(s, "judge", phase)) for phase in ("", "swapped"))
    return (
        first if isinstance(first, Judgement) else None,
        second if isinstance(second, Judgement) else None,
    )


def _order_decided(s: Script) -> bool:
    """Whether the judge named another winner for the same arguments in the reverse order."""
    first, second = _judgements(s)
    return bool(first and second) and _winner(s, first) != _winner(s, second)


def _without_passages(s: Script) -> TurnId | None:
    """The judge's turn with the flagged passages masked, if it spoke."""
    return masked_reply(s, _spoken(s, "judge"))


def _passages_decided(s: Script) -> bool:
    """Whether the judge named another winner without the flagged passages.

    It may have been shown a stance or a name with a mark in it, and names the winner so.
    """
    (first, _), again = _judgements(s), s.reply(_without_passages(s))
    if first is None or not isinstance(again, Judgement):
        return False
    options = _options(s.started.options)
    hidden = replace(options, debaters=masked_debaters(options, Masks(suspicions(s))))
    named = _stance(hidden, again.winner) if again.winner else None
    pairs = zip(hidden.debaters, options.debaters, strict=True)
    stances = {debater.stance for shown_as, debater in pairs if shown_as.stance == named}
    return _winner(s, first) != (stances.pop() if len(stances) == 1 else _winner(s, again))


def _side(debater: Debater) -> str:
    """The stance of a debater in a comparable form: debaters with one stance are on one side."""
    return " ".join(debater.stance.casefold().split())


def _sides(s: Script, turns: Collection[TurnId]) -> frozenset[str]:
    """The sides for which these turns spoke."""
    who = _by_seat(_options(s.started.options))
    return frozenset(_side(who[seat_of(turn)]) for turn in turns)


def _mute(s: Script) -> frozenset[str]:
    """The sides that were spoken for without one argument of their own; none where that was not checked."""
    voices = argued(s)
    return frozenset() if voices is None else _sides(s, _argued(s)) - _sides(s, voices)


def _winner_alone(s: Script, result: StancesResult) -> bool:
    """Whether the verdict that stands names a winner for which no seat argued."""
    if result.verdict is None or result.verdict.winner is None:
        return False
    if result.winner_stance is None:
        return True
    won = {_side(d) for d in _options(s.started.options).debaters if d.stance == result.winner_stance}
    return not won.isdisjoint(_mute(s))


def _winner(s: Script, judgement: Judgement | None) -> str | None:
    """The winner of a judgement in a comparable form: a stance's own words, or other words folded."""
    if judgement is None or judgement.winner is None:
        return None
    return _key(_options(s.started.options), judgement.winner)


def _key(options: StancesOptions, winner: str) -> str:
    return _stance(options, winner) or fold(winner)


def _stance(options: StancesOptions, winner: str) -> str | None:
    """The assigned stance that a winner names, by its words, its debater's name or both as they were shown.

    It is compared unchanged first, so that "> 5 %" is not "< 5 %", and then folded. Words that fit two stances name
    neither. Beside a stance only words that name a side may stand: "the stance 'ship now'", "ship now (name-1)".
    """
    stances = [(debater.stance, debater.stance) for debater in options.debaters]
    names = [(name, d.stance) for d in options.debaters for name in (d.name, _label(d, named=True))]
    for written in (stances, names):
        for read in (str.strip, fold):
            if found := {stance for name, stance in written if read(name) == read(winner)}:
                return found.pop() if len(found) == 1 else None
    around = {d.stance for d in options.debaters if _is_within(d, fold(winner))}
    return around.pop() if len(around) == 1 else None


def _is_within(debater: Debater, winner: str) -> bool:
    """Whether a folded winner is a debater's stance with nothing beside it but words that name a side."""
    stance, beside = fold(debater.stance).split(), {*_BESIDE, *map(fold, debater.name.split())}
    words = [fold(word) for word in winner.split()]
    places = (i for i in range(len(words) - len(stance) + 1) if words[i : i + len(stance)] == [fold(w) for w in stance])
    at = next(places, None)
    return at is not None and {*words[:at], *words[at + len(stance) :]} <= beside


def _verdict(judgement: Judgement | None) -> Verdict | None:
    return Verdict(judgement.verdict, judgement.winner, judgement.reasoning) if judgement else None


def _result(s: Script) -> StancesResult:
    """The result of the debate; if the order or flagged passages decided, the verdicts are in it without a winner."""
    first, second = _judgements(s)
    stands, again = None if _order_decided(s) or _passages_decided(s) else first, s.reply(_without_passages(s))
    projection = s.reply(_spoken(s, "synthesizer"))
    return StancesResult(
        rounds=max((round_of(turn) for turn in _argued(s)), default=0),
        verdict=_verdict(stands),
        swapped_verdict=_verdict(second),
        masked_verdict=_verdict(again if isinstance(again, Judgement) else None),
        winner_stance=_stance(_options(s.started.options), stands.winner) if stands and stands.winner else None,
        output=output_of(projection.output) if isinstance(projection, Projection) else None,
    )
