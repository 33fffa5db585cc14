"""The bundle of an evaluation verifies by itself; one changed byte of any member fails, in words that name it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from hashlib import sha256
from io import BytesIO
from random import Random
from typing import Any, NamedTuple
from zipfile import ZipFile

import msgspec
import pytest
import pytest_asyncio
from msgspec.structs import replace

from service.audit.archive import LargeWriter
from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.earlier_head import EarlierHead, parse_earlier_head
from service.audit.evaluation_bundle import (
    CHECKPOINT,
    PLAN,
    README,
    RECORDS,
    RESULT,
    SUMMARY,
    decode_set_files,
    decode_summary,
    encode_set_files,
    encode_summary,
)
from service.audit.export import Header, decode_header, decode_row, encode_header, encode_row
from service.cli.audit.in_hand import golden_sets
from service.cli.audit.result_words import result_line
from service.cli.audit.verify import tools
from service.reviews.evaluations import NotConcluded
from service.reviews.evidence import Bundled, EvidenceDesk
from service.simulated.provider import OfflineProvider
from service.verify.evaluation_bundle import OWN, verify_evaluation
from service.verify.steps import Trust, VerificationReport, VerificationStep
from tests.fixtures.evaluating import (
    CALLER,
    GOLDEN,
    a_desk,
    a_feeder,
    a_plan,
    concluded,
    evaluating,
    registered_held,
)
from tests.fixtures.postgres import Database
from tests.fixtures.running import a_writer, bench
from tests.fixtures.sequencing import KEY, a_sequencer
from tests.store.workers import a_worker

pytestmark = [pytest.mark.no_replay, pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]
TRUST = Trust((KEY.public,), allow_unwitnessed=True)
SET = "sets/0001/"
Files = dict[str, bytes]


class Made(NamedTuple):
    """A bundle with labels and one without, what their makers were told, and a bundle that asks a held split."""

    whole: bytes
    bare: bytes
    held: bytes
    told: tuple[Bundled, Bundled]
    early: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def made(module_database: Database) -> AsyncIterator[Made]:
    async with bench(module_database.service_url, OfflineProvider()) as service, a_sequencer(module_database) as seq:
        desk = a_desk(service)
        evaluation = await desk.register(await desk.plan(a_plan("critic"), CALLER), CALLER)
        reading = EvidenceDesk(service.database, desk.logs, CALLER, a_writer("examiner"))
        with pytest.raises(NotConcluded) as early:
            await desk.write_bundle(evaluation, CALLER, reading, BytesIO(), held=True)
        held = await registered_held(desk)
        await seq.catch_up()
        async with a_worker(service, build="00" * 32), evaluating(a_feeder(service, desk)):
            for one in (evaluation, held):
                await concluded(desk, one, seq)
        await seq.catch_up()
        contents, told = [], []
        for asked, labels in ((evaluation, True), (evaluation, False), (held, True)):
            out = BytesIO()
            told.append(await desk.write_bundle(asked, CALLER, reading, out, held=labels))
            contents.append(out.getvalue())
        yield Made(contents[0], contents[1], contents[2], (told[0], told[1]), early.value.detail)


def verified(content: bytes, trust: Trust = TRUST, **given: Any) -> VerificationReport:
    return verify_evaluation(BytesIO(content), trust, tools(), **given)


def states(report: VerificationReport) -> Mapping[str, str]:
    return {step.name: step.state for step in report.steps}


def files_of(content: bytes) -> Files:
    """The files as `unzip` extracts them, in their order."""
    with ZipFile(BytesIO(content)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def packed(files: Mapping[str, bytes], *, summed: bool = True) -> bytes:
    """The archive of these files in this order; ``summed``, with a summary that has their hashes."""
    if summed:
        about = decode_summary(files[SUMMARY])
        hashes = {path: sha256(raw).hexdigest() for path, raw in sorted(files.items()) if path != SUMMARY}
        files = {**files, SUMMARY: encode_summary(replace(about, files=hashes))}
    out = BytesIO()
    writer = LargeWriter(out)
    for path, raw in files.items():
        with writer.member(path) as put:
            put(raw)
    writer.close()
    return out.getvalue()


def failure(files: Mapping[str, bytes], *, summed: bool = True) -> VerificationStep:
    report = verified(packed(files, summed=summed))
    assert report.failed, states(report)
    return report.failed[0]


async def test_a_bundle_is_verified_in_every_step_without_anything_beside_it(made: Made) -> None:
    report = verified(made.whole)
    assert report.code == 0, report.steps
    assert {step.state for step in report.steps if not step.allowed} == {"OK"}
    assert [step.number for step in report.steps] == list(range(1, len(report.steps) + 1))
    assert [step.name for step in report.steps[-4:]] == ["head", "sets", "evaluations", "debates"]
    said = {step.name: step.detail for step in report.steps}
    assert said["evaluations"] == "1 evaluations: 2 scores and 1 results computed again"
    assert "before its first case" in said["plans"]
    assert report.about["debates"] == 2
    assert (made.told[0].debates, made.told[0].withheld, made.told[0].absent) == (2, (), ())
    assert "under way" in made.early


async def test_the_last_line_of_one_that_asks_a_held_split_says_that_its_looks_are_as_recorded(made: Made) -> None:
    report = verified(made.held)
    assert (report.code, result_line(report)) == (0, "VERIFIED, UNWITNESSED, LOOKS AS RECORDED")
    assert result_line(verified(made.whole)) == "VERIFIED, UNWITNESSED"


async def test_the_last_line_names_each_gap_that_is_accepted_once(made: Made) -> None:
    unpinned = Trust(allow_unsigned=True, allow_unwitnessed=True)
    lines = f"no pinned key checked the lines of 'localhost' ({KEY.public.id.hex()})"
    assert result_line(verified(made.whole, unpinned)) == (
        f"VERIFIED, UNSIGNED, UNWITNESSED, {lines} in line 1, {lines} in checkpoints/0001.txt"
    )


async def test_without_labels_scores_are_not_computed_again_unless_the_set_is_in_hand(made: Made) -> None:
    assert made.told[1].withheld == ("tiny-critic",)
    assert SET + "labels.jsonl" not in files_of(made.bare)
    report = verified(made.bare)
    assert (report.code, [gap.name for gap in report.gaps]) == (4, ["evaluations"])
    assert "its labels were withheld" in report.gaps[0].detail
    labels = decode_set_files(files_of(made.bare)[SET + "files.json"]).files["labels.jsonl"]
    assert labels == sha256((GOLDEN / "tiny-critic" / "labels.jsonl").read_bytes()).hexdigest()

    assert verified(made.bare, sets=golden_sets((GOLDEN / "tiny-critic",))).code == 0


async def test_a_stranger_reads_what_it_is_and_how_it_is_checked(made: Made) -> None:
    files = files_of(made.whole)
    assert [path for path in files if path.count("/") == 0] == [PLAN, README, RECORDS, CHECKPOINT, RESULT, SUMMARY]
    words = files[README].decode()
    assert "gainsay audit verify FILE" in words
    assert all(path.split("/")[0] in words for path in files if path != README)
    assert json.loads(files[PLAN])["name"] == "tiny"
    assert json.loads(files[RESULT])["kind"] == "critic"
    assert max(map(len, words.splitlines())) <= 120


async def test_one_changed_byte_of_any_member_fails_and_names_it(made: Made) -> None:
    random, files = Random(25), files_of(made.whole)
    for path in files:
        at = random.randrange(len(files[path]))
        raw = bytearray(files[path])
        raw[at] ^= 1 << random.randrange(7)
        step = failure({**files, path: bytes(raw)}, summed=False) if path != SUMMARY else None
        if step is None:  # the summary names all others and is named by none
            report = verified(packed({**files, path: bytes(raw)}, summed=False))
            assert report.code == 1, (path, at)
            continue
        assert (step.name, step.file) == ("file", path)


def with_line(files: Files, kind: str, old: str, new: str) -> Files:
    """The files with the first record of a kind changed in its payload."""
    lines = files[RECORDS].splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines[1:-1], 1) if json.loads(json.loads(line)["leaf"])["kind"] == kind)
    old, new = (json.dumps(text)[1:-1] for text in (old, new))
    assert old.encode() in lines[at], (kind, old)
    lines[at] = lines[at].replace(old.encode(), new.encode(), 1)
    return {**files, RECORDS: b"".join(lines)}


def replaced(files: Files, path: str, old: bytes, new: bytes) -> Files:
    assert old in files[path], (path, old)
    return {**files, path: files[path].replace(old, new, 1)}


def set_again(files: Files) -> Files:
    """The files with the list of the set's files made right again."""
    listed = decode_set_files(files[SET + "files.json"])
    names = {name: sha256(files[SET + name]).hexdigest() for name in listed.files}
    return {**files, SET + "files.json": encode_set_files(replace(listed, files=names))}


def first_of(files: Files, beginning: str) -> str:
    return next(path for path in files if path.startswith(beginning))


def swapped(files: Files) -> Files:
    """The files with the bundles of two debates in each other's place."""
    one, other = (path for path in files if path.startswith("debates/"))
    return {**files, one: files[other], other: files[one]}


def without(files: Files, path: str) -> Files:
    return {name: raw for name, raw in files.items() if name != path}


def head_of_another(files: Files) -> Files:
    """The files with a checkpoint over the plan that is not the one of the records, signed by the log's key."""
    earlier = parse_earlier_head(files[CHECKPOINT])
    origin = decode_header(files[RECORDS].splitlines(keepends=True)[0]).log
    note = sign_checkpoint(Checkpoint(origin, 1, bytes(32)), KEY)
    return {**files, CHECKPOINT: EarlierHead(earlier.path, note).encode()}


def unsigned(files: Files) -> Files:
    """The files with one character of the signature below the head changed."""
    first, _, rest = files[RECORDS].partition(b"\n")
    header = json.loads(first)
    note = header["checkpoint"]
    header["checkpoint"] = note[:-10] + ("A" if note[-10] != "A" else "B") + note[-9:]
    line = encode_header(msgspec.convert(header, Header))
    return {**files, RECORDS: line + rest}


def later_head(files: Files) -> Files:
    """The files with the checkpoint of the records as the one over the plan: of the log, and signed."""
    note = decode_header(files[RECORDS].splitlines(keepends=True)[0]).checkpoint
    return {**files, CHECKPOINT: EarlierHead((), note.encode()).encode()}


EDITS: Mapping[str, tuple[Callable[[Files], Files], str, str]] = {
    "a score": (lambda f: with_line(f, "item.scored", '"flawed":', '"flawed" :'), "records", RECORDS),
    "a plan's record": (lambda f: with_line(f, "evaluation.registered", '"margin":', '"margim":'), "records", RECORDS),
    "a reply": (lambda f: with_line(f, "turn.spoke", '"reply":', '"repli":'), "records", RECORDS),
    "the record's checkpoint": (lambda f: with_line(f, "evaluation.proven", "index 0", "index 1"), "records", RECORDS),
    "the signature of the head": (unsigned, "signature", RECORDS),
    "the plan": (lambda f: replaced(f, PLAN, b'"margin"', b'"morgin"'), "sets", PLAN),
    "the checkpoint": (head_of_another, "head", CHECKPOINT),
    "a later checkpoint": (later_head, "head", CHECKPOINT),
    "a label": (lambda f: replaced(f, SET + "labels.jsonl", b'"note"', b'"nose"'), "sets", SET + "labels.jsonl"),
    "a label and its hash": (
        lambda f: set_again(replaced(f, SET + "labels.jsonl", b'"note": "', b'"note": "Truly. ')),
        "sets",
        SET + "files.json",
    ),
    "an item": (lambda f: replaced(f, SET + "items.jsonl", b'"id"', b'"ie"'), "sets", SET + "items.jsonl"),
    "an item and its hash": (
        lambda f: set_again(replaced(f, SET + "items.jsonl", b'"question": "', b'"question": "So: ')),
        "sets",
        SET + "files.json",
    ),
    "a document": (
        lambda f: {**f, first_of(f, SET + "documents/"): f[first_of(f, SET + "documents/")] + b"."},
        "sets",
        SET + "documents/",
    ),
    "a set left out": (lambda f: {p: raw for p, raw in f.items() if not p.startswith(SET)}, "", ""),
    "the result": (lambda f: replaced(f, RESULT, b'"k":', b'"l":'), "evaluations", RESULT),
    "no result": (lambda f: without(f, RESULT), "evaluations", RESULT),
    "a debate left out": (lambda f: without(f, first_of(f, "debates/")), "debates", "debates/"),
    "two debates swapped": (swapped, "debates", "debates/"),
    "a debate": (
        lambda f: {**f, (p := first_of(f, "debates/")): f[p][:5_000] + bytes([f[p][5_000] ^ 1]) + f[p][5_001:]},
        "debates",
        "debates/",
    ),
}


@pytest.mark.parametrize("what", EDITS)
async def test_a_change_with_every_hash_above_it_made_right_fails_at_its_step(made: Made, what: str) -> None:
    edit, name, file = EDITS[what]
    files = edit(files_of(made.whole))
    if not name:  # what is left out is no lie: it is named, and its scores are not computed again
        report = verified(packed(files))
        assert (report.code, [gap.name for gap in report.gaps]) == (4, ["evaluations"])
        assert "it is not in the bundle" in report.gaps[0].detail
        return
    step = failure(files)
    assert (step.name, (step.file or "").startswith(file)) == (name, True), step


def with_unread(files: Files) -> Files:
    """The files with a leaf of a later build behind the records, which is in no tree."""
    lines = files[RECORDS].splitlines(keepends=True)
    last = decode_row(lines[-2])
    row = replace(last, index=last.index + 1, leaf='{"v":3}')
    header = decode_header(lines[0])
    first = encode_header(replace(header, size=header.size + 1))
    return {**files, RECORDS: b"".join((first, *lines[1:-1], encode_row(row), lines[-1]))}


@pytest.mark.parametrize("what", [what for what, (_, name, _) in EDITS.items() if name in OWN])
async def test_a_difference_fails_its_step_beside_a_leaf_of_a_later_build_too(made: Made, what: str) -> None:
    edit, name, _ = EDITS[what]
    later = states(verified(packed(with_unread(files_of(made.whole))), every=True))
    assert {own: later[own] for own in OWN} == dict.fromkeys(OWN, "NOT CHECKABLE")
    found = states(verified(packed(with_unread(edit(files_of(made.whole)))), every=True))
    assert found[name] == ("NOT CHECKABLE" if what == "the plan" else "FAILED")  # it may be registered again


async def test_a_bundle_under_another_key_or_of_other_bytes_is_none(made: Made) -> None:
    other = Trust((replace(KEY.public, name="other"),), allow_unwitnessed=True)
    assert verified(made.whole, other).failed[0].name == "signature"
    assert verified(made.whole[:-1]).kind == "unknown"
    assert verified(made.whole, Trust()).code == 4
