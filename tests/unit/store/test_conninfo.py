"""Which addresses of PostgreSQL may go without verified TLS, and which issuers vouch for the others."""

from __future__ import annotations

from pathlib import Path

import certifi
import pytest
from psycopg.conninfo import conninfo_to_dict

from service.errors import SettingsError
from service.store.conninfo import resolve
from service.store.schema.address import check_address
from tests.fixtures.certificates import Authority
from tests.fixtures.secret_files import mounted

SECRET = "s3cret"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable and no file of this machine's user has a say."""
    for name in ("PGHOST", "PGHOSTADDR", "PGSERVICE", "PGSSLMODE", "SSL_CERT_FILE", "GAINSAY_CA_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:///gainsay",
        "postgresql://a:s3cret@localhost/d",
        "postgresql://a:s3cret@127.0.0.1:5433/d?sslmode=prefer",
        "postgresql://a:s3cret@[::1]/d",
        "postgresql://a@%2Frun%2Fpostgresql/d",
        "host=/run/postgresql,127.0.0.1 user=a target_session_attrs=read-write",
    ],
)
def test_on_this_machine_the_address_says_whether_there_is_tls(url: str) -> None:
    assert resolve(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://a:s3cret@db.bank.example/d",
        "postgresql://a:s3cret@10.0.0.5/d",
        "postgresql://a:s3cret@postgres/d",
        "postgresql://a:s3cret@db.bank.example/d?hostaddr=127.0.0.1",
        "postgresql://a:s3cret@127.0.0.1,db.bank.example/d?target_session_attrs=read-write",
        "postgresql://a:s3cret@db.bank.example/d?sslmode=verify-full",
        "service=bank",
    ],
)
def test_another_machine_is_reached_over_tls_that_is_verified_whole(url: str) -> None:
    parts = conninfo_to_dict(resolve(url))

    assert parts["sslmode"] == "verify-full"
    assert parts["sslrootcert"] == certifi.where()


@pytest.mark.parametrize("name", ["PGHOST", "PGHOSTADDR", "PGSERVICE"])
def test_a_host_from_a_variable_of_libpq_counts_as_one_of_the_address(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "203.0.113.7")
    monkeypatch.setenv("PGSSLMODE", "disable")

    assert conninfo_to_dict(resolve("dbname=gainsay"))["sslmode"] == "verify-full"


@pytest.mark.parametrize("mode", ["disable", "require", "verify-ca"])
@pytest.mark.parametrize("host", ["10.0.0.5", "postgres", "db.gainsay.svc", "db.internal"])
def test_a_private_host_may_be_named_as_an_exception_and_that_is_told(
    mode: str, host: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"postgresql://a:s3cret@{host}/d?sslmode={mode}"

    check_address(url, "GAINSAY_DATABASE_URL")

    assert conninfo_to_dict(resolve(url))["sslmode"] == mode
    assert "weaker TLS" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    ("host", "mode"),
    [
        *[("db.bank.example", mode) for mode in ("disable", "allow", "prefer", "require", "verify-ca")],
        *[("8.8.8.8", mode) for mode in ("disable", "require")],
        *[("169.254.169.254", mode) for mode in ("disable", "require")],
        *[("10.0.0.5", mode) for mode in ("allow", "prefer", "nonsense")],
        ("postgres,db.bank.example", "disable"),
    ],
)
def test_less_than_that_is_refused_before_anything_is_sent(host: str, mode: str) -> None:
    url = f"postgresql://a:s3cret@{host}/d?sslmode={mode}&target_session_attrs=read-write"

    for asked in (lambda: check_address(url, "GAINSAY_DATABASE_URL"), lambda: resolve(url, "GAINSAY_DATABASE_URL")):
        with pytest.raises(SettingsError, match="expected sslmode=verify-full in GAINSAY_DATABASE_URL") as refused:
            asked()
        assert SECRET not in refused.value.detail


def test_the_issuers_are_those_of_the_address_or_else_the_deployments_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, url = Authority(tmp_path).path, "postgresql://a@db.bank.example/d"
    home = tmp_path / "home" / ".postgresql"
    home.mkdir(parents=True)

    found = [conninfo_to_dict(resolve(f"{url}?sslrootcert=/etc/bank.pem"))["sslrootcert"]]
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/usual.pem")
    found.append(conninfo_to_dict(resolve(url))["sslrootcert"])
    (home / "root.crt").touch()
    found.append(conninfo_to_dict(resolve(url))["sslrootcert"])
    monkeypatch.setenv("GAINSAY_CA_FILE", str(own))
    found.append(conninfo_to_dict(resolve(url))["sslrootcert"])

    assert found == ["/etc/bank.pem", "/etc/usual.pem", str(home / "root.crt"), str(own)]


def test_a_mounted_address_is_read_anew_and_never_said_where_it_is_wrong(tmp_path: Path) -> None:
    swap = mounted(tmp_path, "url", "postgresql://a:s3cret@127.0.0.1/one")
    named = f"file:{tmp_path / 'url'}"

    before = resolve(named)
    swap("postgresql://a:s3cret@127.0.0.1/two")
    after = resolve(named)
    swap("postgresql://a:s3cret@[")
    with pytest.raises(SettingsError) as refused:
        resolve(named)

    assert (before[-3:], after[-3:]) == ("one", "two")
    assert SECRET not in refused.value.detail


def test_a_user_without_a_name_and_a_home_has_the_usual_issuers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "SSL_CERT_FILE", "GAINSAY_CA_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 1_000_730_000)

    assert conninfo_to_dict(resolve("postgresql://ada@db.bank.example/gainsay"))["sslrootcert"] == certifi.where()
