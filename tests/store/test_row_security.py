"""Row security alone keeps the login that serves callers to one tenant, whatever a statement asks for and names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from service.audit.record import Writer
from service.debate.entries import DebateStopped
from service.errors import Fenced, NotFound
from service.identity.caller import Caller
from service.policy import Budgets
from service.store.debate_query import DebateQuery
from service.store.finding import Search, count_found, find_page, look_for_words
from service.store.log import DebateLog
from service.store.pool import Database as EveryDatabase
from service.store.pool import ServingDatabase, StatementRefused
from service.store.queries import positional, queries
from service.store.schema.protections import SHARED
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.store.two_tenants import BATCHES, EVALUATIONS, OURS, SUBJECTS, TENANTS, THEIRS, TwoTenants, two_tenants

pytestmark = pytest.mark.no_replay
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
NOBODY = "nobody"
READ = (
    *(
        "head",
        "records",
        "documents",
        "keyed",
        "derived",
        "issued_report",
        "issued_reports",
        "latest_log",
        "latest_head",
        "proven",
    ),
    *("logs_of", "head_at", "tree_parts", "leaves_between", "recall", "recall_prompt", "standings", "left", "budget"),
    *("key_heads", "witness_heads", "bundle_records", "bundle_context", "countersigned_head", "first_countersigned"),
    *("countersigned_before", "stamped_before", "first_stamped", "first_since", "joined_before", "countersigned_since"),
    *("export_all", "export_some", "current_heads", "moved", "waiting", "log_key", "heads_within", "leaves_from"),
    *(
        "tiles_within",
        "chain",
        "chains",
        "every_log",
        "log_tenants",
        "document_hashes",
        "time_stamps_of",
        "stamped_logs",
    ),
    *(
        "open_damage",
        "heads_placed",
        "issued_rows",
        "opening",
        "rows_from",
        "backlog",
        "cosigned",
        "staged",
        "tree_end",
    ),
    *("unsigned", "unstamped", "reached", "has_case", "reviewers"),
    *("keyed_batch", "open_batches", "batch", "batches", "batch_counts", "batch_results", "batch_room"),
    *("next_batch_line", "batch_under_way", "batch_backlog", "last_probe", "ended_within", "ended_of"),
    *("evaluation", "evaluations", "keyed_evaluation", "evaluation_entries", "evaluation_place", "evaluation_provable"),
    *("export_evaluation", "looks_at_held", "open_evaluations", "item_room", "items_under_way"),
    *("evaluations_watched", "looks_of_tenants", "lost_evaluation"),
    *("evaluation_log", "item_log", "evaluation_ids", "evaluation_state", "evaluation_entry_of"),
    *("debates_within", "has_debates", "results_within", "tilts", "standing_tilts"),
)
"""The statements by which this login can read rows of a tenant; many serve none of its callers."""
EMPTY = {"opening", "unsigned", "unstamped", "looks_of_tenants", "lost_evaluation"}
"""Those that find nothing here: first logs have no record that opens them, all heads are signed and stamped, no
evaluation has looked at a held split, and no log was left."""
OF_ALL = {
    *("every_log", "log_tenants", "chains", "stamped_logs", "open_damage", "issued_rows", "rows_from", "current_heads"),
    *("backlog", "batch_backlog", "staged", "unsigned", "unstamped", "ended_within", "evaluation_ids"),
    *("evaluations_watched", "looks_of_tenants"),
}
"""Those that ask for the rows of all tenants, or of many: they find those of one."""
WRITE = {
    *("open_debate", "append_stop", "note", "issue_report", "note_damage"),
    *("add_batch_lines", "open_batch", "stop_batch"),
    *("register_evaluation", "stop_evaluation"),
}
OF_NO_TENANT = {
    *("clock", "alive", "zone", "subscribe", "tell", "lead", "manifest_prompts", "kept_contents", "contents"),
    *("manifests", "partitions_end", "login_end"),
    *("find_key", "still_good", "find_subject", "tenant_known", "key_used"),
}
"""Statements about no tenant's rows: clocks, notifications, texts that are named by their hashes, and who calls, which
is asked before a tenant is known."""


NIL = UUID(int=0)
PLACES: Mapping[str, Mapping[str, Any]] = {
    "reviewers": {"after": ""},
    "heads_placed": {"after": NIL},
    "debates_within": {"after": NIL, "task_types": None},
    "results_within": {"after": NIL, "since": LONG_AGO, "until": datetime(2999, 1, 1, tzinfo=UTC)},
}
"""Where these statements begin, and what they ask for else."""


@pytest.fixture(scope="module")
def stored(module_database: Database) -> TwoTenants:
    """Both tenants' debates."""
    return two_tenants(module_database)


@pytest.fixture
async def serving(stored: TwoTenants) -> AsyncIterator[ServingDatabase]:
    """The pool of the login that serves callers, with one connection, so that each statement gets that of the last."""
    async with ServingDatabase.open(stored.database.serving_url, size=1) as found:
        yield found


@pytest.fixture
def login(stored: TwoTenants) -> Iterator[psycopg.Connection[Any]]:
    """A session of that login."""
    path = "-c search_path=gainsay_tenant,gainsay"
    with psycopg.connect(stored.database.serving_url, autocommit=True, options=path) as connection:
        yield connection


def seen(login: psycopg.Connection[Any], table: str, tenant: str | None) -> set[str]:
    """Every row of a table that a session of a tenant sees."""
    if tenant is not None:
        login.execute("SELECT set_config('gainsay.tenant', %s, false)", [tenant])
    return {row for (row,) in login.execute(f"SELECT to_jsonb(t)::text FROM {table} t".encode())}


def readable(login: psycopg.Connection[Any]) -> set[str]:
    """The tables and views that the login may read, without their schema."""
    rows = login.execute(
        "SELECT relname FROM pg_class WHERE relnamespace IN ('gainsay'::regnamespace, 'gainsay_tenant'::regnamespace) "
        "AND relkind IN ('r', 'p', 'v') AND has_table_privilege(oid, 'SELECT')"
    )
    return {name for (name,) in rows}


def everything(stored: TwoTenants) -> dict[str, int]:
    """How many rows each table has."""
    with psycopg.connect(stored.database.admin_url, options="-c search_path=gainsay") as admin:
        names = admin.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'gainsay'::regnamespace "
            "AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname"
        ).fetchall()
        counts = b", ".join(f"(SELECT count(*) FROM {name})".encode() for (name,) in names)
        found = admin.execute(b"SELECT " + counts).fetchone()
    assert found is not None
    return dict(zip((name for (name,) in names), found, strict=True))


def test_each_row_is_seen_by_its_own_tenant_and_none_without_one(
    stored: TwoTenants, login: psycopg.Connection[Any]
) -> None:
    tables = readable(login) - set(SHARED)
    assert len(tables) == 31
    for table in tables:
        assert seen(login, table, None) == set(), table
    for table in tables:
        every = {row for (row,) in stored.ask(f"SELECT to_jsonb(t)::text FROM gainsay.{table} t")}
        ours, theirs = seen(login, table, OURS), seen(login, table, THEIRS)
        assert ours, table
        assert theirs, table
        assert ours & theirs == set(), table
        assert ours | theirs == every, table
        assert seen(login, table, NOBODY) | seen(login, table, "") == set(), table


def test_old_rows_without_a_tenant_are_among_them(stored: TwoTenants) -> None:
    for table in ("entry", "payload", "document", "context", "charge", "pending"):
        assert stored.ask(f"SELECT count(*) FROM {table} WHERE tenant IS NULL")[0][0] >= 2, table
        assert stored.ask(f"SELECT count(*) FROM {table} WHERE tenant = %s", OURS)[0][0] >= 1 or table == "pending"


def asked(stored: TwoTenants, name: str, tenant: str) -> dict[str, Any]:
    """The parameters of a statement that asks for a tenant's rows, its own clause for the tenant included."""
    debate, log = UUID(stored.debates[tenant][1]), stored.log(tenant)
    (size,) = stored.ask("SELECT max(size) FROM checkpoint WHERE log = %s", log)[0]
    (model,) = stored.ask("SELECT value FROM rests_on WHERE what = 'model' AND tenant = %s LIMIT 1", tenant)[0]
    (prompt,) = stored.ask(
        "SELECT m.sha256 FROM manifest_prompt m JOIN rests_on r ON r.what = 'manifest' AND r.value = m.manifest LIMIT 1"
    )[0]
    every = dict.fromkeys(("task_type", "state", "model", "document", "prompt", "below", "after"))
    every |= {"debate": debate, "tenant": tenant, "log": log, "n": 0, "from_n": 0, "documents": True, "size": size}
    every |= {"of": debate, "form": "pdf", "paper": "a4", "template": "report/1", "sha256": "00" * 32}
    every |= {"above": -1, "upto": size, "by": datetime.now(UTC).timestamp() + 60, "first": 0, "end": size}
    every |= {"most": 1_000, "most_of_tenant": 1_000, "limit": 1_000, "levels": [0], "indexes": [0]}
    every |= {"at": LONG_AGO, "until": LONG_AGO, "names": ["witness.example"], "what": "model", "value": model}
    every |= {"purpose": None, "reserve": 1, "places": 1}
    every |= {"zone": "UTC", "day": 10, "month": None, "key": sha256(b"key 1").digest(), "tenants": list(TENANTS)}
    every |= {"debates": [debate], "ns": [0], "passing": [], "every": 0, "worker": "w", "lease": 1.0}
    every |= {"case": debate, "subject": SUBJECTS[tenant], "own": True, "assigned": True}
    every |= {"batch": BATCHES[tenant], "held": True, "stopped": False, "late": 0}
    of = "SELECT record FROM evaluation_entry WHERE tenant = %s AND evaluation = %s"
    (record,) = stored.ask(of, tenant, EVALUATIONS[tenant])[0]
    every |= {"evaluation": EVALUATIONS[tenant], "sets": ["set-a"], "record": record}
    every |= {"due": 1e9, "before": UUID(int=2**128 - 1), "since": UUID(int=0)}
    if name in ("batch_results", "next_batch_line"):
        return every | {"after": 0}
    (epoch,) = stored.ask("SELECT epoch FROM debate_head WHERE debate = %s", debate)[0]
    every |= {"epoch": epoch, "epochs": [epoch]}
    if name == "recall_prompt":
        return every | {"value": prompt}
    if name in ("leaves_from", "export_all", "export_some", "export_evaluation", "opening"):
        return every | {"below": size}
    if name == "joined_before":
        return every | {"at": datetime(2999, 1, 1, tzinfo=UTC)}
    if name == "tiles_within":
        return every | {"upto": 256}
    if name == "moved":  # each debate with its tenant
        return every | {"tenants": [tenant]}
    if name == "ended_within":
        return every | {"task_type": "contract", "after": UUID(int=0)}
    return {**every, **PLACES.get(name, {})}


async def rows_of(database: EveryDatabase, name: str, params: Mapping[str, Any]) -> list[Any]:
    """The rows of a statement, without what a clock says and without an order that it does not have."""
    rows = await database.query(name, params)
    clocks = {"age_s", "at_s", "longest_s", "ends_s", "ends", "seconds", "still", "waited"}
    return [{key: value for key, value in row.items() if key not in clocks} for row in rows]


@pytest.mark.parametrize("name", READ)
async def test_a_statement_that_asks_for_another_tenants_rows_finds_what_a_stranger_finds(
    stored: TwoTenants, serving: ServingDatabase, name: str
) -> None:
    """The parameters are the other tenant's in every place, as if no clause of the statement asked who calls."""
    params = asked(stored, name, THEIRS)
    theirs = await rows_of(serving.of(THEIRS), name, params)
    ours = await rows_of(serving.of(OURS), name, params)
    own = await rows_of(serving.of(OURS), name, asked(stored, name, OURS))
    stranger = await rows_of(serving.of(NOBODY), name, params)

    if name in OF_ALL:
        assert ours == own
    elif name == "waiting":  # of one tenant, and of all
        assert [row["of_tenant"] for row in ours] == [0]
    else:
        assert ours == stranger
    if name not in EMPTY:
        assert theirs != stranger
        assert own != stranger
    assert await rows_of(serving, name, params) == stranger


def test_no_statement_that_this_login_may_run_is_left_out(login: psycopg.Connection[Any]) -> None:
    reachable = set()
    for name in queries():
        sql, _ = positional(queries()[name])
        try:
            if name != "subscribe":  # LISTEN has no plan
                psycopg.RawCursor(login).execute(b"EXPLAIN (GENERIC_PLAN) " + sql)
            reachable.add(name)
        except psycopg.errors.InsufficientPrivilege:
            continue

    assert reachable - OF_NO_TENANT == set(READ) | WRITE


async def test_lists_by_every_kind_of_filter_and_their_counts_are_of_the_tenant(
    stored: TwoTenants, serving: ServingDatabase
) -> None:
    for query in (
        DebateQuery(),
        DebateQuery(task_type=("contract",)),
        DebateQuery(words="liability"),
        DebateQuery(facets=("taskType", "status"), words="liability"),
    ):
        found = {}
        for login in TENANTS:
            for clause in TENANTS:
                database, search = serving.of(login), Search(clause, query, held=False)
                worded = await look_for_words(database, search)
                assert worded is not None
                rows = await find_page(database, worded, None)
                total, _ = await count_found(database, worded)
                assert total.debates == len(rows)
                found[login, clause] = {str(row["debate"]) for row in rows}
        assert found[OURS, OURS] == set(stored.debates[OURS])
        assert found[THEIRS, THEIRS] == set(stored.debates[THEIRS])
        assert found[OURS, THEIRS] == found[THEIRS, OURS] == set()


async def test_a_plan_that_is_kept_reads_for_the_tenant_of_each_transaction(
    stored: TwoTenants, serving: ServingDatabase
) -> None:
    """One connection, on which PostgreSQL keeps one plan of each statement for all tenants; one names no tenant."""
    for name in ("records", "head"):
        for nth in range(16):
            login, clause = TENANTS[nth % 2], TENANTS[nth // 2 % 2]
            of = {"debate": UUID(stored.debates[clause][0]), "tenant": clause, "from_n": 0, "documents": True}
            found = await serving.of(login).query(name, of)
            seen = [row for row in found if row.get("part") != "head"] if name == "records" else found
            assert bool(seen) == (login == clause), (name, login, clause)
    everyone = b"SELECT DISTINCT tenant FROM debate_head"
    for nth in range(16):
        found = await serving.of(TENANTS[nth % 2])._rows("every", everyone, None, prepare=True)
        assert [row["tenant"] for row in found] == [TENANTS[nth % 2]]
    plans = (
        b"SELECT generic_plans > 0 AS kept FROM pg_prepared_statements WHERE statement LIKE 'SELECT DISTINCT tenant%'"
    )
    assert await serving.read("plans", plans, {}) == [{"kept": True}]


def written(stored: TwoTenants, name: str, tenant: str) -> dict[str, Any]:
    """The parameters of a statement that writes a row of a tenant."""
    debate, log = UUID(stored.debates[tenant][1]), stored.log(tenant)
    if name == "open_debate":
        return stored.opened[tenant] | {"debate": uuid4(), "key": None, "derived": None, "found_by": None}
    if name == "stop_batch":
        return {"batch": BATCHES[tenant], "tenant": tenant, "stop": "aborted", "detail": "the wrong file"}
    if name == "add_batch_lines":
        return {"batch": uuid4(), "tenant": tenant, "lines": [1], "keys": ["k"], "bodies": [b"a case"]}
    if name == "open_batch":
        made: dict[str, Any] = dict.fromkeys(("role", "kind", "via", "credential", "trace", "name"), "x")
        made |= {"roles": [], "scopes": None}
        made |= {"batch": uuid4(), "tenant": tenant, "subject": SUBJECTS[tenant], "count": 1, "deadline": None}
        return made | {"key": None, "body": bytes(32), "ceiling": 9}
    record = {"debate": uuid4(), "log": log, "tenant": tenant, "leaf": b"leaf", "salt": bytes(32), "body": b"{}"}
    if name == "note":
        return record
    if name == "stop_evaluation":
        return record | {"evaluation": EVALUATIONS[tenant], "n": 1}
    if name == "register_evaluation":
        by: dict[str, Any] = dict.fromkeys(("role", "kind", "via", "credential", "name"), "x")
        by |= {
            "subject": SUBJECTS[tenant],
            "roles": [],
            "scopes": None,
            "held": [],
            "looks": [],
            "key": None,
            "sent": None,
        }
        return record | by | {"evaluation": uuid4()}
    if name == "issue_report":
        return record | {"of": debate, "form": "pdf", "paper": "a3", "template": "report/1", "sha256": "11" * 32}
    assert name == "note_damage"
    return {"subject": "debate", "tenant": tenant, "log": log, "debate": debate, "place": "entry 2", "what": "is gone"}


@pytest.mark.parametrize("name", sorted(WRITE - {"append_stop"}))
async def test_a_row_of_another_tenant_is_refused(stored: TwoTenants, serving: ServingDatabase, name: str) -> None:
    before = everything(stored)

    for database in (serving.of(OURS), serving):
        if name in ("issue_report", "stop_batch", "stop_evaluation"):  # what is the other tenant's is not found
            assert await database.query(name, written(stored, name, THEIRS)) == []
            continue
        with pytest.raises(StatementRefused):
            await database.query(name, written(stored, name, THEIRS))

    assert everything(stored) == before
    assert await serving.of(THEIRS).query(name, written(stored, name, THEIRS))
    assert everything(stored) != before or name == "stop_batch"


async def test_another_tenants_debate_is_not_aborted(stored: TwoTenants, serving: ServingDatabase) -> None:
    debate = stored.debates[THEIRS][2]
    theirs = serving.of(THEIRS)
    log = DebateLog(
        theirs, debate, await read_head(theirs, debate, THEIRS), Writer(Caller().actor, "00" * 32), None, Budgets()
    )
    await log.new_entries()
    before = everything(stored)

    for database in (serving.of(OURS), serving):
        vars(log)["_database"] = database
        with pytest.raises(Fenced):
            await log.append([DebateStopped("abort", "not ours")])
        with pytest.raises(NotFound):
            await read_head(database, debate, THEIRS)
    assert everything(stored) == before

    vars(log)["_database"] = theirs
    await log.append([DebateStopped("abort", "ours")])
    assert everything(stored)["entry"] == before["entry"] + 1


async def test_no_tenant_stays_in_a_connection(stored: TwoTenants, serving: ServingDatabase) -> None:
    """There is one connection: it was of a tenant a moment ago, also where that ended in an error."""
    key = {"debate": UUID(stored.debates[OURS][0]), "tenant": OURS}
    pids = set()
    for _ in range(3):
        assert len(await serving.of(OURS).query("head", key)) == 1
        assert await serving.query("head", key) == []
        assert await serving.of("").query("head", key) == []
        assert await serving.of(THEIRS).query("head", key) == []
        with pytest.raises(StatementRefused):
            await serving.of(OURS).query("note", written(stored, "note", THEIRS))
        assert await serving.query("head", key) == []
        (row,) = await serving.of(OURS).read("pid", b"SELECT pg_backend_pid() AS pid", {})
        pids.add(row["pid"])
    assert len(pids) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE debate_head SET tenant = 'default'",
        "UPDATE debate_head SET epoch = epoch + 1",
        "UPDATE debate_head SET granted = ceiling",
        "UPDATE debate_head SET spent = 0, held = 0, excess = 0",
        "UPDATE debate_head SET lease_until = '-infinity'",
        "UPDATE debate_head SET state = 'queued'",
        "UPDATE debate_head SET next_n = 0, last_hash = ''",
        "INSERT INTO charge DEFAULT VALUES",
        "SELECT FROM charge",
        "SELECT FROM api_key",
        "SELECT FROM subject",
        "SELECT FROM tenant",
        "SELECT has_operator('default')",
        "DELETE FROM pending",
        "UPDATE batch_limit SET ceiling = 1000000",
        "UPDATE case_batch SET subject = 'another'",
        "UPDATE batch_line SET body = NULL, debate = gen_random_uuid()",
        "DELETE FROM batch_line",
        "UPDATE spend_limit SET drawn = 0",
        "INSERT INTO draw VALUES (gen_random_uuid(), 1, 'default', current_date, current_date, 1)",
        "INSERT INTO log_epoch VALUES ('localhost/default/2', 'default', 2, 'key')",
        "INSERT INTO content VALUES (sha256('x'), 'x')",
        "INSERT INTO leaf VALUES ('localhost/default/1', 99, gen_random_uuid(), 0, sha256('x'))",
        "SELECT FROM entry_2026",
        "SELECT FROM gainsay.found_by",
        "SELECT FROM gainsay.case_words",
        "SELECT FROM listener",
        "SELECT FROM draw",
        "SELECT FROM incident",
        "SELECT * FROM claim_debates('w', 1, '{}', '', NULL, '{}', 1, 1, 1, 1)",
        "SELECT lock_period('other', 'day', current_date)",
        "SET ROLE gainsay_writer",
        "CREATE TABLE gainsay_tenant.x ()",
        "ALTER TABLE debate_head DISABLE ROW LEVEL SECURITY",
    ],
)
def test_what_serves_callers_may_do_nothing_else(login: psycopg.Connection[Any], statement: str) -> None:
    login.execute("SELECT set_config('gainsay.tenant', 'default', false)")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        login.execute(statement.encode())
