"""A tenant's next log begins with a record that carries the last signed head of the one before."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from service.audit import log_events
from service.audit.checkpoint import Checkpoint, cosignatures, open_checkpoint, sign_checkpoint
from service.audit.note import PublicKey, SigningKey, parse_note
from service.audit.record import commit, open_leaf
from service.audit.witness import KnownCheckpoint
from service.cli import main
from service.errors import NotFound
from service.proving.sequencer import LogIncident
from service.store.current_log import CurrentLogs
from service.store.pool import Database as Pool
from service.store.rotation import CannotRotate, next_log, open_next, tenants
from service.verify.earlier_logs import EVENTS
from tests.faults.afterwards import expect_bundles_verify
from tests.fixtures.growing import KEY, WITNESS, Growing
from tests.fixtures.postgres import Database
from tests.fixtures.running import a_writer, bench
from tests.fixtures.sequencing import LOG, MemorySigner, a_sequencer, stage

pytestmark = pytest.mark.no_replay  # the logs here have leaves of no debate

NEW = SigningKey.from_seed("localhost", bytes(range(32)))
WRITER = a_writer("local")


@pytest.fixture
def log(database: Database) -> Iterator[Growing]:
    """The first log of the tenant default, with three leaves under a signed head."""
    growing = Growing(database.admin_url)
    growing.grow([b"a", b"b", b"c"])
    yield growing
    growing.close()


@pytest.fixture
async def pool(database: Database) -> AsyncIterator[Pool]:
    async with Pool.open(database.service_url, size=4) as found:
        yield found


def stored(database: Database, statement: str) -> list[dict[str, Any]]:
    with psycopg.connect(database.admin_url, row_factory=dict_row, options="-c search_path=gainsay") as connection:
        return connection.execute(statement.encode()).fetchall()


async def test_the_next_log_begins_with_the_signed_head_of_the_last(
    database: Database, pool: Pool, log: Growing
) -> None:
    rotation = await next_log(pool, "default", "localhost")

    await open_next(pool, rotation, NEW.public, WRITER)

    assert await CurrentLogs(pool, "localhost").current("default") == "localhost/default/2"
    (row,) = stored(database, "SELECT * FROM log_epoch WHERE epoch = 2")
    assert (row["log"], PublicKey.parse(row["key"])) == ("localhost/default/2", NEW.public)
    (record,) = stored(
        database,
        "SELECT p.log, e.leaf, l.salt, l.body FROM pending p JOIN entry e USING (debate, n) "
        "JOIN payload l USING (debate, n) WHERE p.log = 'localhost/default/2'",
    )
    envelope, event = open_leaf(record["leaf"]), EVENTS.decode(record["body"], 1)
    assert (envelope.log, envelope.kind, envelope.n) == ("localhost/default/2", "log.opened", 0)
    assert envelope.commitment == commit(record["salt"], record["body"])
    assert isinstance(event, log_events.LogOpened)
    assert (event.log, event.epoch, event.key) == ("localhost/default/2", 2, NEW.public.encode())
    assert event.previous
    previous, _ = open_checkpoint(event.previous.encode(), [KEY.public])
    assert (previous.origin, previous.size, previous.root) == ("localhost/default/1", 3, log.roots[3])
    assert cosignatures(parse_note(event.previous.encode()), previous, [WITNESS.public])


async def test_a_tenant_s_next_log_is_opened_once_however_many_open_it(
    database: Database, pool: Pool, log: Growing
) -> None:
    rotations = [await next_log(pool, "default", "localhost") for _ in range(4)]

    came = await asyncio.gather(
        *(open_next(pool, each, NEW.public, WRITER) for each in rotations), return_exceptions=True
    )

    assert sorted(type(each).__name__ for each in came) == ["CannotRotate"] * 3 + ["NoneType"]
    assert stored(database, "SELECT count(*) AS n FROM pending") == [{"n": 1}]
    assert stored(database, "SELECT count(*) AS n FROM payload") == [{"n": 1}]
    assert stored(database, "SELECT count(*) AS n FROM log_epoch") == [{"n": 2}]


async def test_a_log_without_a_signed_head_is_not_followed_by_another(
    database: Database, pool: Pool, log: Growing
) -> None:
    unsigned = Growing(database.admin_url, "localhost/bank/1", "bank", 7)
    unsigned.grow([b"x"], signed=False)
    unsigned.close()

    assert await tenants(pool) == ["bank", "default"]
    with pytest.raises(CannotRotate, match="gainsay sequence"):
        await next_log(pool, "bank", "localhost")
    with pytest.raises(NotFound, match="'nobody'"):
        await next_log(pool, "nobody", "localhost")


async def test_a_key_of_another_name_opens_no_log(database: Database, pool: Pool, log: Growing) -> None:
    rotation = await next_log(pool, "default", "audit.example")

    with pytest.raises(CannotRotate, match="named after the host"):
        await open_next(pool, rotation, NEW.public, WRITER)

    assert stored(database, "SELECT count(*) AS n FROM pending") == [{"n": 0}]


# -- a log whose records are all lost


@pytest.fixture
def gone(database: Database) -> tuple[MemorySigner, bytes]:
    """A signer that remembers nine records of a log, and their checkpoint; the database has none of them."""
    signer, head = MemorySigner(), Checkpoint(LOG, 9, b"\x01" * 32)
    signer.heads[LOG] = KnownCheckpoint(head.size, head.root)
    return signer, sign_checkpoint(head, signer.key)


async def test_a_tenant_whose_log_is_lost_to_the_first_record_goes_on_from_the_checkpoint_that_the_signer_has(
    database: Database, gone: tuple[MemorySigner, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signer, note = gone
    (tmp_path / "head.txt").write_bytes(note)
    (tmp_path / "log.key").touch(mode=0o600)
    (tmp_path / "log.key").write_text(f"{signer.key.encode()}\n")
    monkeypatch.setenv("GAINSAY_DATABASE_URL", database.service_url)
    monkeypatch.setenv("GAINSAY_SIGNING_KEY", f"file:{tmp_path}/log.key")
    monkeypatch.setenv("GAINSAY_HEADS_DIR", str(tmp_path / "heads"))
    async with a_sequencer(database, signer) as sequencer:
        stage(database, 1, range(3))
        with pytest.raises(LogIncident, match="has signed a head of 9 records, and the database has 0"):
            await sequencer.catch_up()
    close = "INSERT INTO gainsay.incident (log, what, closes) SELECT log, 'all is lost', id FROM gainsay.incident"
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute(close)
        admin.execute("DELETE FROM gainsay.pending")  # nothing of it can become provable, and a test waits for no more

    rotate = ["audit", "rotate", "--tenant", "default"]
    assert await asyncio.to_thread(main, rotate) == 3
    assert await asyncio.to_thread(main, [*rotate, "--head", str(tmp_path / "head.txt")]) == 0

    async with bench(database.service_url) as service:
        debate = await service.run()
        await expect_bundles_verify(database, service.database, {debate: "default"}, tmp_path, signer)
        assert await CurrentLogs(service.database, "localhost").current("default") == "localhost/default/2"
    assert signer.heads[LOG].size == 9, "the old log is never signed again"


async def test_only_the_log_s_own_checkpoint_ties_the_next_log_to_it(
    database: Database, pool: Pool, gone: tuple[MemorySigner, bytes]
) -> None:
    signer, note = gone
    other = sign_checkpoint(Checkpoint("localhost/bank/1", 9, b"\x01" * 32), signer.key)
    async with a_sequencer(database, signer) as sequencer:
        stage(database, 1, range(3))
        with pytest.raises(LogIncident):
            await sequencer.catch_up()

    for kept, why in (
        (other, "one of localhost/bank/1"),
        (note.replace(b"\n9\n", b"\n8\n"), "is not"),
        (b"", "is not"),
    ):
        with pytest.raises(CannotRotate, match=why):
            await next_log(pool, "default", "localhost", kept)
    assert (await next_log(pool, "default", "localhost", note)).previous.size == 9


async def test_a_stored_checkpoint_is_not_replaced_by_a_kept_one(
    pool: Pool, log: Growing, gone: tuple[MemorySigner, bytes]
) -> None:
    with pytest.raises(CannotRotate, match="of 3 records; leave --head out"):
        await next_log(pool, "default", "localhost", gone[1])


# -- at a keyboard


@pytest.fixture
def desk(database: Database, log: Growing, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GAINSAY_DATABASE_URL", database.service_url)
    monkeypatch.setenv("GAINSAY_SIGNING_KEY", "env:LOG_KEY")
    monkeypatch.setenv("GAINSAY_HEADS_DIR", str(tmp_path))
    monkeypatch.setenv("LOG_KEY", f"{NEW.encode()}\n{KEY.encode()}\n")


@pytest.mark.usefixtures("desk")
def test_rotate_tells_both_logs_and_takes_the_signer_s_first_key(
    database: Database, log: Growing, capfd: pytest.CaptureFixture[str]
) -> None:
    code = main(["audit", "rotate", "--tenant", "default"])

    assert code == 0
    assert capfd.readouterr().out.splitlines() == [
        f"localhost/default/1: 3 records, root {log.roots[3].hex()}",
        f"localhost/default/2: opened, signed with {NEW.public.encode()}",
    ]
    assert main(["audit", "rotate", "--tenant", "default"]) == 3
    assert "localhost/default/2, found none" in capfd.readouterr().err


@pytest.mark.usefixtures("desk")
def test_rotate_opens_every_tenant_s_log_or_none(database: Database, capfd: pytest.CaptureFixture[str]) -> None:
    bank = Growing(database.admin_url, "localhost/bank/1", "bank", 7)
    bank.grow([b"x"], signed=False)

    refused = main(["audit", "rotate", "--all"])
    nothing = stored(database, "SELECT count(*) AS n FROM pending")
    bank.sign()
    bank.close()
    opened = main(["audit", "rotate", "--all", "--key", KEY.public.encode()])

    assert (refused, nothing, opened) == (3, [{"n": 0}], 0)
    rows = stored(database, "SELECT log, key FROM log_epoch ORDER BY log")
    assert [row["log"] for row in rows][1::2] == ["localhost/bank/8", "localhost/default/2"]
    assert {row["key"] for row in rows} == {KEY.public.encode()}


@pytest.mark.usefixtures("desk")
def test_rotate_wants_to_know_whose_log(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "rotate"]) == 2
    assert main(["audit", "rotate", "--all", "--tenant", "default"]) == 2
    assert main(["audit", "rotate", "--all", "--key", "nonsense"]) == 2
    assert main(["audit", "rotate", "--all", "--head", __file__]) == 2
