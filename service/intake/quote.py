"""The cost of a case before any model call. A quote records nothing and is not binding.

expected    by the catalogue, as the gate uses it and as a debate's record has it; turns that are given cost nothing
worst       the most that the debate can be charged: its ceiling, or all that its format can ask if that is less
needed      the least ceiling with which the debate begins
caches      what vendors' prefix caches may take off the expected amount (`prefix_cache`)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct

from service import money
from service.debate.amounts import MicroUSD
from service.debate.entries import DebateStarted, GateDecision
from service.debate.model import Document, SeatPlan, seat_of
from service.intake import Deployment, Prepared, expected_cost, fix
from service.intake.prefix_cache import CacheEstimate, estimate
from service.intake.worst_case import worst_case_turns
from service.policy import seating

SEED = f"{82_388:064x}"
"""In the place of a seed, which marks every fence of every request: no tokenizer makes more tokens of any other mark,
since it makes one of each character of this one. So a debate never needs more than its quote says."""


class SeatQuote(Struct, frozen=True):
    """A seat: how often it may be asked, its first request in tokens, and what it may cost, in micro-dollars."""

    plan: SeatPlan
    turns: int
    first_request: int
    expected: MicroUSD
    worst: MicroUSD


class DocumentQuote(Struct, frozen=True):
    """A document, and its tokens under every tokenizer of the table: name -> tokens."""

    document: Document
    tokens: Mapping[str, int]


class CaseQuote(Struct, frozen=True):
    """The prices of a case. ``started`` is how its debate would begin under today's policy, prices and prompts.

    ``asked_at_most`` is what the format can ask for if there were no ceiling.
    """

    decision: GateDecision
    started: DebateStarted
    documents: tuple[DocumentQuote, ...]
    seats: tuple[SeatQuote, ...]
    needed: MicroUSD
    caches: CacheEstimate
    day: str
    policy_version: str

    @property
    def startable(self) -> bool:
        """Whether the ceiling pays for the beginning."""
        return self.needed <= self.started.ceiling

    @property
    def expected(self) -> MicroUSD:
        """What models are expected to be paid: less than the record has where replies are given in their place."""
        return sum(seat.expected for seat in self.seats)

    @property
    def asked_at_most(self) -> MicroUSD:
        """Every attempt of every turn of the longest debate, each charged as held."""
        return sum(seat.worst for seat in self.seats)

    @property
    def worst(self) -> MicroUSD:
        """The most that the debate can be charged."""
        return min(self.started.ceiling, self.asked_at_most)


def quote(prepared: Prepared, deployment: Deployment) -> CaseQuote:
    """Price a case that has been checked. Raises `TooLarge` where its debate could not begin for its length.

    A ceiling that is too small is no error here, and a declined case is priced as if it were debated.
    """
    case, sources = prepared.case, prepared.sources
    started = fix(prepared, deployment, SEED)
    if prepared.decision.debate:
        first = expected_cost.fits_models(case, sources, started, deployment.prompts)
    else:
        first = expected_cost.counted(case, sources, started, deployment.prompts, round_=1)
    return CaseQuote(
        decision=prepared.decision,
        started=started,
        documents=_documents(prepared, started),
        seats=tuple(_seats(prepared, started, deployment, first)),
        needed=expected_cost.needed(case, started, first, deployment.prompts, prepared.given),
        caches=estimate(case, sources, started, deployment.prompts),
        day=deployment.day,
        policy_version=deployment.policy.version,
    )


def _seats(
    prepared: Prepared, started: DebateStarted, deployment: Deployment, first: expected_cost.Counts
) -> Iterator[SeatQuote]:
    turns = worst_case_turns(prepared.case, prepared.sources, started, deployment.prompts, prepared.given)
    usual = seating.choose_table(started.options).usual
    given = Counter(seat_of(turn) for turn in prepared.given)
    for plan in started.seats:
        mine = [costing.worst for costing in turns if costing.turn.seat == plan.seat]
        expected, times = started.expected_by_seat[plan.seat], usual[plan.seat]
        asked = expected * max(0, times - given[plan.seat]) // times if times else 0
        yield SeatQuote(plan, len(mine), first[plan.seat][plan.tokenizer], asked, sum(mine))


def _documents(prepared: Prepared, started: DebateStarted) -> tuple[DocumentQuote, ...]:
    tokenizers = dict.fromkeys(p.tokenizer for plan in started.seats for p in plan.with_fallback)
    return tuple(
        DocumentQuote(document, {name: money.count_tokens(prepared.sources[document.id], name) for name in tokenizers})
        for document in prepared.case.documents
    )
