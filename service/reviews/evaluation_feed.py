"""Goes on with evaluations, a move at a time, beside the worker.

A turn of an evaluation, which one process has at a time:

    1. Its entries are read, and followed (`service.evaluation.run`).
    2. While its registration is under no checkpoint, it waits: no call is made before the question is provable.
    3. A process that runs another policy, other prompts or another build than the plan pins leaves it alone; so does
       one that never had its sets at hand.
    4. The next move is made, and the one after it, until it has to wait for a debate.

A debate is opened before its `item.asked` is recorded, under a key that is made of evaluation, item, arm and repeat. So
a turn that was cut off anywhere, or two feeders at one evaluation, open it once; and of two entries with one number one
alone is recorded.

A debate is scored when its end is recorded, whatever end that is. Labels are read there, and nowhere else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from service import log_lines
from service.audit.evaluation_events import (
    EvaluationConcluded,
    EvaluationEntry,
    EvaluationStopped,
    ItemAsked,
    ItemScored,
    StoppedBy,
)
from service.audit.record import Writer
from service.errors import (
    AuditUnavailable,
    BudgetExhausted,
    CeilingTooSmall,
    Fenced,
    GainsayError,
    IdempotencyKeyReused,
    InvalidCase,
    QueueFull,
    StoreUnavailable,
    TooLarge,
)
from service.evaluation.run.moves import Ask, Conclude, Move, Rest, Score, Seen, Stop, move_after
from service.evaluation.run.progress import Progress
from service.evaluation.run.results import conclusion_of
from service.evaluation.run.units import Unit
from service.evaluation.scoring import observe, score
from service.evaluation.sets.golden_set import GoldenSet
from service.reviews import Reviews
from service.reviews.batch_callers import caller_of
from service.reviews.evaluation_cases import Asking, case_of
from service.reviews.evaluations import EvaluationDesk, pins_of
from service.store import evaluations
from service.store.evaluations import ClaimedEvaluation
from service.store.stored_debate import read_debate

TAKEN = 2
"""The most evaluations that a process takes in one go."""
BUSY_S, IDLE_S = 0.1, 1.0
"""How often a process looks at evaluations while some are open, and while none is."""
REST_S, LATER_S = 0.2, 5.0
"""How long an evaluation has no other turn: where it waits for a debate, and after a fault or for something outside."""
RENEWALS = 3
"""A lease is renewed so often before it would run out."""


class _Waits(GainsayError):
    """The evaluation waits for something outside; ``detail`` says for what."""


class EvaluationFeeder:
    """Goes on with every tenant's evaluations until it is stopped; ``only`` names one that it goes on with alone."""

    def __init__(
        self,
        desk: EvaluationDesk,
        reviews: Reviews,
        writer: Writer,
        lease_s: float,
        *,
        only: str | None = None,
    ) -> None:
        self.desk = desk
        self._database = desk.database
        self._reviews = reviews
        self._writer = writer
        self._name = writer.actor.id
        self._lease_s = lease_s
        self.only = only
        self._stopping = asyncio.Event()
        self._followed: dict[str, Progress] = {}
        self._renewed = float("-inf")

    async def run(self) -> None:
        """Give every open evaluation its turns until `stop`. Errors are logged and never end the loop."""
        while not self._stopping.is_set():
            pause_s = IDLE_S
            try:
                pause_s = await self.round()
            except StoreUnavailable as error:
                log_lines.EVALUATIONS_WAIT(detail=error.detail, code=error.code)
            except Exception:  # noqa: BLE001 - a dead loop would leave evaluations that look as if they went on
                log_lines.EVALUATIONS_FAULT.raised()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await self._stopping.wait()

    def stop(self) -> None:
        """Make no further move; the one in hand is recorded."""
        self._stopping.set()

    async def round(self) -> float:
        """One turn of each evaluation that is free; returns the seconds until the next look."""
        claimed = await evaluations.claim_evaluations(self._database, self._name, self._lease_s, TAKEN, self.only)
        for nth, found in enumerate(claimed):
            self._renewed = time.monotonic()
            if nth == 0 or await self.keeps(found, force=True):
                await self._turn(found)
        return BUSY_S if claimed else IDLE_S

    async def keeps(self, found: ClaimedEvaluation, *, force: bool = False) -> bool:
        """Renew the lease where that is due; whether this process still has the evaluation, and is not stopped."""
        if self._stopping.is_set():
            return False
        if not force and time.monotonic() - self._renewed < self._lease_s / RENEWALS:
            return True
        self._renewed = time.monotonic()
        kept = await evaluations.renew_evaluations(self._database, self._name, self._lease_s, [found.evaluation])
        return found.evaluation in kept

    async def _turn(self, found: ClaimedEvaluation) -> None:
        """One turn of an evaluation; what it waits for is kept with it."""
        pause, rest_s = None, REST_S
        try:
            await self._go_on(found)
        except _Waits as waits:
            pause, rest_s = waits.detail, LATER_S if self.only is None else REST_S
        except Fenced:  # another process was quicker: what it recorded is read at the next turn
            self._followed.pop(found.evaluation, None)
        except (StoreUnavailable, AuditUnavailable) as error:
            self._followed.pop(found.evaluation, None)
            pause, rest_s = "the database does not answer", LATER_S
            log_lines.EVALUATION_WAITS(detail=error.detail, code=error.code, evaluation=found.evaluation)
        except Exception as error:  # noqa: BLE001 - one evaluation must not keep the others waiting for its lease
            self._followed.pop(found.evaluation, None)
            pause, rest_s = f"a fault of the service ({type(error).__name__}), which its log has", LATER_S
            log_lines.EVALUATION_FAULT.raised(evaluation=found.evaluation)
        await evaluations.release_evaluation(self._database, found.evaluation, self._name, pause, rest_s)

    async def _go_on(self, found: ClaimedEvaluation) -> None:
        """Make moves until there is none to make now; raises `_Waits` where something outside is awaited."""
        progress = await self._follow(found)
        if not await evaluations.is_provable(self._database, found.evaluation, found.by.tenant):
            raise _Waits("its registration is under no checkpoint yet")
        places = await self._places(found.by.tenant)
        while await self.keeps(found):
            sets = await asyncio.to_thread(self.desk.shelf.at_hand, datetime.now(UTC).date())
            self._expect_pinned(found, progress)
            self._expect_known(progress)
            seen = Seen(
                {name: golden.hash for name, golden in sets.items()},
                await evaluations.ended_of(self._database, found.by.tenant, progress.under_way.values()),
                places,
            )
            move = move_after(progress, seen)
            if isinstance(move, Rest):
                return
            await _Turn(self, found, progress, sets).make(move)

    async def _follow(self, found: ClaimedEvaluation) -> Progress:
        """The evaluation as recorded; what was followed before is not read again."""
        progress = self._followed.get(found.evaluation)
        first = progress.next_n if progress else 0
        entries = await evaluations.read_entries(self._database, found.evaluation, found.by.tenant, first)
        if progress is None:
            progress = self._followed[found.evaluation] = Progress.of(entries)
        else:
            for entry in entries:
                progress.take(entry)
        return progress

    async def _places(self, tenant: str) -> int:
        """How many debates of an evaluation may be under way: those of a tenant share its places evenly.

        That all of them together keep to the limit is decided where a debate is opened.
        """
        places = self.desk.deployment(tenant).policy.evaluations.budget.debates
        return max(1, places // max(1, await evaluations.count_open(self._database, tenant)))

    def _expect_pinned(self, found: ClaimedEvaluation, progress: Progress) -> None:
        runs = pins_of(self.desk.deployment(found.by.tenant))
        for name in runs.__struct_fields__:
            if getattr(runs, name) != getattr(progress.plan.pins, name):
                raise _Waits(f"the plan pins another {name} than runs here; go on with the one that it pins")

    def _expect_known(self, progress: Progress) -> None:
        for asked in progress.registered.sets:
            if asked.id not in self.desk.shelf.seen:
                raise _Waits(f"this process was not given the set {asked.id}; go on where it is at hand")

    async def record(
        self, found: ClaimedEvaluation, progress: Progress, entry: EvaluationEntry, result: bytes | None = None
    ) -> None:
        """Record the next entry, and follow it."""
        log = await self.desk.logs.current(found.by.tenant)
        await evaluations.add_entry(self._database, entry, found.by.tenant, log, self._writer, result=result)
        progress.take(entry)

    async def open(self, asking: Asking, unit: Unit, found: ClaimedEvaluation) -> str:
        """The debate of a unit, which is opened unless it is there."""
        return (await self._reviews.open_item(case_of(asking, unit), caller_of(found.by))).debate

    async def observed(self, debate: str, tenant: str) -> tuple[Any, ...]:
        """The entries of a debate, held against what commits to them."""
        stored = await read_debate(self._database, debate, tenant)
        return tuple(record.entry for record in stored.records)


class _Turn:
    """The moves of one evaluation, by a feeder that has it."""

    def __init__(
        self, feeder: EvaluationFeeder, found: ClaimedEvaluation, progress: Progress, sets: Mapping[str, GoldenSet]
    ) -> None:
        self._feeder = feeder
        self._found = found
        self._progress = progress
        self._sets = sets

    async def make(self, move: Move) -> None:
        """Make a move and record it; raises `_Waits`, `Fenced` and the errors of the store."""
        match move:
            case Ask(units):
                await self._ask(units)
            case Score(units):
                for unit in units:
                    if await self._feeder.keeps(self._found):
                        await self._score(unit)
            case Stop(by, why):
                await self._stop(by, why)
            case Conclude():
                await self._conclude()
            case Rest():
                return

    async def _record(self, entry: EvaluationEntry, result: bytes | None = None) -> None:
        await self._feeder.record(self._found, self._progress, entry, result)

    async def _ask(self, units: tuple[Unit, ...]) -> None:
        progress = self._progress
        asked = {name: golden.asked for name, golden in self._sets.items()}
        ceiling = self._feeder.desk.deployment(self._found.by.tenant).policy.debate.ceiling_max
        plan_hash = progress.registered.plan_hash
        asking = Asking(progress.evaluation, progress.plan, plan_hash, asked, ceiling, progress.most)
        for unit in units:
            if not await self._feeder.keeps(self._found):
                return None
            try:
                debate = await self._feeder.open(asking, unit, self._found)
            except (QueueFull, BudgetExhausted) as error:
                raise _Waits(error.public_detail) from error
            except (InvalidCase, TooLarge, CeilingTooSmall, IdempotencyKeyReused) as error:
                return await self._stop("fault", _cannot_ask(unit, error))
            await self._record(ItemAsked(progress.evaluation, progress.next_n, *unit, debate=debate))
        return None

    async def _score(self, unit: Unit) -> None:
        progress = self._progress
        debate = progress.asked[unit]
        entries = await self._feeder.observed(debate, self._found.by.tenant)
        found = await asyncio.to_thread(self._scored, unit, entries)
        await self._record(ItemScored(progress.evaluation, progress.next_n, *unit, debate=debate, score=found))

    def _scored(self, unit: Unit, entries: tuple[Any, ...]) -> dict[str, Any]:
        golden = self._sets[unit.set]
        split = next(asked.split for asked in self._progress.registered.sets if asked.id == unit.set)
        label = golden.labels(split, allow_held=True)[unit.item]
        found = score(golden.asked, golden.asked.item(unit.item), label, observe(entries))
        members: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found))
        return members

    async def _stop(self, by: StoppedBy, why: str) -> None:
        log_lines.EVALUATION_STOPPED(evaluation=self._progress.evaluation, by=by)
        await self._record(EvaluationStopped(self._progress.evaluation, self._progress.next_n, by, why[:2_000]))

    async def _conclude(self) -> None:
        progress = self._progress
        found = await asyncio.to_thread(partial(conclusion_of, progress, self._sets))
        entry = EvaluationConcluded(
            progress.evaluation, progress.next_n, found.hash, found.finding, progress.exploratory
        )
        await self._record(entry, found.result)
        log_lines.EVALUATION_CONCLUDED(evaluation=progress.evaluation, finding=found.finding)


def _cannot_ask(unit: Unit, error: GainsayError) -> str:
    return f"{unit.item} cannot be asked in {unit.arm}: {error.public_detail}"
