"""What a caller does with evaluations: hold a plan against what is here, register it, change it, read how it stands.

A plan is recorded before anything is asked (`service.reviews.evaluation_feed` asks, once the record is provable).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import IO
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from service import intake
from service.audit.evaluation_events import (
    ArmQuote,
    EvaluationEntry,
    EvaluationRegistered,
    EvaluationStopped,
    SetAsked,
    is_last,
)
from service.audit.evaluation_rules import EvaluationRules
from service.audit.record import SALT_BYTES, Writer
from service.errors import Fenced, GainsayError, IdempotencyKeyReused, IllegalEntry
from service.evaluation.plan.around import Around, ItemFacts, SetFacts
from service.evaluation.plan.model import Arm, Pins, Plan, plan_hash, plan_members
from service.evaluation.plan.power import Power, planned_units, power_of
from service.evaluation.plan.reading import read_plan
from service.evaluation.plan.tables import InvalidPlan
from service.evaluation.run.progress import Progress
from service.evaluation.run.units import Unit
from service.evaluation.scoring.cases import Wear
from service.evaluation.sets import files
from service.evaluation.sets.coverage import Coverage, coverage
from service.evaluation.sets.golden_set import GoldenSet
from service.identity.caller import Caller
from service.intake import Deployment
from service.intake.quote import quote
from service.intake.request import document_ids
from service.policy.seating import SCREENER
from service.reviews.batch_callers import bringer_of
from service.reviews.evaluation_cases import Asking, case_of
from service.reviews.evaluation_counting import count_entry
from service.reviews.evaluation_sets import GoldenShelf
from service.reviews.evidence import Bundled, EvidenceDesk, bundle_evaluation
from service.store import evaluations
from service.store.clock import database_time
from service.store.current_log import CurrentLogs
from service.store.evaluation_room import ItemRoom, too_small
from service.store.evaluations import Keyed, StoredEvaluation
from service.store.left_logs import refuse_lost_evaluation
from service.store.pool import Database
from service.store.sealing import uuid7

UNREGISTERED = "00000000-0000-7000-8000-000000000000"
"""In the place of an evaluation's id while its plan is priced: an id of the same length costs the same."""


class NotConcluded(GainsayError):
    """There is no report of an evaluation before it is concluded."""

    code = "not_concluded"
    status = 409
    title = "The evaluation has no result"


class Planned(Struct, frozen=True):
    """A plan without a fault: its hash, what it could see, what it would cost, and the sets that it asks."""

    plan: Plan
    hash: str
    power: Power
    quote: tuple[ArmQuote, ...]
    sets: tuple[SetAsked, ...]
    rules: EvaluationRules


class Standing(Struct, frozen=True):
    """An evaluation as it stands: its row, and its entries followed."""

    stored: StoredEvaluation
    progress: Progress


class Registered(Struct, frozen=True):
    """An evaluation that is recorded. A ``replayed`` one was recorded before, under the same key."""

    evaluation: str
    replayed: bool


class SetAtHand(Struct, frozen=True):
    """A golden set that this process can ask. ``looks`` are those of the tenant at its held split so far.

    A ``worn`` one was looked at so often that a further look supports no claim. ``shipped``: it came with this build.
    """

    golden: GoldenSet
    has: Coverage
    looks: int
    worn: bool
    shipped: bool


class EvaluationDesk:
    """Evaluations of every tenant, as callers use them; each statement asks the ``database`` as the tenant sees it."""

    def __init__(
        self, database: Database, deployment: Callable[[str], Deployment], logs: CurrentLogs, shelf: GoldenShelf
    ) -> None:
        self.database = database
        self.deployment = deployment
        self.logs = logs
        self.shelf = shelf

    async def plan(self, text: str, caller: Caller) -> Planned:
        """Read a plan file; raises `InvalidPlan` with all of its faults, and `StoreUnavailable`."""
        now, caller = datetime.now(UTC), self._asking(caller)
        sets = await asyncio.to_thread(self.shelf.at_hand, now.date(), caller.tenant)
        looks = await evaluations.looks_at_held(self.database, caller.tenant, list(sets))
        return await asyncio.to_thread(_planned, text, self.deployment(caller.tenant), caller, sets, looks)

    async def sets(self, caller: Caller) -> list[SetAtHand]:
        """The golden sets that the caller's tenant may ask in this process, by id; raises `StoreUnavailable`."""
        found = await asyncio.to_thread(self.shelf.at_hand, datetime.now(UTC).date(), caller.tenant)
        looks = await evaluations.looks_at_held(self.database, caller.tenant, list(found))
        most = self.deployment(caller.tenant).policy.evaluations.held_looks
        return await asyncio.to_thread(_sets_at_hand, found, looks, most)

    async def register(self, planned: Planned, caller: Caller, keyed: Keyed | None = None) -> str:
        """Record a plan; returns the id of the evaluation, which goes on by itself from now on.

        A look at a held split that was begun since the plan was read counts: two plans that are registered at once have
        different looks. Raises `InvalidPlan` where a set is worn by that, `AuditUnavailable`, and `Fenced` where an
        evaluation stands for this key.
        """
        evaluation = uuid7((await database_time(self.database)).now())
        log = await self.logs.current(caller.tenant)
        by = bringer_of(self._asking(caller))
        while True:
            held = {asked.id: asked.looks for asked in planned.sets if asked.split == "held"}
            entry = _registration(evaluation, 0, planned)
            try:
                await evaluations.register(self.database, entry, by, held, log, self._writer(caller), keyed=keyed)
            except Fenced:
                looks = await evaluations.looks_at_held(self.database, caller.tenant, list(held))
                if looks == held:
                    raise
                planned = _looked_at(planned, looks)
            else:
                count_entry(entry)
                return evaluation

    async def bring(self, text: str, caller: Caller, key: str | None) -> Registered:
        """Read a plan and record it; under one ``key`` a tenant's plan is recorded once.

        Raises `InvalidPlan` with all of its faults and nothing is recorded, `IdempotencyKeyReused` for another plan
        under a used key, and `AuditUnavailable`.
        """
        if key is None:
            return Registered(await self.register(await self.plan(text, caller), caller), replayed=False)
        keyed = Keyed(sha256(key.encode()).digest(), sha256(text.encode()).digest())
        if before := await self._repeated(keyed, caller):
            return before
        planned = await self.plan(text, caller)
        try:
            return Registered(await self.register(planned, caller, keyed), replayed=False)
        except Fenced:
            if before := await self._repeated(keyed, caller):
                return before
            raise

    async def _repeated(self, keyed: Keyed, caller: Caller) -> Registered | None:
        """The evaluation that was recorded under this key; raises `IdempotencyKeyReused` for another one."""
        found = await evaluations.find_keyed_evaluation(self.database, caller.tenant, keyed.key)
        if found is None:
            return None
        if found.subject != caller.subject:
            raise IdempotencyKeyReused(
                "another caller of the tenant has used this key; send a new key, such as a new UUID, with each plan"
            )
        if found.sent != keyed.sent:
            raise IdempotencyKeyReused(
                f"the key belongs to evaluation {found.evaluation}, which has another plan; send a new key with a new "
                "plan, or the first plan again under this key"
            )
        return Registered(found.evaluation, replayed=True)

    async def change(self, evaluation: str, planned: Planned, caller: Caller) -> Progress:
        """Register another plan for an evaluation under way; after its first score it is exploratory for good.

        Raises `InvalidPlan` for a plan that asks something else, or where nothing may be changed any more.
        """
        progress = Progress.of((await self._recorded(evaluation, caller))[1])
        entry = replace(_registration(evaluation, progress.next_n, planned), sets=progress.registered.sets)
        if [_place(asked) for asked in planned.sets] != [_place(asked) for asked in entry.sets]:
            raise InvalidPlan("the sets of a changed plan are those of the first one; register a new evaluation")
        try:
            progress.take(entry)
        except IllegalEntry as error:
            raise InvalidPlan(error.detail) from error
        log = await evaluations.log_of(self.database, evaluation, caller.tenant)
        await evaluations.add_entries(self.database, [entry], caller.tenant, log, self._writer(caller))
        return progress

    async def stop(self, evaluation: str, why: str, caller: Caller) -> None:
        """Ask nothing more of an evaluation: what was asked is still scored, and what was not counts as missing.

        Raises `NotFound`, and `InvalidPlan` where it has ended or was stopped before.
        """
        while True:
            progress = Progress.of((await self._recorded(evaluation, caller))[1])
            entry = EvaluationStopped(progress.evaluation, progress.next_n, "person", why)
            try:
                progress.take(entry)
            except IllegalEntry as error:
                raise InvalidPlan(f"the evaluation cannot be stopped: {error.detail}") from error
            log = await evaluations.log_of(self.database, evaluation, caller.tenant)
            with suppress(Fenced):  # a feeder has recorded an entry meanwhile
                await evaluations.add_stop(self.database, entry, caller.tenant, log, self._writer(caller))
                count_entry(entry)
                return

    async def read(self, evaluation: str, caller: Caller) -> Standing:
        """How an evaluation stands; raises `NotFound` and `EvidenceDamaged`.

        Its last entry, by which it ends, is not shown before a checkpoint covers it.
        """
        stored, entries = await self._recorded(evaluation, caller)
        if stored.ended is None and is_last(entries[-1]):
            del entries[-1]
        return Standing(stored, Progress.of(entries))

    async def _recorded(self, evaluation: str, caller: Caller) -> tuple[StoredEvaluation, list[EvaluationEntry]]:
        """An evaluation's row, and all of its entries: an end that the row shows is among them."""
        stored = await self.row(evaluation, caller)
        return stored, await self.entries(evaluation, caller.tenant, 0)

    async def concluded(self, evaluation: str, caller: Caller) -> StoredEvaluation:
        """An evaluation's row with its result; raises `NotFound`, `NotConcluded` and `RecordsLost`."""
        stored = await self.row(evaluation, caller)
        if stored.lost:
            await self.refuse_lost(evaluation, caller.tenant)
        if stored.result is None:
            raise NotConcluded(
                "the evaluation ended without a result; GET it for what stopped it"
                if stored.ended is not None
                else "the evaluation is under way and has no result yet; follow its events, or GET it, until it ends"
            )
        return stored

    async def write_bundle(
        self, evaluation: str, caller: Caller, reading: EvidenceDesk, out: IO[bytes], *, held: bool
    ) -> Bundled:
        """Write the bundle of an evaluation whose end is proven; with ``held`` it has labels of splits that are held.

        Raises `NotFound`, `NotConcluded` before the end, `RecordsLost`, and what `bundle_evaluation` raises.
        """
        found = await self.read(evaluation, caller)
        if found.stored.ended is None:
            raise NotConcluded("the evaluation is under way, and its evidence is complete when its end is proven")
        await self.refuse_lost(evaluation, caller.tenant)
        set_of = partial(self.shelf.whole, today=datetime.now(UTC).date(), tenant=caller.tenant)
        return await bundle_evaluation(reading, found.progress, found.stored.result, set_of, out, held=held)

    async def row(self, evaluation: str, caller: Caller) -> StoredEvaluation:
        """An evaluation's row alone, for one who waits for its end; raises `NotFound`."""
        return await evaluations.read_evaluation(self.database, evaluation, caller.tenant)

    async def newest(self, caller: Caller, limit: int) -> list[StoredEvaluation]:
        """The tenant's evaluations, the newest first."""
        return await evaluations.list_evaluations(self.database, caller.tenant, limit)

    async def page(self, caller: Caller, below: UUID | None, limit: int) -> tuple[list[StoredEvaluation], str | None]:
        """A page of the tenant's evaluations, the newest first, and the id behind which the next one begins."""
        found = await evaluations.list_evaluations(self.database, caller.tenant, limit + 1, below)
        return found[:limit], found[limit - 1].evaluation if len(found) > limit else None

    async def entries(self, evaluation: str, tenant: str, first: int) -> list[EvaluationEntry]:
        """The entries from a number on; raises `StoreUnavailable` and `EvidenceDamaged`."""
        return await evaluations.read_entries(self.database, evaluation, tenant, first)

    async def is_provable(self, evaluation: str, tenant: str, n: int) -> bool:
        """Whether a checkpoint covers an entry."""
        return await evaluations.is_provable(self.database, evaluation, tenant, n)

    async def refuse_lost(self, evaluation: str, tenant: str) -> None:
        """Raise `RecordsLost` for an evaluation that has ended, and whose end can never be proven."""
        await refuse_lost_evaluation(self.database, evaluation, tenant)

    def _asking(self, caller: Caller) -> Caller:
        """The caller in the role in which its items are asked: of its roles one that policy lets force a debate."""
        able = self.deployment(caller.tenant).policy.gate.may_force
        role = next((role for role in (caller.role, *caller.roles) if role in able), caller.role)
        return replace(caller, role=role)

    def _writer(self, caller: Caller) -> Writer:
        return Writer(caller.actor, self.deployment(caller.tenant).build_hash)


def pins_of(deployment: Deployment) -> Pins:
    """What runs, as a plan pins it."""
    return Pins(policy=deployment.policy.gate.hash, prompts=deployment.prompts.pin, build=deployment.build_hash)


def _planned(
    text: str, deployment: Deployment, caller: Caller, sets: Mapping[str, GoldenSet], looks: Mapping[str, int]
) -> Planned:
    policy = deployment.policy
    rules = policy.evaluations.rules(policy.models)
    priced: dict[str, ArmQuote] = {}

    def price(plan: Plan, arm: Arm) -> ArmQuote:
        priced[arm.name] = _quote(plan, arm, deployment, caller, sets)
        return priced[arm.name]

    held_against = Around(
        sets={name: _facts(golden, Wear(looks.get(name, 0) + 1, rules.held_looks)) for name, golden in sets.items()},
        models=frozenset(policy.models),
        seats=tuple(seat for seat in policy.seats if seat != SCREENER),
        pins=pins_of(deployment),
        may_hold=caller.may("labels.read"),
        quote=price,
    )
    plan = read_plan(text, held_against)
    power = power_of(plan, planned_units(plan, held_against))
    asked = _asked(plan, sets, looks)
    return Planned(plan, plan_hash(plan), power, tuple(priced.values()), asked, rules)


def _sets_at_hand(sets: Mapping[str, GoldenSet], looks: Mapping[str, int], most: int) -> list[SetAtHand]:
    shipped = files.shipped_ids()
    return [
        SetAtHand(golden, coverage(golden), done, Wear(done + 1, most).worn, name in shipped)
        for name, golden in sorted(sets.items())
        for done in (looks.get(name, 0),)
    ]


def _facts(golden: GoldenSet, wear: Wear) -> SetFacts:
    items = tuple(ItemFacts(item.id, item.group, item.split) for item in golden.asked.active())
    about = golden.manifest
    features = tuple(coverage(golden).features.items())
    return SetFacts(about.version, golden.hash, about.kind, items, wear.worn, about.task_type, features)


def _asked(plan: Plan, sets: Mapping[str, GoldenSet], looks: Mapping[str, int]) -> tuple[SetAsked, ...]:
    return tuple(
        SetAsked(
            id=planned.id,
            version=planned.version,
            sha256=planned.sha256,
            split=planned.split,
            items=tuple(item.id for item in sets[planned.id].asked.active(planned.split)),
            looks=looks.get(planned.id, 0) if planned.split == "held" else 0,
        )
        for planned in plan.sets
    )


def _looked_at(planned: Planned, looks: Mapping[str, int]) -> Planned:
    """The plan with the looks of by now; raises `InvalidPlan` where one of its sets supports no claim any more."""
    sets = tuple(replace(one, looks=looks[one.id]) if one.split == "held" else one for one in planned.sets)
    for one in sets:
        if one.split == "held" and Wear(one.looks + 1, planned.rules.held_looks).worn and not planned.plan.exploratory:
            raise InvalidPlan(
                f"the split held of {one.id} was looked at since the plan was read, and is worn; "
                "write exploratory = true, or take a new set"
            )
    return replace(planned, sets=sets)


def _quote(plan: Plan, arm: Arm, deployment: Deployment, caller: Caller, sets: Mapping[str, GoldenSet]) -> ArmQuote:
    """What an arm costs: its debates together as expected, and the dearest one at most. Raises as `intake.prepare`."""
    asked = {name: golden.asked for name, golden in sets.items()}
    asking = Asking(UNREGISTERED, plan, plan_hash(plan), asked, deployment.policy.debate.ceiling_max)
    now = datetime.now(UTC)
    expected, most = 0, 0
    for planned in plan.sets:
        for item in sets[planned.id].asked.active(planned.split):
            request = case_of(asking, Unit(planned.id, item.id, arm.name, 1)).request
            salts = dict.fromkeys(document_ids(request), bytes(SALT_BYTES))
            priced = quote(intake.prepare(request, deployment, caller.role, salts, now), deployment)
            expected += priced.expected * plan.repeats
            most = max(most, priced.worst)
    if (
        fault := too_small(ItemRoom(most, deployment.policy.evaluations.budget, deployment.policy.budgets.zone))
    ) is not None:
        raise fault
    return ArmQuote(arm.name, expected, most)


def _registration(evaluation: str, n: int, planned: Planned) -> EvaluationRegistered:
    return EvaluationRegistered(
        evaluation, n, plan_members(planned.plan), planned.hash, planned.sets, planned.quote, planned.rules
    )


def _place(asked: SetAsked) -> tuple[str, int, str, str, Sequence[str]]:
    return asked.id, asked.version, asked.sha256, asked.split, asked.items
