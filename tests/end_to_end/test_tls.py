"""TLS to PostgreSQL, vendors, signers and witnesses is verified: issuer, time and name, by the own issuers too."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from service.errors import GainsayError, SettingsError, StoreUnavailable
from service.providers import transport
from service.proving.signing import wire
from service.proving.signing.wire import SignerUnreachable, Wire
from service.store import pool
from service.store.pool import Database
from service.store.schema.preflight import check_database
from tests.end_to_end.vendors.adapters import answered, connect, failed
from tests.end_to_end.vendors.answering import completion, http, serving
from tests.fixtures import postgres
from tests.fixtures.certificates import Authority, postgres_behind
from tests.fixtures.secret_files import mounted

NAME = "db.bank.example"
WRONG = ["another authority", "expired", "another host"]


@pytest.fixture(autouse=True)
def trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Authority]:
    """The deployment's own authority, in GAINSAY_CA_FILE."""
    authority = Authority(tmp_path)
    monkeypatch.setenv("GAINSAY_CA_FILE", str(authority.path))
    for cached in (transport._trusted, wire._trusted):
        cached.cache_clear()
    yield authority
    for cached in (transport._trusted, wire._trusted):
        cached.cache_clear()


def server_of(trusted: Authority, folder: Path, wrong: str, host: str):  # type: ignore[no-untyped-def]
    """The TLS of a server with one thing wrong, or nothing."""
    if wrong == "another authority":
        return Authority(folder, "stranger").server(host)
    return trusted.server("elsewhere.example" if wrong == "another host" else host, expired=wrong == "expired")


# -- PostgreSQL


def named(url: str, port: int, **changes: str) -> str:
    """An address that leads to this machine under the name of another, and says nothing of TLS by itself."""
    parts = {name: value for name, value in conninfo_to_dict(url).items() if name != "sslmode"}
    return make_conninfo("", **{**parts, "host": NAME, "hostaddr": "127.0.0.1", "port": port, **changes})


def place(url: str) -> tuple[str, int]:
    parts = conninfo_to_dict(url)
    return str(parts["host"]), int(parts["port"] or 5432)


async def test_a_database_whose_certificate_is_of_the_own_authority_is_used(
    database: postgres.Database, trusted: Authority
) -> None:
    async with postgres_behind(trusted.server(NAME), *place(database.service_url)) as port:
        url = named(database.service_url, port)
        await asyncio.to_thread(check_database, url, postgres.MIGRATIONS)
        async with Database.open(url, size=2) as opened:
            assert await opened.query("alive")


@pytest.mark.parametrize("wrong", [*WRONG, "no TLS"])
async def test_a_database_that_nothing_vouches_for_is_refused_by_the_preflight_and_the_pool(
    database: postgres.Database, trusted: Authority, tmp_path: Path, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "TIMEOUT_S", 0.5)
    tls = None if wrong == "no TLS" else server_of(trusted, tmp_path, wrong, NAME)
    async with postgres_behind(tls, *place(database.service_url)) as port:
        url = named(database.service_url, port)
        with pytest.raises(StoreUnavailable, match=r"GAINSAY_CA_FILE") as refused:
            await asyncio.to_thread(check_database, url, postgres.MIGRATIONS)
        with pytest.raises(StoreUnavailable):
            async with Database.open(url, size=1):
                pass

    assert str(conninfo_to_dict(database.service_url)["password"]) not in refused.value.detail


async def test_a_weaker_mode_is_refused_before_a_connection_is_tried(database: postgres.Database) -> None:
    for mode in ("disable", "prefer", "require"):
        url = named(database.service_url, 1, sslmode=mode)
        with pytest.raises(SettingsError, match="expected sslmode=verify-full"):
            await asyncio.to_thread(check_database, url, postgres.MIGRATIONS)


async def test_a_new_password_in_the_mounted_address_is_used_by_new_connections(
    database: postgres.Database, tmp_path: Path
) -> None:
    """The role's password changes while the pool is open: connections that end come again with the new one."""
    swap = mounted(tmp_path, "url", database.service_url)
    role = str(conninfo_to_dict(database.service_url)["user"])
    old = str(conninfo_to_dict(database.service_url)["password"])
    async with Database.open(f"file:{tmp_path / 'url'}", size=2) as opened:
        try:
            postgres_password(database, role, "s3cret-new")
            swap(make_conninfo(database.service_url, password="s3cret-new"))
            ended = end_connections(database, role)
            assert await opened.query("alive")
        finally:
            postgres_password(database, role, old)
    assert ended


def postgres_password(database: postgres.Database, role: str, password: str) -> None:
    import psycopg
    from psycopg import sql

    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), sql.Literal(password)))


def end_connections(database: postgres.Database, role: str) -> int:
    import psycopg

    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        return len(
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s AND datname = %s",
                [role, database.name],
            ).fetchall()
        )


# -- vendors, signers and witnesses


async def test_a_vendor_whose_certificate_is_of_the_own_authority_is_asked(trusted: Authority) -> None:
    async with serving(lambda _: http(200, completion()), tls=trusted.server("127.0.0.1")) as server:
        made = connect("openai", f"https://127.0.0.1:{server.port}")
        await answered(made)
        await made.close()


@pytest.mark.parametrize("wrong", WRONG)
async def test_nothing_is_sent_to_a_vendor_that_nothing_vouches_for(
    trusted: Authority, tmp_path: Path, wrong: str
) -> None:
    tls = server_of(trusted, tmp_path, wrong, "127.0.0.1")
    async with serving(lambda _: http(200, completion()), tls=tls) as server:
        made = connect("openai", f"https://127.0.0.1:{server.port}")
        error = await failed(made)
        await made.close()

    assert (error.reason, error.billable, server.asked) == ("connectionCut", False, [])
    assert "GAINSAY_CA_FILE" in str(error)


@pytest.mark.parametrize("wrong", ["nothing", *WRONG])
async def test_signers_witnesses_and_authorities_are_verified_alike(
    trusted: Authority, tmp_path: Path, wrong: str
) -> None:
    tls = server_of(trusted, tmp_path, wrong, "127.0.0.1")
    async with serving(lambda _: http(200, b"key\n", "text/plain"), tls=tls) as server:
        made = Wire()
        try:
            asked = made.exchange("POST", f"https://127.0.0.1:{server.port}/sign", b"{}")
            if wrong == "nothing":
                assert (await asked).body == b"key\n"
            else:
                with pytest.raises(SignerUnreachable):
                    await asked
                assert server.asked == []
        finally:
            await made.close()


async def test_without_the_own_authority_its_servers_are_strangers(
    trusted: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GAINSAY_CA_FILE")
    for cached in (transport._trusted, wire._trusted):
        cached.cache_clear()
    async with serving(lambda _: http(200, completion()), tls=trusted.server("127.0.0.1")) as server:
        made = connect("openai", f"https://127.0.0.1:{server.port}")
        error = await failed(made)
        await made.close()

    assert (error.reason, server.asked) == ("connectionCut", [])


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_a_file_without_issuers_stops_the_start_by_its_variable(tmp_path: Path, text: str | None) -> None:
    from service.policy.settings import read_settings

    path = tmp_path / "own.pem"
    if text:
        path.write_text(text)

    with pytest.raises(GainsayError, match="the file that GAINSAY_CA_FILE names, found none"):
        read_settings({"GAINSAY_CA_FILE": str(path)})
