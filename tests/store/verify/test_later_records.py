"""No step fails by a record that a later build wrote, and none claims what that record may have said."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.export import decode_header, encode_header, encode_row, read
from service.audit.record import commit, leaf_hash
from service.audit.tree import root_of
from service.reviews import evidence
from service.simulated.provider import OfflineProvider
from service.store.current_log import CurrentLogs
from service.verify.evaluations import Evaluations
from service.verify.export import verify_export
from service.verify.steps import Trust
from tests.fixtures.bundles import step
from tests.fixtures.evaluating import CALLER, a_desk, a_feeder, concluded, evaluating, registered_held
from tests.fixtures.postgres import Database
from tests.fixtures.running import a_writer, bench
from tests.fixtures.sequencing import KEY, LOG, a_sequencer
from tests.store.verify.test_evaluations import sets
from tests.store.workers import a_worker

pytestmark = [pytest.mark.no_replay, pytest.mark.long]
TRUST = Trust((KEY.public,), allow_unwitnessed=True, records_only=True)
CLAIMS = (
    *("records", "chains", "payloads", "logs", "moves", "charges", "money", "outcome", "plans", "looks"),
    "evaluations",
)
"""Steps that say something of every record, and so nothing where a leaf may be of any chain."""


@pytest.fixture
async def lines(database: Database) -> list[bytes]:
    """The lines of a log with an evaluation of a held split that was concluded, and another registration of it."""
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        evaluation = await registered_held(desk)
        await sequencer.catch_up()
        async with a_worker(service, build="00" * 32), evaluating(a_feeder(service, desk)):
            await concluded(desk, evaluation, sequencer)
        await registered_held(desk)
        await sequencer.catch_up()
        logs = CurrentLogs(service.database, "localhost")
        chunks = await evidence.export(
            service.database, logs, LOG, evidence.Filters.of({}), CALLER, a_writer("examiner"), form="jsonl"
        )
        return b"".join([chunk async for chunk in chunks]).splitlines(keepends=True)


def sealed_again(lines: list[bytes], place: int, **changes: Any) -> list[bytes]:
    """The lines with members of one envelope changed, as a later build would have sealed and signed them."""
    header, rows = decode_header(lines[0]), list(read(iter(lines))[1])
    leaves = [json.loads(row.leaf) for row in rows]
    of_chain, before = leaves[place]["debate"], ""
    leaves[place].update(changes)
    written = []
    for row, leaf in zip(rows, leaves, strict=True):
        text = row.leaf
        if leaf["debate"] == of_chain:
            leaf["prev"] = before
            text = msgspec.json.encode(leaf).decode()
            before = leaf_hash(text.encode()).hex()
        written.append(msgspec.structs.replace(row, leaf=text))
    root = root_of([leaf_hash(row.leaf.encode()) for row in written])
    note = sign_checkpoint(Checkpoint(header.log, header.size, root), KEY).decode()
    first = encode_header(msgspec.structs.replace(header, checkpoint=note))
    return [first, *map(encode_row, written), lines[-1]]


def kinds(lines: list[bytes]) -> list[str]:
    return [json.loads(row.leaf)["kind"] for row in read(iter(lines))[1]]


def states(lines: list[bytes]) -> dict[str, str]:
    report = verify_export(iter(lines), TRUST, every=True, evaluations=Evaluations(sets()))
    assert report.failed == ()
    assert {"logs", "looks", "evaluations"} <= {one.name for one in report.steps}
    return {one.name: one.state for one in report.steps}


async def test_a_leaf_of_a_later_version_fails_no_step_and_is_claimed_by_none(lines: list[bytes]) -> None:
    assert {state for name, state in states(lines).items() if name not in ("witnesses", "sources")} == {"OK"}
    for place, kind in enumerate(kinds(lines)):
        later = sealed_again(lines, place, v=3)
        found = states(later)
        claimed = [name for name in CLAIMS if found.get(name) == "OK"]
        assert claimed == [], f"record {place}, {kind}"
        said = step(verify_export(iter(later), TRUST), "logs").detail
        assert said == "an envelope of version 3 is not known to this build"


async def test_a_payload_of_a_later_schema_fails_no_step(lines: list[bytes]) -> None:
    for place, kind in enumerate(kinds(lines)):
        found = states(sealed_again(lines, place, schema=99))
        assert found["records"] == "NOT CHECKABLE", f"record {place}, {kind}"
        if kind.startswith(("evaluation.", "item.", "case.")):
            claimed = [name for name in ("logs", "plans", "evaluations") if found.get(name) == "OK"]
            assert claimed == [], f"record {place}, {kind}"


async def test_a_kind_of_a_later_build_fails_no_step_and_may_be_an_event(lines: list[bytes]) -> None:
    for place, kind in enumerate(kinds(lines)):
        if kind.startswith(("evaluation.", "item.")):
            row = list(read(iter(lines))[1])[place]
            payload = json.dumps({"kind": "evaluation.paused", "n": 1}, separators=(",", ":"))
            other = [*lines]
            other[place + 1] = encode_row(msgspec.structs.replace(row, payload=payload))
            commitment = commit(bytes.fromhex(row.salt or ""), payload.encode())
            found = states(sealed_again(other, place, kind="evaluation.paused", commitment=commitment))
            claimed = [name for name in ("logs", "payloads", *CLAIMS[-3:]) if found.get(name) == "OK"]
            assert claimed == [], f"record {place}, {kind}"
