"""The register lists every verifier key that policy or a log names, and says of each whose word that is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from service.audit.note import COSIGNATURE, SigningKey
from service.cli.audit.keys import keys
from service.cli.audit.verify import verify
from service.policy import Policy, RegisteredKey, Witness
from service.policy.file.reading import read_policy
from service.policy.settings import SHIPPED_POLICY
from service.reviews.evidence.key_register import KeyInRegister, key_register
from service.store.pool import Database as Pool
from service.store.rotation import next_log, open_next
from tests.fixtures.growing import KEY, LOG, WITNESS, Growing
from tests.fixtures.postgres import Database
from tests.fixtures.running import a_writer
from tests.fixtures.serving import served

pytestmark = pytest.mark.no_replay  # the logs here have leaves of no debate
NEXT = SigningKey.from_seed("localhost", bytes(range(32)))
OFFICE = SigningKey.from_seed("model-risk.example", b"\x0a" * 32)
OTHER_WITNESS = SigningKey.from_seed("witness.example", b"\x0b" * 32, COSIGNATURE)
ROW = RegisteredKey(KEY.public.encode(), "log", (LOG,), "2026-01-31", "2026-12-31", "Model risk, minutes of 31 January")


@pytest.fixture
def log(database: Database) -> Iterator[Growing]:
    """The first log of the tenant, with heads of three and of five leaves that were countersigned."""
    growing = Growing(database.admin_url)
    growing.grow([b"a", b"b", b"c"])
    growing.grow([b"d", b"e"])
    yield growing
    growing.close()


@pytest.fixture
async def pool(database: Database) -> AsyncIterator[Pool]:
    async with Pool.open(database.service_url, size=2) as found:
        yield found


def policy(*rows: RegisteredKey, witnesses: tuple[SigningKey, ...] = (), approver: str | None = None) -> Policy:
    shipped = read_policy(SHIPPED_POLICY)
    named = tuple(Witness("https://witness.example", key.public.encode()) for key in witnesses)
    return replace(
        shipped,
        audit=replace(shipped.audit, keys=rows, witnesses=named),
        approval=replace(shipped.approval, key=approver),
    )


def of(found: tuple[KeyInRegister, ...], key: SigningKey) -> KeyInRegister:
    (each,) = (each for each in found if each.key == key.public.encode())
    return each


async def test_a_row_of_the_register_stands_beside_what_the_database_knows(pool: Pool, log: Growing) -> None:
    found = of(await key_register(pool, policy(ROW), "default"), KEY)

    assert (found.use, found.name, found.hash) == ("log", "localhost", KEY.public.id.hex())
    assert (found.logs, found.since, found.until) == ((LOG,), "2026-01-31", "2026-12-31")
    assert found.vouched_by == "Model risk, minutes of 31 January"
    assert found.known_by == ("register", "database")
    (heads,) = found.heads
    assert heads.first is not None
    assert heads.last is not None
    assert (heads.log, heads.first.size, heads.last.size) == (LOG, 3, 5)
    assert heads.first.at <= heads.last.at


async def test_a_key_that_no_register_names_is_listed_and_nobody_vouches_for_it(pool: Pool, log: Growing) -> None:
    found = await key_register(pool, policy(witnesses=(WITNESS,), approver=OFFICE.public.encode()), "default")

    assert [(each.use, each.known_by, each.vouched_by) for each in found] == [
        ("log", ("database",), None),
        ("witness", ("policy", "database"), None),
        ("approver", ("policy",), None),
    ]
    assert [heads.last.size for heads in of(found, WITNESS).heads if heads.last] == [5]


async def test_after_a_rotation_each_key_has_its_own_log(pool: Pool, log: Growing) -> None:
    await open_next(pool, await next_log(pool, "default", "localhost"), NEXT.public, a_writer("local"))

    found = await key_register(pool, policy(ROW), "default")

    assert [heads.log for heads in of(found, KEY).heads] == [LOG]
    assert [(heads.log, heads.first, heads.last) for heads in of(found, NEXT).heads] == [
        ("localhost/default/2", None, None)
    ]


async def test_a_witness_s_other_key_of_the_same_name_has_signed_nothing(pool: Pool, log: Growing) -> None:
    rows = [RegisteredKey(key.public.encode(), "witness") for key in (WITNESS, OTHER_WITNESS)]

    found = await key_register(pool, policy(*rows), "default")

    assert of(found, WITNESS).heads
    assert of(found, OTHER_WITNESS).heads == ()
    assert of(found, OTHER_WITNESS).known_by == ("register",)


async def test_another_tenant_s_logs_are_not_shown(pool: Pool, log: Growing) -> None:
    assert await key_register(pool, policy(), "bank") == ()


# -- as a command, and over HTTP


@pytest.fixture
def desk(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAINSAY_DATABASE_URL", database.service_url)


def said(*options: str) -> Result:
    """What the command prints."""
    return CliRunner().invoke(keys, [*options], standalone_mode=False)


@pytest.mark.usefixtures("desk")
def test_the_command_prints_the_keys_and_that_they_are_words(log: Growing) -> None:
    found = said()

    assert found.return_value == 0
    assert f"log       {KEY.public.encode()}" in found.output
    assert "vouched for by: no statement in the register" in found.output
    assert f"{LOG}: first head 3 records" in found.output
    assert "pin a key only after its holder gave it to you by another way" in found.output


@pytest.mark.usefixtures("desk")
def test_what_the_command_prints_for_pins_is_read_as_pins(log: Growing, tmp_path: Path) -> None:
    bundle = Path(__file__).parents[2] / "vectors" / "bundles" / "declined.zip"
    printed = said("--pins")
    (tmp_path / "pins.toml").write_text(printed.stdout, "utf-8")

    found = CliRunner().invoke(verify, [str(bundle), "--keys", str(tmp_path / "pins.toml")], standalone_mode=False)

    assert f'logs = ["{LOG}"]' in printed.stdout
    assert found.return_value == 1  # that key is read, and it is not the one that signed this bundle
    assert KEY.public.encode() in " ".join(found.output.split())


@pytest.mark.usefixtures("desk")
async def test_http_and_the_command_say_the_same(database: Database, log: Growing) -> None:
    printed = json.loads((await asyncio.to_thread(said, "--json")).stdout)

    async with served(database.service_url, work=False, sequence=False) as site:
        answer = await site.http.get("/v1/audit/keys")
        refused = await site.http.get("/v1/audit/keys?pin=yes")

    assert (answer.status_code, answer.json()) == (200, printed)
    assert refused.status_code == 400
