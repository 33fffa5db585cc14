"""What has to hold before an attempt is recorded as asked: its request fits its model, and there is money for it.

What does not hold is staged in its place: a seat that is given up, a refusal by the budget, a debate that is stopped.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from service import money, telemetry
from service.debate.entries import BudgetRefused, TurnSilent
from service.debate.model import SeatPlan, Turn
from service.errors import Fenced, PromptMismatch
from service.running import selection
from service.running.attempt import Attempt, Calling
from service.running.log_port import AuditLog
from service.running.state import Recording

TURNS_AHEAD = 3
"""How many further turns like the ones that are due a draw on the tenant's limits covers, while there is plenty."""


class Intents:
    """Prepares the attempts of one debate."""

    def __init__(self, log: AuditLog, record: Recording, calling: Calling) -> None:
        self._log = log
        self._record = record
        self._calling = calling

    async def prepare(self, asked: Sequence[tuple[Turn, SeatPlan]], holding: Sequence[Turn]) -> Sequence[Attempt]:
        """An attempt for each of these, funded together with the closing turns; or none, and why is staged."""
        attempts = []
        try:
            for turn, plan in asked:
                if (attempt := self._fitting(turn, plan)) is None:
                    return ()
                attempts.append(attempt)
        except PromptMismatch as mismatch:
            telemetry.PROMPT_MISMATCHES.inc()
            self._record.stop("promptMismatch", mismatch.detail)
            return ()
        return attempts if await self._funded(attempts, holding) else ()

    def _fitting(self, turn: Turn, plan: SeatPlan) -> Attempt | None:
        """The attempt at the first model that can read the request; ``None`` when the seat is given up for that."""
        record, tokens = self._record, 0
        others = [p for p in selection.candidates(record.facts, record.started, turn) if p.model != plan.model]
        for candidate in (plan, *others):
            attempt = self._calling.prepare(record.case, record.facts, turn, candidate)
            if money.fits(attempt.asked.input_tokens, candidate):
                because = selection.because(record.facts, record.started, turn, plan, candidate)
                return replace(attempt, asked=replace(attempt.asked, because=because)) if because else attempt
            tokens = attempt.asked.input_tokens
        self._record.stage(TurnSilent(turn.id, f"contextTooLong: {tokens} tokens"))
        return None

    async def _funded(self, attempts: Sequence[Attempt], holding: Sequence[Turn]) -> bool:
        """Whether these attempts and their closing turns are funded; what refuses them is staged.

        What the debate has drawn from its tenant's limits must cover them too. What is staged is recorded before a
        draw: a refused draw must not keep a paid reply from being recorded, and the head then holds what we count.
        """
        held = [attempt.asked.held for attempt in attempts]
        record, facts = self._record, self._record.facts
        closing = [self._calling.closing_cost(record.case, facts, turn) for turn in holding]
        refusal = record.ledger.refuse(held, closing)
        if refusal is None and (short := sum(held) + sum(closing) - record.grant_left) > 0:
            await record.flush()
            if record.facts is not facts:  # somebody else had written: ask the kernel again
                return False
            ahead = min(TURNS_AHEAD * sum(held), record.ledger.left - sum(held) - sum(closing))
            try:
                refusal = await self._log.draw(short, short + max(0, ahead))
            except Fenced:
                await record.catch_up()
                return False
        if refusal:
            telemetry.REFUSALS.labels(limit=refusal.limit).inc()
            turns = tuple(attempt.turn.id for attempt in attempts)
            self._record.stage(BudgetRefused(turns, refusal.limit, refusal.needed, refusal.left))
        return refusal is None
