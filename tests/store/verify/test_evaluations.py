"""Evaluations of an export: order, marks, scores and results; one change of any of them is found."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from service.audit.checkpoint import Checkpoint, add_lines, cosign, sign_checkpoint
from service.audit.export import decode_header, read
from service.audit.note import COSIGNATURE, SigningKey
from service.audit.proof import TlogProof, parse_proof
from service.audit.tree import root_of
from service.evaluation.sets import files
from service.evaluation.sets.golden_set import GoldenSet
from service.reviews import evidence
from service.simulated.provider import OfflineProvider
from service.store.current_log import CurrentLogs
from service.verify.evaluations import Evaluations
from service.verify.export import ExportSummary, check_line, verify_export
from service.verify.log import read_head
from service.verify.steps import Differs, NotCheckable, Trust
from tests.fixtures.evaluating import CALLER, GOLDEN, a_desk, a_feeder, a_plan, concluded, evaluating
from tests.fixtures.postgres import Database
from tests.fixtures.running import a_writer, bench
from tests.fixtures.sequencing import KEY, LOG, a_sequencer
from tests.store.workers import a_worker

pytestmark = [pytest.mark.no_replay, pytest.mark.long]
WITNESS = SigningKey.from_seed("witness.example", b"\x07" * 32, COSIGNATURE)
TRUST = Trust((KEY.public,), allow_unwitnessed=True, records_only=True)


class Exported(NamedTuple):
    """The lines of a log in which an evaluation of critics was concluded."""

    lines: list[bytes]

    @property
    def records(self) -> list[ExportSummary]:
        """Every record with its envelope."""
        return [check_line(row) for row in read(iter(self.lines))[1]]


def sets(folder: Path = GOLDEN / "tiny-critic") -> Mapping[str, GoldenSet]:
    golden = files.load(folder, datetime.now(UTC).date())
    return {golden.manifest.id: golden}


@pytest.fixture
async def exported(database: Database) -> Exported:
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        evaluation = await desk.register(await desk.plan(a_plan("critic"), CALLER), CALLER)
        await sequencer.catch_up()
        async with a_worker(service, build="00" * 32), evaluating(a_feeder(service, desk)):
            await concluded(desk, evaluation, sequencer)
        await sequencer.catch_up()
        logs = CurrentLogs(service.database, "localhost")
        chunks = await evidence.export(
            service.database, logs, LOG, evidence.Filters.of({}), CALLER, a_writer("examiner"), form="jsonl"
        )
        return Exported(b"".join([chunk async for chunk in chunks]).splitlines(keepends=True))


async def test_a_log_with_an_evaluation_is_verified_with_its_sets_and_without(exported: Exported) -> None:
    without = verify_export(iter(exported.lines), TRUST)
    with_sets = verify_export(iter(exported.lines), TRUST, evaluations=Evaluations(sets()))
    others = verify_export(iter(exported.lines), TRUST, evaluations=Evaluations(sets(GOLDEN / "tiny-pairs")))

    assert (without.failed, with_sets.failed, others.failed) == ((), (), ())
    said = {step.name: (step.state, step.detail) for step in with_sets.steps}
    assert "1 evaluations, each entry after those before it" in said["logs"][1]
    assert said["evaluations"] == ("OK", "1 evaluations: 2 scores and 1 results computed again")
    assert "evaluations" not in {step.name for step in without.steps}
    (absent,) = (step for step in others.steps if step.name == "evaluations")
    assert (absent.state, "tiny-critic was not given" in absent.detail) == ("NOT CHECKABLE", True)


def checked(records: Sequence[ExportSummary], golden: Mapping[str, GoldenSet] | None = None) -> str:
    """What the records come to; raises `Differs`."""
    found = Evaluations(sets() if golden is None else golden)
    for index, seen in enumerate(records):
        assert seen.envelope is not None
        assert seen.payload is not None
        found.take(seen.envelope, seen.payload, index, seen.hash)
    return found.end()


def proven(exported: Exported, records: Sequence[ExportSummary], trust: Trust = TRUST) -> str:
    """What the proofs of plans come to; raises `Differs` and `NotCheckable`."""
    found = Evaluations()
    for index, seen in enumerate(records):
        assert seen.envelope is not None
        found.take(seen.envelope, seen.payload or b"", index, seen.hash)
    return found.proven(read_head(decode_header(exported.lines[0]).checkpoint.encode())[1], trust)


def edited(records: Sequence[ExportSummary], kind: str, edit: Callable[[dict[str, Any]], None]) -> list[ExportSummary]:
    """The records with the first of a kind changed, as one who holds the log's key could seal it again."""
    found = list(records)
    at = next(i for i, seen in enumerate(found) if seen.envelope is not None and seen.envelope.kind == kind)
    payload = json.loads(found[at].payload or b"")
    edit(payload)
    text = json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    seen = found[at]
    found[at] = ExportSummary(seen.row, seen.leaf, seen.hash, seen.envelope, text.encode())
    return found


def kinds(records: Sequence[ExportSummary]) -> list[str]:
    return [seen.envelope.kind if seen.envelope else "" for seen in records]


async def test_one_change_of_a_score_a_plan_a_mark_or_a_result_is_found(exported: Exported) -> None:
    records = exported.records
    assert checked(records) == "1 evaluations: 2 scores and 1 results computed again"
    edits: list[tuple[str, Callable[[dict[str, Any]], None], str]] = [
        ("item.scored", lambda p: p["score"].update(flawed=not p["score"]["flawed"]), "the score of"),
        ("item.scored", lambda p: p["score"]["run"].update(charge=0), "the score of"),
        ("item.scored", lambda p: p.update(repeat=3), "next entry"),
        ("item.asked", lambda p: p.update(debate="01890a5d-ac96-774b-bcce-b302099a8057"), "the debate of an item"),
        ("evaluation.registered", lambda p: p["plan"].update(margin=1), "next entry"),
        ("evaluation.registered", lambda p: p["sets"][0].update(sha256="ab" * 32), "next entry"),
        ("evaluation.registered", lambda p: p["rules"]["release"].update(hits=500), "next entry"),
        ("evaluation.registered", lambda p: p["rules"]["release"].update(hits=950), "the hash of a result"),
        ("evaluation.concluded", lambda p: p.update(result="ab" * 32), "the hash of a result"),
        ("evaluation.concluded", lambda p: p.update(finding="passes!"), "the finding of a result"),
        ("evaluation.concluded", lambda p: p.update(exploratory=False), "next entry"),
        (
            "case.received",
            lambda p: p["arrival"]["evaluation"].update(item="another"),
            "what a case says of its evaluation",
        ),
    ]
    for kind, edit, words in edits:
        with pytest.raises(Differs, match=words):
            checked(edited(records, kind, edit))


async def test_a_plan_that_stands_behind_the_first_case_is_found(exported: Exported) -> None:
    records = exported.records
    registered, proof = records.pop(0), records.pop(0)
    first_asked = kinds(records).index("item.asked")
    with pytest.raises(Differs, match="the registration of a plan"):
        checked([*records[:first_asked], registered, proof, *records[first_asked:]])
    with pytest.raises(Differs, match="next entry"):
        checked(records)


async def test_a_checkpoint_that_stands_behind_the_first_case_is_found(exported: Exported) -> None:
    records = exported.records
    proof = records.pop(kinds(records).index("evaluation.proven"))
    first_asked = kinds(records).index("item.asked")
    with pytest.raises(Differs, match="the checkpoint over a plan"):
        checked([*records[:first_asked], proof, *records[first_asked:]])


async def test_without_its_checkpoint_a_plan_asks_nothing(exported: Exported) -> None:
    records = exported.records
    records.pop(kinds(records).index("evaluation.proven"))
    with pytest.raises(Differs, match=r"next entry.*"):
        checked(records)


async def test_a_plan_is_proven_by_a_signed_checkpoint_that_is_older_than_its_first_case(exported: Exported) -> None:
    records = exported.records
    assert "record 0 under the checkpoint of 1 records, before its first case" in proven(exported, records)
    (step,) = (one for one in verify_export(iter(exported.lines), TRUST).steps if one.name == "plans")
    assert (step.state, "before its first case" in step.detail) == ("OK", True)

    with pytest.raises(NotCheckable, match="UNSIGNED"):
        proven(exported, records, Trust())
    pinned = replace(TRUST, witnesses=(WITNESS.public,), allow_unwitnessed=False)
    with pytest.raises(NotCheckable, match="LOOSELY DATED") as loose:
        proven(exported, records, pinned)
    assert not loose.value.allowed

    at = kinds(records).index("evaluation.proven")
    proof = parse_proof(json.loads(records[at].payload or b"")["proof"].encode())
    line = cosign(read_head(proof.checkpoint)[1], 1_795_000_000, WITNESS)
    seen = replace(proof, checkpoint=add_lines(proof.checkpoint, [line])).encode().decode()
    witnessed = edited(records, "evaluation.proven", lambda p: p.update(proof=seen))
    assert "countersigned at 2026-11-18T" in proven(exported, witnessed, pinned)
    with pytest.raises(NotCheckable, match="no pinned key checked the lines"):
        proven(exported, witnessed)


def of_another(proof: TlogProof, head: Checkpoint) -> Mapping[str, TlogProof]:
    """What a forger may put in the place of a proof, by the words with which it is found."""
    forger = SigningKey.from_seed("localhost", b"\x06" * 32)
    heads = {
        "root": Checkpoint(head.origin, head.size, bytes(32)),
        "the log of the checkpoint": Checkpoint("localhost/other/1", head.size, head.root),
        "the inclusion path.*of 40": Checkpoint(head.origin, 40, head.root),
    }
    return {
        "the place of the registration": replace(proof, index=1),
        "the inclusion path": replace(proof, path=(bytes(32),)),
        "signature": replace(proof, checkpoint=sign_checkpoint(head, forger)),
        "extra data": replace(proof, extra=b"x"),
        **{words: replace(proof, checkpoint=sign_checkpoint(other, KEY)) for words, other in heads.items()},
    }


async def test_a_checkpoint_that_was_signed_after_its_record_is_found(exported: Exported) -> None:
    records = exported.records
    at = kinds(records).index("evaluation.proven")
    leaves = [seen.hash for seen in records]
    head = Checkpoint(LOG, 2, root_of(leaves[:2]))
    late = TlogProof(0, (leaves[1],), sign_checkpoint(head, KEY)).encode().decode()
    with pytest.raises(Differs, match="the size of the checkpoint"):
        proven(exported, edited(records, "evaluation.proven", lambda p: p.update(proof=late)))
    assert at == 1


async def test_a_proof_of_something_else_is_found(exported: Exported) -> None:
    records = exported.records
    at = kinds(records).index("evaluation.proven")
    proof = parse_proof(json.loads(records[at].payload or b"")["proof"].encode())
    head = read_head(proof.checkpoint)[1]
    for words, forged in of_another(proof, head).items():
        change = {"proof": forged.encode().decode()}
        with pytest.raises(Differs) as found:
            proven(exported, edited(records, "evaluation.proven", partial(dict.update, **change)))
        assert re.search(words, found.value.what), (words, found.value.what)
        assert found.value.record == at


async def test_a_score_before_the_end_of_its_debate_is_found(exported: Exported) -> None:
    records = exported.records
    scored = next(seen for seen in records if seen.envelope is not None and seen.envelope.kind == "item.scored")
    records.remove(scored)
    debate = json.loads(scored.payload or b"")["debate"]
    first_end = next(
        i
        for i, seen in enumerate(records)
        if seen.envelope is not None and (seen.envelope.kind, seen.envelope.debate) == ("debate.concluded", debate)
    )
    with pytest.raises(Differs, match="a score"):
        checked([*records[:first_end], scored, *records[first_end:]])


async def test_a_label_that_was_changed_is_found(exported: Exported, tmp_path: Path) -> None:
    folder = tmp_path / "tiny-critic"
    shutil.copytree(GOLDEN / "tiny-critic", folder)
    labels = folder / "labels.jsonl"
    labels.write_text(labels.read_text("utf-8").replace('"note": "', '"note": "Truly. ', 1), "utf-8")

    with pytest.raises(Differs, match="the hash of the golden set"):
        checked(exported.records, sets(folder))
    with pytest.raises(NotCheckable, match="was not given"):
        checked(exported.records, {})
