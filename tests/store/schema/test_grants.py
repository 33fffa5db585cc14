"""What each role may do to each table: the whole of it, so that a grant too many shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from service.store.schema import roles
from tests.fixtures.postgres import Cluster, Database
from tests.fixtures.serving import served

READ = frozenset({"SELECT"})
ADDED = READ | {"INSERT"}
WORKED_ON = ADDED | {"UPDATE"}
MADE_ANEW = ADDED | {"DELETE"}
EXPECTED: dict[str, dict[str, frozenset[str]]] = {
    roles.WRITER: {
        "entry": READ,
        **dict.fromkeys(("payload", "charge", "document", "draw", "pending"), ADDED),
        **dict.fromkeys(("context", "content", "log_epoch", "idempotency_key", "derived_key"), ADDED),
        **dict.fromkeys(("debate_head", "spend_limit", "log_check", "row_check", "queue_turn"), WORKED_ON),
        "queue_turns": frozenset({"USAGE"}),
        **dict.fromkeys(("case_batch", "batch_limit"), WORKED_ON),
        "evaluation": WORKED_ON | {"DELETE"},
        "evaluation_entry": MADE_ANEW,
        **dict.fromkeys(("moderator_tilt", "moderator_resolution"), ADDED),
        **dict.fromkeys(("listener", "found_by", "rate", "batch_line"), WORKED_ON | {"DELETE"}),
        **dict.fromkeys(
            ("rests_on", "manifest_prompt", "track_record", "decision", "issued_report", "case_words"), MADE_ANEW
        ),
        **dict.fromkeys(
            ("batch", "leaf", "tile", "checkpoint", "cosignature", "time_stamp", "incident", "damage"),
            READ,
        ),
        **dict.fromkeys(("migration", "schema_floor", "uncertainty_baseline"), READ),
        **dict.fromkeys(("tenant", "subject", "api_key"), ADDED),
        "assignment": MADE_ANEW,
        **dict.fromkeys(("webhook", "webhook_delivery", "webhook_attempt"), ADDED),
    },
    roles.SEQUENCER: {
        "pending": READ | {"DELETE"},
        **dict.fromkeys(("entry", "damage", "migration", "schema_floor", "time_stamp"), READ),
        **dict.fromkeys(("log_epoch", "batch", "leaf", "tile", "checkpoint", "cosignature", "incident"), ADDED),
    },
    roles.API: {
        **dict.fromkeys(("entry", "damage", "spend_limit", "log_epoch", "assignment"), READ),
        **dict.fromkeys(("batch", "leaf", "tile", "checkpoint", "cosignature", "time_stamp"), READ),
        **dict.fromkeys(("content", "manifest_prompt", "migration", "schema_floor"), READ),
        **dict.fromkeys(("moderator_tilt", "moderator_resolution"), READ),
        **dict.fromkeys(("debate_head", "idempotency_key", "payload", "document", "context", "pending"), ADDED),
        **dict.fromkeys(("rests_on", "track_record", "decision", "issued_report", "derived_key"), ADDED),
        **dict.fromkeys(("case_batch", "batch_line", "batch_limit", "evaluation", "evaluation_entry"), ADDED),
        **dict.fromkeys(("gainsay_tenant.found_by", "gainsay_tenant.case_words"), ADDED),
    },
    roles.READER: dict.fromkeys(("tenant_record", "tenant_checkpoint"), READ),
}
HOOK = ("generation", "master", "previous_generation", "previous_master", "previous_until", "disabled", "disabled_why")
MESSAGE = ("log", "idx", "size", "root", "state", "due", "since", "attempts", "process", "lease_until", "finished")
"""What changes of an endpoint, beside its count of failures, and of a message: never whose it is, nor its subject."""
ADDING = (roles.WRITER, roles.API)
ENDED = ("status", "outcome", "confidence", "human_review", "flags", "spent")
"""What an abort changes of what a debate is found by, where it ends it."""
OF_COLUMNS = (
    {("entry", column, role, "INSERT") for column in ("debate", "n", "leaf", "tenant") for role in ADDING}
    | {
        ("damage", column, role, "INSERT")
        for column in ("subject", "tenant", "log", "debate", "place", "what")
        for role in ADDING
    }
    | {
        ("uncertainty_baseline", column, roles.WRITER, "INSERT")
        for column in ("task_type", "recorded_by", "since", "until", "debates", "uncertainties")
    }
    | {("derived_key", column, role, "UPDATE") for column in ("debate", "since") for role in ADDING}
    | {("gainsay_tenant.found_by", column, roles.API, "UPDATE") for column in ENDED}
    | {("case_batch", column, roles.API, "UPDATE") for column in ("stop", "stop_detail")}
    | {("subject", "revoked", roles.WRITER, "UPDATE")}
    | {("webhook", column, roles.WRITER, "UPDATE") for column in (*HOOK, "failures")}
    | {("webhook_delivery", column, roles.WRITER, "UPDATE") for column in MESSAGE}
    | {("api_key", column, roles.WRITER, "UPDATE") for column in ("expires", "revoked")}
    | {("time_stamp", column, roles.SEQUENCER, "INSERT") for column in ("log", "size", "stamped", "authority", "token")}
)
"""What is granted of single columns: when a record was taken up, or a time stamp stored, is for the database alone to
say, and when a baseline was recorded. That damage is dealt with is for a person to say. A key and its subject change in
nothing but their end."""
REFUSED = (
    psycopg.errors.InsufficientPrivilege,
    psycopg.errors.WrongObjectType,
    psycopg.errors.ObjectNotInPrerequisiteState,
)
"""What is said to whoever lacks the right, and of a view that takes no writes at all."""
NAME = "replace(c.oid::regclass::text, 'gainsay.', '')"
OURS = "c.relnamespace IN ('gainsay'::regnamespace, 'gainsay_tenant'::regnamespace)"
GRANTS = f"""
SELECT g.grantee::regrole::text, {NAME}, g.privilege_type
FROM pg_class c, aclexplode(c.relacl) g
WHERE {OURS} AND c.relkind IN ('r', 'p', 'v', 'S')
  AND g.grantee <> 'gainsay_owner'::regrole
"""
COLUMNS = f"""
SELECT {NAME}, a.attname, g.grantee::regrole::text, g.privilege_type
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid, aclexplode(a.attacl) g
WHERE {OURS}
"""
FUNCTIONS = """
SELECT p.proname, coalesce(g.grantee, 0) FROM pg_proc p LEFT JOIN LATERAL aclexplode(p.proacl) g
  ON g.grantee <> 'gainsay_owner'::regrole
WHERE p.pronamespace = 'gainsay'::regnamespace AND (p.proacl IS NULL OR g.grantee IS NOT NULL)
"""


def granted(database: Database) -> dict[str, dict[str, set[str]]]:
    """role -> table -> privileges, partitions counted like their parents."""
    found: dict[str, dict[str, set[str]]] = {}
    with psycopg.connect(database.admin_url) as admin:
        for role, table, privilege in admin.execute(GRANTS.encode()):
            found.setdefault(role, {}).setdefault(table, set()).add(privilege)
    return found


@contextmanager
def login(cluster: Cluster, database: Database, role: str) -> Iterator[psycopg.Connection[Any]]:
    """A login that is in one group role and nothing else."""
    name, password = f"gainsay_test_{token_hex(4)}", token_hex(8)
    cluster.admin.execute(
        sql.SQL("CREATE ROLE {} LOGIN PASSWORD {} IN ROLE {}").format(
            sql.Identifier(name), sql.Literal(password), sql.Identifier(role)
        )
    )
    try:
        url = make_conninfo(database.admin_url, user=name, password=password)
        with psycopg.connect(url, autocommit=True, options="-c search_path=gainsay") as connection:
            yield connection
    finally:
        cluster.admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def test_no_role_may_do_more_to_a_table_than_is_meant(database: Database) -> None:
    found = granted(database)
    auditor = found.pop(roles.AUDITOR)

    assert found == EXPECTED
    assert {privilege for table in auditor.values() for privilege in table} == {"SELECT"}


def test_an_auditor_may_read_every_table(database: Database) -> None:
    with psycopg.connect(database.admin_url) as admin:
        tables = {
            name
            for (name,) in admin.execute(
                "SELECT relname FROM pg_class WHERE relnamespace = 'gainsay'::regnamespace AND relkind IN ('r', 'p')"
            )
        }

    assert tables - set(granted(database)[roles.AUDITOR]) == set()


def test_few_columns_have_grants_of_their_own_and_nobody_may_run_what_writes(database: Database) -> None:
    with psycopg.connect(database.admin_url) as admin:
        assert set(admin.execute(COLUMNS.encode())) == OF_COLUMNS
        runnable = {name for name, _ in admin.execute(FUNCTIONS)}
        public = admin.execute("SELECT has_schema_privilege('public', 'gainsay', 'USAGE')").fetchone()

    assert runnable == {
        "today",
        "tranches",
        "shares",
        "lock_period",
        "lock_limits",
        "draw_tranche",
        *("told_state", "listed_state", "evaluation_log", "end_is_lost", "shown_end"),
        "log_left",  # with the owner's rights
        "claim_debates",
        "claim_in_turn",
        "disown_debates",
        *("stop_debate", "unspent_allocations"),  # with the owner's rights
        *("find_key", "still_good", "tenant_known", "find_subject", "key_used"),  # with the owner's rights
        *("add_key", "has_operator"),
        *(
            "new_opaque_id",
            "webhook_room",
            "add_webhook",
            "add_webhook_if_room",
            "claim_deliveries",
            "forget_deliveries",
        ),
        *("account_of", "lane_of", "is_of_items"),
        *("lock_evaluations", "items_under_way", "evaluation_room", "count_looks", "record_asked"),
        "current_tenant",
        "is_own_chain",
    }
    assert public == (False,)


def test_no_writer_says_when_the_database_took_up_a_record(cluster: Cluster, database: Database) -> None:
    given = "INSERT INTO entry (debate, n, leaf) VALUES (gen_random_uuid(), 0, '')"
    with login(cluster, database, roles.WRITER) as writer:
        for said in ("now()", "NULL", "'-infinity'"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                writer.execute(given.replace("leaf)", "leaf, at)").replace("'')", f"'', {said})").encode())
        writer.execute(given.encode())
        found = writer.execute("SELECT at BETWEEN now() - interval '1 minute' AND clock_timestamp() FROM entry")
        assert found.fetchall() == [(True,)]


async def test_a_reader_sees_the_records_of_the_tenant_that_it_names_and_nobody_elses(
    cluster: Cluster, database: Database
) -> None:
    async with served(database.service_url) as site:
        told = await site.finished()
    with login(cluster, database, roles.READER) as reader:
        assert reader.execute("SELECT count(*) FROM tenant_record").fetchone() == (0,)
        reader.execute("SET gainsay.tenant = 'somebody'")
        assert reader.execute("SELECT count(*) FROM tenant_record").fetchone() == (0,)
        reader.execute("SET gainsay.tenant = 'default'")
        rows = reader.execute("SELECT debate::text, n, body FROM tenant_record ORDER BY idx").fetchall()
        heads = reader.execute("SELECT count(*) FROM tenant_checkpoint").fetchone()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute("SELECT FROM entry")

    assert [n for debate, n, _ in rows if debate == told["debateId"]] == list(range(told["entries"]))
    assert heads is not None
    assert heads[0] > 0


@pytest.mark.parametrize("role", [roles.READER, roles.AUDITOR])
@pytest.mark.parametrize("table", ["entry", "payload", "leaf", "debate_head", "rests_on", "tenant_record"])
def test_readers_and_auditors_add_and_change_nothing(
    cluster: Cluster, module_database: Database, role: str, table: str
) -> None:
    with login(cluster, module_database, role) as connection:
        for statement in (
            "DELETE FROM {}",
            "TRUNCATE {}",
            "UPDATE {} SET debate = debate",
            "INSERT INTO {} DEFAULT VALUES",
        ):
            with pytest.raises(REFUSED):
                connection.execute(sql.SQL(statement).format(sql.Identifier(table)))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("CREATE TABLE gainsay.mine ()")
