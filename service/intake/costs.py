"""What a debate is expected to cost, what its requests take, and what it needs at least to begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service import budget
from service.budget import Usage
from service.debate.entries import DebateStarted
from service.debate.facts import Facts
from service.debate.model import AdversarialOptions, Case, SeatPlan, Turn
from service.debate.money import MicroUSD, usd
from service.errors import CeilingTooSmall, TooLarge
from service.policy import Policy
from service.prompts import Prompts
from service.prompts.render import render
from service.prompts.request import texts_of

Counts = Mapping[str, Mapping[str, int]]
"""Tokens of a request of each seat, under the tokenizer of each model that may be asked there: seat -> tokenizer."""


def expected_cost(
    seats: tuple[SeatPlan, ...], options: AdversarialOptions, policy: Policy, texts: Sequence[str] = ()
) -> MicroUSD:
    """What a debate is expected to cost by the catalogue: the sum of `expected_by_seat`."""
    return sum(expected_by_seat(seats, options, policy, texts).values())


def expected_by_seat(
    seats: tuple[SeatPlan, ...], options: AdversarialOptions, policy: Policy, texts: Sequence[str] = ()
) -> dict[str, MicroUSD]:
    """What each seat is expected to cost: asked once a round, at the policy's usual sizes.

    ``texts`` are the documents: where they are longer than a usual request, their own length counts.
    """
    several = max(1, len(options.positions))
    expected = {}
    for plan in seats:
        turns = several if plan.seat in ("proposer", "rebuttal") else 1
        rounds = 1 if plan.seat == "framing" else options.max_rounds
        output = plan.allowance * policy.debate.expected_output_per_mille // 1_000
        given = sum(budget.count_tokens(text, plan.tokenizer) for text in texts)
        usage = Usage(max(policy.debate.expected_input_tokens, given), output)
        expected[plan.seat] = budget.cost(usage, plan.price) * turns * rounds
    return expected


def affordable(case: Case, sources: Mapping[str, str], started: DebateStarted, prompts: Prompts) -> None:
    """Raises `TooLarge` where a seat cannot read the documents, and `CeilingTooSmall` where `needed` is not there."""
    first = readable(case, sources, started, prompts)
    least = needed(started, first)
    if least > started.ceiling:
        raise CeilingTooSmall(
            f"framing, proposal, one critique and moderation may cost {usd(least)} USD but the ceiling is "
            f"{usd(started.ceiling)} USD; raise costCeilingUSD, send shorter documents or choose cheaper models",
            pointers=("/costCeilingUSD",),
        )


def readable(case: Case, sources: Mapping[str, str], started: DebateStarted, prompts: Prompts) -> Counts:
    """Each seat's first request, once it is known that every seat can read all that it will ever be given.

    Raises `TooLarge` where a seat's model cannot, or could not answer then.
    """
    first = counted(case, sources, started, prompts, round_=1)
    last = max(d.round for d in case.documents)
    whole = first if last == 1 else counted(case, sources, started, prompts, last)
    for plan in started.seats:
        tokens = whole[plan.seat][plan.tokenizer]
        if not budget.fits(tokens, plan):
            raise TooLarge(
                f"the documents take {tokens} tokens of {plan.context_window} that model {plan.model!r} at "
                f"seat {plan.seat!r} can read, and its reply needs {plan.allowance}; send less of them",
                pointers=("/documents",),
            )
    return first


def needed(started: DebateStarted, first: Counts) -> MicroUSD:
    """The worst case of framing, the first proposals, one critique and their moderation: less is no debate.

    What closes a debate is held as the dearer of the seat's own model and its fallback.
    """
    several = max(1, len(started.options.positions))
    said = budget.shown_tokens(max(p.allowance for p in started.seats))
    shown = {"framing": 0, "proposer": 1, "critic": 1 + several, "moderator": 2 + several}
    least = 0
    for seat, times in {"framing": 1, "proposer": several, "critic": 1, "moderator": 1}.items():
        plan, tokens = started.seat(seat), first[seat]
        held = seated(plan) if seat == "moderator" else (plan,)
        least += times * max(budget.worst_case(tokens[p.tokenizer] + shown[seat] * said, p) for p in held)
    return least


def counted(
    case: Case, sources: Mapping[str, str], started: DebateStarted, prompts: Prompts, round_: int
) -> dict[str, dict[str, int]]:
    """What each seat is given in a round before anybody has said anything; framing sees the first alone."""
    facts = Facts()
    facts.case, facts.started = case, started
    tokens = {}
    for plan in started.seats:
        turn = Turn(f"{1 if plan.seat == 'framing' else round_}.{plan.seat}.1", plan.seat)
        texts = texts_of(render(prompts, case, sources, facts, turn))
        tokens[plan.seat] = {p.tokenizer: budget.count(texts, p.tokenizer) for p in seated(plan)}
    return tokens


def seated(plan: SeatPlan) -> tuple[SeatPlan, ...]:
    """Whoever may be asked at a seat: its own model, then its fallback."""
    return (plan, plan.fallback) if plan.fallback else (plan,)
