"""Under which checkpoint a registration is proven: a countersigned one where the log has witnesses that answer."""

from __future__ import annotations

import psycopg
import pytest

from service.audit.checkpoint import Checkpoint, cosign, cosignatures, parse_checkpoint
from service.audit.note import parse_note
from service.audit.proof import parse_proof
from service.reviews.batch_callers import bringer_of
from service.reviews.evaluation_proof import proof_of
from service.store import evaluations
from service.store.pool import Database as Pool
from tests.fixtures.evaluating import CALLER
from tests.fixtures.evaluation_plans import EVALUATION, plan, registered
from tests.fixtures.growing import WITNESS
from tests.fixtures.postgres import Database
from tests.fixtures.running import a_writer
from tests.fixtures.sequencing import KEY, LOG, a_sequencer

pytestmark = pytest.mark.no_replay
FIRST = registered(plan(), 2)
OTHER = EVALUATION.replace("8057", "8058")


async def register(store: Pool, evaluation: str = EVALUATION) -> None:
    entry = type(FIRST)(evaluation, 0, FIRST.plan, FIRST.plan_hash, FIRST.sets, FIRST.quote, FIRST.rules)
    await evaluations.register(store, entry, bringer_of(CALLER), {}, LOG, a_writer("f"))


def countersign(database: Database, size: int) -> None:
    with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin:
        row = admin.execute("SELECT root FROM checkpoint WHERE log = %s AND size = %s", [LOG, size]).fetchone()
        assert row is not None
        line = cosign(Checkpoint(LOG, size, row[0]), 1_795_000_000, WITNESS)
        admin.execute("INSERT INTO cosignature VALUES (%s, %s, %s, %s)", [LOG, size, WITNESS.public.name, line])


def long_ago(database: Database) -> None:
    with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin:
        admin.execute("UPDATE evaluation SET registered = registered - interval '1 hour'")


def head_of(proof: str | None) -> tuple[int, int, set[str]]:
    """The place that a proof proves, the size of its head, and the witnesses that countersigned it."""
    assert proof is not None
    found = parse_proof(proof.encode())
    note = parse_note(found.checkpoint)
    head = parse_checkpoint(note.text)
    assert KEY.public.name in {line.name for line in note.signatures}
    return found.index, head.size, set(cosignatures(note, head, [WITNESS.public]))


async def test_a_registration_is_proven_by_the_newest_head_where_no_witness_ever_countersigned(
    database: Database,
) -> None:
    async with Pool.open(database.service_url, size=2) as store, a_sequencer(database) as sequencer:
        await register(store)
        assert await proof_of(store, EVALUATION, "default") is None
        await sequencer.catch_up()
        assert head_of(await proof_of(store, EVALUATION, "default")) == (0, 1, set())
        assert await proof_of(store, EVALUATION, "other") is None


async def test_where_witnesses_countersign_the_log_one_is_awaited_for_a_minute(database: Database) -> None:
    async with Pool.open(database.service_url, size=2) as store, a_sequencer(database) as sequencer:
        await register(store)
        await sequencer.catch_up()
        countersign(database, 1)
        await register(store, OTHER)
        await sequencer.catch_up()

        assert head_of(await proof_of(store, EVALUATION, "default")) == (0, 1, {WITNESS.public.name})
        assert await proof_of(store, OTHER, "default") is None, "a head that is signed alone is not enough yet"
        long_ago(database)
        assert head_of(await proof_of(store, OTHER, "default")) == (1, 2, set())
        countersign(database, 2)
        assert head_of(await proof_of(store, OTHER, "default")) == (1, 2, {WITNESS.public.name})
