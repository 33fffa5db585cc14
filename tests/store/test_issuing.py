"""Keys, tenants and subjects on a real database: who may issue what, what is recorded, and what is never stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from datetime import UTC, timedelta
from itertools import count
from typing import Any

import msgspec
import psycopg
import pytest

from service.audit.record import Writer, open_leaf
from service.errors import AuditUnavailable, BadRequest, Forbidden, NotFound, Unauthenticated
from service.identity.caller import LOCAL, Caller
from service.identity.issuing import Issued
from service.identity.issuing_rules import IdentityConflict, InvalidIdentity
from service.identity.roles import Scope
from service.identity.settings import KeySettings
from service.store import identity_changes as changes
from service.store.identity_changes import NewKey, Place
from service.store.identity_register import IdentityRegister
from service.store.pool import Database as Store
from tests.fixtures.issuing import KEYBOARD, TENANT_ROLES, a_key, a_tenant, caller_of, issuing_on
from tests.fixtures.postgres import Database

NAMES = (f"bank-{n}" for n in count())


@pytest.fixture
async def store(module_database: Database) -> AsyncIterator[Store]:
    async with Store.open(module_database.service_url, size=4) as opened:
        yield opened


def records_of(database: Database, tenant: str) -> list[dict[str, Any]]:
    """What the log of a tenant says of access: payloads, with the actor, in their order."""
    with psycopg.connect(database.admin_url) as admin:
        rows = admin.execute(
            "SELECT e.leaf, p.body FROM gainsay.pending w JOIN gainsay.entry e USING (debate, n) "
            "JOIN gainsay.payload p USING (debate, n) WHERE w.log = %s AND w.tenant = %s "
            "AND e.tenant = %s AND p.tenant = %s ORDER BY w.seq",
            [f"localhost/{tenant}/1", *[tenant] * 3],
        ).fetchall()
    found = []
    for leaf, body in rows:
        actor = open_leaf(bytes(leaf)).actor
        found.append({**msgspec.json.decode(bytes(body)), "by": (actor.id, actor.role, actor.via)})
    return found


async def test_a_key_is_a_caller_of_its_tenant_and_each_step_is_a_record(
    module_database: Database, store: Store
) -> None:
    name = next(NAMES)
    async with a_tenant(store, name) as (_, operator, first):
        row = first.row
        created, issued = records_of(module_database, name)

    assert operator == Caller(
        name, row.subject, "requester", "service", "apiKey", ("requester", "auditor", "operator"), None, row.id
    )
    assert created == {"kind": "access.changed", "what": "tenantCreated", "tenant": name, "by": ("local", *AS_ADMIN)}
    assert issued == {
        "kind": "access.changed",
        "what": "keyIssued",
        "tenant": name,
        "subject": row.subject,
        "key": row.id,
        "roles": ["requester", "auditor", "operator"],
        "expires": row.expires.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "by": ("local", *AS_ADMIN),
    }
    assert timedelta(days=29, hours=23) < row.expires - row.created <= timedelta(days=30, seconds=5)


AS_ADMIN = ("administrator", "keyboard")


async def test_neither_the_key_nor_a_persons_name_is_stored_where_it_must_not_be(
    module_database: Database, store: Store
) -> None:
    name = next(NAMES)
    async with a_tenant(store, name) as (_, _, first):
        with psycopg.connect(module_database.admin_url) as admin:
            rows = admin.execute(
                "SELECT t.table_name FROM information_schema.tables t WHERE table_schema = 'gainsay' "
                "AND table_type = 'BASE TABLE'"
            ).fetchall()
            holds = {
                table: {
                    what
                    for what, text in {"key": first.secret[8:-6], "name": "Ada Example"}.items()
                    if admin.execute(
                        f"SELECT 1 FROM gainsay.{table} x WHERE x::text LIKE %s OR x::text LIKE %s LIMIT 1".encode(),
                        [f"%{text}%", f"%{text.encode().hex()}%"],  # bytes are shown in hex
                    ).fetchone()
                }
                for (table,) in rows
            }

    assert {table: found for table, found in holds.items() if found} == {"subject": {"name"}, "api_key": {"name"}}
    assert first.secret not in repr(first)


async def test_an_administrator_makes_a_first_operator_and_no_second(store: Store) -> None:
    async with a_tenant(store, next(NAMES)) as (issuing, operator, _):
        with pytest.raises(IdentityConflict, match="has an operator"):
            await issuing.issue(KEYBOARD, a_key(operator.tenant))
        await issuing.revoke_key(operator, operator.tenant, operator.credential)

        again = await issuing.issue(KEYBOARD, a_key(operator.tenant, *TENANT_ROLES))

    assert set((await caller_of(store, again)).roles) == set(TENANT_ROLES)


async def at_once(database: Database, table: str, *asked: Awaitable[Issued]) -> list[Issued | BaseException]:
    """What comes of statements that all wait before one of them may write to a table."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND wait_event_type = 'Lock'"
    with psycopg.connect(database.admin_url, autocommit=True) as watch, psycopg.connect(database.admin_url) as admin:
        admin.execute(f"LOCK TABLE gainsay.{table} IN SHARE MODE".encode())
        made = asyncio.gather(*asked, return_exceptions=True)
        async with asyncio.timeout(8):
            while watch.execute(waiting, [database.name]).fetchone() != (len(asked),):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        admin.rollback()
        return await made


async def test_of_first_operators_at_once_there_is_one(module_database: Database, store: Store) -> None:
    name, issuing = next(NAMES), issuing_on(store)
    await issuing.create_tenant(KEYBOARD, name)

    made = await at_once(module_database, "subject", *(issuing.issue(KEYBOARD, a_key(name)) for _ in range(3)))

    assert [isinstance(one, IdentityConflict) for one in made].count(False) == 1
    assert [record["what"] for record in records_of(module_database, name)] == ["tenantCreated", "keyIssued"]
    with psycopg.connect(module_database.admin_url) as admin:
        for table in ("entry", "payload", "pending"):  # of what was refused nothing is left
            assert admin.execute(
                f"SELECT count(*) FROM gainsay.{table} WHERE tenant = %s".encode(), [name]
            ).fetchone() == (2,)


async def test_an_operator_issues_what_it_holds_in_its_tenant_alone(store: Store) -> None:
    async with a_tenant(store, next(NAMES)) as (issuing, operator, _), a_tenant(store, next(NAMES)) as (_, other, _):
        issued = await issuing.issue(operator, a_key(operator.tenant, "requester"))

        assert (await caller_of(store, issued)).roles == ("requester",)
        for refused in (
            a_key(operator.tenant, "reviewer"),  # a role that it does not hold
            a_key(other.tenant, "requester"),
            a_key(None, "scrape"),
            a_key(None, "administrator"),
        ):
            with pytest.raises(Forbidden):
                await issuing.issue(operator, refused)
        with pytest.raises(Forbidden):
            await issuing.create_tenant(operator, next(NAMES))


async def test_a_narrowed_key_makes_no_wider_one(store: Store) -> None:
    async with a_tenant(store, next(NAMES)) as (issuing, operator, _):
        wanted = a_key(operator.tenant, "operator", "requester")
        narrow = await issuing.issue(operator, msgspec.structs.replace(wanted, scopes=("identity.manage", "check")))
        caller = await caller_of(store, narrow)

        assert caller.scopes == frozenset[Scope]({"identity.manage", "check"})
        with pytest.raises(Forbidden, match="no scope that its own key leaves out"):
            await issuing.issue(caller, wanted)
        with pytest.raises(Forbidden, match="no scope that its own key leaves out"):
            await issuing.issue(caller, msgspec.structs.replace(wanted, scopes=("check", "case.submit")))
        await issuing.issue(caller, msgspec.structs.replace(wanted, scopes=("check",)))


async def test_an_administrator_has_no_role_in_a_tenant_and_does_not_open_one(
    module_database: Database, store: Store
) -> None:
    issuing = issuing_on(store)
    key = await issuing.issue(KEYBOARD, a_key(None, "administrator"))
    caller = await caller_of(store, key)
    async with a_tenant(store, next(NAMES)) as (_, operator, first):
        assert (caller.tenant, caller.roles) == ("gainsay", ("administrator",))
        for refused in (
            issuing.issue(caller, a_key(operator.tenant, "auditor")),
            issuing.revoke_key(caller, operator.tenant, first.row.id),
            issuing.revoke_subject(caller, operator.tenant, first.row.subject),
            issuing.list_keys(caller, operator.tenant),
            issuing.list_subjects(caller, operator.tenant),
        ):
            with pytest.raises(Forbidden):
                await refused
        with pytest.raises(IdentityConflict):
            await issuing.issue(caller, a_key(operator.tenant))
    scrape = await issuing.issue(caller, a_key(None, "scrape"))

    assert (await caller_of(store, scrape)).roles == ("scrape",)
    told = records_of(module_database, "gainsay")[-1]
    assert (told["key"], told["by"]) == (scrape.row.id, (caller.subject, "administrator", "apiKey"))
    assert "tenant" not in told


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"roles": ()}, "a role at least"),
        ({"roles": ("root",)}, "a role of requester"),
        ({"roles": ("operator", "scrape")}, "belong to none"),
        ({"tenant": None}, "for a key without a tenant"),
        ({"scopes": ()}, "found none"),
        ({"scopes": ("metrics.read",)}, "found metrics.read"),
        ({"scopes": ("everything",)}, "a scope of"),
        ({"name": ""}, "1 to 200"),
        ({"name": "a\nb"}, "printable"),
        ({"name": "x" * 201}, "1 to 200"),
        ({"days": 0}, "1 to 90 days"),
        ({"days": 91}, "1 to 90 days"),
        ({"kind": "robot"}, "person or service"),
    ],
)
async def test_what_no_key_can_be_is_refused_by_name(store: Store, changes: dict[str, Any], said: str) -> None:
    issuing = issuing_on(store, KeySettings(most_days=90))

    with pytest.raises(InvalidIdentity, match=said) as refusal:
        await issuing.issue(KEYBOARD, msgspec.structs.replace(a_key(), **changes))

    assert refusal.value.pointers


async def test_a_tenant_has_one_name_and_a_key_a_tenant_that_there_is(store: Store) -> None:
    issuing = issuing_on(store)

    for name in ("gainsay", "default"):
        with pytest.raises(IdentityConflict, match="no tenant has"):
            await issuing.create_tenant(KEYBOARD, name)
    with pytest.raises(BadRequest):
        await issuing.create_tenant(KEYBOARD, "Bank")
    with pytest.raises(NotFound, match="no 'nowhere'"):
        await issuing.issue(KEYBOARD, a_key("nowhere"))
    assert {row.name for row in await issuing.list_tenants(LOCAL)} >= {"gainsay", "default"}


async def test_a_key_is_replaced_while_both_are_valid_and_there_is_no_third(
    module_database: Database, store: Store
) -> None:
    name = next(NAMES)
    async with a_tenant(store, name) as (issuing, operator, first):
        second = await issuing.rotate(operator, name, first.row.id, days=60)
        with pytest.raises(IdentityConflict, match="two valid keys, and no third"):
            await issuing.rotate(operator, name, second.row.id, days=60)

        before, after = await caller_of(store, first), await caller_of(store, second)
        told = records_of(module_database, name)[-1]

    assert msgspec.structs.replace(after, credential=before.credential) == before
    assert second.replaced is not None
    assert timedelta(days=6, hours=23) < second.replaced.expires - second.row.created <= timedelta(days=7, seconds=5)
    assert (told["what"], told["key"], told["replaced"]) == ("keyRotated", second.row.id, first.row.id)


async def test_rotations_at_once_leave_two_keys(module_database: Database, store: Store) -> None:
    name = next(NAMES)
    async with a_tenant(store, name) as (issuing, operator, first):
        key = first.row.id
        made = await at_once(
            module_database, "api_key", *(issuing.rotate(operator, name, key, days=9) for _ in range(3))
        )

        assert [isinstance(one, IdentityConflict) for one in made].count(False) == 1
        assert len(await issuing.list_keys(operator, name)) == 2
    assert len(records_of(module_database, name)) == 3


async def test_each_statement_asks_for_the_tenant_again(module_database: Database, store: Store) -> None:
    async with a_tenant(store, next(NAMES)) as (_, mine, _), a_tenant(store, next(NAMES)) as (_, _, other):
        row, writer = other.row, Writer(mine.actor, "00" * 32)
        place = Place(f"localhost/{mine.tenant}/1", mine.tenant)
        new = NewKey(
            *("key_" + "0" * 26, b"\7" * 32, mine.tenant, row.subject, ("requester",), None, "x", "service"),
            expires="2099-01-01T00:00:00Z",
            replaced=row.id,
            old_until="2026-01-01T00:00:00Z",
        )

        assert not await changes.revoke_key(store, mine.tenant, row.id, row.subject, place, writer)
        assert not await changes.revoke_key(store, None, row.id, row.subject, place, writer)
        assert not await changes.revoke_subject(store, mine.tenant, row.subject, place, writer)
        assert await changes.add_key(store, new, place, writer) == "gone"
        assert (await caller_of(store, other)).credential == row.id
        assert len(records_of(module_database, mine.tenant)) == 2


async def test_a_key_that_is_replaced_at_once_is_not_valid_any_more(store: Store) -> None:
    async with a_tenant(store, next(NAMES)) as (issuing, operator, first):
        second = await issuing.rotate(operator, operator.tenant, first.row.id, days=9, keep_days=0)

        with pytest.raises(Unauthenticated):
            await caller_of(store, first)
        with pytest.raises(IdentityConflict, match="not valid any more"):
            await issuing.rotate(operator, operator.tenant, first.row.id, days=9)
        assert (await issuing.show_key(operator, operator.tenant, first.row.id)).state == "expired"
        assert (await caller_of(store, second)).subject == operator.subject


async def test_a_rotation_prolongs_no_key(store: Store) -> None:
    async with a_tenant(store, next(NAMES)) as (issuing, operator, _):
        short = await issuing.issue(operator, a_key(operator.tenant, "requester", days=2))
        second = await issuing.rotate(operator, operator.tenant, short.row.id, days=9, keep_days=7)

    assert second.replaced is not None
    assert second.replaced.expires == short.row.expires


async def test_what_is_revoked_is_refused_recorded_once_and_stays_so(module_database: Database, store: Store) -> None:
    name = next(NAMES)
    async with a_tenant(store, name) as (issuing, operator, _):
        key = await issuing.issue(operator, a_key(name, "requester"))
        both = await issuing.issue(operator, a_key(name, "auditor"))
        await issuing.rotate(operator, name, both.row.id, days=9)
        for _ in range(2):
            assert (await issuing.revoke_key(operator, name, key.row.id)).state == "revoked"
            assert (await issuing.revoke_subject(operator, name, both.row.subject)).revoked is not None

        for refused in (key, both):
            with pytest.raises(Unauthenticated, match="unknown, expired or revoked"):
                await caller_of(store, refused)
        whats = [record["what"] for record in records_of(module_database, name)]
        assert whats[-2:] == ["keyRevoked", "subjectRevoked"]
        with pytest.raises(IdentityConflict, match="not valid any more"):
            await issuing.rotate(operator, name, both.row.id, days=9)
    with psycopg.connect(module_database.service_url, autocommit=True) as writer:
        for statement in (
            "UPDATE gainsay.api_key SET revoked = NULL WHERE id = %s",
            "UPDATE gainsay.api_key SET expires = expires + interval '1 day' WHERE id = %s",
        ):
            with pytest.raises(psycopg.errors.RestrictViolation):
                writer.execute(statement, [key.row.id])
        with pytest.raises(psycopg.errors.RestrictViolation):
            writer.execute("UPDATE gainsay.subject SET revoked = NULL WHERE id = %s", [both.row.subject])
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            writer.execute("UPDATE gainsay.api_key SET roles = '{administrator}' WHERE id = %s", [key.row.id])


async def test_a_key_of_another_tenant_is_not_there(store: Store) -> None:
    async with a_tenant(store, next(NAMES)) as (issuing, mine, _), a_tenant(store, next(NAMES)) as (_, other, key):
        for asked in (
            issuing.show_key(mine, mine.tenant, key.row.id),
            issuing.revoke_key(mine, mine.tenant, key.row.id),
            issuing.revoke_key(KEYBOARD, None, key.row.id),
            issuing.rotate(mine, mine.tenant, key.row.id, days=3),
            issuing.revoke_subject(mine, mine.tenant, key.row.subject),
            issuing.show_key(mine, mine.tenant, "key_'; DROP TABLE api_key"),
        ):
            with pytest.raises(NotFound):
                await asked
        with pytest.raises(Forbidden):
            await issuing.show_key(mine, other.tenant, key.row.id)
        assert {row.tenant for row in await issuing.list_keys(mine, mine.tenant)} == {mine.tenant}
        assert {row.tenant for row in await issuing.list_subjects(mine, mine.tenant)} == {mine.tenant}


async def test_the_operator_of_the_services_tenant_is_no_administrator(store: Store) -> None:
    issuing = issuing_on(store)
    admin = await issuing.issue(KEYBOARD, a_key(None, "administrator"))
    operator = await caller_of(store, await issuing.issue(KEYBOARD, a_key("gainsay", "operator", "auditor")))

    with pytest.raises(Forbidden):
        await issuing.revoke_subject(operator, "gainsay", admin.row.subject)
    with pytest.raises(NotFound):
        await issuing.revoke_key(operator, "gainsay", admin.row.id)
    assert [row.id for row in await issuing.list_keys(operator, "gainsay")] == [operator.credential]
    await issuing.revoke_subject(await caller_of(store, admin), "gainsay", admin.row.subject)
    with pytest.raises(Unauthenticated):
        await caller_of(store, admin)


async def test_a_key_without_its_tenants_row_opens_nothing(module_database: Database, store: Store) -> None:
    async with a_tenant(store, next(NAMES)) as (_, operator, key):
        with psycopg.connect(module_database.admin_url) as admin:
            admin.execute("SET session_replication_role = replica")  # no foreign key is looked at
            admin.execute("DELETE FROM gainsay.tenant WHERE name = %s", [operator.tenant])

        with pytest.raises(Unauthenticated):
            await caller_of(store, key)
        assert not await IdentityRegister(store).still(operator.subject, operator.credential)


async def test_where_nothing_can_be_recorded_no_key_is_made(database: Database) -> None:
    async with Store.open(database.service_url, size=2) as store, a_tenant(store, "bank") as (issuing, operator, first):
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("REVOKE INSERT ON gainsay.payload FROM gainsay_writer")
        for refused in (
            issuing.create_tenant(KEYBOARD, "other"),
            issuing.issue(operator, a_key("bank", "requester")),
            issuing.rotate(operator, "bank", first.row.id, days=3),
            issuing.revoke_key(operator, "bank", first.row.id),
            issuing.revoke_subject(operator, "bank", first.row.subject),
        ):
            with pytest.raises(AuditUnavailable):
                await refused

        assert (await caller_of(store, first)) == operator
        assert [row.id for row in await issuing.list_keys(operator, "bank")] == [first.row.id]
        assert "other" not in {row.name for row in await issuing.list_tenants(KEYBOARD)}


async def test_a_list_has_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.store.identity_register.PAGE", 2)
    async with a_tenant(store, next(NAMES)) as (issuing, operator, _):
        for _ in range(2):
            await issuing.issue(operator, a_key(operator.tenant, "requester"))
        first = await issuing.list_keys(operator, operator.tenant)
        second = await issuing.list_keys(operator, operator.tenant, first[-1].id)

    assert [len(first), len(second)] == [2, 1]
    assert len({row.id for row in (*first, *second)}) == 3


async def test_a_subject_of_another_source_is_made_once(module_database: Database) -> None:
    async with Store.open(module_database.service_url, size=6) as store:
        register, name = IdentityRegister(store), next(NAMES)
        assert await register.find_subject(name, "bank", "u-1", "person") is None  # no such tenant
        assert not await register.tenant_known(name)
        await issuing_on(store).create_tenant(KEYBOARD, name)
        assert await register.tenant_known(name)

        found = await asyncio.gather(*(register.find_subject(name, "bank", "u-1", "person") for _ in range(6)))
        other = await register.find_subject(name, "other", "u-1", "person")

        assert len({one.id for one in found if one}) == 1
        assert other is not None
        assert found[0] is not None
        assert other.id != found[0].id
        assert found[0].good
        await issuing_on(store).revoke_subject(KEYBOARD, name, found[0].id)
        again = await register.find_subject(name, "bank", "u-1", "person")
        assert again is not None
        assert not again.good
        assert not await register.still(found[0].id, "")
        assert await register.still(other.id, "")
