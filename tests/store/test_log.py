"""The log of one debate on a real database: whole or not at all, fenced, within its money, and never changed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest
from psycopg import errors, sql

from service import telemetry
from service.audit.record import Record, RecordPlace, commit, leaf_hash, open_leaf
from service.debate.entries import (
    AttemptFailed,
    Charge,
    DebateConcluded,
    DebateStopped,
    Entry,
    TurnAsked,
    TurnSilent,
    TurnSpoke,
    encode,
    kind,
)
from service.debate.model import Outcome
from service.debate.turns import TurnId
from service.errors import AuditUnavailable, Fenced, NotFound
from service.money import Ledger
from service.observing import attributes as names
from service.observing import tracing
from service.observing.span import Span
from service.observing.tracing import Tracing
from service.policy import Budgets
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.report.trace import debate_span
from service.store import pool
from service.store.log import DebateLog
from service.store.pool import StatementRefused
from service.store.queue import ClaimedDebate, ClaimRequest, claim
from service.store.sealing import NewDebate, open_debate, uuid7
from service.store.stored_debate import read_documents, read_head, read_records
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, TEXT, Bench, a_writer, bench, take_log, visit_log

CLAIM = {"worker": "w", "lease": 1.0, "only": None}
pytestmark = pytest.mark.no_replay
"""The log keeps whatever it is given: what is legal is the kernel's question."""

EVIDENCE = ("entry", "payload", "charge", "document", "draw")
FRAMING = TurnId("0.framing.1")
STOPPED = DebateStopped("abort", "asked by the caller")


def asked(turn: TurnId = FRAMING, attempt: int = 1, held: int = 1_000) -> TurnAsked:
    return TurnAsked(turn, attempt, "alder-large", "00" * 16, "00" * 32, 10, held)


def failed(amount: int, excess: int = 0, turn: TurnId = FRAMING, attempt: int = 1) -> AttemptFailed:
    return AttemptFailed(turn, attempt, "timeout", "late", Charge(amount, "usage", excess=excess))


async def held(service: Bench, **changes: Any) -> DebateLog:
    """The log of a new debate that was claimed, read to its end."""
    debate = await service.submit(**changes)
    assert await service.claim() == debate
    log = await take_log(service.database, debate, 1)
    await log.new_entries()
    return log


async def money(service: Bench, debate: str) -> tuple[int, int, int]:
    head = await read_head(service.database, debate, "default")
    return head["spent"], head["held"], head["excess"]


def rows(database: Database, statement: LiteralString, *params: Any) -> list[tuple[Any, ...]]:
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        return admin.execute(statement, params).fetchall()


def counted(database: Database) -> dict[str, int]:
    """How many rows each table of the schema has."""
    return {table: _count(database, table) for table in (*EVIDENCE, "pending", "debate_head")}


def _count(database: Database, table: str) -> int:
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier("gainsay", table))
        found = admin.execute(query).fetchone()
    assert found is not None
    return int(found[0])


# -- all or nothing


async def test_an_append_writes_all_of_its_entries_in_order(database: Database) -> None:
    async with bench(database.service_url) as service:
        log = await held(service)
        entries: list[Entry] = [asked(), failed(40), asked(attempt=2)]

        await log.append(entries)

        stored = await read_records(service.database, log.debate, "default", 3)
        assert [record.entry for record in stored] == entries
        assert [record.n for record in stored] == [3, 4, 5]
        assert await log.new_entries() == []


async def test_an_append_that_postgresql_refuses_in_its_last_row_writes_nothing(database: Database) -> None:
    async with bench(database.service_url) as service:
        log = await held(service)
        await log.append([asked()])
        before, where = counted(database), await read_head(service.database, log.debate, "default")

        failures = telemetry.AUDIT_FAILURES._value.get()
        with pytest.raises(AuditUnavailable) as refused:
            await log.append([STOPPED, failed(2**70)])
        assert telemetry.AUDIT_FAILURES._value.get() == failures + 1

        assert isinstance(refused.value.__cause__, StatementRefused)
        assert counted(database) == before
        assert await read_head(service.database, log.debate, "default") == where
        await log.append([STOPPED, failed(1)])


async def test_a_debate_is_opened_whole_or_not_at_all(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        before, case = counted(database), await service.case(debate)
        records = tuple(
            Record(r.n, r.leaf, leaf_hash(r.leaf), r.salt, r.payload)
            for r in await read_records(service.database, debate, "default")
        )
        documents = {"D1": (b"too short a salt", b"text")}
        place = RecordPlace("localhost/default/1", "default", uuid7(time.time()))
        new = NewDebate(place, (bytes(32), b"{}"), case, "adversarial/1", "queued", 1, None, records, documents)

        with pytest.raises(AuditUnavailable):
            await open_debate(service.database, new, [])

        assert counted(database) == before


# -- fences


async def test_two_writers_of_one_epoch_write_in_turn_or_not_at_all(database: Database) -> None:
    """Fenced by number and hash: whoever has not seen the last record cannot add to it."""
    async with bench(database.service_url) as service:
        first = await held(service)
        second = await visit_log(service.database, first.debate)
        await second.new_entries()
        await first.append([asked()])

        with pytest.raises(Fenced):
            await second.append([STOPPED])

        assert await second.new_entries() == [asked()]
        await second.append([STOPPED])
        assert len(await read_records(service.database, first.debate, "default")) == 5


async def test_an_append_under_an_older_epoch_is_fenced(database: Database) -> None:
    async with bench(database.service_url) as service:
        log = await held(service)
        await service.claim(lease_s=30.0)
        before = counted(database)

        with pytest.raises(Fenced):
            await log.append([STOPPED])

        assert counted(database) == before


@pytest.mark.parametrize(
    "change", ["next_n = next_n + 1", "last_hash = '\\x00'", "epoch = epoch + 1"], ids=["n", "hash", "epoch"]
)
async def test_an_append_onto_a_head_that_is_not_as_known_writes_nothing(
    database: Database, change: LiteralString
) -> None:
    async with bench(database.service_url) as service:
        log = await held(service)
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute(sql.SQL("UPDATE gainsay.debate_head SET {}").format(sql.SQL(change)))
        before = counted(database)

        with pytest.raises(Fenced):
            await log.append([asked()])

        assert counted(database) == before


# -- money


async def test_a_hold_above_what_is_granted_is_refused_though_the_ledger_were_wrong(database: Database) -> None:
    async with bench(database.service_url) as service:
        log = await held(service, costCeilingUSD="0.50")
        log.ledger = Ledger(10**9)

        with pytest.raises(Fenced):
            await log.append([asked(held=500_001)])
        await log.append([asked(held=400_000)])
        with pytest.raises(Fenced):
            await log.append([asked(TurnId("1.proposer.1"), held=100_001)])

        assert await money(service, log.debate) == (0, 400_000, 0)
        await log.append([asked(TurnId("1.proposer.1"), held=100_000)])
        assert await money(service, log.debate) == (0, 500_000, 0)


async def test_a_settlement_and_the_next_hold_in_one_statement_are_weighed_together(database: Database) -> None:
    async with bench(database.service_url) as service:
        log = await held(service, costCeilingUSD="0.50")
        await log.append([asked(held=500_000)])

        await log.append([failed(100_000), asked(attempt=2, held=400_000)])

        assert await money(service, log.debate) == (100_000, 400_000, 0)


@pytest.mark.parametrize(
    ("amount", "excess", "left"),
    [(0, 0, (0, 0, 0)), (300_000, 0, (300_000, 0, 0)), (500_000, 0, (500_000, 0, 0)), (10**15, 10**15 - 500_000, None)],
)
async def test_a_settlement_never_fails_whatever_was_billed(
    database: Database, amount: int, excess: int, left: tuple[int, int, int] | None
) -> None:
    async with bench(database.service_url) as service:
        log = await held(service, costCeilingUSD="0.50")
        await log.append([asked(held=500_000)])

        await log.append([failed(amount, excess)])

        assert await money(service, log.debate) == (left or (500_000, 0, excess))
        assert rows(database, "SELECT amount, excess, basis FROM gainsay.charge") == [(amount, excess, "usage")]


async def test_nothing_is_held_any_more_once_a_vendor_billed_above_the_reservation(database: Database) -> None:
    async with bench(database.service_url) as service:
        log = await held(service, costCeilingUSD="0.50")
        await log.append([asked(held=1_000)])
        await log.append([failed(600_000, 599_000)])
        log.ledger = Ledger(10**9)

        with pytest.raises(Fenced):
            await log.append([asked(attempt=2, held=1)])


async def test_a_charge_stands_beside_its_entry_with_its_period(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.run()
        entries = await service.entries(debate)

        found = rows(
            database,
            "SELECT n, turn, attempt, basis, amount, excess, "
            "period_day = (clock_timestamp() AT TIME ZONE 'UTC')::date, extract(day FROM period_month) "
            "FROM gainsay.charge ORDER BY n",
        )

        charged = [(n, e) for n, e in enumerate(entries) if isinstance(e, TurnSpoke | AttemptFailed)]
        assert found == [
            (n, e.turn, e.attempt, e.charge.basis, e.charge.amount, e.charge.excess, True, 1) for n, e in charged
        ]
        assert sum(row[4] for row in found) == Ledger.of(entries).spent > 0


# -- states and leases


async def test_a_conclusion_moves_the_state_and_ends_the_lease(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.claim(lease_s=30.0)
        log = await take_log(service.database, debate, 1, lease_s=30.0)
        await log.new_entries()
        await log.append([STOPPED])
        leased = (await read_head(service.database, debate, "default"))["leased"]

        await log.append([DebateConcluded(Outcome("aborted", "aborted", "x"))])

        head = await read_head(service.database, debate, "default")
        assert (leased, head["leased"], head["state"]) == (True, False, "aborted")
        assert await claim(service.database, ClaimRequest(worker="w", lease_s=1.0)) == []


async def test_a_word_from_outside_leaves_the_worker_s_lease_as_it_is(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        await service.claim(lease_s=30.0)
        before = rows(database, "SELECT lease_until FROM gainsay.debate_head")

        await service.reviews.abort(debate, CALLER, "enough")

        assert rows(database, "SELECT lease_until FROM gainsay.debate_head") == before


async def test_an_abort_that_ends_a_debate_sends_its_spans(database: Database) -> None:
    """No worker does: none has it. The caller, who wrote every record, is in none of them."""
    sent: list[Span] = []
    before = tracing.use(Tracing(sent.append, share=0.0))
    try:
        async with bench(database.service_url) as service:
            debate = await service.submit()
            await service.reviews.abort(debate, CALLER, "enough")
    finally:
        tracing.use(before)

    assert (sent[0].id, sent[0].attributes[names.STATUS]) == (debate_span(debate), "aborted")
    assert {span.name for span in sent[1:]} == {"append"}
    assert not any(names.WORKER in span.attributes for span in sent)


async def test_a_worker_takes_only_formats_that_it_knows(database: Database) -> None:
    async with bench(database.service_url) as service:
        await service.submit()

        assert await claim(service.database, ClaimRequest(worker="w", lease_s=1.0, formats=["panel/1"])) == []


@pytest.mark.parametrize("id_", ["nonsense", "", "0" * 31, "\0", "../../etc/passwd"])
async def test_an_id_that_is_none_is_not_found(database: Database, id_: str) -> None:
    async with bench(database.service_url) as service:
        with pytest.raises(NotFound):
            await read_head(service.database, id_, "default")


async def test_another_tenant_s_debate_is_not_found(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()

        with pytest.raises(NotFound):
            await read_head(service.database, debate, "somebody-else")


# -- bytes and hashes


async def test_the_stored_bytes_are_those_that_were_encoded_and_hashed(database: Database) -> None:
    async with bench(database.service_url) as service:
        log = await held(service)
        entry = TurnSilent(TurnId("0.framing.1"), "naïve \u2028 \U0001f600 \x00 text")

        await log.append([entry])

        (record,) = await read_records(service.database, log.debate, "default", 3)
        envelope = open_leaf(record.leaf)
        assert record.payload == encode(entry)
        assert envelope.commitment == commit(record.salt, record.payload)
        assert (envelope.kind, envelope.n, envelope.actor.id) == ("turn.silent", 3, "test")


async def test_the_chain_of_a_whole_debate_can_be_recomputed_from_what_is_stored(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.run()

        stored = rows(
            database,
            "SELECT e.n, e.leaf, p.salt, p.body FROM gainsay.entry e JOIN gainsay.payload p USING (debate, n) "
            "WHERE debate = %s ORDER BY n",
            debate,
        )

        prev = ""
        for expected, (n, leaf, salt, body) in enumerate(stored):
            envelope = open_leaf(leaf)
            assert (n, envelope.n, envelope.debate, envelope.prev) == (expected, expected, debate, prev)
            assert envelope.commitment == commit(salt, body)
            prev = leaf_hash(leaf).hex()
        head = await read_head(service.database, debate, "default")
        assert (head["last_hash"].hex(), head["next_n"]) == (prev, len(stored))
        assert len({salt for _, _, salt, _ in stored}) == len(stored)


async def test_the_seed_is_the_hash_of_the_committed_case(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        (case, _, started) = await read_records(service.database, debate, "default")

        assert getattr(started.entry, "seed") == leaf_hash(case.leaf).hex()  # noqa: B009 - the third is debate.started


async def test_documents_are_stored_as_their_utf_8_and_committed_to(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit()
        case = await service.case(debate)

        ((salt, body),) = rows(database, "SELECT salt, body FROM gainsay.document WHERE debate = %s", debate)

        assert body == TEXT.encode()
        assert case.documents[0].commitment == commit(salt, body)
        assert await read_documents(service.database, debate, "default") == {"D1": TEXT}


async def test_a_worker_takes_a_debate_up_as_those_find_it_who_ask_for_each_part(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.submit(documents=[{"text": TEXT}, {"text": f"{TEXT} More."}])
        whole, budgets = await visit_log(service.database, debate), Budgets()
        entries = await whole.new_entries()

        log, sources = await DebateLog.open_claimed(
            service.database, ClaimedDebate(debate, "default", 1), a_writer("w"), 9.0, budgets
        )

        assert (
            sources == await read_documents(service.database, debate, "default") == {"D1": TEXT, "D2": f"{TEXT} More."}
        )
        assert (log.epoch, log.allocated, log.deadline_in_s) == (1, whole.allocated, None)
        assert await log.new_entries() == entries
        assert await log.new_entries() == []
        assert log.next_n == whole.next_n == len(entries)
        for claimed in (ClaimedDebate(str(UUID(int=7)), "default", 1), ClaimedDebate(debate, "other", 1)):
            with pytest.raises(NotFound):
                await DebateLog.open_claimed(service.database, claimed, a_writer("w"), 9.0, budgets)


async def test_what_is_staged_is_what_was_recorded(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.run()
        stored = await read_records(service.database, debate, "default")

        staged = rows(database, "SELECT log, debate, n FROM gainsay.pending ORDER BY debate, n")

        assert staged == [("localhost/default/1", UUID(debate), record.n) for record in stored]
        assert [kind(r.entry) for r in stored][:3] == ["case.received", "gate.decided", "debate.started"]


# -- partitions


@pytest.mark.parametrize(
    ("debate", "partition"),
    [
        ("019b76da-a800-7000-8000-000000000000", "entry_2026"),
        ("019b76da-a7ff-7fff-bfff-ffffffffffff", "entry_other"),
        ("0209aed5-ac00-7000-8000-000000000000", "entry_other"),
        ("0209aed5-abff-7fff-bfff-ffffffffffff", "entry_2040"),
        ("00000000-0000-7000-8000-000000000000", "entry_other"),
    ],
)
def test_a_debate_s_rows_lie_in_the_partition_of_its_year(
    whole_database: Database, debate: str, partition: str
) -> None:
    with psycopg.connect(whole_database.service_url, autocommit=True) as service:
        service.execute("INSERT INTO gainsay.entry (debate, n, leaf) VALUES (%s, 0, '')", (debate,))
        (found,) = service.execute("SELECT tableoid::regclass::text FROM gainsay.entry").fetchall()

    assert found == (f"gainsay.{partition}",)


async def test_a_debate_of_today_is_read_from_one_partition(whole_database: Database) -> None:
    with psycopg.connect(whole_database.service_url, autocommit=True) as service:
        some = uuid7(time.time())
        plan = service.execute(
            f"EXPLAIN SELECT * FROM gainsay.entry JOIN gainsay.payload USING (debate, n) WHERE debate = '{some}'"
        ).fetchall()

    read = {word for (line,) in plan for word in line.split() if word.startswith(("entry_", "payload_"))}
    tables = {name.removesuffix("_pkey") for name in read}
    assert len(tables) == 2, plan


# -- evidence is only ever added


def partitions(database: Database) -> list[str]:
    """Every table that holds evidence, parents and partitions alike."""
    found = rows(
        database,
        "SELECT relname FROM pg_class WHERE relnamespace = 'gainsay'::regnamespace AND relkind IN ('r', 'p') "
        "AND relname ~ '^(entry|payload|charge|document|draw)(_|$)' ORDER BY 1",
    )
    return [name for (name,) in found]


def tampering(table: str) -> Sequence[sql.Composed]:
    name = sql.Identifier("gainsay", table)
    return [
        sql.SQL("UPDATE {} SET debate = debate").format(name),
        sql.SQL("DELETE FROM {}").format(name),
        sql.SQL("TRUNCATE {} CASCADE").format(name),
    ]


async def test_the_service_can_neither_change_nor_remove_evidence_by_any_name(whole_database: Database) -> None:
    async with bench(whole_database.service_url) as service:
        await service.run()
    before, names = counted(whole_database), partitions(whole_database)

    with psycopg.connect(whole_database.service_url, autocommit=True) as intruder:
        for table in names:
            for statement in tampering(table):
                with pytest.raises(errors.InsufficientPrivilege):
                    intruder.execute(statement)

    assert counted(whole_database) == before
    assert len(names) == 5 * 17


async def test_the_service_can_write_a_partition_only_through_its_table(whole_database: Database) -> None:
    with psycopg.connect(whole_database.service_url, autocommit=True) as intruder:
        for table in set(partitions(whole_database)) - set(EVIDENCE):
            with pytest.raises(errors.InsufficientPrivilege):
                intruder.execute(sql.SQL("SELECT 1 FROM {}").format(sql.Identifier("gainsay", table)))
            with pytest.raises(errors.InsufficientPrivilege):
                intruder.execute(sql.SQL("INSERT INTO {} DEFAULT VALUES").format(sql.Identifier("gainsay", table)))


@pytest.mark.parametrize(
    "statement",
    [
        "SET session_replication_role = replica",
        "ALTER TABLE gainsay.entry DISABLE TRIGGER refuse_change",
        "DROP TRIGGER refuse_change ON gainsay.entry",
        "DROP TABLE gainsay.entry",
        "CREATE OR REPLACE FUNCTION gainsay.refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'",
        "CREATE TABLE gainsay.mine (n int)",
        "SET ROLE gainsay_owner",
        "DELETE FROM gainsay.pending",
        "DELETE FROM gainsay.debate_head",
        "UPDATE gainsay.pending SET n = 0",
    ],
)
def test_the_service_cannot_take_the_protection_away(database: Database, statement: LiteralString) -> None:
    with (
        psycopg.connect(database.service_url, autocommit=True) as intruder,
        pytest.raises(errors.InsufficientPrivilege),
    ):
        intruder.execute(statement)


@pytest.mark.parametrize("silenced", [False, True], ids=["as is", "under session_replication_role = replica"])
async def test_the_triggers_stop_the_owner_and_whoever_silences_triggers(database: Database, silenced: bool) -> None:
    """A superuser can do anything; the triggers see to it that nobody does this by accident or by a replica's role."""
    async with bench(database.service_url, policy=read_policy(SHIPPED_POLICY)) as service:  # its tenants have limits
        await service.run()
    used = [name for name in partitions(database) if name in EVIDENCE or _count(database, name)]
    before = counted(database)

    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        if silenced:
            admin.execute("SET session_replication_role = replica")
        for table in used:
            for statement in tampering(table):
                with pytest.raises(psycopg.DatabaseError) as refused:
                    admin.execute(statement)
                assert refused.value.sqlstate == "GA001"

    assert len(used) == 10
    assert counted(database) == before


def test_every_partition_refuses_truncate_by_itself(whole_database: Database) -> None:
    with psycopg.connect(whole_database.admin_url, autocommit=True) as admin:
        for table in partitions(whole_database):
            with pytest.raises(psycopg.DatabaseError) as refused:
                admin.execute(sql.SQL("TRUNCATE {} CASCADE").format(sql.Identifier("gainsay", table)))
            assert refused.value.sqlstate == "GA001"


# -- connections


async def test_a_statement_that_waits_for_ever_is_cut(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench(database.service_url) as service:
        (found,) = await _ask(service, monkeypatch, "SELECT current_setting('statement_timeout') AS limit")

    assert found["limit"] == "10s"


async def _ask(service: Bench, monkeypatch: pytest.MonkeyPatch, statement: LiteralString) -> list[Any]:
    monkeypatch.setattr(pool, "queries", lambda: {"asked": statement.encode()})
    return await service.database.query("asked")
