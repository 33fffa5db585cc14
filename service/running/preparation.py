"""The conditions of an attempt, before it is recorded as asked: its request fits the model, and its cost is funded.

When a condition fails, another entry is staged in the attempt's place: a silent seat, a budget refusal, a stop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from service import money, telemetry
from service.debate.entries import BudgetRefused, TurnSilent
from service.debate.model import SeatPlan, Turn
from service.errors import Fenced, PromptMismatch
from service.running import selection
from service.running.attempt import Attempt, ModelCaller
from service.running.lane import Lane
from service.running.log_port import AuditLog
from service.running.state import DebateState

Made = TypeVar("Made")

TURNS_AHEAD = 3
"""How many further turns like the due ones an allocation from the tenant's limits covers, while enough remains."""


class AttemptPreparer:
    """Prepares the attempts of one debate, in the thread of ``lane`` where its documents are long."""

    def __init__(
        self, log: AuditLog, record: DebateState, calling: ModelCaller, unavailable: int, lane: Lane | None = None
    ) -> None:
        self._log = log
        self._record = record
        self._calling = calling
        self._unavailable = unavailable
        self._lane = lane

    async def prepare(self, asked: Sequence[tuple[Turn, SeatPlan]], holding: Sequence[Turn]) -> Sequence[Attempt]:
        """An attempt for each turn, funded together with the closing turns; or none, with the reason staged."""
        attempts = []
        try:
            for turn, plan in asked:
                if (attempt := await self._attempt_that_fits(turn, plan)) is None:
                    return ()
                attempts.append(attempt)
        except PromptMismatch as mismatch:
            telemetry.PROMPT_MISMATCHES.inc()
            self._record.stop("promptMismatch", mismatch.detail)
            return ()
        return attempts if await self._is_funded(attempts, holding) else ()

    async def _attempt_that_fits(self, turn: Turn, plan: SeatPlan) -> Attempt | None:
        """The attempt at the first eligible model whose context fits the request; ``None`` when no model's does."""
        record, tokens = self._record, 0
        others = [
            p
            for p in selection.eligible_for_turn(record.facts, record.started, turn, self._unavailable)
            if p.model != plan.model
        ]
        for candidate in (plan, *others):
            attempt = await self._made(self._calling.prepare, record.case, record.facts, turn, candidate)
            if money.fits(attempt.asked.input_tokens, candidate):
                because = selection.fallback_reason(
                    record.facts, record.started, turn, plan, candidate, self._unavailable
                )
                return replace(attempt, asked=replace(attempt.asked, because=because)) if because else attempt
            tokens = attempt.asked.input_tokens
        self._record.stage(TurnSilent(turn.id, f"contextTooLong: {tokens} tokens"))
        return None

    async def _made(self, make: Callable[..., Made], *given: object) -> Made:
        """What a function of the model caller returns. The facts do not change meanwhile: the runner waits for it."""
        return make(*given) if self._lane is None else await self._lane.run(make, *given)

    async def _is_funded(self, attempts: Sequence[Attempt], holding: Sequence[Turn]) -> bool:
        """Whether these attempts and their closing turns are funded; a refusal is staged.

        The debate's allocation from its tenant's limits must cover them too. Staged entries are recorded before more is
        allocated: a refused allocation must not keep a paid reply from being recorded, and the head row then agrees
        with our count.
        """
        held = [attempt.asked.held for attempt in attempts]
        record, facts, ledger = self._record, self._record.facts, self._record.ledger
        closing = [await self._made(self._calling.closing_cost, record.case, facts, turn) for turn in holding]
        refusal = ledger.refuse(held, closing)
        allocated = ledger.remaining - ledger.ceiling + self._log.allocated
        if refusal is None and (short := sum(held) + sum(closing) - allocated) > 0:
            await record.flush()
            if record.facts is not facts:  # another process had written: ask the kernel again
                return False
            ahead = min(TURNS_AHEAD * sum(held), ledger.remaining - sum(held) - sum(closing))
            try:
                refusal = await self._log.allocate(short, short + max(0, ahead))
            except Fenced:
                await record.catch_up()
                return False
        if refusal:
            telemetry.REFUSALS.labels(limit=refusal.limit).inc()
            turns = tuple(attempt.turn.id for attempt in attempts)
            self._record.stage(BudgetRefused(turns, refusal.limit, refusal.needed, refusal.left))
        return refusal is None
