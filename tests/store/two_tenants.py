"""A database with debates, logs and evidence of two tenants; some rows as a version without tenants' columns
leaves them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

import psycopg

from service.audit.log_events import ReportIssued
from service.identity.caller import Caller
from service.store import contents
from service.store.current_log import CurrentLogs
from service.store.issued import record_issued
from service.store.pool import Database as EveryDatabase
from service.store.pool import Row
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import Bench, CannedProvider, a_request, a_writer
from tests.fixtures.sequencing import a_sequencer

OURS, THEIRS = "default", "other"
TENANTS = (OURS, THEIRS)
SUBJECTS = {OURS: f"sub_{'a' * 26}", THEIRS: f"sub_{'b' * 26}"}
"""A reviewer of each tenant, to whom a case is assigned."""
BATCHES = {OURS: UUID(int=0x019A << 112 | 0xA), THEIRS: UUID(int=0x019A << 112 | 0xB)}
"""A batch of each tenant."""
EVALUATIONS = {OURS: UUID(int=0x019A << 112 | 0xE), THEIRS: UUID(int=0x019A << 112 | 0xF)}
"""An evaluation of each tenant, which has looked at held labels; one with a result has the id of the batch."""
REST = """
INSERT INTO tenant (name, created_by) VALUES (%(tenant)s, 'test') ON CONFLICT DO NOTHING;
INSERT INTO subject (id, tenant, source, external, kind)
VALUES (%(subject)s, %(tenant)s, 'key', %(subject)s, 'person');
INSERT INTO derived_key (tenant, key, debate) VALUES (%(tenant)s, sha256('key 1'), %(debate)s);
INSERT INTO assignment (tenant, debate, subject, by_subject) VALUES (%(tenant)s, %(debate)s, %(subject)s, 'test');
INSERT INTO spend_limit (tenant, period, starts, ceiling, drawn) VALUES (%(tenant)s, 'day', current_date, 9, 5);
INSERT INTO case_batch (batch, tenant, subject, role, kind, via, roles, credential, name, lines, key, body)
VALUES (%(batch)s, %(tenant)s, %(subject)s, 'requester', 'person', 'apiKey', '{requester}', '', 'of a tenant', 2,
        sha256('key 1'), sha256('body'));
INSERT INTO batch_line (batch, line, tenant, debate) VALUES (%(batch)s, 1, %(tenant)s, %(debate)s);
INSERT INTO batch_line (batch, line, tenant, key, body) VALUES (%(batch)s, 2, %(tenant)s, 'k', 'a case');
INSERT INTO evaluation (evaluation, tenant, name, subject, role, kind, via, roles, credential, held, scored, key, body)
VALUES (%(evaluation)s, %(tenant)s, 'of a tenant', %(subject)s, 'validator', 'person', 'apiKey', '{validator}', '',
        '{set-a}', true, sha256('key 1'), sha256('body'));
INSERT INTO evaluation (evaluation, tenant, name, subject, role, kind, via, roles, credential, held, ended, result)
VALUES (%(batch)s, %(tenant)s, 'with a result', %(subject)s, 'validator', 'person', 'apiKey', '{validator}', '', '{}',
        clock_timestamp(), 'a result');
INSERT INTO evaluation_entry (tenant, evaluation, n, record) VALUES (%(tenant)s, %(batch)s, 0, %(proven)s);
INSERT INTO moderator_tilt (finding, tenant, record, alias, model, prompt, pin, aspect)
VALUES (%(evaluation)s, %(tenant)s, %(evaluation)s, 'm', 'm', 'moderator', 'v1', 'side');
INSERT INTO moderator_resolution (finding, tenant, record)
VALUES (gen_random_uuid(), %(tenant)s, gen_random_uuid());
INSERT INTO evaluation_entry (tenant, evaluation, n, record) VALUES (%(tenant)s, %(evaluation)s, 0, %(debate)s);
INSERT INTO batch_limit (batch, tenant, ceiling) VALUES (%(batch)s, %(tenant)s, 9);
UPDATE debate_head SET batch = %(batch)s WHERE tenant = %(tenant)s AND state = 'queued';
INSERT INTO damage (subject, tenant, log, debate, place, what)
VALUES ('debate', %(tenant)s, %(log)s, %(debate)s, 'entry 1', 'is another');
INSERT INTO track_record (tenant, debate, model, question_type, factual_accuracy, logical_consistency, evidence_quality,
                          trajectory_score)
VALUES (%(tenant)s, %(debate)s, 'alder', 'other', 1, 2, 3, 4);
INSERT INTO tile (log, level, idx, hashes) VALUES (%(log)s, 0, 0, decode(repeat('00', 8192), 'hex'));
INSERT INTO cosignature (log, size, witness, line) SELECT log, size, 'witness.example', 'line' FROM checkpoint
WHERE log = %(log)s;
INSERT INTO time_stamp (log, size, stamped, authority, token)
SELECT log, size, clock_timestamp(), sha256('authority'), 'token' FROM checkpoint WHERE log = %(log)s;
"""
"""What else a tenant has, which the bench does not make."""
TENANTLESS = ("entry", "payload", "document", "context", "charge", "pending")
"""The tables whose rows of before have no tenant of their own."""


class Told(EveryDatabase):
    """A database that keeps what debates are opened with."""

    opened: ClassVar[list[dict[str, Any]]] = []

    async def query(self, name: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a named query."""
        if name == "open_debate":
            self.opened.append(dict(params or {}))
        return await super().query(name, params)


class TwoTenants(NamedTuple):
    """The database; each tenant's debates, two that ended, the first of before, and one that is queued."""

    database: Database
    debates: dict[str, tuple[str, str, str]]
    opened: dict[str, dict[str, Any]]
    """What a debate of each tenant was opened with."""

    def log(self, tenant: str) -> str:
        """The tenant's log."""
        return f"localhost/{tenant}/1"

    def ask(self, query: str, *params: object) -> list[Any]:
        """What the database has, as superuser."""
        with psycopg.connect(self.database.admin_url, options="-c search_path=gainsay") as admin:
            return admin.execute(query.encode(), params).fetchall()


def two_tenants(database: Database) -> TwoTenants:
    """Fill a migrated database."""
    debates, opened = asyncio.run(_debated(database))
    with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin:
        for tenant, (first, second, queued) in debates.items():
            cursor = psycopg.ClientCursor(admin)
            given = {
                "tenant": tenant,
                "log": f"localhost/{tenant}/1",
                "debate": second,
                "proven": first,
                "subject": SUBJECTS[tenant],
                "batch": BATCHES[tenant],
                "evaluation": EVALUATIONS[tenant],
            }
            cursor.execute(REST.encode(), given)
            item = "UPDATE gainsay.debate_head SET purpose = 'evaluation', reserve = ceiling + 1 WHERE debate = %s"
            admin.execute(item.encode(), [queued])
            records = "SELECT record FROM gainsay.issued_report WHERE debate = %s"
            for table in TENANTLESS:
                of_before = queued if table == "pending" else first
                admin.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER".encode())
                admin.execute(f"UPDATE {table} SET tenant = NULL WHERE debate = %s".encode(), [of_before])
                admin.execute(f"UPDATE {table} SET tenant = NULL WHERE debate IN ({records})".encode(), [first])
    return TwoTenants(database, debates, opened)


async def _debated(
    database: Database,
) -> tuple[dict[str, tuple[str, str, str]], dict[str, dict[str, Any]]]:
    debates: dict[str, tuple[str, str, str]] = {}
    opened: dict[str, dict[str, Any]] = {}
    async with Told.open(database.service_url, size=2) as store, a_sequencer(database) as sequencer:
        desk = Bench(store, {"offline": CannedProvider()})
        await contents.store_deployment(store, desk.deployment)
        ended = {tenant: [await _ran(desk, tenant, nth) for nth in range(2)] for tenant in TENANTS}
        await sequencer.catch_up()
        for tenant, chains in ended.items():
            for debate in chains:
                await _issued(store, tenant, debate)
        await sequencer.catch_up()
        for tenant, (first, second) in ended.items():
            queued = await desk.reviews.record(a_request(), Caller(tenant=tenant, subject=f"sub_{tenant}"), "queued")
            debates[tenant] = first, second, queued.debate
            opened[tenant] = store.opened[-1]
    return debates, opened


async def _ran(desk: Bench, tenant: str, nth: int) -> str:
    found = await desk.reviews.record(a_request(), Caller(tenant=tenant), f"key {nth}")
    assert await desk.claim() == found.debate
    await (await desk.runner(found.debate)).run()
    return found.debate


async def _issued(database: EveryDatabase, tenant: str, debate: str) -> None:
    head = await read_head(database, debate, tenant)
    event = ReportIssued(
        debate=debate,
        last_record=bytes(head["last_hash"]).hex(),
        form="pdf",
        paper="a4",
        template="report/1",
        sha256="00" * 32,
        configuration=None,
    )
    log = await CurrentLogs(database, "localhost").current(tenant)
    await record_issued(database, event, head, log, a_writer("examiner"))
