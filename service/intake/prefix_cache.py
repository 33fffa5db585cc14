"""What vendors' prefix caches may save in the usual course of a debate: an estimate for a quote, never a promise.

Every request of a seat begins with the same system prompt and the same case. A seat that is asked again may find this
prefix in its vendor's cache and pay the row's cached rate for it. Its first request writes it there, at the row's rate
for writing where that is dearer than fresh input; for a seat with one request no vendor is asked to write. Nothing
else is counted: neither the transcript, which is in the prefix too, nor what seats of one model may share, because
seats that are asked at once find nothing of each other.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from service import money
from service.debate.amounts import MICRO, MicroUSD
from service.debate.entries import DebateStarted
from service.debate.model import Case, SeatPlan
from service.intake.expected_cost import bare_turns, begun
from service.policy import seating
from service.prompts import Prompts
from service.prompts.layouts import lay_out

LEAST = 1_024
"""Tokens of the shortest prefix that vendors keep; some models of theirs need up to four times as many."""
_PREFIX = slice(2)
"""The messages of every request of a seat in a round: the system prompt and the case."""


class CacheEstimate(Struct, frozen=True):
    """How many calls of the usual course repeat a prefix, and what that may save. Less than 0: writing costs more."""

    calls: int
    saves: MicroUSD


def estimate(case: Case, sources: Mapping[str, str], started: DebateStarted, prompts: Prompts) -> CacheEstimate:
    """The estimate for a debate that would begin so."""
    usual, facts = seating.choose_table(started.options).usual, begun(case, started)
    calls, exact = 0, 0
    for plan, turn in bare_turns(started):
        request = lay_out(prompts, case, sources, facts, turn)
        prefix = money.RECKONING.request_tokens([m.content for m in request.messages[_PREFIX]], plan.tokenizer)
        if prefix >= LEAST and (again := usual[plan.seat] - 1) > 0:
            calls += again
            exact += prefix * _saved(plan, again)
    return CacheEstimate(calls, exact // MICRO)


def _saved(plan: SeatPlan, again: int) -> int:
    """Micro-dollars a million tokens of the prefix: what reading it again saves, less what writing it once adds."""
    price = plan.price
    return again * (price.input - price.cached_input) - (price.cache_write - price.input)
