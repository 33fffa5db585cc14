"""Every statement that touches rows of a tenant has the tenant in its path, and each such clause is needed.

For each clause of each statement there is a mutant without it, which is run with the service's own login, the one that
row security does not bind. The original says and changes nothing of another tenant; the mutant does. A mutant that no
scenario catches fails these tests, and so does a statement that is neither bound to a tenant nor listed here.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal
from uuid import UUID

import pytest
from msgspec import Struct

from service.store import finding
from service.store.debate_query import DebateQuery
from service.store.finding import Search, count_statement, page_statement, parts
from service.store.group_commit import DEBATE_COLUMNS
from service.store.queries import queries
from service.store.reach import ReachLimit
from tests.fixtures.postgres import Database
from tests.store.tenants import CLAUSE, NOBODY, OURS, THEIRS, Desk, Scenario, Tenant, mutants, settle

pytestmark = pytest.mark.no_replay
Tenants = dict[str, Tenant]
NONE = UUID(int=0x019A_0000_0000_7000_8000_0000_0000_0001)
"""An id that no debate has."""
SUBJECT, KEY = f"sub_{'0' * 26}", f"key_{'0' * 26}"
HOOK, MESSAGE = f"whk_{'0' * 26}", f"msg_{'0' * 26}"

NEW = "adds rows of the tenant that it is given, under new ids, and changes at most that tenant's row of a derived key"
QUEUE = "workers serve every tenant, in turn (0019_tenant_claims.sql), and are told whose debate each one is"
HEALTH = "counts or finds for operators over all tenants, and gives no caller anything"
CHECK = "a check of the whole database: what it looks for is a row under the wrong tenant as well"
REBUILD = "follows the records of one chain, whatever the head row says, and corrects rows about it under any tenant"
SHARED = "texts that are named by their hash belong to the service: prompts, manifests, policies, and no case"
SEQUENCER = (
    "the sequencer serves every log; its unit is the log, whose name has the tenant, and its login has no head rows"
)
CALLER = (
    "says who calls before a tenant is known, by the hash of a secret or by an id that a secret has shown; "
    "functions of migrations/0017_identity.sql do it"
)
OUTBOX = (
    "one process sends the messages of all tenants, in turn (0027_webhook_shares.sql), and is told whose each one is"
)
REGISTER = "a function of migrations/0017_identity.sql has the tenant in each of its clauses"
NAMES = "the names of tenants are the administrators' to see and to give, who serve all of them"
RATES = "counts of requests, no case: a process asks for buckets that it has made of a tenant and a caller itself"
FEED = "the feeder serves every tenant's batches: a claim names each with its tenant, what follows asks by its id"
FEED_EVALUATIONS = "the feeder serves every tenant's evaluations: a claim names each with its tenant and its id"
OWN = "of a session or of the server itself; it reads no row of a tenant"
SERVICE_WIDE: Mapping[str, str] = {
    **dict.fromkeys(("open_debate", "note", "rotate_log", "open_log", "note_damage"), NEW),
    **dict.fromkeys(("add_batch_lines", "open_batch", "register_evaluation"), NEW),
    **dict.fromkeys(("claim_evaluations", "renew_evaluations", "release_evaluation"), FEED_EVALUATIONS),
    **dict.fromkeys(
        (
            "claim_batches",
            "renew_batches",
            "release_batch",
            "next_batch_line",
            "settle_batch_line",
            "refuse_batch_lines",
        ),
        FEED,
    ),
    **dict.fromkeys(("batch_under_way", "end_batch", "remove_stray_lines"), FEED),
    "batch_balance": CHECK,
    "item_room": "a function of migrations/0034_evaluation_budgets.sql has the tenant in each of its clauses",
    **dict.fromkeys(("claim", "disown"), QUEUE),
    "forget_listeners": "deletes what has been of no use for a minute, whoever listened",
    **dict.fromkeys(("backlog", "unproven", "open_incidents", "open_damage", "log_tenants", "every_log"), HEALTH),
    "left_logs": "a part of other statements, each with its reason",
    **dict.fromkeys(
        ("balance", "astray", "claim_check", "log_key", "heads_placed", "leaves_from", "heads_within"), CHECK
    ),
    **dict.fromkeys(("tiles_within", "claim_rows", "begin_round", "end_step", "rows_from", "projected"), CHECK),
    **dict.fromkeys(
        ("count_cosignatures", "count_time_stamps", "time_stamps_of", "stamped_logs", "issued_rows"), CHECK
    ),
    **dict.fromkeys(("chains", "chain", "document_hashes", "project", "project_issued"), REBUILD),
    **dict.fromkeys(("remove_strays", "remove_stray_records"), REBUILD),
    **dict.fromkeys(("evaluation_ids", "evaluation_state", "evaluation_entry_of"), CHECK),
    **dict.fromkeys(("project_evaluation_entry", "project_evaluation", "remove_stray_entries"), REBUILD),
    "remove_stray_evaluations": REBUILD,
    **dict.fromkeys(("manifest_prompts", "manifests", "project_manifest", "unknown_manifests"), SHARED),
    **dict.fromkeys(("kept_contents", "keep_contents", "contents", "keep_manifest"), SHARED),
    **dict.fromkeys(("staged", "add_batch", "add_leaves", "add_tiles", "tree_end", "keep_head"), SEQUENCER),
    **dict.fromkeys(
        ("unsigned", "raise_incident", "cosigned", "keep_cosignature", "unstamped", "keep_time_stamp"), SEQUENCER
    ),
    **dict.fromkeys(("find_key", "still_good", "find_subject", "key_used"), CALLER),
    **dict.fromkeys(("add_key", "has_operator"), REGISTER),
    "ended_within": "counts for operators over all tenants, and a baseline is of them together",
    **dict.fromkeys(("keep_baseline", "baselines"), "a baseline is of all tenants together, and no tenant is in it"),
    "add_webhook": "a function of migrations/0027_webhook_shares.sql counts and adds endpoints of its tenant",
    **dict.fromkeys(("release_proven", "claim_deliveries", "release_claimed", "forget_deliveries"), OUTBOX),
    **dict.fromkeys(
        ("webhook_backlog", "batch_backlog", "evaluations_watched", "looks_of_tenants", "tenant_money", "witness_lag"),
        HEALTH,
    ),
    **dict.fromkeys(("add_tenant", "tenants", "tenant_known"), NAMES),
    **dict.fromkeys(("exchange_rates", "forget_rates"), RATES),
    **dict.fromkeys(("clock", "zone", "alive", "subscribe", "tell", "lead", "partitions_end", "login_end"), OWN),
}
"""The statements that no tenant is in, each with the reason."""
UNBOUND_PARTS: Mapping[str, str] = {
    "provable": "reads what `held` has read",
    "spent_known": "reads what `held` has read",
    "spent_unknown": "reads what `held` has read",
    "counted_of": "columns of rows that were chosen before",
}
"""The parts of the list's statements that read rows and have no tenant of their own."""


def test_a_statement_is_bound_to_a_tenant_or_listed_as_service_wide_with_a_reason() -> None:
    bound = {name for name, sql in queries().items() if CLAUSE.search(sql)}

    assert bound & set(SERVICE_WIDE) == set(), "bound, and listed as service-wide"
    assert set(queries()) - bound == set(SERVICE_WIDE), "neither bound nor listed, or listed and gone"
    assert not [name for name, sql in queries().items() if b"tenant)s::text IS NULL" in sql], (
        "no tenant means every tenant"
    )


def test_each_part_of_the_list_that_reads_rows_is_bound_to_a_tenant_or_listed() -> None:
    reads = {name for name, sql in parts().items() if b"FROM " in sql}

    assert {name for name in reads if not CLAUSE.search(parts()[name])} == set(UNBOUND_PARTS)


@pytest.fixture(scope="module")
def tenants(module_database: Database) -> Tenants:
    """Both tenants."""
    return asyncio.run(settle(module_database))


@pytest.fixture(scope="module")
def desk(module_database: Database) -> Iterator[Desk]:
    """Runs statements."""
    made = Desk(module_database)
    yield made
    made.connection.close()


def test_every_mutant_of_every_statement_is_caught(tenants: Tenants, desk: Desk) -> None:
    by_query: dict[str, list[Scenario]] = {}
    for scenario in scenarios(tenants[OURS], tenants[THEIRS]):
        by_query.setdefault(scenario.query, []).append(scenario)
    made, caught, missed = 0, 0, list[str]()
    for name, sql in queries().items():
        expected = []
        for scenario in by_query.get(name, ()):
            expected.append(desk.expected(scenario, sql))
            assert desk.run(scenario, sql, scenario.given, crafted=True) == expected[-1], (
                f"{name} tells of another tenant"
            )
        for nth, mutant in enumerate(mutants(sql)):
            made += 1
            found = [desk.run(each, mutant, each.given, crafted=True) for each in by_query.get(name, ())]
            if found == expected:
                missed.append(f"{name}, clause {nth + 1}")
            caught += found != expected
    sys.stdout.write(f"{len(by_query)} statements, {made} mutants, {caught} caught\n")

    assert missed == []
    assert made == caught >= 50


def scenarios(ours: Tenant, theirs: Tenant) -> Iterator[Scenario]:
    """What one tenant asks and does with the other's ids."""
    yield from _of_debates(ours, theirs)
    yield from _of_logs(theirs)
    yield from _of_what_is_recalled(ours, theirs)
    yield from _of_the_queue(theirs)
    yield from _of_records_written(ours, theirs)
    yield from _of_reach(ours, theirs)
    yield from _of_registers()
    yield from _of_assignments(ours, theirs)
    yield from _of_webhooks()
    yield from _of_tenants()
    yield from _of_batches(theirs)
    yield from _of_evaluations(theirs)
    yield Scenario(
        query="last_probe",
        given={"tenant": OURS, "due": 1e9, "since": UUID(int=0)},
        craft=f"UPDATE debate_head SET created = created - interval '1 hour' WHERE tenant = '{THEIRS}'",
    )


def _of_debates(ours: Tenant, theirs: Tenant) -> Iterator[Scenario]:
    given = {"tenant": OURS, "debate": theirs.done}
    beside = {"debate": NONE}
    more: dict[str, dict[str, Any]] = {"records": {"from_n": 0, "documents": True}, "proven": {"n": 0}}
    names = ("head", "records", "documents", "proven", "bundle_records", "bundle_context", "issued_reports")
    for name in names:
        yield Scenario(query=name, given={**given, **more.get(name, {})}, beside=beside)
    left = f"INSERT INTO incident (log, what, at) VALUES ('{theirs.log}', 'lost', '2999-01-01')"
    yield Scenario(query="lost_debate", given=given, beside=beside, always=left)
    for owner in (THEIRS, OURS):  # another tenant's key, and a key of ours that leads to another tenant's debate
        row = f"('{owner}', sha256(''), '{theirs.queued}')"
        yield Scenario(
            query="derived",
            given={"tenant": OURS, "key": sha256(b"").digest()},
            beside={"key": bytes(32)},
            always=f"INSERT INTO derived_key (tenant, key, debate) VALUES {row}",
        )
    yield Scenario(query="keyed", given={"tenant": OURS, "key": theirs.key}, beside={"key": bytes(32)})
    yield Scenario(query="issued_report", given={"tenant": OURS, **theirs.report}, beside={"of": NONE})
    yield Scenario(
        query="listened",
        given={**given, "process": "here", "within": 60.0},
        beside=beside,
        always=f"INSERT INTO listener (debate, process) VALUES ('{theirs.done}', 'there')",
    )
    yield Scenario(
        query="listen",
        given={"debates": [theirs.done], "tenants": [OURS], "process": "here"},
        beside={"debates": [NONE]},
        state="SELECT * FROM listener",
    )
    yield Scenario(
        query="moved", given={"debates": [theirs.done], "tenants": [OURS], "ns": [0]}, beside={"debates": [NONE]}
    )


def _of_logs(theirs: Tenant) -> Iterator[Scenario]:
    every = {"first": 0, "below": 999, "most": 999}
    staged = f"INSERT INTO pending (log, debate, n) VALUES ('{theirs.log}', '{theirs.done}', 0)"
    of: dict[str, dict[str, Any]] = {
        "latest_head": {},
        "logs_of": {},
        "head_at": {"size": theirs.size},
        "tree_parts": {"levels": [0], "indexes": [0], "first": 0, "end": 2, "size": theirs.size},
        "leaves_between": {"first": 0, "end": 5},
        "countersigned_head": {"above": -1},
        "first_countersigned": {"above": -1, "upto": 999},
        "countersigned_before": {"upto": 999, "by": 32_503_680_000.0},
        "stamped_before": {"upto": 999, "by": 32_503_680_000.0},
        "first_stamped": {"above": -1, "upto": 999},
        "first_since": {"at": "2020-01-01"},
        "joined_before": {"at": "2999-01-01", "until": "2020-01-01"},
        "countersigned_since": {"at": "2020-01-01"},
        "export_all": every,
        "export_some": {**every, **_filters()},
    }
    for name, more in of.items():
        given = {"tenant": OURS, "log": theirs.log, **more}
        yield Scenario(query=name, given=given, beside={"log": "localhost/nobody/1"}, always=staged)
    given = {"tenant": OURS, "log": theirs.opened, "below": 9}
    yield Scenario(query="opening", given=given, beside={"log": "localhost/nobody/1"})
    ours = f"localhost/{OURS}/1"
    yield Scenario(
        query="take",
        given={"tenant": OURS, "log": ours, "seqs": [1], "careful": False},
        always="INSERT INTO pending (log, seq, debate, n) OVERRIDING SYSTEM VALUE "
        f"VALUES ('{ours}', 1, '{theirs.done}', 0)",
        expected=({"debate": str(theirs.done), "n": 0, "hash": None, "follows": True},),
        sequencer=True,
    )


def _filters(**given: str) -> dict[str, Any]:
    return {"task_type": None, "state": None, "model": None, "document": None, "prompt": None, **given}


def _of_what_is_recalled(ours: Tenant, theirs: Tenant) -> Iterator[Scenario]:
    """Rows of one tenant about the other's debates: only a fault makes them, and nothing is told by them."""
    prompt = "INSERT INTO manifest_prompt VALUES ('crafted', 'p', 'crafted');"

    def rests(tenant: str, what: str, debate: UUID) -> str:
        return (
            f"INSERT INTO rests_on (tenant, what, value, debate) VALUES ('{tenant}', '{what}', 'crafted', '{debate}')"
        )

    page = {"tenant": OURS, "value": "crafted", "below": None, "limit": 9}
    yield Scenario(query="recall", given={**page, "what": "model"}, craft=rests(OURS, "model", theirs.done))
    yield Scenario(query="recall", given={**page, "what": "model"}, craft=rests(THEIRS, "model", theirs.done))
    yield Scenario(query="recall_prompt", given=page, always=prompt, craft=rests(OURS, "manifest", theirs.done))
    yield Scenario(query="recall_prompt", given=page, always=prompt, craft=rests(THEIRS, "manifest", ours.done))
    for what in ("model", "document", "manifest"):
        asked = _filters(**{"prompt" if what == "manifest" else what: "crafted"})
        given = {"tenant": OURS, "log": ours.log, "first": 0, "below": 999, "most": 999, **asked}
        yield Scenario(query="export_some", given=given, always=prompt, craft=rests(THEIRS, what, ours.done))


def _of_the_queue(theirs: Tenant) -> Iterator[Scenario]:
    claimed = (
        "UPDATE debate_head SET state = 'running', worker = 'w', epoch = 1, lease_until = '2999-01-01', lease_s = 9 "
        f"WHERE debate = '{theirs.queued}'"
    )
    given = {"tenant": OURS, "debate": theirs.queued, "epoch": 1}
    state = (
        f"SELECT worker, lease_until::text, lease_s, faults, draws FROM debate_head WHERE debate = '{theirs.queued}'"
    )
    money = {"draws": 0, "need": 1, "want": 1, "zone": "UTC", "day": None, "month": None}
    of: dict[str, dict[str, Any]] = {
        "renew": {"lease": 77.0},
        "release": {"pause": None},
        "pass_on": {},
        "park": {"pause": 1.0},
    }
    for name, more in {**of, "draw": money}.items():
        yield Scenario(query=name, given={**given, **more}, beside={"debate": NONE}, always=claimed, state=state)
    held = {"debates": [theirs.queued], "tenants": [OURS], "epochs": [1], "worker": "w", "lease": 77.0}
    yield Scenario(query="renew_all", given=held, beside={"debates": [NONE]}, always=claimed, state=state)


def _of_records_written(ours: Tenant, theirs: Tenant) -> Iterator[Scenario]:
    one = {"leaves": [b"leaf"], "salts": [bytes(32)], "bodies": [b"body"], "count": 1, "last_hash": b"hash"}
    money = dict.fromkeys(("spent", "excess", "hold", "release"), 0)
    rests: dict[str, Any] = {"rests": None, "charges": None, "tracked": "[]"}
    rest = {**one, **money, **rests, "state": None, "lease": None, "zone": "UTC", "decision": None}
    records = {"leaves": [b"leaf"], "salts": [bytes(32)], "bodies": [b"body"], "of": [1]}

    def appended(head: Mapping[str, Any], *, alone: bool, **more: Any) -> dict[str, Any]:
        """The parameters of an append to one debate."""
        values = {**rest, **after(head), "tenant": OURS, **more}
        each = {array: [values[name] for name in names] for array, (_, names) in DEBATE_COLUMNS.items()}
        return {**each, **records, "ns": [head["next_n"]], "alone": alone}

    def after(head: Mapping[str, Any]) -> dict[str, Any]:
        return {"epoch": head["epoch"], "next_n": head["next_n"], "prev": head["last_hash"]}

    ended = f'{{"tenant": "{OURS}", "debate": "{ours.queued}", "task_type": "t", "downside": 1, "status": "failed"}}'
    for alone in (False, True):
        yield Scenario(
            query="append",
            given=appended(theirs.head, alone=alone, debate=theirs.queued, found_by=None),
            beside={"debate": [NONE]},
            state=f"SELECT next_n FROM debate_head WHERE debate = '{theirs.queued}'",
        )
    yield Scenario(
        query="append",
        given=appended(ours.head, alone=False, debate=ours.queued, found_by=ended),
        craft=_found(THEIRS, ours.queued),
        state=f"SELECT * FROM found_by WHERE tenant = '{THEIRS}'",
    )
    stop = {**rest, "leaves": [b'{"kind":"debate.stopped"}']}
    yield Scenario(
        query="append_stop",
        given={"tenant": OURS, "debate": theirs.queued, **after(theirs.head), **stop, "found_by": None},
        beside={"debate": NONE},
        state=f"SELECT next_n FROM debate_head WHERE debate = '{theirs.queued}'",
    )
    yield Scenario(
        query="append_stop",
        given={"tenant": OURS, "debate": ours.queued, **after(ours.head), **stop, "found_by": ended},
        craft=_found(THEIRS, ours.queued),
        state=f"SELECT * FROM found_by WHERE tenant = '{THEIRS}'",
    )
    yield Scenario(
        query="issue_report",
        given={
            **theirs.report,
            "tenant": OURS,
            "of": theirs.done,
            "sha256": "new",
            "debate": NONE,
            "log": ours.log,
            "leaf": b"leaf",
            "salt": bytes(32),
            "body": b"body",
        },
        beside={"of": NONE},
        state="SELECT count(*) FROM issued_report",
    )


def _of_reach(ours: Tenant, theirs: Tenant) -> Iterator[Scenario]:
    """Which debates a subject reaches: one that it submitted to another tenant, and one assigned to it there."""
    given = {"tenant": OURS, "subject": SUBJECT, "own": False, "assigned": False}
    yield Scenario(
        query="reached",
        given={**given, "debate": theirs.queued, "own": True},
        craft=_submitted(theirs.queued),
        expected=(),
    )
    yield Scenario(
        query="reached",
        given={**given, "debate": ours.done, "assigned": True},
        craft=_assigned(THEIRS, ours.done),
        expected=(),
    )


def _of_registers() -> Iterator[Scenario]:
    """The other tenant's subject and key, which are shown to it alone and revoked by it alone."""
    record = {"debate": NONE, "log": "l", "home": OURS, "leaf": b"leaf", "salt": bytes(32), "body": b"body"}
    page = {"after": "", "limit": 9}
    of: dict[str, dict[str, Any]] = {
        "keys_of": {**page, "subject": None},
        "key": {"key": KEY},
        "subjects_of": {**page, "only": None},
        "subject": {"subject": SUBJECT},
        "operator_key_of": {"subject": SUBJECT},
        "other_operator": {"key": "", "subject": ""},
        "revoke_key": {"key": KEY, **record},
        "revoke_subject": {"subject": SUBJECT, **record},
    }
    state = "SELECT k.revoked, s.revoked FROM api_key k, subject s"
    for name, more in of.items():
        yield Scenario(query=name, given={"tenant": OURS, **more}, always=_registered(THEIRS), state=state, expected=())
        if name in ("keys_of", "key", "revoke_key"):  # without a tenant: those of the whole service, and no tenant's
            yield Scenario(
                query=name, given={"tenant": None, **more}, always=_registered(THEIRS), state=state, expected=()
            )
    moved = f"{_registered(THEIRS)};UPDATE api_key SET tenant = '{OURS}'"  # a key of ours, and a subject of theirs
    for name in ("operator_key_of", "other_operator"):
        yield Scenario(query=name, given={"tenant": OURS, **of[name]}, always=moved, expected=())


def _of_assignments(ours: Tenant, theirs: Tenant) -> Iterator[Scenario]:
    """A case is given to its own tenant's subjects, and taken from them, by its own tenant alone."""
    record = {"debate": NONE, "log": "l", "home": OURS, "leaf": b"leaf", "salt": bytes(32), "body": b"body"}
    given = {"tenant": OURS, "subject": SUBJECT, "by": "local"}
    state = "SELECT * FROM assignment"
    their_subject, assigned = _registered(THEIRS), _assigned(THEIRS, theirs.queued)
    of: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("assign_case", their_subject, {"case": ours.queued, **record}),
        ("assign_case", their_subject, {"case": theirs.queued, **record}),
        ("unassign_case", assigned, {"case": theirs.queued, **record}),
        ("reviewers", assigned, {"case": theirs.queued, "after": "", "limit": 9}),
        ("has_case", "", {"case": theirs.queued}),
    )
    for name, always, more in of:
        yield Scenario(query=name, given={**given, **more}, always=always, state=state, expected=())


def _of_webhooks() -> Iterator[Scenario]:
    """An endpoint and its messages are shown to their own tenant and changed by it alone."""
    record = {"debate": NONE, "log": "l", "home": OURS, "leaf": b"leaf", "salt": bytes(32), "body": b"body"}
    sending = {"process": "p", "nth": 1, "asked": None, "http_status": None, "took_ms": None, "outcome": "failed"}
    ended = {"seq": 99, **sending, "reason": "", "state": "delivered", "wait_s": 0.0}
    of: dict[str, tuple[str, dict[str, Any]]] = {
        "rotate_webhook": ("", {"master": "m", "keep_s": 9.0, "generation": 1, **record}),
        "disable_webhook": ("", {"why": "asked", **record}),
        "enable_webhook": ("UPDATE webhook SET disabled = clock_timestamp()", {"most": 9, "most_own": 9, **record}),
        "webhooks_of": ("", {"subject": None, "only": None, "after": "", "limit": 9}),
        "webhook_sent": ("", {}),
        "test_webhook": ("", {}),
        "redeliver": ("", {"delivery": MESSAGE}),
        "deliveries_of": ("", {"before": None, "only": None, "shown": 9, "limit": 9}),
        "end_attempt": ("UPDATE webhook_delivery SET state = 'sending', process = 'p', attempts = 1", ended),
    }
    state = "SELECT w.*, d.* FROM webhook w, webhook_delivery d"
    for name, (more, given) in of.items():
        yield Scenario(
            query=name,
            given={"tenant": OURS, "webhook": HOOK, **given},
            always=f"{_hooked(THEIRS, HOOK)};{_sent(THEIRS)};{more}",
            state=state,
            expected=(),
        )
    other = f"whk_{'1' * 26}"
    yield Scenario(  # the other tenant's endpoints are not counted among ours
        query="enable_webhook",
        given={"tenant": OURS, "webhook": other, "most": 1, "most_own": 1, **record},
        always=f"{_hooked(OURS, other)};UPDATE webhook SET disabled = clock_timestamp();{_hooked(THEIRS, HOOK)}",
        expected=({"debate": NONE},),
    )


def _hooked(tenant: str, endpoint: str) -> str:
    """An endpoint of a tenant."""
    return (
        "INSERT INTO webhook (id, tenant, subject, reach, url, master) "
        f"VALUES ('{endpoint}', '{tenant}', 's', 'tenant', 'https://a.example', 'm')"
    )


def _sent(tenant: str) -> str:
    """A message of that endpoint."""
    return (
        "INSERT INTO webhook_delivery (seq, id, tenant, webhook, state) OVERRIDING SYSTEM VALUE "
        f"VALUES (99, '{MESSAGE}', '{tenant}', '{HOOK}', 'waiting')"
    )


def _of_evaluations(theirs: Tenant) -> Iterator[Scenario]:
    """An evaluation of the other tenant, which has looked at the held labels of a set."""
    foreign = UUID(int=0x019A << 112 | 3)
    made = (
        "INSERT INTO evaluation (evaluation, tenant, name, subject, role, kind, via, roles, credential, held, scored, "
        f"key, body) VALUES ('{foreign}', '{THEIRS}', 'n', 's', 'r', 'k', 'v', '{{}}', '', '{{set-a}}', true, "
        f"sha256('{THEIRS}'), sha256('body')); "
        f"INSERT INTO evaluation_entry (tenant, evaluation, n, record) VALUES ('{THEIRS}', '{foreign}', 0, "
        f"'{theirs.done}');"
    )
    asked = {"tenant": OURS, "evaluation": foreign}
    yield Scenario(query="evaluation", given=asked, always=made, expected=())
    yield Scenario(query="evaluations", given={"tenant": NOBODY, "limit": 9, "below": None}, always=made, expected=())
    key = sha256(THEIRS.encode()).digest()
    yield Scenario(query="keyed_evaluation", given={"tenant": OURS, "key": key}, always=made, expected=())
    yield Scenario(query="evaluation_place", given=asked, always=made, expected=())
    yield Scenario(query="evaluation_log", given=asked, always=made, expected=())
    waiting = UUID(int=0x019A << 112 | 4)
    lost = (
        f"UPDATE evaluation SET ended = now() WHERE evaluation = '{foreign}'; "
        "INSERT INTO evaluation_entry (tenant, evaluation, n, record) "
        f"VALUES ('{THEIRS}', '{foreign}', 1, '{waiting}'); "
        f"INSERT INTO pending (log, debate, n, tenant) VALUES ('{theirs.log}', '{waiting}', 0, '{THEIRS}'); "
        f"INSERT INTO incident (log, what, at) VALUES ('{theirs.log}', 'lost', '2999-01-01');"
    )
    yield Scenario(query="lost_evaluation", given=asked, always=made + lost, expected=())
    yield Scenario(query="item_log", given={"tenant": OURS, "debate": theirs.done}, expected=())
    found = f"UPDATE found_by SET evaluation = '{foreign}' WHERE debate = '{theirs.done}'"
    whole = {**asked, "log": theirs.log, "first": 0, "below": 999, "most": 999}
    for of_theirs in (made, found):
        yield Scenario(query="export_evaluation", given=whole, always=of_theirs, expected=())
    yield Scenario(query="evaluation_entries", given={**asked, "first": 0}, always=made, expected=())
    yield Scenario(query="evaluation_provable", given={**asked, "n": 0}, always=made, expected=({"provable": False},))
    yield Scenario(query="open_evaluations", given={"tenant": OURS}, always=made, expected=({"evaluations": 0},))
    looks = ({"id": "set-a", "looks": 0},)
    yield Scenario(query="looks_at_held", given={"tenant": OURS, "sets": ["set-a"]}, always=made, expected=looks)
    yield Scenario(query="evaluation_revoked", given=asked, always=made, expected=())
    ended = f"UPDATE evaluation SET ended = now(), result = 'r' WHERE evaluation = '{foreign}'"
    within = {"since": datetime(2000, 1, 1, tzinfo=UTC), "until": datetime(2999, 1, 1, tzinfo=UTC)}
    several = {"tenant": OURS, "after": UUID(int=0), "limit": 9}
    yield Scenario(query="results_within", given={**several, **within}, always=f"{made}{ended}", expected=())
    of_nobody = {"tenant": NOBODY, "after": UUID(int=0), "before": UUID(int=2**128 - 1), "task_types": None, "limit": 9}
    yield Scenario(query="debates_within", given=of_nobody, expected=())
    yield Scenario(query="has_debates", given={"tenant": NOBODY}, expected=({"found": False},))
    yield from _of_tilts()
    yield Scenario(query="ended_of", given={"tenant": OURS, "debates": [theirs.done]}, expected=())
    sealed = {"leaf": b"leaf", "salt": bytes(32), "body": b"body", "log": f"localhost/{OURS}/1", "debate": NONE}
    yield Scenario(
        query="stop_evaluation",
        given={**asked, **sealed, "n": 1},
        always=made,
        state="SELECT n FROM evaluation_entry ORDER BY n",
        expected=(),
    )
    yield Scenario(
        query="add_evaluation_entries",
        given={
            **asked,
            "log": sealed["log"],
            "n": 1,
            "scored": True,
            "ended": True,
            "result": None,
            "records": [NONE],
            "leaves": [b"leaf"],
            "salts": [bytes(32)],
            "bodies": [b"body"],
        },
        always=made,
        state="SELECT ended FROM evaluation",
        expected=(),
    )


def _of_tilts() -> Iterator[Scenario]:
    """A finding about a moderator of the other tenant, and resolutions that name findings of another tenant."""
    foreign, other = UUID(int=0x019A << 112 | 4), UUID(int=0x019A << 112 | 5)
    about = "'m', 'm', 'moderator', 'v1', NULL, 'side', '2026-01-01'"
    columns = "(finding, tenant, record, alias, model, prompt, pin, task_type, aspect, recorded)"
    theirs = f"INSERT INTO moderator_tilt {columns} VALUES ('{foreign}', '{THEIRS}', '{foreign}', {about}); "
    ours = f"INSERT INTO moderator_tilt {columns} VALUES ('{other}', '{OURS}', '{other}', {about}); "
    resolved = f"INSERT INTO moderator_resolution (finding, tenant, record) VALUES ('{other}', '{THEIRS}', '{other}')"
    sealed = {"leaf": b"leaf", "salt": bytes(32), "body": b"body", "log": f"localhost/{OURS}/1", "debate": NONE}
    for query in ("tilts", "standing_tilts"):
        yield Scenario(query=query, given={"tenant": OURS}, always=theirs, expected=())
        yield Scenario(query=query, given={"tenant": OURS}, always=ours, craft=resolved)
    yield Scenario(
        query="resolve_tilt",
        given={"tenant": OURS, "finding": foreign, **sealed},
        always=theirs,
        state="SELECT finding FROM moderator_resolution",
        expected=(),
    )
    named = {"alias": "m", "model": "m", "prompt": "moderator", "pin": "v1", "task_type": None, "aspect": "side"}
    new = {"tenant": OURS, "finding": UUID(int=0x019A << 112 | 6), **named, **sealed}
    yield Scenario(query="add_tilt", given=new, always=theirs, expected=({"debate": NONE},))
    yield Scenario(query="add_tilt", given=new, always=ours, craft=resolved)


def _of_batches(theirs: Tenant) -> Iterator[Scenario]:
    """A batch of the other tenant, and one of ours whose line names a debate of the other's."""
    mine, foreign = UUID(int=0x019A << 112 | 1), UUID(int=0x019A << 112 | 2)
    made = "".join(
        "INSERT INTO case_batch (batch, tenant, subject, role, kind, via, roles, credential, lines, key, body) "
        f"VALUES ('{batch}', '{tenant}', 's', 'r', 'k', 'v', '{{}}', '', 1, sha256('{tenant}'), sha256('body')); "
        f"INSERT INTO batch_line (batch, line, tenant, debate) VALUES ('{batch}', 1, '{tenant}', '{theirs.done}'); "
        f"INSERT INTO batch_limit (batch, tenant, ceiling) VALUES ('{batch}', '{tenant}', 9); "
        for batch, tenant in ((mine, OURS), (foreign, THEIRS))
    )
    asked = {"tenant": OURS, "batch": foreign, "subject": None, "held": False}
    key = sha256(THEIRS.encode()).digest()
    yield Scenario(query="keyed_batch", given={**asked, "key": key}, always=made, expected=())
    yield Scenario(query="open_batches", given={"tenant": NOBODY}, always=made, expected=({"open": 0},))
    yield Scenario(query="batch", given=asked, always=made, expected=())
    yield Scenario(
        query="batches", given={**asked, "tenant": NOBODY, "below": None, "limit": 9}, always=made, expected=()
    )
    yield Scenario(query="batch_counts", given=asked, always=made, expected=())
    waits = {"stands": "waiting", "refused": False, "joined": False, "lines": 1, "spent": 0}
    yield Scenario(query="batch_counts", given={**asked, "batch": mine}, always=made, expected=(waits,))
    page = {**asked, "after": 0, "limit": 9}
    yield Scenario(query="batch_results", given=page, always=made, expected=())
    line = dict.fromkeys(("key", "refused", "detail", "stands", "format", "task_type", "spent", "decision"))
    line |= {"line": 1, "debate": theirs.done, "joined": False, "erased": True}
    yield Scenario(query="batch_results", given={**page, "batch": mine}, always=made, expected=(line,))
    yield Scenario(
        query="stop_batch",
        given={**asked, "stop": "aborted", "detail": "not ours"},
        always=made,
        state="SELECT stop FROM case_batch ORDER BY batch",
        expected=(),
    )
    over = (
        "INSERT INTO case_batch (batch, tenant, subject, role, kind, via, roles, credential, lines, body, ended) "
        f"VALUES ('{mine}', '{OURS}', 's', 'r', 'k', 'v', '{{}}', '', 1, sha256('body'), now()); "
    )
    add = "INSERT INTO batch_line (batch, line, tenant, debate, refused) VALUES"
    look = {"rest": 0.0, "most": 9, "held": False}
    yield Scenario(
        query="keep_batch_counts",
        given=look,
        always=f"{over} {add} ('{mine}', 1, '{OURS}', NULL, 'budget')",
        craft=f"{add} ('{mine}', 2, '{THEIRS}', NULL, 'key')",
    )
    yield Scenario(
        query="keep_batch_counts",
        given=look,
        always=f"{over} {add} ('{mine}', 1, '{OURS}', '{theirs.done}', NULL)",
        expected=({"batch": mine, "counts": None},),
    )
    yield Scenario(
        query="batch_room",
        given={"batch": mine},
        always=made,
        craft=f"UPDATE debate_head SET batch = '{foreign}' WHERE debate = '{theirs.queued}'",
    )


def _of_tenants() -> Iterator[Scenario]:
    """What a tenant is told that has nothing."""
    of: dict[str, dict[str, Any]] = {
        "latest_log": {},
        "current_heads": {"tenants": [NOBODY]},
        "standings": {"limit": 9},
        "key_heads": {},
        "witness_heads": {"names": ["w1"]},
    }
    for name, more in of.items():
        yield Scenario(query=name, given={"tenant": NOBODY, **more}, expected=())
    yield Scenario(
        query="waiting",
        given={"tenant": NOBODY, "most": 9, "most_of_tenant": 9},
        expected=({"waiting": 2, "of_tenant": 0},),
    )
    yield Scenario(
        query="left",
        given={"tenant": NOBODY, "zone": "UTC", "day": 100, "month": None},
        craft=f"INSERT INTO spend_limit SELECT '{THEIRS}', 'day', today('UTC'), 100, 40",
    )
    yield Scenario(
        query="budget",
        given={"tenant": NOBODY, "zone": "UTC", "purpose": None},
        craft=f"INSERT INTO spend_limit SELECT '{THEIRS}', 'day', today('UTC'), 100, 40",
    )
    yield Scenario(
        query="items_under_way",
        given={"tenant": NOBODY},
        craft=f"UPDATE debate_head SET purpose = 'evaluation', reserve = 5 WHERE tenant = '{THEIRS}'",
    )


# -- the list


def _found(tenant: str, debate: UUID) -> str:
    return (
        "INSERT INTO found_by (tenant, debate, task_type, format, downside, models) "
        f"VALUES ('{tenant}', '{debate}', 'contract', 'adversarial', 1, '{{}}')"
    )


def _worded(tenant: str, debate: UUID) -> str:
    return (
        "INSERT INTO case_words (tenant, debate, words, metadata) "
        f"VALUES ('{tenant}', '{debate}', to_tsvector('english', 'crafted'), '{{}}')"
    )


def _tenant(name: str) -> str:
    return f"INSERT INTO tenant (name, created_by) VALUES ('{name}', 'local') ON CONFLICT DO NOTHING"


def _registered(tenant: str) -> str:
    """A subject of a tenant with a key, in the registers."""
    return (
        f"{_tenant(OURS)};{_tenant(THEIRS)};"
        "INSERT INTO subject (id, tenant, source, external, kind) "
        f"VALUES ('{SUBJECT}', '{tenant}', 'key', '{SUBJECT}', 'person');"
        "INSERT INTO api_key (id, hash, tenant, subject, roles, name, created_by, expires) "
        f"VALUES ('{KEY}', sha256(''), '{tenant}', '{SUBJECT}', '{{operator}}', 'a key', 'local', '2999-01-01')"
    )


def _submitted(debate: UUID) -> str:
    return f"UPDATE debate_head SET subject = '{SUBJECT}' WHERE debate = '{debate}'"


def _assigned(tenant: str, debate: UUID) -> str:
    return (
        f"{_registered(tenant)};INSERT INTO assignment (tenant, debate, subject, by_subject) "
        f"VALUES ('{tenant}', '{debate}', '{SUBJECT}', 'local')"
    )


@pytest.mark.parametrize("name", sorted(name for name, sql in parts().items() if CLAUSE.search(sql)))
def test_every_mutant_of_every_part_of_the_list_is_caught(
    tenants: Tenants, desk: Desk, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = tenants[OURS], tenants[THEIRS]
    searches = [search for search in _searches(ours, theirs) if search.part == name]
    expected = [desk.expected(search.scenario, search.statement()) for search in searches]
    for search, result in zip(searches, expected, strict=True):
        found = desk.run(search.scenario, search.statement(), search.scenario.given, crafted=True)
        assert found == result, f"{name} tells of another tenant"
    for nth, mutant in enumerate(mutants(parts()[name])):
        mutated = {**parts(), name: mutant}
        with monkeypatch.context() as patched:
            patched.setattr(finding, "parts", lambda mutated=mutated: mutated)
            statements = [search.statement() for search in searches]
        assert [
            desk.run(each.scenario, sql, each.scenario.given, crafted=True)
            for each, sql in zip(searches, statements, strict=True)
        ] != expected, f"{name}, clause {nth + 1}, is missed"


class _Search(Struct, frozen=True, kw_only=True):
    """A search of the list, for one of its parts: a page, how many there are, or how many of each status."""

    part: str
    kind: Literal["page", "total", "facets"] = "page"
    tenant: str = OURS
    few: bool = False
    craft: str = ""
    query: DebateQuery = DebateQuery()
    limit: ReachLimit | None = None

    def statement(self) -> bytes:
        """The statement, without the columns that count more rows than are meant."""
        return self._composed()[0]

    def _composed(self) -> tuple[bytes, dict[str, Any]]:
        search = Search(self.tenant, self.query, held=True, few=self.few, limit=self.limit)
        if self.kind == "page":
            return page_statement(search, None)
        sql, params = count_statement(search)
        if self.kind == "total":
            return b"SELECT count FROM (%s) AS c WHERE facet IS NULL" % sql, params
        return b"SELECT facet, value, count FROM (%s) AS c WHERE facet IS NOT NULL ORDER BY 1, 2" % sql, params

    @property
    def scenario(self) -> Scenario:
        """How it is run."""
        empty = ({"count": 0},) if self.kind == "total" else ()
        expected = empty if self.tenant == NOBODY else None
        return Scenario(query=self.part, given=self._composed()[1], craft=self.craft, expected=expected)


def _searches(ours: Tenant, theirs: Tenant) -> Iterator[_Search]:
    """For each part of the list, what shows that its clauses are there."""
    adversarial = DebateQuery(format=("adversarial",))
    crafted, liable = DebateQuery(words="crafted"), DebateQuery(words="liability")
    decision = f"INSERT INTO decision (debate, tenant, body) VALUES ('{ours.queued}', '{THEIRS}', '{{}}')"
    rests = f"INSERT INTO rests_on (tenant, what, value, debate) VALUES ('{THEIRS}', 'model', 'crafted', '{ours.done}')"
    leaf = f"INSERT INTO leaf VALUES ('{theirs.log}', 9999, '{ours.done}', 9999, sha256(''))"
    yield _Search(part="heads", tenant=NOBODY, query=DebateQuery(facets=("status",)), kind="total")
    yield _Search(part="rows", tenant=NOBODY, query=adversarial, kind="total")
    yield _Search(part="worded_rows", tenant=NOBODY, query=liable, kind="total")
    yield _Search(part="worded_rows", query=crafted, kind="total", craft=_worded(THEIRS, ours.done))
    yield _Search(part="rows_of_few", query=crafted, kind="total", few=True, craft=_worded(OURS, theirs.done))
    yield _Search(part="cases", query=crafted, kind="total", few=True, craft=_worded(THEIRS, ours.done))
    yield _Search(part="held", query=DebateQuery(status=("completed",)), craft=leaf)
    yield _Search(part="model", query=DebateQuery(model=("crafted",)), kind="total", craft=rests)
    submitted = f"{_submitted(theirs.queued)};{_found(OURS, theirs.queued)}"
    own, assigned = ReachLimit(SUBJECT, own=True, assigned=False), ReachLimit(SUBJECT, own=False, assigned=True)
    either = ReachLimit(SUBJECT, own=True, assigned=True)
    for part, limit, craft in (
        ("own", own, submitted),
        ("assigned", assigned, _assigned(THEIRS, ours.done)),
        ("own_or_assigned", either, submitted),
        ("own_or_assigned", either, _assigned(THEIRS, ours.done)),
    ):
        yield _Search(part=part, query=adversarial, kind="total", craft=craft, limit=limit)
    waits = DebateQuery(status=("queued",))
    yield _Search(part="status_or_open", query=waits, kind="total", craft=_found(OURS, theirs.queued))
    yield _Search(part="shown", query=adversarial, craft=_found(OURS, theirs.queued))
    yield _Search(part="shown", craft=decision)
    yield _Search(part="shown", craft=_found(THEIRS, ours.done))
    by_status = DebateQuery(facets=("status",), format=("adversarial",))
    yield _Search(part="counted_status", query=by_status, kind="facets", craft=_found(OURS, theirs.queued))
