"""The tamper matrix: what is done to a log, and who notices it, as docs/threat-model.md has it.

Each attack is tried as the service, as the sequencer, as the database's owner with triggers in place, and as a
superuser who has switched triggers off for the session; then it is carried out by an owner who has disabled them, on a
copy of a database of real debates. After that everybody looks who could notice.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import psycopg
import pytest

from service.audit.bundle import Bundle, pack, unpack
from service.audit.log_events import AuditRead
from service.audit.note import COSIGNATURE, SigningKey, encode_base64
from service.cli import main
from service.cli.audit.verify import tools
from service.errors import EvidenceDamaged, GainsayError, NotFound
from service.policy import Witness
from service.proving.row_check import RowCheck
from service.proving.self_check import SelfCheck
from service.proving.sequencer import LogIncident, Sequencer
from service.proving.sequencer.consistency import check_tree, forgotten
from service.proving.sequencer.countersigning import Countersigning
from service.proving.signing.checkpoint_files import CheckpointFiles
from service.proving.signing.countersigner import Countersigner
from service.proving.signing.local import LocalSigner
from service.proving.signing.witnesses import Witnesses
from service.reviews import evidence
from service.store.current_log import CurrentLogs
from service.store.pool import Database as Store
from service.store.proofs import latest_checkpoint
from service.store.sealing import write_event
from service.store.sequence import SequencerLeadership, Sequencing
from service.store.stored_debate import read_debate
from service.verify.bundle import verify_bundle
from service.verify.steps import Trust
from service.web.server import serving
from service.web.signer_api import make_witness_api
from tests.faults.attacks import ATTACKS, Attack, Connection, Debates, guards
from tests.fixtures.postgres import Cluster, Database
from tests.fixtures.running import CALLER, a_writer, bench
from tests.fixtures.sequencing import KEY, LOG

pytestmark = [pytest.mark.no_replay, pytest.mark.long]

WITNESS = SigningKey.from_seed("witness.example", b"\x02" * 32, COSIGNATURE)
PINNED = Trust(keys=(KEY.public,), witnesses=(WITNESS.public,))
UNWITNESSED = Trust(keys=(KEY.public,), allow_unwitnessed=True)
CATCHERS = (
    "grants",
    "triggers",
    "reader",
    "self-check",
    "row check",
    "signer",
    "witness",
    "earlier bundle",
    "later bundle",
    "kept head",
)
REFUSED_BY_GRANT, REFUSED_BY_TRIGGER = "42501", "GA001"


@dataclass(frozen=True)
class Scene:
    """A database with what its signer and its witness remember, and what was handed out before anything was done."""

    database: Database
    old: Database
    folder: Path
    debates: Debates
    bundles: tuple[Bundle, ...]
    header: str


@pytest.fixture(scope="module")
def scene(cluster: Cluster, template: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Two debates that were signed, countersigned and handed out, and a third that no sequencer has seen."""
    folder = tmp_path_factory.mktemp("scene")
    with cluster.lend(template.name) as database:
        a = asyncio.run(_a_debate(database, folder, events=300))
        with cluster.lend(database.name) as old:
            b = asyncio.run(_a_debate(database, folder))
            bundles, header = asyncio.run(_handed_out(database, folder, a, b))
            c = asyncio.run(_a_debate(database, None))
            yield Scene(database, old, folder, Debates(a, b, c), bundles, header)


async def _a_debate(database: Database, folder: Path | None, events: int = 0) -> str:
    """A debate, behind some other records; sequenced where there is a folder for signer and witness, as those are."""
    async with bench(database.service_url) as desk:
        for _ in range(events):
            await write_event(desk.database, AuditRead("records"), LOG, "default", a_writer("reader"))
        if folder and events:
            await _sequenced(database, folder)
        debate = await (desk.run() if folder else desk.submit())
    if folder:
        await _sequenced(database, folder)
    return debate


async def _sequenced(database: Database, folder: Path) -> None:
    async with _sequencer(database, folder / "signed") as sequencer:
        await sequencer.catch_up()
    async with Sequencing.open(database.sequencer_url, size=1) as store:
        await _cosigning(store, folder, sign=True)


async def _handed_out(database: Database, folder: Path, *debates: str) -> tuple[tuple[Bundle, ...], str]:
    async with Store.open(database.service_url, size=1) as store:
        assert await RowCheck(store, 24, a_writer("check").build).round() == 0
        logs = CurrentLogs(store, "localhost")
        packed = [await evidence.bundle(store, logs, debate, CALLER, a_writer("examiner")) for debate in debates]
        await _sequenced(database, folder)
        head = await latest_checkpoint(store, "default", LOG)
    assert [verify_bundle(data, PINNED, tools()).code for data in packed] == [0] * len(debates)
    assert head is not None
    return tuple(map(unpack, packed)), f"Gainsay-Checkpoint: {LOG} {head.size} {encode_base64(head.root)}\n"


@asynccontextmanager
async def _sequencer(database: Database, memory: Path) -> AsyncIterator[Sequencer]:
    heads = CheckpointFiles(memory)
    lead = SequencerLeadership(database.sequencer_url)
    try:
        async with Sequencing.open(database.sequencer_url, size=2) as store:
            yield Sequencer(store, lead, LocalSigner([KEY], heads))
    finally:
        await lead.close()
        heads.close()


async def _cosigning(store: Sequencing, folder: Path, *, sign: bool = False) -> None:
    """Have the witness look at the latest head; raises `LogIncident`."""
    heads, client, troubles = (
        CheckpointFiles(folder / "witnessed", "witnessed"),
        Witnesses(),
        list[GainsayError | None](),
    )

    async def stop(incident: LogIncident) -> None:
        raise incident

    try:
        async with serving(make_witness_api(Countersigner([WITNESS], [KEY.public], heads))) as address:
            pinned = Witness(address, WITNESS.public.encode())
            await Countersigning(store, [pinned], client, lambda _who, error: troubles.append(error), stop).check(LOG)
    finally:
        await client.close()
        heads.close()
    assert not sign or troubles == [None], troubles


# -- who notices


def refused(url: str, prepare: str, attack: Attack, debates: Debates) -> str | None:
    """What PostgreSQL says to an attack, by its code; ``None`` when it lets it pass. Nothing is changed."""
    with psycopg.connect(url, options="-c search_path=gainsay") as connection:
        try:
            if prepare:
                connection.execute(prepare.encode())
            attack.do(connection, debates)
        except psycopg.Error as error:
            return error.sqlstate
        finally:
            connection.rollback()
    return None


def caught_by_the_database(database: Database, attack: Attack, debates: Debates) -> Iterator[str]:
    """Grants count when they stop service and sequencer, triggers when they stop owner and superuser."""
    ours = [refused(url, "", attack, debates) for url in (database.service_url, database.sequencer_url)]
    if ours == [REFUSED_BY_GRANT] * 2:
        yield "grants"
    owner = refused(database.migrate_url, "SET ROLE gainsay_owner", attack, debates)
    superuser = refused(database.admin_url, "SET session_replication_role = replica", attack, debates)
    if (owner, superuser) == (REFUSED_BY_TRIGGER,) * 2:
        yield "triggers"
    else:
        assert (owner, superuser) == (None, None)


def carry_out(database: Database, attack: Attack, debates: Debates) -> None:
    """As the owner, who disables what is in the way."""
    with psycopg.connect(database.migrate_url, options="-c search_path=gainsay") as owner:
        owner.execute("SET ROLE gainsay_owner")
        set_triggers(owner, "DISABLE")
        attack.do(owner, debates)
        set_triggers(owner, "ENABLE ALWAYS")


def set_triggers(owner: Connection, how: str) -> None:
    """Disable them, or enable them again as they were; what was dropped stays so."""
    for table, trigger in guards(owner):
        owner.execute(f"ALTER TABLE {table} {how} TRIGGER {trigger}".encode())


async def caught_by_the_signer(database: Database, folder: Path) -> bool:
    """Whether a sequencer that starts refuses, by what its signer remembers or not, and by the tree as it is."""
    heads = CheckpointFiles(folder / "signed")
    try:
        async with Sequencing.open(database.sequencer_url, size=1) as store:
            signer = LocalSigner([KEY], heads)
            return await forgotten(signer, await check_tree(store, signer, LOG))
    except LogIncident:
        return True
    finally:
        heads.close()


async def caught_by_the_witness(database: Database, folder: Path) -> bool:
    """Whether the witness finds one, by the head that is stored or that a signer without memory signs then."""
    with suppress(GainsayError):
        async with _sequencer(database, folder / "forgotten") as sequencer:
            await sequencer.catch_up()
    try:
        async with Sequencing.open(database.sequencer_url, size=1) as store:
            await _cosigning(store, folder)
    except LogIncident:
        return True
    return False


async def caught_by_the_self_check(store: Store) -> bool:
    """Whether recomputing the log finds anything."""
    found = await SelfCheck(store, CurrentLogs(store, "localhost"), a_writer("check"), 0).check(LOG)
    return bool(found and found.findings)


async def caught_by_a_reader(store: Store, debates: Debates) -> bool:
    """Whether a debate that is there is refused to its tenant, and to the one that an attack makes it out to be of."""
    for debate, tenant in product((debates.a, debates.b, debates.c), ("default", "other")):
        try:
            await read_debate(store, debate, tenant, documents=True)
        except EvidenceDamaged:
            return True
        except NotFound:
            continue
    return False


async def caught_by_the_row_check(store: Store) -> bool:
    """Whether comparing the rows with the records finds anything."""
    return bool(await RowCheck(store, 24, a_writer("check").build).round())


async def caught_in_a_later_bundle(store: Store, debates: Debates, trust: Trust) -> bool:
    """Whether a debate that is there cannot be handed out, or does not verify; one that is gone proves nothing."""
    for debate in (debates.a, debates.b, debates.c):
        try:
            data = await evidence.bundle(store, CurrentLogs(store, "localhost"), debate, CALLER, a_writer("examiner"))
        except (NotFound, evidence.NotOver):
            continue
        except GainsayError:
            return True
        if verify_bundle(data, trust, tools()).code != 0:
            return True
    return False


def caught_by_an_earlier_bundle(database: Database, scene: Scene) -> bool:
    """Whether a bundle that was made before holds, and has other records or documents than there are now."""
    with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin:
        for bundle in scene.bundles:
            assert verify_bundle(pack(bundle), PINNED, tools()).code == 0
            key = (bundle.manifest.debate,)
            records = admin.execute(
                "SELECT leaf, body, salt FROM entry LEFT JOIN payload USING (debate, n) WHERE debate = %s ORDER BY n",
                key,
            )
            now = [tuple(bytes(part or b"") for part in row) for row in records]
            then = [
                (
                    bundle.files[f"records/{n:04d}.leaf.json"],
                    bundle.files[f"records/{n:04d}.payload.json"],
                    bytes.fromhex(bundle.files[f"records/{n:04d}.salt"].decode()),
                )
                for n in range(bundle.manifest.records)
            ]
            texts = admin.execute("SELECT body FROM document WHERE debate = %s ORDER BY id", key).fetchall()
            if now != then or [bytes(text) for (text,) in texts] != [bundle.files["documents/0001.txt"]]:
                return True
    return False


def caught_by_a_kept_head(database: Database, scene: Scene, monkeypatch: pytest.MonkeyPatch, folder: Path) -> bool:
    """Whether `gainsay audit checkpoint --against` says no to the header that a caller kept."""
    kept = folder / "kept.txt"
    kept.write_text(scene.header)
    monkeypatch.setenv("GAINSAY_DATABASE_URL", database.service_url)
    monkeypatch.setenv("GAINSAY_DATA_DIR", str(folder))
    return main(["audit", "checkpoint", "--against", str(kept)]) != 0


async def caught_by_those_who_compute(database: Database, attack: Attack, scene: Scene, folder: Path) -> list[str]:
    """Self-check, signer, witness and verifier, each by itself."""
    found = []
    if await caught_by_the_signer(database, folder):
        found.append("signer")
    else:
        with suppress(GainsayError):
            async with _sequencer(database, folder / "signed") as sequencer:
                await sequencer.catch_up()  # nobody has noticed, so the log goes on
    async with Store.open(database.service_url, size=2) as store:
        if await caught_by_a_reader(store, scene.debates):
            found.append("reader")
        if await caught_by_the_row_check(store):
            found.append("row check")
        trust = UNWITNESSED if attack.unwitnessed else PINNED
        if await caught_in_a_later_bundle(store, scene.debates, trust):
            found.append("later bundle")
        if await caught_by_the_self_check(store):
            found.append("self-check")
    if not attack.unwitnessed and await caught_by_the_witness(database, folder):
        found.append("witness")
    return found


@pytest.fixture(scope="session")
def table(root: Path) -> dict[str, set[str]]:
    """The table of the document: who catches what."""
    text = (root / "docs/threat-model.md").read_text("utf-8")
    section = text.partition("\n## Who catches what\n")[2].partition("\n| column |")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", section, re.MULTILINE)
    ]
    assert tuple(rows[0][1:-1]) == CATCHERS
    return {what: {c for c, cell in zip(CATCHERS, cells, strict=False) if cell == "yes"} for what, *cells in rows[2:]}


def test_the_document_has_a_row_for_each_attack_and_no_other(table: dict[str, set[str]]) -> None:
    assert list(table) == list(ATTACKS)


@pytest.mark.parametrize("what", ATTACKS)
def test_who_catches(
    cluster: Cluster,
    scene: Scene,
    table: dict[str, set[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
) -> None:
    attack = ATTACKS[what]
    folder = shutil.copytree(scene.folder, tmp_path / "copy")
    with cluster.lend((scene.old if attack.restores else scene.database).name) as database:
        caught = set() if attack.restores else {*caught_by_the_database(database, attack, scene.debates)}
        carry_out(database, attack, scene.debates)
        if attack.stolen:
            shutil.rmtree(folder / "signed")
        if caught_by_an_earlier_bundle(database, scene):
            caught.add("earlier bundle")
        if caught_by_a_kept_head(database, scene, monkeypatch, tmp_path):
            caught.add("kept head")
        caught |= {*asyncio.run(caught_by_those_who_compute(database, attack, scene, folder))}

        assert caught == table[what]
