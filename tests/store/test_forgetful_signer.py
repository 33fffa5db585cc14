"""A signer that has forgotten the heads of a log signs nothing for it, until a witness or a person vouches for one."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest

from service.audit.log_events import AuditRemembered
from service.audit.note import COSIGNATURE, SigningKey
from service.audit.record import open_leaf
from service.audit.witness import KnownCheckpoint
from service.cli import main
from service.policy import Audit, Witness
from service.proving.sequencer import LogIncident, Sequencer, SignerForgot
from service.proving.sequencer.consistency import check_tree, remind
from service.proving.signing import SignerUnavailable
from service.proving.signing.checkpoint_files import CheckpointFiles
from service.proving.signing.countersigner import Countersigner
from service.proving.signing.local import LocalSigner
from service.proving.signing.witnesses import Witnesses
from service.store.sequence import Sequencing
from service.verify.export import verify_export
from service.verify.steps import Trust
from service.web.server import serving
from service.web.signer_api import make_signer_api, make_witness_api
from tests.fixtures.postgres import Cluster, Database
from tests.fixtures.sequencing import KEY, LOG, MemorySigner, a_sequencer, leaves, signed_size, stage

pytestmark = pytest.mark.no_replay
WITNESS = SigningKey.from_seed("witness.example", b"\x08" * 32, COSIGNATURE)
GONE = Witness("http://127.0.0.1:9", WITNESS.public.encode())


@asynccontextmanager
async def a_witness(folder: Path) -> AsyncIterator[Witness]:
    countersigner = Countersigner([WITNESS], [KEY.public], CheckpointFiles(folder, "witnessed"))
    async with serving(make_witness_api(countersigner)) as address:
        yield Witness(address, WITNESS.public.encode())


@asynccontextmanager
async def witnessed(database: Database, signer: Any, *witnesses: Witness) -> AsyncIterator[Sequencer]:
    client = Witnesses()
    try:
        async with a_sequencer(database, signer, audit=Audit(witnesses=witnesses), client=client) as sequencer:
            yield sequencer
    finally:
        await client.close()


async def signed(database: Database, count: int, *witnesses: Witness, signer: Any = None, after: int = 0) -> Any:
    """A log with so many signed records, whose head the witnesses have, and its signer."""
    signer = signer or MemorySigner()
    stage(database, 1, range(after, count))
    async with witnessed(database, signer, *witnesses) as sequencer:
        await sequencer.catch_up()
    async with witnessed(database, signer, *witnesses) as sequencer:
        await sequencer.examine()
    return signer


async def refused(database: Database, signer: Any, *witnesses: Witness) -> str:
    """What a start says that is refused because the signer has forgotten, after nothing was signed either."""
    size = signed_size(database)
    stage(database, 9, [0])
    async with witnessed(database, signer, *witnesses) as sequencer:
        with pytest.raises(SignerForgot) as forgot:
            await sequencer.examine()
        with pytest.raises(SignerForgot):
            await sequencer.catch_up()
    assert (signed_size(database), len(leaves(database))) == (size, size), "neither a leaf nor a head was added"
    return forgot.value.detail


async def test_without_a_witness_nothing_is_signed_and_the_start_is_refused(database: Database) -> None:
    await signed(database, 3)

    told = await refused(database, MemorySigner())

    assert f"remembers no head of the log {LOG}" in told
    assert "the database has one of 3 records" in told
    assert f"gainsay audit remember --log {LOG} --size 3 --root " in told


async def test_a_witness_that_is_away_vouches_for_nothing(database: Database) -> None:
    await signed(database, 3)

    await refused(database, MemorySigner(), GONE)


async def test_a_witness_that_has_the_log_vouches_and_the_signer_remembers_again(
    database: Database, tmp_path: Path
) -> None:
    signer = MemorySigner()
    async with a_witness(tmp_path) as witness:
        before = await signed(database, 3, witness)
        async with witnessed(database, signer, witness) as sequencer:
            await sequencer.examine()
        assert signer.heads == before.heads
    async with witnessed(database, signer, GONE) as sequencer:
        await sequencer.examine()  # from now on it remembers by itself
        stage(database, 1, [3])
        await sequencer.catch_up()
    assert signed_size(database) == 4


@pytest.mark.parametrize("told", [True, False], ids=["the database knows its line", "it never saw the log"])
async def test_a_witness_that_has_forgotten_too_vouches_for_nothing(
    database: Database, tmp_path: Path, told: bool
) -> None:
    async with a_witness(tmp_path / "first") as witness:
        await signed(database, 3, *([witness] if told else []))
    async with a_witness(tmp_path / "second") as witness:
        await refused(database, MemorySigner(), witness)


async def test_a_witness_that_fell_behind_what_it_had_signed_vouches_for_nothing(
    database: Database, tmp_path: Path
) -> None:
    async with a_witness(tmp_path / "heads") as witness:
        signer = await signed(database, 3, witness)
        shutil.copytree(tmp_path / "heads", tmp_path / "backup")
        await signed(database, 5, witness, signer=signer, after=3)
    async with a_witness(tmp_path / "backup") as witness:
        await refused(database, MemorySigner(), witness)


async def test_a_signer_restored_from_an_older_copy_has_forgotten_what_came_after(
    database: Database, tmp_path: Path
) -> None:
    async with a_witness(tmp_path) as witness:
        signer = await signed(database, 3, witness)
        old = dict(signer.heads)
        await signed(database, 5, witness, signer=signer, after=3)
        signer.heads = old
        assert "no head of more than 3 records" in await refused(database, signer)

        async with witnessed(database, signer, witness) as sequencer:
            await sequencer.examine()
        assert signer.heads[LOG].size == 5


async def test_an_old_backup_with_a_signer_that_has_forgotten_is_refused_also_without_a_witness(
    cluster: Cluster, database: Database
) -> None:
    signer = await signed(database, 3)
    with cluster.lend(database.name) as old:
        await signed(database, 5, signer=signer, after=3)
        async with a_sequencer(old, signer) as behind:
            with pytest.raises(LogIncident, match="signed a head of 5 records, and the database has 3"):
                await behind.examine()
    with cluster.lend(database.name) as old:
        await refused(old, MemorySigner(), GONE)


async def test_an_empty_database_starts_and_so_does_a_log_that_was_never_signed(database: Database) -> None:
    signer = MemorySigner()
    async with a_sequencer(database, signer) as sequencer:
        await sequencer.examine()
        stage(database, 1, range(2))
        signer.down = True
        with pytest.raises(SignerUnavailable):
            await sequencer.catch_up()
    async with a_sequencer(database) as sequencer:
        await sequencer.examine()
        await sequencer.catch_up()
    assert signed_size(database) == 2


async def test_a_log_whose_key_the_signer_does_not_have_refuses_no_start(database: Database) -> None:
    await signed(database, 3)

    async with a_sequencer(database, MemorySigner(SigningKey.from_seed("localhost", b"\x06" * 32))) as sequencer:
        await sequencer.examine()


async def test_a_head_that_another_replica_signs_meanwhile_is_not_taken_for_a_forgotten_one(
    database: Database,
) -> None:
    signer = await signed(database, 3)

    class Slow:
        """A replica's view of the shared signer: it hears of the last head just before the other one signs."""

        asked = 0

        def __getattr__(self, name: str) -> Any:
            return getattr(signer, name)

        async def last(self, origin: str) -> KnownCheckpoint | None:
            self.asked += 1
            if self.asked > 1:
                return await signer.last(origin)  # type: ignore[no-any-return]
            before = await signer.last(origin)
            stage(database, 1, range(3, 5))
            async with a_sequencer(database, signer) as other:
                await other.catch_up()
            return before  # type: ignore[no-any-return]

    async with a_sequencer(database, Slow()) as sequencer:
        await sequencer.examine()
        stage(database, 1, [5])
        await sequencer.catch_up()

    assert signed_size(database) == 6


async def test_two_replicas_that_start_at_once_with_a_forgetful_signer_are_both_refused_or_both_vouched_for(
    database: Database, tmp_path: Path
) -> None:
    signer = MemorySigner()
    async with a_witness(tmp_path) as witness:
        await signed(database, 3, witness)
        async with witnessed(database, signer) as one, witnessed(database, signer) as two:
            came = await asyncio.gather(one.examine(), two.examine(), return_exceptions=True)
        assert [type(each) for each in came] == [SignerForgot, SignerForgot]
        async with witnessed(database, signer, witness) as one, witnessed(database, signer, witness) as two:
            await asyncio.gather(one.examine(), two.examine())
    assert signer.heads[LOG].size == 3


async def test_a_stored_head_that_the_log_s_key_did_not_sign_is_an_incident_and_is_not_taken_up(
    database: Database, tmp_path: Path
) -> None:
    async with a_witness(tmp_path) as witness:
        await signed(database, 3, witness)
        with psycopg.connect(database.admin_url) as admin:
            admin.execute("ALTER TABLE gainsay.checkpoint DISABLE TRIGGER refuse_change")
            admin.execute(
                "UPDATE gainsay.checkpoint SET note = replace(encode(note, 'escape'), 'localhost ', 'x ')::bytea"
            )
        signer = MemorySigner()
        async with witnessed(database, signer, witness) as sequencer:
            with pytest.raises(SignerForgot):  # a witness reads no such note
                await sequencer.examine()
    async with Sequencing.open(database.sequencer_url, size=1) as store:
        with pytest.raises(LogIncident, match="is not signed by its key"):
            await remind(store, signer, await check_tree(store, signer, LOG))
    assert signer.heads == {}


# -- a person's word


@pytest.fixture
def desk(database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The environment of the command, with a signer whose folder is empty."""
    monkeypatch.setenv("GAINSAY_DATABASE_URL", database.service_url)
    monkeypatch.setenv("GAINSAY_SIGNING_KEY", "env:LOG_KEY")
    monkeypatch.setenv("GAINSAY_HEADS_DIR", str(tmp_path / "heads"))
    monkeypatch.setenv("LOG_KEY", KEY.encode())
    return tmp_path / "heads"


def said(*more: str, root: str, size: int = 3, log: str = LOG) -> list[str]:
    return ["audit", "remember", "--log", log, "--size", str(size), "--root", root, *more]


REASON = ("--reason", "disk of the signer replaced; compared with the head of 3 May in the safe", "--by", "A. Ruiz")


def events(database: Database) -> list[AuditRemembered]:
    """The words of persons that are recorded."""
    with psycopg.connect(database.admin_url) as admin:
        rows = admin.execute(
            "SELECT e.leaf, p.body FROM gainsay.entry e JOIN gainsay.payload p USING (debate, n)"
        ).fetchall()
    found = [(open_leaf(bytes(leaf)), bytes(body)) for leaf, body in rows]
    assert all((envelope.kind, envelope.actor.kind) == ("audit.remembered", "person") for envelope, _ in found)
    return [msgspec.json.decode(body, type=AuditRemembered) for _, body in found]


def test_a_person_s_word_is_recorded_before_the_signer_takes_up_the_head(
    database: Database, desk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    signer = asyncio.run(signed(database, 3))
    root = signer.heads[LOG].root.hex()

    listed = main(["audit", "remember"])
    told = capfd.readouterr().out
    code = main(said(*REASON, root=root))

    assert (listed, code) == (1, 0)
    assert told.splitlines() == [
        f"{LOG}: the signer remembers no head, the database has 3 records",
        f"  root {root}",
    ]
    assert events(database) == [AuditRemembered(LOG, 3, root, 0, "A. Ruiz", REASON[1])]
    assert main(["audit", "remember"]) == 0
    asyncio.run(goes_on(database, desk))
    assert main(said(*REASON, root=root)) == 3
    assert "nothing was changed" in " ".join(capfd.readouterr().err.split())
    assert len(events(database)) == 1


async def goes_on(database: Database, heads: Path) -> None:
    """A sequencer with that folder starts, and signs the record of the word too."""
    signer = LocalSigner([KEY], CheckpointFiles(heads))
    async with a_sequencer(database, signer) as sequencer:
        await sequencer.examine()
        await sequencer.catch_up()
    await signer.close()
    assert signed_size(database) == 4


@pytest.mark.parametrize(
    ("size", "flip", "words"),
    [(4, "", "which has 3 records"), (2, "", "which has 3 records"), (3, "flip", "must not be signed")],
)
def test_a_head_that_the_database_does_not_have_is_never_taken_up(
    database: Database, desk: Path, capfd: pytest.CaptureFixture[str], size: int, flip: str, words: str
) -> None:
    root = asyncio.run(signed(database, 3)).heads[LOG].root.hex()
    root = root[::-1] if flip else root

    code = main(said(*REASON, root=root, size=size))

    assert code == 3
    assert words in " ".join(capfd.readouterr().err.split())
    assert (events(database), CheckpointFiles(desk).count()) == ([], 0)


@pytest.mark.parametrize(
    "words",
    [
        ["--reason", "x"],
        ["--log", LOG, "--size", "3", "--root", "00" * 32],
        ["--log", LOG, "--size", "3", "--root", "zz", "--reason", "x"],
        ["--log", LOG, "--size", "3", "--root", "00" * 32, "--reason", "two\nlines"],
        ["--log", LOG, "--size", "3", "--root", "00" * 32, "--reason", " "],
        ["--log", LOG, "--size", "3", "--root", "00" * 32, "--reason", "x" * 501],
    ],
)
def test_half_a_word_is_no_word(desk: Path, words: list[str]) -> None:
    assert main(["audit", "remember", *words]) == 2
    assert CheckpointFiles(desk).count() == 0


def test_while_an_incident_of_the_log_is_open_no_word_closes_it(
    database: Database, desk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root = asyncio.run(signed(database, 3)).heads[LOG].root.hex()
    with psycopg.connect(database.sequencer_url) as sequencer:
        sequencer.execute("INSERT INTO gainsay.incident (log, what) VALUES (%s, 'it shrank')", (LOG,))

    assert main(said(*REASON, root=root)) == 3
    assert events(database) == []


async def test_a_signer_process_is_given_its_head_over_http(
    database: Database, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = (await signed(database, 3)).heads[LOG].root.hex()
    signer = LocalSigner([KEY], CheckpointFiles(desk / "signer"))
    async with serving(make_signer_api(signer, None)) as address:
        monkeypatch.setenv("GAINSAY_SIGNING_KEY", address)
        assert await asyncio.to_thread(main, said(*REASON, root=root)) == 0
    assert await signer.last(LOG) == KnownCheckpoint(3, bytes.fromhex(root))
    await signer.close()


def test_the_word_is_in_the_export_and_verify_shows_it(
    database: Database, desk: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root = asyncio.run(signed(database, 3)).heads[LOG].root.hex()
    assert main(said(*REASON, root=root)) == 0
    asyncio.run(goes_on(database, desk))
    capfd.readouterr()

    code = main(["audit", "export", "--log", LOG, "--out", str(tmp_path / "log.jsonl")])

    assert code == 0
    lines = (tmp_path / "log.jsonl").read_bytes().splitlines(keepends=True)
    report = verify_export(lines, Trust((KEY.public,)), every=True)
    step = next(step for step in report.steps if step.name == "logs")
    assert step.state == "OK"
    assert f"by the word of 'A. Ruiz' the signer adopted the head of 3 records of {LOG}" in step.detail
    assert "compared with the head of 3 May" in step.detail
