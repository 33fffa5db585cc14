"""A secret is read from where the policy says, and shown by nothing."""

import copy
import io
import json
import pickle
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from rich.pretty import pretty_repr

from service.errors import SettingsError
from service.providers.credentials import Credentials, Secret, read_secret
from tests.fixtures.secret_files import write_secret

KEY = "sk-planted-5f2c9a71e4"


def credentials(key: str | None, auth: str, headers: dict[str, str], environment: dict[str, str]) -> Credentials:
    found = Credentials.read("bank", key, auth, headers, environment)
    if isinstance(found, SettingsError):
        raise found
    return found


def shown(secret: Secret) -> list[str]:
    """Every way in which something is shown by accident."""
    out = io.StringIO()
    Console(file=out, width=200).print(secret, [secret], {"key": secret})
    return [
        repr(secret),
        str(secret),
        f"{secret} {secret!r} {secret:>40}",
        "%s" % secret,  # noqa: UP031 - one of the ways
        repr({"key": secret}),
        pretty_repr(secret),
        out.getvalue(),
        repr(dir(secret)),
    ]


def test_no_way_of_showing_a_secret_shows_it() -> None:
    secret = Secret(KEY)

    assert secret.reveal() == KEY
    assert not [text for text in shown(secret) if KEY in text]
    assert not hasattr(secret, "__dict__")


@pytest.mark.parametrize("write", [pickle.dumps, json.dumps, msgspec.json.encode, msgspec.to_builtins, hash])
def test_a_secret_is_written_nowhere(write) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TypeError) as refused:
        write(Secret(KEY))

    assert KEY not in str(refused.value)


def test_secrets_are_equal_by_value_also_as_copies() -> None:
    secret = Secret(KEY)

    assert secret == Secret(KEY) == copy.deepcopy(secret) == copy.copy(secret)
    assert secret != Secret(KEY + "x")
    assert secret != KEY


@pytest.mark.parametrize("written", [KEY, KEY + "\n", KEY + "\r\n"])
def test_a_file_is_read_without_its_last_line_break(tmp_path: Path, written: str) -> None:
    file = write_secret(tmp_path / "key", "")
    file.write_bytes(written.encode())

    assert read_secret(f"file:{file}", {}).reveal() == KEY


def test_a_variable_is_read_as_it_is() -> None:
    assert read_secret("env:BANK_KEY", {"BANK_KEY": "two words"}).reveal() == "two words"


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (None, "found none"),
        ("", "found nothing in it"),
        (KEY + "\n", "control character"),
        (KEY + "\x00", "control character"),
        (KEY + "\r\nx-other: 1", "control character"),
        (KEY + "é", "beyond ASCII"),
        (KEY * 1000, "more than 16384 bytes"),
    ],
)
@pytest.mark.parametrize("place", ["env", "file"])
def test_what_no_header_can_carry_is_refused_by_name_and_not_by_value(
    tmp_path: Path, place: str, value: str | None, fault: str
) -> None:
    file = tmp_path / "key"
    environment = {} if value is None else {"BANK_KEY": value}
    if value is not None:
        write_secret(file, "").write_bytes(value.encode() + b"\n")
    named, where = ("env:BANK_KEY", "BANK_KEY") if place == "env" else (f"file:{file}", str(file))
    if place == "file" and value is None:
        fault = "cannot be read"

    with pytest.raises(SettingsError) as refused:
        read_secret(named, environment)

    assert where in refused.value.detail
    assert fault in refused.value.detail
    assert KEY not in refused.value.detail


@pytest.mark.parametrize("named", [KEY, f"vault:{KEY}", "env:", "file:", ""])
def test_a_secret_in_the_place_of_its_name_is_refused_and_not_repeated(named: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read_secret(named, {})

    assert KEY not in refused.value.detail


@pytest.mark.parametrize(
    ("auth", "header"),
    [
        ("bearer", {"authorization": f"Bearer {KEY}"}),
        ("api-key", {"api-key": KEY}),
        ("x-api-key", {"x-api-key": KEY}),
    ],
)
def test_the_key_goes_into_the_header_that_the_setting_names(auth: str, header: dict[str, str]) -> None:
    made = credentials("env:K", auth, {"X-Gateway": "env:G"}, {"K": KEY, "G": "gate"})

    assert made.revealed() == {**header, "x-gateway": "gate"}


def test_a_server_without_a_key_is_said_to_be_one() -> None:
    assert credentials(None, "none", {}, {}).revealed() == {}
    for key, auth in ((None, "bearer"), ("env:K", "none")):
        with pytest.raises(SettingsError, match=r"^providers\.bank\.key: "):
            credentials(key, auth, {}, {"K": KEY})


def test_a_missing_secret_header_is_named() -> None:
    with pytest.raises(SettingsError, match=r"^providers\.bank\.secret_headers\.X-Gateway: .*variable G"):
        credentials("env:K", "bearer", {"X-Gateway": "env:G"}, {"K": KEY})


def test_a_key_that_was_replaced_on_disk_is_taken_up_and_one_that_went_away_is_kept(tmp_path: Path) -> None:
    file = write_secret(tmp_path / "key", "first\n")
    made = credentials(f"file:{file}", "x-api-key", {"x-gateway": "env:G"}, {"G": "gate"})

    unchanged = made.reread()
    file.write_text("second\n")
    changed = made.reread()
    file.unlink()
    gone = made.reread()

    assert (unchanged, changed, gone) == (0, 1, 1)
    assert made.revealed() == {"x-api-key": "second", "x-gateway": "gate"}


@pytest.mark.parametrize(("key", "stands"), [(KEY, True), ("ollama", False)])
def test_a_key_that_stands_in_a_reply_is_seen_unless_it_is_a_mere_word(key: str, stands: bool) -> None:
    made = credentials("env:K", "bearer", {}, {"K": key})

    assert made.stand_in(b'{"system_fingerprint": "fp_%s"}' % key.encode()) is stands
    assert not made.stand_in(b"{}")
