"""What is stored of one debate is compared with what commits to it, and the first difference is named by its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from service.audit.record import Actor, Link, RecordPlace, Times, Writer, commit, leaf_hash, seal
from service.audit.stored_record import (
    START,
    ChainEnd,
    Linked,
    Mismatch,
    StoredHead,
    StoredParts,
    compare_context,
    compare_documents,
    compare_records,
)

DEBATE = "01a2047f-26b0-7038-8000-000000000001"
SALT, CONTEXT = b"\x05" * 32, b'{"taskType":"contract"}'
PLACE = RecordPlace("host/default/1", "default", DEBATE, "aa" * 32, commit(SALT, CONTEXT))
WRITER = Writer(Actor("w", "service", "worker", "databaseRole"), "00" * 32)
NOW = Times("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z")


def chain(place: RecordPlace = PLACE, length: int = 4) -> list[StoredParts]:
    found: list[StoredParts] = []
    prev = b""
    for n in range(length):
        payload, salt = b'{"n":%d}' % n, bytes([n]) * 32
        made = seal(payload, salt, "turn.spoke", place=place, writer=WRITER, link=Link(n, prev), times=NOW)
        found.append(StoredParts(n, made.leaf, salt, payload, made.leaf_hash if n < 2 else None))
        prev = made.leaf_hash
    return found


RECORDS = chain()
HEAD = StoredHead("default", PLACE.log, PLACE.policy, PLACE.context, ChainEnd(4, leaf_hash(RECORDS[3].leaf)))
Change = Callable[[list[StoredParts]], list[StoredParts]]


def changed(n: int, **fields: object) -> Change:
    return lambda records: [replace(r, **fields) if r.n == n else r for r in records]


def test_records_as_they_were_sealed_agree_from_the_first_and_from_any_later_one() -> None:
    linked = compare_records(DEBATE, RECORDS, HEAD)

    assert [record.leaf_hash for record in linked] == [leaf_hash(r.leaf) for r in RECORDS]
    assert compare_records(DEBATE, RECORDS[2:], HEAD, ChainEnd(2, linked[1].leaf_hash)) == linked[2:]
    assert compare_records(DEBATE, [], HEAD, HEAD.end) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed(1, payload=b'{"n":9}'), "record 1 has a payload that it does not commit to"),
        (changed(1, salt=bytes(32)), "record 1 has a payload that it does not commit to"),
        (changed(2, payload=None), "record 2 has no payload any more"),
        (changed(2, salt=None), "record 2 has no payload any more"),
        (changed(2, leaf=RECORDS[2].leaf + b" "), "record 2 is not a leaf as records are sealed"),
        (changed(2, leaf=RECORDS[1].leaf), "record 2 says that it is another record"),
        (changed(1, logged=bytes(32)), "record 1 is not the one that was logged"),
        (changed(3, leaf=RECORDS[3].leaf.replace(b"03:04", b"03:05")), "record 3 is not the one that the head row"),
        (changed(2, leaf=RECORDS[2].leaf.replace(b"03:04", b"03:05")), "record 3 does not name the record before it"),
        (lambda records: records[:1] + records[2:], "record 1 is not stored"),
        (lambda records: records[1:], "record 0 is not stored"),
        (lambda records: records[:3], "record 3 is not stored, and the head row counts 4 records"),
        (lambda _records: [], "record 0 is not stored, and the head row counts 4 records"),
        (lambda _records: chain(length=5), "the head row counts 4 records, and 5 are stored"),
        (lambda _records: chain(replace(PLACE, tenant="other")), "the head row names another tenant than record 0"),
        (lambda _records: chain(replace(PLACE, log="host/other/1")), "the head row names another log than record 0"),
        (lambda _records: chain(replace(PLACE, policy="")), "the head row names another policy than record 0"),
        (lambda _records: chain(replace(PLACE, context="")), "the head row names another context than record 0"),
        (lambda _records: chain(replace(PLACE, debate=DEBATE[:-1] + "2")), "record 0 says that it is another record"),
    ],
)
def test_a_record_that_is_not_what_was_recorded_is_named(change: Change, message: str) -> None:
    with pytest.raises(Mismatch) as found:
        compare_records(DEBATE, change(RECORDS), HEAD)

    assert str(found.value).startswith(message)


def test_a_reader_that_knows_more_than_is_stored_finds_the_tail_missing() -> None:
    with pytest.raises(Mismatch, match="the head row counts 4 records, and 5 are stored"):
        compare_records(DEBATE, [], HEAD, ChainEnd(5, b"\x01" * 32))
    with pytest.raises(Mismatch, match="record 3 is not the one that the head row names as the last"):
        compare_records(DEBATE, [], HEAD, ChainEnd(4, b"\x01" * 32))


@pytest.mark.parametrize(
    ("salt", "body", "message"),
    [
        (None, None, "the context is not stored"),
        (SALT, CONTEXT + b" ", "the context does not have the hash"),
        (bytes(32), CONTEXT, "the context does not have the hash"),
    ],
)
def test_a_context_is_the_one_that_the_records_commit_to(salt: bytes | None, body: bytes | None, message: str) -> None:
    linked = compare_records(DEBATE, RECORDS, HEAD)
    compare_context(linked, SALT, CONTEXT)

    with pytest.raises(Mismatch, match=message):
        compare_context(linked, salt, body)


def test_records_that_commit_to_no_context_need_none() -> None:
    place = replace(PLACE, context="")
    records = chain(place)
    head = replace(HEAD, context="", end=ChainEnd(4, leaf_hash(records[3].leaf)))
    linked: list[Linked] = compare_records(DEBATE, records, head, START)

    compare_context(linked, None, None)


def test_documents_are_those_of_the_case() -> None:
    commitments = {"D1": commit(SALT, b"one"), "D2": commit(SALT, b"two")}
    stored = {"D1": (SALT, b"one"), "D2": (SALT, b"two")}
    compare_documents(commitments, stored)

    for change, message in (
        ({"D1": (SALT, b"one")}, "document 2 of the case is not stored"),
        ({**stored, "D1": (SALT, b"One")}, "document 1 of the case does not have the hash that the case commits to"),
        ({**stored, "D3": (SALT, b"three")}, "the documents are 1 more than the case has"),
    ):
        with pytest.raises(Mismatch, match=message):
            compare_documents(commitments, change)
