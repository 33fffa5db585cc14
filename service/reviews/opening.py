"""From a request to the records that open its debate, or to a quote; nothing is written here."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import NamedTuple

from msgspec.structs import replace

from service import intake
from service.audit.record import SALT_BYTES, Context, Record, RecordPlace, Writer, commit, encode_context
from service.debate.amounts import MicroUSD
from service.debate.entries import Arrival, DebateStarted, Entry, GateDecided
from service.debate.model import Case
from service.identity.caller import Caller
from service.intake import Deployment, Prepared, expected_cost
from service.intake.model_ranking import Standing
from service.intake.moderator_tilts import RecordedTilt
from service.intake.quote import CaseQuote, quote
from service.intake.request import CaseRequest, document_ids
from service.running import versions
from service.store import spend
from service.store.clock import DatabaseTime
from service.store.sealing import NewDebate, seal_entry, times, uuid7


class Earlier(NamedTuple):
    """What the tenant's earlier debates say of models: track records, and findings about moderators that stand."""

    standings: tuple[Standing, ...] = ()
    tilts: tuple[RecordedTilt, ...] = ()


def prepare(
    request: CaseRequest,
    deployment: Deployment,
    caller: Caller,
    log: str,
    earlier: Earlier,
    clock: DatabaseTime,
    *,
    arrival: Arrival | None = None,
) -> tuple[Prepared, NewDebate, list[Entry]]:
    """A checked case, and the records that open its debate.

    ``clock`` dates them and chooses the day of the prices: a verifier finds the day by the records.
    ``arrival`` is how the case came.
    """
    salts = {name: secrets.token_bytes(SALT_BYTES) for name in document_ids(request)}
    today = datetime.fromtimestamp(clock.now(), UTC)
    deployment = replace(deployment, day=today.date().isoformat())
    prepared = intake.prepare(request, deployment, caller.role, salts, today, earlier.standings)
    prepared = replace(prepared, tilts=earlier.tilts)
    return prepared, *_opening(prepared, deployment, caller, log, salts, clock.now(), arrival=arrival)


def _opening(
    prepared: Prepared,
    deployment: Deployment,
    caller: Caller,
    log: str,
    salts: dict[str, bytes],
    now: float,
    *,
    arrival: Arrival | None,
) -> tuple[NewDebate, list[Entry]]:
    """The records that open a debate, dated ``now`` as its id is.

    The seed is the hash of the first record, which no caller can choose.
    """
    salt, context = secrets.token_bytes(SALT_BYTES), encode_context(_context(prepared.case))
    batch = arrival.batch if arrival else None
    place = RecordPlace(log, caller.tenant, uuid7(now), deployment.policy.gate.hash, commit(salt, context))
    writer = Writer(caller.actor, deployment.build_hash)
    records: list[Record] = []
    entries: list[Entry] = []

    def add(entry: Entry) -> Record:
        prev = records[-1].leaf_hash if records else b""
        records.append(seal_entry(entry, place=place, writer=writer, n=len(records), prev=prev, times=times(now)))
        entries.append(entry)
        return records[-1]

    seed = add(prepared.received(caller.subject, arrival)).leaf_hash.hex()
    add(GateDecided(prepared.decision, dict(versions.CURRENT)))
    started: DebateStarted | None = None
    if prepared.decision.debate:
        started = intake.start(prepared, deployment, seed)
        add(started)
    new = NewDebate(
        place=place,
        context=(salt, context),
        case=prepared.case,
        format=started.format if started else None,
        state="queued" if started else "declined",
        ceiling=prepared.ceiling,
        deadline=prepared.case.deadline,
        records=tuple(records),
        documents={name: (salts[name], text.encode()) for name, text in prepared.sources.items()},
        limited=batch is not None or spend.limited(deployment.policy.budgets.of(caller.tenant)),
        batch=batch,
        templates=deployment.prompts.templates,
    )
    return new, entries


def _context(case: Case) -> Context:
    # Not shared with `service.verify.records.about` on purpose: an error in one of the two shows there.
    return Context(
        task_type=case.task_type,
        downside=str(case.estimated_downside),
        downside_basis=case.downside_basis,
        use_case=case.use_case,
        intended_use=case.intended_use,
        materiality=case.materiality,
    )


def quoted(request: CaseRequest, deployment: Deployment, role: str, standings: tuple[Standing, ...]) -> CaseQuote:
    """A quote. Counting long documents takes time, so callers run this in a thread."""
    salts = dict.fromkeys(document_ids(request), bytes(SALT_BYTES))  # a quote keeps nothing, so its salts hide nothing
    return quote(intake.prepare(request, deployment, role, salts, datetime.now(UTC), standings), deployment)


def least(prepared: Prepared, deployment: Deployment) -> MicroUSD:
    """The least that the debate of a case needs to begin. Callers run this in a thread, as `prepare`."""
    started = intake.fix(prepared, deployment, seed="")
    tokens = expected_cost.counted(prepared.case, prepared.sources, started, deployment.prompts, round_=1)
    return expected_cost.needed(prepared.case, started, tokens, deployment.prompts, prepared.given)
