"""What ends on a known day is shown: partitions, passwords of PostgreSQL, certificates; what has no end is not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

import psycopg
import pytest
from cryptography import x509
from psycopg.conninfo import make_conninfo

from service import telemetry
from service.identity.certificates import files_with_certificates
from service.observing.labelled import REGISTRY
from service.store.ends import Ends, files_of_address
from service.store.pool import Database
from service.store.schema import roles
from tests.fixtures.callers import identity_file
from tests.fixtures.certificates import Authority
from tests.fixtures.postgres import Database as Server
from tests.fixtures.serving import settings_for


@pytest.fixture(autouse=True)
def no_series(monkeypatch: pytest.MonkeyPatch) -> None:
    for metric in (telemetry.SECRET_EXPIRES, telemetry.CERTIFICATE_EXPIRES):
        monkeypatch.setattr(metric.metric, "_metrics", {})
        monkeypatch.setattr(metric, "_series", {})


@pytest.fixture
def login(database: Server) -> Iterator[str]:
    """The name of a login for this test alone. The service's own belongs to every database of the server."""
    name = f"ending_{token_hex(4)}"
    tell(database, f"CREATE ROLE {name} LOGIN PASSWORD '{name}' IN ROLE {roles.WRITER}")
    yield name
    tell(database, f"DROP ROLE {name}")


def tell(database: Server, statement: str) -> None:
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute(statement.encode())


def secrets() -> dict[str, float]:
    (family,) = telemetry.SECRET_EXPIRES.metric.collect()
    return {sample.labels["secret"]: sample.value for sample in family.samples}


def certificates() -> dict[str, float]:
    (family,) = telemetry.CERTIFICATE_EXPIRES.metric.collect()
    return {sample.labels["certificate"]: sample.value for sample in family.samples}


async def test_partitions_end_with_the_last_year_that_every_table_has(database: Server) -> None:
    name = "gainsay_partition_end_timestamp_seconds"
    async with Database.open(database.service_url, size=1) as opened:
        await Ends([opened], {}).look()
        every = REGISTRY.get_sample_value(name)
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            last = admin.execute("SELECT max(relname) FROM pg_class WHERE relname ~ '^payload_[0-9]{4}$'").fetchone()
            assert last is not None
            admin.execute(f"ALTER TABLE gainsay.payload DETACH PARTITION gainsay.{last[0]}".encode())
        await Ends([opened], {}).look()

    year = int(last[0].removeprefix("payload_"))
    assert every == datetime(year + 1, 1, 1, tzinfo=UTC).timestamp()
    assert REGISTRY.get_sample_value(name) == datetime(year, 1, 1, tzinfo=UTC).timestamp()


async def test_a_password_of_postgresql_ends_when_its_role_says(database: Server, login: str) -> None:
    async with Database.open(make_conninfo(database.service_url, user=login, password=login), size=1) as opened:
        await Ends([opened], {}).look()
        assert secrets() == {}, "it has no end"
        tell(database, f"ALTER ROLE {login} VALID UNTIL 'infinity'")
        await Ends([opened], {}).look()
        assert secrets() == {}
        tell(database, f"ALTER ROLE {login} VALID UNTIL '2030-05-01T00:00:00Z'")
        await Ends([opened], {}).look()

    assert secrets() == {"GAINSAY_DATABASE_URL": datetime(2030, 5, 1, tzinfo=UTC).timestamp()}


async def test_the_certificate_of_a_file_that_ends_first_is_shown(tmp_path: Path) -> None:
    first, second = Authority(tmp_path, "first"), Authority(tmp_path, "second")
    both, gone = tmp_path / "both.pem", tmp_path / "gone.pem"
    both.write_bytes(second.path.read_bytes() + first.path.read_bytes())
    ends = [x509.load_pem_x509_certificate(one.path.read_bytes()).not_valid_after_utc for one in (first, second)]

    await Ends([], {"both": both, "given": second.path.read_bytes(), "gone": gone, "none": b"no certificate"}).look()

    found = certificates()
    assert found["both"] == min(ends).timestamp()
    assert found["given"] == ends[1].timestamp()
    assert math.isnan(found["gone"])
    assert math.isnan(found["none"])


def test_the_files_are_those_that_settings_policy_and_identities_name(database: Server, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    url = make_conninfo(database.service_url, sslcert=str(tmp_path / "client.pem"), sslrootcert="/roots.pem")
    identities = tmp_path / "identity.toml"
    identities.write_text(
        f"""
        [[oidc]]
        name = "bank"
        issuer = "https://idp.example"
        audience = "gainsay"
        ca = "{authority.path}"
        tenant_claim = "tenant"
        role_claim = "roles"
        """,
        "utf-8",
    )
    settings = settings_for(url, GAINSAY_CA_FILE=str(authority.path), GAINSAY_IDENTITY=str(identities))

    assert files_with_certificates(settings) == {
        "GAINSAY_DATABASE_URL sslcert": tmp_path / "client.pem",
        "GAINSAY_DATABASE_URL sslrootcert": Path("/roots.pem"),
        "GAINSAY_CA_FILE": authority.path,
        "oidc.bank.ca": authority.path,
    }
    assert files_with_certificates(settings_for(database.service_url, GAINSAY_IDENTITY=identity_file(tmp_path))) == {}
    assert files_of_address("GAINSAY_API_URL", None) == {}
