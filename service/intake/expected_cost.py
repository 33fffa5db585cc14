"""The expected cost of a debate, the tokens of its requests, and the least amount with which it begins."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from service import money
from service.debate.amounts import MicroUSD, usd
from service.debate.entries import DebateStarted
from service.debate.facts import Facts
from service.debate.kernel import FORMATS
from service.debate.model import (
    REWORDING,
    AdversarialOptions,
    BallotOptions,
    Case,
    ConvergenceOptions,
    PanelOptions,
    SeatPlan,
    StancesOptions,
    Turn,
    TurnId,
)
from service.debate.options import role_of
from service.debate.roster import Roster
from service.debate.screening import SEAT
from service.debate.script import Script
from service.debate.turns import phase_of, turn_id
from service.errors import CeilingTooSmall, TooLarge
from service.gate import complete_gates
from service.intake.mark_room import mark_room
from service.money import Usage
from service.policy import Policy, seating
from service.prompts import Prompts
from service.prompts.layouts import lay_out
from service.prompts.request import Request, texts_of
from service.prompts.undocumented import pin_of

Counts = Mapping[str, Mapping[str, int]]
"""Tokens of a request of each seat, under the tokenizer of each model that may be asked there: seat -> tokenizer."""
Requests = Mapping[str, Request]
"""A request of each seat."""
Rule = Callable[[Request, str], int]
"""Tokens of a request under a tokenizer."""


def expected_by_seat(
    seats: tuple[SeatPlan, ...], table: Roster, policy: Policy, texts: Sequence[str] = ()
) -> dict[str, MicroUSD]:
    """What each seat is expected to cost: asked as often as in a usual debate, at the policy's usual sizes.

    ``texts`` are the documents: where they are longer than a usual request, their own length counts.
    """
    usual = policy.debate.expected_input_tokens
    inputs = dict.fromkeys((plan.tokenizer for plan in seats), usual)
    if sum(map(_size, texts)) > usual:  # else no tokenizer finds more: a text has no more tokens than bytes
        inputs = {name: max(usual, sum(money.count_tokens(text, name) for text in texts)) for name in inputs}
    expected = {}
    for plan in seats:
        output = plan.allowance * policy.debate.expected_output_per_mille // 1_000
        usage = Usage(inputs[plan.tokenizer], output)
        expected[plan.seat] = money.cost(usage, plan.price) * table.usual[plan.seat]
    return expected


Expected = Callable[[tuple[SeatPlan, ...], Roster, Policy, Sequence[str]], dict[str, MicroUSD]]
EXPECTED: Mapping[str, Expected] = complete_gates({"gate/1": expected_by_seat}, "intake", __file__)
"""What a debate is expected to cost, by every version of the gate; `service.verify.gate` computes it once more."""


def affordable(
    case: Case,
    sources: Mapping[str, str],
    started: DebateStarted,
    prompts: Prompts,
    given: Collection[TurnId] = frozenset(),
) -> None:
    """Raises `TooLarge` where a seat cannot read the documents, and `CeilingTooSmall` where `needed` is not there.

    Most cases are far below both limits, and need no exact count for that: `at_most` shows it.
    """
    first, whole = _first_and_whole(case, sources, started, prompts)
    bound = partial(at_most, known=prompts.made.counts)
    most = _counts(first, started, bound)
    too_large = any(_outgrown(_counts(whole, started, bound) if whole is not first else most, started))
    if not too_large and needed(case, started, most, prompts, given) <= started.ceiling:
        return
    exact = _fitting(first, whole, case, started)
    least = needed(case, started, exact, prompts, given)
    if least > started.ceiling:
        raise CeilingTooSmall(
            f"{_beginning(started)} may cost {usd(least)} USD but the ceiling is "
            f"{usd(started.ceiling)} USD; raise costCeilingUSD, send shorter documents or choose cheaper models",
            pointers=("/costCeilingUSD",),
        )


def fits_models(case: Case, sources: Mapping[str, str], started: DebateStarted, prompts: Prompts) -> Counts:
    """Each seat's first request, once it is known that every seat can read all that it will ever be given.

    Raises `TooLarge` where a seat's model cannot, or could not answer then.
    """
    return _fitting(*_first_and_whole(case, sources, started, prompts), case, started)


def _first_and_whole(
    case: Case, sources: Mapping[str, str], started: DebateStarted, prompts: Prompts
) -> tuple[Requests, Requests]:
    """Each seat's request in the first round, and in the round of the last document: often the same."""
    first = _bare_requests(case, sources, started, prompts, round_=1)
    last = max((d.round for d in case.documents), default=1)
    return first, first if last == 1 else _bare_requests(case, sources, started, prompts, last)


def _fitting(first: Requests, whole: Requests, case: Case, started: DebateStarted) -> Counts:
    """The tokens of the first requests; raises `TooLarge` where a seat's model cannot read the whole ones."""
    counts = _counts(first, started)
    tokens = counts if whole is first else _counts(whole, started)
    for plan in _outgrown(tokens, started):
        what = "documents take" if case.documents else "case takes"
        raise TooLarge(
            f"the {what} {tokens[plan.seat][plan.tokenizer]} tokens of {plan.context_window} that model "
            f"{plan.model!r} at seat {plan.seat!r} can read, and its reply needs {plan.allowance}; send less of them",
            pointers=("/documents",),
        )
    return counts


def _outgrown(tokens: Counts, started: DebateStarted) -> Iterator[SeatPlan]:
    """The seats whose model cannot read so much, or could not answer then."""
    return (plan for plan in started.seats if not money.fits(tokens[plan.seat][plan.tokenizer], plan))


def at_most(request: Request, tokenizer: str, known: money.Known) -> int:
    """No less than `tokens_of`: what the case says counts by its bytes, and the counts of pinned texts are ``known``,
    or are from now on.

    No tokenizer finds more tokens than bytes in a text.
    """
    new = [message.content for message in request.messages if not message.pins]
    pinned = [message.content for message in request.messages if message.pins]
    texts = (*pinned, texts_of(request)[-1], *("" for _ in new))
    return money.RECKONING.request_tokens(texts, tokenizer, known) + sum(map(_size, new))


def tokens_of(request: Request, tokenizer: str) -> int:
    """The tokens of a request, counted."""
    return money.RECKONING.request_tokens(texts_of(request), tokenizer)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def needed(
    case: Case, started: DebateStarted, first: Counts, prompts: Prompts, given: Collection[TurnId] = frozenset()
) -> MicroUSD:
    """The worst case of the turns that every debate needs, including the closing seat; ``given`` ones cost nothing.

    What closes a debate is held as the dearer of the seat's own model and its fallback.
    """
    table, script = seating.choose_table(started.options), Script(started, begun(case, started))
    said = money.RECKONING.shown_tokens(max(p.allowance for p in started.seats))
    least = 0
    for turn in (turn for turn in table.beginning if turn.id not in given):
        plan, tokens = started.seat(turn.seat), first[turn.seat]
        # A screener is asked while the whole beginning is held.
        held = plan.with_fallback if turn.seat in table.closing or SEAT in table.seats else (plan,)
        labels = FORMATS[started.format].shown(script, turn).values()
        shown = {p.tokenizer: len(turn.sees) * said + money.RECKONING.label_tokens(labels, p.tokenizer) for p in held}
        if REWORDING in turn.fragments:
            asked = prompts.text(pin_of(script.facts, REWORDING))
            shown = {name: n + money.count_tokens(asked, name) for name, n in shown.items()}
        shown = {name: n + mark_room(turn.id, name) for name, n in shown.items()}
        least += max(money.RECKONING.worst_case(tokens[p.tokenizer] + shown[p.tokenizer], p) for p in held)
    return least


def counted(case: Case, sources: Mapping[str, str], started: DebateStarted, prompts: Prompts, round_: int) -> Counts:
    """The input of each seat in a round before any reply; turns before the first round get that of the first."""
    return _counts(_bare_requests(case, sources, started, prompts, round_), started)


def _counts(requests: Requests, started: DebateStarted, rule: Rule = tokens_of) -> Counts:
    return {
        plan.seat: {name: rule(requests[plan.seat], name) for name in {p.tokenizer for p in plan.with_fallback}}
        for plan in started.seats
    }


def _bare_requests(
    case: Case, sources: Mapping[str, str], started: DebateStarted, prompts: Prompts, round_: int
) -> Requests:
    facts, requests = begun(case, started), {}
    for plan, bare in bare_turns(started):
        turn = replace(bare, id=turn_id(round_ if bare.round else 0, bare.seat, phase_of(bare.id)))
        requests[plan.seat] = lay_out(prompts, case, sources, facts, turn)
    return requests


def bare_turns(started: DebateStarted) -> Iterator[tuple[SeatPlan, Turn]]:
    """Each seat with its first turn, before there is any reply."""
    turns = seating.choose_table(started.options).seats
    return ((plan, turns[plan.seat]) for plan in started.seats)


def begun(case: Case, started: DebateStarted) -> Facts:
    """The facts of a debate before its first turn."""
    facts = Facts()
    facts.case, facts.started = case, started
    return facts


def _beginning(started: DebateStarted) -> str:
    """The turns that a debate has to begin with, in words."""
    match started.options:
        case AdversarialOptions():
            first = "screening, " if started.options.screened else ""
            return f"{first}framing, proposal, one critique and moderation"
        case StancesOptions() | BallotOptions() | PanelOptions() | ConvergenceOptions():
            return _first_turns(seating.choose_table(started.options).beginning)


def _first_turns(turns: Sequence[Turn]) -> str:
    speaking = sum(role_of(turn.seat) == "debater" for turn in turns)
    others = [f"the {turn.seat}" for turn in turns if role_of(turn.seat) != "debater"]
    return f"a first turn of {' and '.join([f'{speaking} debaters', *others])}"
