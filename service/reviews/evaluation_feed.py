"""Goes on with evaluations, a move at a time, beside the worker.

A turn of an evaluation, which one process has at a time:

    1. Its entries are read, and followed (`service.evaluation.run`).
    2. While its registration is under no checkpoint, it waits. The checkpoint is recorded before the first case, so
       that the records prove it: no call is made before the question is provable (`service.reviews.evaluation_proof`).
    3. A process that runs another policy, other prompts or another build than the plan pins leaves it alone; so does
       one that never had its sets at hand.
    4. The next move is made, and the one after it, until it has to wait for a debate.

A debate is opened in the transaction that records its `item.asked`. Of two entries with one number one alone is
recorded: where a person's stop comes first, no debate is opened that no entry names. A debate has a key that is made of
evaluation, item, arm and repeat, so a turn that was cut off anywhere, or two feeders at one evaluation, open it once.
One that is there without its entry, of the version before, gets it. One statement records the scores of a move.

A debate is scored when its end is recorded, whatever end that is. Labels are read there, and nowhere else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from service import log_lines, telemetry
from service.audit.evaluation_events import (
    EvaluationConcluded,
    EvaluationEntry,
    EvaluationProven,
    EvaluationStopped,
    ItemAsked,
    ItemScored,
    StoppedBy,
)
from service.audit.record import Writer
from service.debate.whose import WHOSE
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
from service.evaluation.run.moves import ROTATED, Ask, Conclude, Move, Prove, Rest, Score, Seen, Stop, move_after
from service.evaluation.run.progress import Progress
from service.evaluation.run.results import conclusion_of
from service.evaluation.run.units import Unit
from service.evaluation.scoring import observe, score
from service.evaluation.sets.golden_set import GoldenSet
from service.reviews import Reviews
from service.reviews.batch_callers import caller_of
from service.reviews.evaluation_cases import Asking, case_of
from service.reviews.evaluation_counting import count_entry, spent_of
from service.reviews.evaluation_proof import proof_of
from service.reviews.evaluations import EvaluationDesk, pins_of
from service.reviews.feeding import BUSY_S, IDLE_S, Feeder
from service.reviews.submission import AskedWith, Submitted
from service.store import evaluations
from service.store.evaluations import ClaimedEvaluation, Wait
from service.store.stored_debate import read_debate

TAKEN = 2
"""The most evaluations that a process takes in one go."""
REST_S, LATER_S = 0.2, 5.0
"""How long an evaluation has no other turn: where it waits for a debate, and after a fault or for something outside."""
FOLLOWED = 8
"""The most evaluations that a process has followed between their turns; any other is read from its first entry."""
LOOK_S = 1.0
"""How often a turn looks at the files of its sets, and at the caller, after its beginning."""
TOGETHER = 32
"""The most debates that a move opens, and the most scores that are recorded together. After a start or a fault it is
one score, then two, then four: a process that ends in each turn records some nevertheless."""


class _Waits(GainsayError):
    """The evaluation waits for something outside; ``reason`` and ``detail`` say for what."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class EvaluationFeeder(Feeder):
    """Goes on with every tenant's evaluations until it is stopped; ``only`` names one that it goes on with alone."""

    AWAY, BACK, FAULT = log_lines.EVALUATIONS_WAIT, log_lines.EVALUATIONS_GO_ON, log_lines.EVALUATIONS_FAULT

    def __init__(
        self,
        desk: EvaluationDesk,
        reviews: Reviews,
        writer: Writer,
        lease_s: float,
        *,
        only: str | None = None,
    ) -> None:
        super().__init__(writer, lease_s)
        self.desk = desk
        self._database = desk.database
        self._reviews = reviews
        self.only = only
        self._followed: dict[str, Progress] = {}
        self._logs: dict[str, str] = {}

    def count_fault(self) -> None:
        """Count a fault that ended a round."""
        telemetry.EVALUATION_FAULTS.inc()

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
        if not force and not self._is_renewal_due():
            return True
        self._renewed = time.monotonic()
        kept = await evaluations.renew_evaluations(self._database, self._name, self._lease_s, [found.evaluation])
        return found.evaluation in kept

    async def _turn(self, found: ClaimedEvaluation) -> None:
        """One turn of an evaluation; what it waits for is kept with it."""
        WHOSE.set(found.by.tenant)  # of its threads too, which read labels and work out scores
        wait, rest_s = None, REST_S
        with telemetry.EVALUATION_TURN_SECONDS.time():
            try:
                await self._go_on(found)
            except _Waits as waits:
                wait, rest_s = Wait(waits.reason, waits.detail), LATER_S if self.only is None else REST_S
            except Fenced:  # another process was quicker: what it recorded is read at the next turn
                self._followed.pop(found.evaluation, None)
            except (StoreUnavailable, AuditUnavailable) as error:
                self._followed.pop(found.evaluation, None)
                wait, rest_s = Wait("database", "the database does not answer"), LATER_S
                log_lines.EVALUATION_WAITS(detail=error.detail, code=error.code, evaluation=found.evaluation)
            except Exception as error:  # noqa: BLE001 - one evaluation must not keep the others waiting for its lease
                self._followed.pop(found.evaluation, None)
                words = f"a fault of the service ({type(error).__name__}), which its log has"
                wait, rest_s = Wait("fault", words), LATER_S
                telemetry.EVALUATION_FAULTS.inc()
                log_lines.EVALUATION_FAULT.raised(evaluation=found.evaluation)
        spent = spent_of(self._followed.get(found.evaluation))
        self._forget_ended(found.evaluation)
        await evaluations.release_evaluation(
            self._database, found.evaluation, self._name, rest_s, wait=wait, spent=spent
        )

    async def _go_on(self, found: ClaimedEvaluation) -> None:
        """Make moves until there is none to make now; raises `_Waits` where something outside is awaited."""
        most = TOGETHER if found.evaluation in self._followed else 1
        progress = await self._follow(found)
        places = await self._places(found.by.tenant)
        ids = {asked.id for asked in progress.registered.sets}
        sets, revoked, looked = dict[str, GoldenSet](), False, float("-inf")
        ended = await evaluations.ended_of(self._database, found.by.tenant, progress.under_way.values())
        while await self.keeps(found):
            if time.monotonic() - looked >= LOOK_S:
                today, tenant = datetime.now(UTC).date(), found.by.tenant
                sets = dict(await asyncio.to_thread(self.desk.shelf.at_hand, today, tenant, ids))
                revoked = await evaluations.is_revoked(self._database, found.evaluation, found.by.tenant)
                looked = time.monotonic()
            self._expect_pinned(found, progress)
            self._expect_known(progress)
            seen = Seen(
                {name: golden.hash for name, golden in sets.items()},
                ended,
                places,
                revoked=revoked,
                rotated=await self.desk.logs.current(found.by.tenant) != await self._log(found),
            )
            move = move_after(progress, seen)
            if isinstance(move, Rest):
                if move.until == "set":
                    raise _Waits("set", "it was stopped, and what was asked is scored once its sets are as registered")
                return
            await _Turn(self, found, progress, sets, most).make(move)
            most = min(2 * most, TOGETHER)

    async def _follow(self, found: ClaimedEvaluation) -> Progress:
        """The evaluation as recorded; what was followed before is not read again."""
        progress = self._followed.pop(found.evaluation, None)
        first = progress.next_n if progress else 0
        entries = await evaluations.read_entries(self._database, found.evaluation, found.by.tenant, first)
        if progress is None:
            progress = Progress.of(entries)
        else:
            for entry in entries:
                progress.take(entry)
        self._followed[found.evaluation] = progress
        while len(self._followed) > FOLLOWED:  # another process may have ended one, so none stays for ever
            del self._followed[next(iter(self._followed))]
        return progress

    def _forget_ended(self, evaluation: str) -> None:
        progress = self._followed.get(evaluation)
        if progress is not None and progress.is_over:
            del self._followed[evaluation]
            self._logs.pop(evaluation, None)

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
                raise _Waits("pin", f"the plan pins another {name} than runs here; go on with the one that it pins")

    def _expect_known(self, progress: Progress) -> None:
        for asked in progress.registered.sets:
            if asked.id not in self.desk.shelf.seen:
                raise _Waits(
                    "set",
                    f"this worker was not given the set {asked.id}; name its folder in GAINSAY_EVALUATION_SETS "
                    "of workers, or resume the evaluation with --sets FOLDER",
                )

    async def record(
        self,
        found: ClaimedEvaluation,
        progress: Progress,
        entries: Sequence[EvaluationEntry],
        result: bytes | None = None,
    ) -> None:
        """Record the next entries, all or none, and follow them."""
        log = await self._log(found)
        await evaluations.add_entries(self._database, entries, found.by.tenant, log, self._writer, result=result)
        self.follow(progress, entries)

    @staticmethod
    def follow(progress: Progress, entries: Sequence[EvaluationEntry]) -> None:
        """Follow entries that were recorded here."""
        for entry in entries:
            progress.take(entry)
            count_entry(entry, progress)

    async def _log(self, found: ClaimedEvaluation) -> str:
        """The log of the registration, in which all of its records are."""
        if (log := self._logs.get(found.evaluation)) is None:
            log = await evaluations.log_of(self._database, found.evaluation, found.by.tenant)
            self._logs[found.evaluation] = log
        return log

    async def is_elsewhere(self, debate: str, found: ClaimedEvaluation) -> bool:
        """Whether a debate is in another log than the registration, which was rotated as it was opened."""
        return await evaluations.log_of_item(self._database, debate, found.by.tenant) != await self._log(found)

    async def proof(self, found: ClaimedEvaluation) -> str:
        """The registration's proof of inclusion; raises `_Waits` while there is none."""
        proof = await proof_of(self._database, found.evaluation, found.by.tenant)
        if proof is None:
            raise _Waits("checkpoint", "its registration is under no checkpoint yet")
        return proof

    async def open(
        self, asking: Asking, unit: Unit, found: ClaimedEvaluation, asked_by: Callable[[str], ItemAsked]
    ) -> Submitted:
        """The debate of a unit, which is opened with its entry unless it is there."""
        asked = AskedWith(await self._log(found), self._writer, asked_by)
        return await self._reviews.open_item(case_of(asking, unit), caller_of(found.by), asked)

    async def observed(self, debate: str, tenant: str) -> tuple[Any, ...]:
        """The entries of a debate, held against what commits to them."""
        stored = await read_debate(self._database, debate, tenant)
        return tuple(record.entry for record in stored.records)


class _Turn:
    """The moves of one evaluation, by a feeder that has it."""

    def __init__(
        self,
        feeder: EvaluationFeeder,
        found: ClaimedEvaluation,
        progress: Progress,
        sets: Mapping[str, GoldenSet],
        most: int,
    ) -> None:
        self._feeder = feeder
        self._found = found
        self._progress = progress
        self._sets = sets
        self._most = most

    async def make(self, move: Move) -> None:
        """Make a move and record it; raises `_Waits`, `Fenced` and the errors of the store."""
        match move:
            case Prove():
                await self._prove()
            case Ask(units):
                await self._ask(units[:TOGETHER])
            case Score(units):
                await self._score(units[: self._most])
            case Stop(by, why):
                await self._stop(by, why)
            case Conclude():
                await self._conclude()
            case Rest():
                return

    async def _record(self, entries: Sequence[EvaluationEntry], result: bytes | None = None) -> None:
        if entries:
            await self._feeder.record(self._found, self._progress, entries, result)

    async def _prove(self) -> None:
        proof = await self._feeder.proof(self._found)
        await self._record([EvaluationProven(self._progress.evaluation, self._progress.next_n, proof)])

    async def _ask(self, units: Sequence[Unit]) -> None:
        """Open debates as far as there is room for them, each with its record."""
        progress = self._progress
        asked = {name: golden.asked for name, golden in self._sets.items()}
        ceiling = self._feeder.desk.deployment(self._found.by.tenant).policy.debate.ceiling_max
        plan_hash = progress.registered.plan_hash
        asking = Asking(progress.evaluation, progress.plan, plan_hash, asked, ceiling, progress.most)
        for unit in units:
            if progress.stopped is not None or not await self._feeder.keeps(self._found):
                return
            await self._open(asking, unit)

    async def _open(self, asking: Asking, unit: Unit) -> None:
        """Open the debate of a unit with its record, or record that it cannot be; raises `_Waits`."""
        progress = self._progress

        def asked_by(debate: str) -> ItemAsked:
            return ItemAsked(progress.evaluation, progress.next_n, *unit, debate=debate)

        try:
            opened = await self._feeder.open(asking, unit, self._found, asked_by)
        except QueueFull as error:
            raise _Waits("places", error.public_detail) from error
        except BudgetExhausted as error:
            if error.ever:
                raise _Waits("money", error.public_detail) from error
            await self._stop("fault", _cannot_ask(unit, error))
        except (InvalidCase, TooLarge, CeilingTooSmall, IdempotencyKeyReused) as error:
            await self._stop("fault", _cannot_ask(unit, error))
        else:
            entry = asked_by(opened.debate)
            if not opened.replayed:
                self._feeder.follow(progress, [entry])
            elif await self._feeder.is_elsewhere(opened.debate, self._found):
                await self._stop("fault", ROTATED)
            else:
                await self._record([entry])

    async def _score(self, units: Sequence[Unit]) -> None:
        """Score debates that have ended."""
        progress, ended = self._progress, dict[Unit, tuple[Any, ...]]()
        for unit in units:
            if not await self._feeder.keeps(self._found):
                break
            ended[unit] = await self._feeder.observed(progress.asked[unit], self._found.by.tenant)
        scores = await asyncio.to_thread(self._scored, ended)
        await self._record(
            [
                ItemScored(progress.evaluation, n, *unit, debate=progress.asked[unit], score=found)
                for n, (unit, found) in enumerate(scores.items(), progress.next_n)
            ]
        )

    def _scored(self, ended: Mapping[Unit, tuple[Any, ...]]) -> dict[Unit, dict[str, Any]]:
        """The scores of debates by their entries. Labels are read here."""
        labels = {
            asked.id: self._sets[asked.id].labels(asked.split, allow_held=True)
            for asked in self._progress.registered.sets
        }
        scores = dict[Unit, dict[str, Any]]()
        for unit, entries in ended.items():
            asked = self._sets[unit.set].asked
            found = score(asked, asked.item(unit.item), labels[unit.set][unit.item], observe(entries))
            scores[unit] = msgspec.json.decode(msgspec.json.encode(found))
        return scores

    async def _stop(self, by: StoppedBy, why: str) -> None:
        log_lines.EVALUATION_STOPPED(evaluation=self._progress.evaluation, by=by)
        await self._record([EvaluationStopped(self._progress.evaluation, self._progress.next_n, by, why[:2_000])])

    async def _conclude(self) -> None:
        progress = self._progress
        found = await asyncio.to_thread(partial(conclusion_of, progress, self._sets))
        entry = EvaluationConcluded(
            progress.evaluation, progress.next_n, found.hash, found.finding, progress.exploratory
        )
        await self._record([entry], found.result)
        log_lines.EVALUATION_CONCLUDED(evaluation=progress.evaluation, finding=found.finding)


def _cannot_ask(unit: Unit, error: GainsayError) -> str:
    return f"{unit.item} cannot be asked in {unit.arm}: {error.public_detail}"
