"""Two tenants whose debates have the same shape, and statements of the service with and without their clauses.

A mutant is a statement in which exactly one clause about the tenant holds for every row. A scenario runs a statement as
the service's login would, for one tenant with the ids of the other's rows, in a transaction that is rolled back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import psycopg
from msgspec import Struct
from psycopg.rows import dict_row

from service.audit.log_events import ReportIssued
from service.identity.caller import Caller
from service.store.issued import issued_key, record_issued
from service.store.pool import Database as Pool
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import Bench, a_request, a_writer, bench
from tests.fixtures.sequencing import a_sequencer

OURS, THEIRS, NOBODY = "acme", "rival", "nobody"
"""The tenant that asks, the one whose ids it asks with, and one that has nothing."""
CLAUSE = re.compile(
    rb"(?P<given>(?:\w+\.)?tenant = %\(tenant\)s)"
    rb"|(?P<service>(?:\w+\.)?tenant IS NOT DISTINCT FROM %\(tenant\)s::text)"
    rb"|(?P<some>(?:\w+\.)?tenant = ANY \(%\(tenants\)s\))"
    rb"|(?P<joined>\w+\.tenant = \w+\.tenant)"
    rb"|(?P<own>EXISTS \(SELECT FROM own\))"
)
"""A clause about the tenant: the given one, that or none for what is the whole service's, one of those given, that of
another row, or that such a row was found."""
OPEN = {
    "given": b"%(tenant)s::text IS NOT NULL",
    "service": b"true",
    "some": b"%(tenants)s::text[] IS NOT NULL",
    "joined": b"true",
    "own": b"true",
}
VOLATILE = frozenset({"left_s", "age_s", "longest_s", "ends_s"})
"""Columns that the clock moves."""


class Tenant(Struct, frozen=True, kw_only=True):
    """What a tenant has: a debate that has ended and one that waits, logs, a report that was handed out, and a key."""

    done: UUID
    queued: UUID
    head: Mapping[str, Any]
    log: str
    opened: str
    size: int
    key: bytes
    report: Mapping[str, Any]


class Scenario(Struct, frozen=True, kw_only=True):
    """A run of a statement that must say and change nothing of what another tenant has.

    The expected result is that of the statement with the values ``beside`` (ids that nobody has), or without ``craft``,
    which adds rows of one tenant about the other's, or ``expected``. ``state`` is a query whose answer must not change.
    ``sequencer`` says whose login runs it.
    """

    query: str
    given: Mapping[str, Any]
    beside: Mapping[str, Any] = {}
    craft: str = ""
    always: str = ""
    state: str = ""
    sequencer: bool = False
    expected: tuple[Any, ...] | None = None


def mutants(sql: bytes) -> Iterator[bytes]:
    """The statement without each of its clauses in turn."""
    for found in CLAUSE.finditer(sql):
        yield sql[: found.start()] + OPEN[str(found.lastgroup)] + sql[found.end() :]


class Desk:
    """Runs statements with the rights of the service's login, or the sequencer's, and leaves nothing behind."""

    def __init__(self, database: Database) -> None:
        self.connection = psycopg.connect(
            database.admin_url, autocommit=True, options="-c search_path=gainsay", row_factory=dict_row
        )
        self._service, self._sequencer = (
            str(psycopg.conninfo.conninfo_to_dict(url)["user"])
            for url in (database.service_url, database.sequencer_url)
        )

    def run(self, scenario: Scenario, sql: bytes, given: Mapping[str, Any], *, crafted: bool) -> Any:
        """The rows, and whether the state stayed as it was."""
        with self.connection.transaction(force_rollback=True):
            for statement in (scenario.always, scenario.craft if crafted else ""):
                if statement:
                    self.connection.execute(statement.encode())
            login = self._sequencer if scenario.sequencer else self._service
            self.connection.execute(f'SET LOCAL ROLE "{login}"'.encode())
            before = self._state(scenario)
            rows = [
                {name: value for name, value in row.items() if name not in VOLATILE}
                for row in self.connection.execute(sql, given)
            ]
            return rows, self._state(scenario) == before

    def _state(self, scenario: Scenario) -> list[Any]:
        return self.connection.execute(scenario.state.encode()).fetchall() if scenario.state else []

    def expected(self, scenario: Scenario, sql: bytes) -> Any:
        """What the statement says to one who asks with ids that nobody has, or before rows were crafted."""
        if scenario.expected is not None:
            return list(scenario.expected), True
        if scenario.beside:
            return self.run(scenario, sql, {**scenario.given, **scenario.beside}, crafted=True)
        assert scenario.craft, f"{scenario.query}: a scenario needs something to be compared with"
        return self.run(scenario, sql, scenario.given, crafted=False)


async def settle(database: Database) -> dict[str, Tenant]:
    """Put both tenants into a database."""
    async with bench(database.service_url) as service:
        found = {name: await _debates(service, name) for name in (OURS, THEIRS)}
        issued = {name: await _issue(service, name, str(done)) for name, (done, _) in found.items()}
        async with a_sequencer(database) as sequencer:
            await sequencer.catch_up()
        heads = {name: await read_head(service.database, str(queued), name) for name, (_, queued) in found.items()}
    made = {}
    with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin:
        for name, (done, queued) in found.items():
            log, opened = f"localhost/{name}/1", f"localhost/{name}/2"
            size = _vouch(admin, name, log, opened, done)
            (key,) = admin.execute("SELECT key FROM idempotency_key WHERE tenant = %s", [name]).fetchone() or (b"",)
            made[name] = Tenant(
                done=done,
                queued=queued,
                head=heads[name],
                log=log,
                opened=opened,
                size=size,
                key=key,
                report=issued[name],
            )
    return made


async def _debates(service: Bench, tenant: str) -> tuple[UUID, UUID]:
    """A debate that has ended, and one that waits."""
    caller = Caller(tenant=tenant)
    done = (await service.reviews.submit(a_request(), caller)).debate
    assert await service.claim() == done
    await (await service.runner(done)).run()
    queued = (await service.reviews.record(a_request(), caller, f"a key of {tenant}")).debate
    return UUID(done), UUID(queued)


async def _issue(service: Bench, tenant: str, debate: str) -> dict[str, Any]:
    database: Pool = service.database
    head = await read_head(database, debate, tenant)
    event = ReportIssued(debate, bytes(head["last_hash"]).hex(), "pdf", "a4", "report/1", f"{tenant:0<64}")
    await record_issued(database, event, head, head["log"], a_writer(tenant))
    return issued_key(event)


def _vouch(admin: psycopg.Connection[Any], tenant: str, log: str, opened: str, debate: UUID) -> int:
    """Add what only witnesses, authorities, full tiles, panels and a second log add; returns the size of the first."""
    (size,) = admin.execute("SELECT max(size) FROM checkpoint WHERE log = %s", [log]).fetchone() or (0,)
    admin.execute("INSERT INTO cosignature (log, size, witness, line) VALUES (%s, %s, 'w1', 'a line')", [log, size])
    admin.execute(
        "INSERT INTO time_stamp (log, size, stamped, authority, token) VALUES (%s, %s, now(), %s, 'token')",
        [log, size, bytes(32)],
    )
    admin.execute("INSERT INTO tile VALUES (%s, 0, 0, %s)", [log, bytes(8192)])
    admin.execute("INSERT INTO track_record VALUES (%s, %s, 'm', 'factual', 1, 2, 3, 4)", [tenant, debate])
    chain = UUID(int=debate.int ^ 1)  # in the same partition
    admin.execute("INSERT INTO log_epoch (log, tenant, epoch, key) VALUES (%s, %s, 2, 'k')", [opened, tenant])
    admin.execute("INSERT INTO batch (log, first, next, root, frontier) VALUES (%s, 0, 1, %s, '')", [opened, bytes(32)])
    admin.execute("INSERT INTO entry (debate, n, leaf) VALUES (%s, 0, %s)", [chain, b'{"kind":"log.opened"}'])
    admin.execute("INSERT INTO leaf VALUES (%s, 0, %s, 0, %s)", [opened, chain, bytes(32)])
    return int(size)
