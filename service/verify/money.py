"""Every amount, recomputed: reservations, charges, the ceiling and its refusals.

charges   a charge follows from the vendor's usage, from our own count of request and reply, and from the price row in
          ``debate.started``
ceiling   the ledger, folded entry by entry, never reserves and spends more than the ceiling
refusals  a refusal by the ceiling is recomputed; one by a tenant's limit is stated, for it depends on other debates
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from msgspec.structs import replace

from service import money
from service.debate.amounts import MicroUSD, usd
from service.debate.entries import AttemptFailed, BudgetRefused, Charge, DebateStarted, TurnAsked, TurnSpoke
from service.debate.facts import Facts
from service.debate.kernel import FORMATS, decide
from service.debate.model import Ask, SeatPlan, Turn, TurnId, seat_of
from service.debate.script import Script
from service.money import Ledger, Reckoning
from service.verify.opened_bundle import LegalDebate
from service.verify.prompts import NO_DEBATE
from service.verify.requests import Rendering, plan_of
from service.verify.steps import Differs, NotCheckable, at, expect
from service.verify.versions import by

CEILING, OVERRUN = "debateCeiling", "providerOverrun"
NOTHING = Charge(0, "none")
CHARGED = (TurnSpoke, AttemptFailed)
SUMS_MAX = 10_000
TOKENS_MAX = money.USAGE_MAX * 1_001
"""More tokens than any usage can have by any floor."""


def check_charges(debate: LegalDebate, ready: Callable[[str], bool]) -> str:
    """Check that each attempt reserved its worst case, and that its charge follows from its usage and price row.

    ``ready`` says whether this build can count tokens with a tokenizer. Without that the charge must be one of the two
    that the reply may lead to, and the step is not checkable.
    """
    started = debate.started
    if started is None:
        return f"{NO_DEBATE}, so nothing was charged"
    reckoning = by(debate.decided, "usage", money.USAGES)
    open_: dict[TurnId, TurnAsked] = {}
    count, unbilled, charged, uncounted = 0, 0, 0, set[str]()
    for n, entry in debate.each():
        with at(file=f"records/{n:04d}.payload.json", record=n):
            if isinstance(entry, TurnAsked):
                held = reckoning.worst_case(entry.input_tokens, plan_of(started, entry))
                expect(f"what attempt {entry.attempt} of {entry.turn} holds", held, entry.held)
                open_[entry.turn] = entry
            elif isinstance(entry, CHARGED):
                count += 1
                charged += entry.charge.amount
                tokenizer = plan_of(started, open_[entry.turn]).tokenizer
                countable = ready(tokenizer)
                free = _charged(reckoning, started, open_[entry.turn], entry, countable=countable)
                unbilled += free
                uncounted |= set() if free or countable or not started.usage_floor_per_mille else {tokenizer[:40]}
    if uncounted:
        raise NotCheckable(
            f"{count} charges follow from usage and price row, but the tokens of replies are not counted: "
            f"{', '.join(map(repr, sorted(uncounted)))} is not shipped with this build"
        )
    detail = f"{count} charges by usage and price row, {usd(charged)} USD in all"
    return f"{detail}; {unbilled} calls without a reply are stated to have cost nothing" if unbilled else detail


def _charged(
    reckoning: Reckoning,
    started: DebateStarted,
    asked: TurnAsked,
    entry: TurnSpoke | AttemptFailed,
    *,
    countable: bool,
) -> bool:
    """Check one charge; whether it is zero only by the caller's statement that no usage arose."""
    plan = plan_of(started, asked)
    usage = reckoning.normalise(plan.wire, entry.usage, plan.reasoning) if entry.usage is not None else None
    reply = entry.reply if isinstance(entry, TurnSpoke) else None
    tokens = reckoning.reply_tokens(reply, entry.said, plan.tokenizer) if countable and usage else 0
    counted = money.Counted(asked.input_tokens, tokens, started.usage_floor_per_mille)
    if not countable and usage and entry.charge.below_floor == "output":
        counted = counted._replace(reply=TOKENS_MAX)
    charge = reckoning.charge(usage, asked.held, plan.price, counted)
    if isinstance(entry, AttemptFailed) and usage is None and entry.charge == NOTHING and entry.reason != "lost":
        return True
    expect(f"the charge of attempt {entry.attempt} of {entry.turn}", charge, entry.charge)
    return False


def check_ceiling(debate: LegalDebate, rendering: Rendering | None, *, records_only: bool = False) -> str:
    """Check the ceiling at every entry, and recompute its recorded refusals.

    Without ``rendering`` the amount that a refusal needed cannot be computed, which ``records_only`` accepts.
    """
    started = debate.started
    if started is None:
        return f"{NO_DEBATE}, so nothing was held"
    reckoning = by(debate.decided, "usage", money.USAGES)
    again = Again(reckoning, rendering, started) if rendering else None
    ledger, stated, uncomputed = reckoning.ledger(0), 0, 0
    most, facts = 0, Facts()
    for n, entry in debate.each():
        with at(file=f"records/{n:04d}.payload.json", record=n):
            if isinstance(entry, BudgetRefused):
                done = _refused(ledger, facts, entry, again)
                stated, uncomputed = stated + (done == "stated"), uncomputed + (done == "uncomputed")
            if isinstance(entry, TurnAsked) and ledger.excess:
                raise Differs("after a charge above its reservation", "no further call", entry.turn)
            ledger = ledger.add(entry)
            most = max(most, ledger.spent + sum(ledger.held.values()))
            if most > started.ceiling:
                raise Differs("spent and held", f"at most the ceiling of {started.ceiling}", str(most))
        if again is not None:  # only a refusal that is computed again needs them
            facts.add(entry)
    if uncomputed:
        raise NotCheckable(
            "NO REQUESTS: the ceiling holds at every entry; the amount that a refusal needed cannot be computed "
            "without them",
            allowed=records_only,
        )
    detail = f"at most {usd(most)} USD were spent and held at once, of a ceiling of {usd(started.ceiling)} USD"
    if not stated:
        return detail
    refusals = "1 refusal by a tenant's limit is" if stated == 1 else f"{stated} refusals by a tenant's limit are"
    return f"{detail}; {refusals} stated, not recomputed"


class Again(NamedTuple):
    """The means to recompute a refusal: the sealed rules, and the requests of the refused turns."""

    reckoning: Reckoning
    rendering: Rendering
    started: DebateStarted

    def worst_case(self, facts: Facts, turn: Turn, plan: SeatPlan) -> MicroUSD:
        """The worst case of one model in a turn."""
        tokens = self.rendering.tokens(self.rendering.render(facts, turn, plan), plan)
        return self.reckoning.worst_case(tokens, plan)

    def closing_cost(self, facts: Facts, turn: Turn) -> MicroUSD:
        """The worst case of a closing turn: what was said as it will be shown, the rest by its seat's allowance."""
        started, rules = self.started, self.reckoning
        plan = started.seat(turn.seat)
        said = tuple(seen for seen in turn.sees if seen in facts.said)
        missing = [seen for seen in turn.sees if seen not in facts.said]
        allowances = [started.seat(seat_of(seen)).allowance for seen in missing]
        known = FORMATS[started.format].shown(Script(started, facts), turn)
        labels = [known[seen] for seen in missing if seen in known]
        request = self.rendering.render(facts, replace(turn, sees=said), plan)
        return max(
            rules.closing_cost(self.rendering.tokens(request, p), allowances, labels, p) for p in plan.with_fallback
        )


def _refused(ledger: Ledger, facts: Facts, entry: BudgetRefused, again: Again | None) -> str:
    """Recompute a refusal by the ceiling or after an overrun; returns why it was not possible, or an empty text."""
    if entry.limit not in (CEILING, OVERRUN):
        return "stated"
    limit = OVERRUN if ledger.excess else CEILING
    expect("the limit that refused", limit, entry.limit)
    expect("what was left", ledger.remaining, entry.left)
    if limit == CEILING and entry.needed <= entry.left:
        raise Differs("what was refused", f"more than the {entry.left} left", str(entry.needed))
    if again is None:
        return "uncomputed"
    move = decide(facts)
    if not isinstance(move, Ask):
        raise Differs("the next move", "to ask", str(move.__struct_config__.tag))
    turns = [turn for turn in move.turns if turn.id in entry.turns]
    closing = sum(again.closing_cost(facts, turn) for turn in move.holding)
    possible = sorted(closing + held for held in _worst_cases(again, facts, turns))
    if entry.needed not in possible:
        raise Differs("what was needed", " or ".join(map(str, possible[:5])), str(entry.needed))
    return "computed"


def _worst_cases(again: Again, facts: Facts, turns: Iterable[Turn]) -> set[MicroUSD]:
    """The possible needs of several turns, for each choice between a seat's model and its fallback."""
    sums = {0}
    for turn in turns:
        each = {again.worst_case(facts, turn, plan) for plan in again.started.seat(turn.seat).with_fallback}
        sums = {one + other for one in sums for other in each}
        if len(sums) > SUMS_MAX:
            raise NotCheckable(f"more than {SUMS_MAX} ways in which the turns of a refusal could have been asked")
    return sums
