"""A record commits to its payload by a salted hash, and to the record before it; its bytes are fixed."""

from hashlib import sha256
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.audit.record import (
    LEAF_BYTES_MAX,
    SALT_BYTES,
    SCHEMAS,
    VERSION,
    Actor,
    Context,
    Envelope,
    Link,
    Record,
    RecordPlace,
    Times,
    Writer,
    commit,
    encode_context,
    leaf_hash,
    open_leaf,
    seal,
)
from service.debate.entries import decode, encode, kind
from tests.fixtures.debates import a_start, drive

SALT = bytes(range(SALT_BYTES))
GOLDEN_LEAF = (
    b'{"v":2,"log":"host/default/1","tenant":"default","kind":"turn.spoke","schema":1,'
    b'"debate":"0199c0de-0000-7000-8000-000000000001","n":7,"prev":"' + b"0f" * 32 + b'",'
    b'"occurred":"2026-01-02T03:04:05.678Z","recorded":"2026-01-02T03:04:05.680Z",'
    b'"actor":{"id":"w-1","kind":"service","role":"worker","via":"databaseRole"},'
    b'"build":"' + b"bb" * 32 + b'","policy":"' + b"cc" * 32 + b'","context":"' + b"dd" * 32 + b'",'
    b'"commitment":"6f"}'
)
FIRST_LEAF = (
    b'{"v":1,"log":"host/default/0","tenant":"default","kind":"turn.spoke","schema":1,'
    b'"debate":"0199c0de-0000-7000-8000-000000000001","n":7,"prev":"' + b"0f" * 32 + b'",'
    b'"at":"2026-01-02T03:04:05.678901Z","actor":"w-1",'
    b'"commitment":"6f"}'
)
PLACE = RecordPlace("host/default/1", "default", "0199c0de-0000-7000-8000-000000000001", "cc" * 32, "dd" * 32)


def sealed(payload: bytes = b"{}", salt: bytes = SALT, *, actor: str = "w-1", **others: Any) -> Record:
    parts: dict[str, Any] = {
        "place": PLACE,
        "writer": Writer(Actor(actor, "service", "worker", "databaseRole"), "bb" * 32),
        "kind": "turn.spoke",
        "link": Link(others.pop("n", 7), others.pop("prev", bytes.fromhex("0f" * 32))),
        "times": Times("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.680Z"),
    }
    return seal(payload, salt, **{**parts, **others})


def test_the_bytes_of_version_two_are_fixed() -> None:
    record = sealed(b'{"kind":"turn.spoke"}')

    assert (VERSION, SCHEMAS["turn.spoke"]) == (2, 1)
    assert record.leaf == GOLDEN_LEAF.replace(b'"6f"', b'"' + commit(SALT, b'{"kind":"turn.spoke"}').encode() + b'"')
    assert record.leaf_hash.hex() == "ebe3eb5f212f07adaf2b64a0b8bbe31fa561abd7acdc42de3ae53d84fd7d0846"


@given(st.binary(max_size=200), st.binary(min_size=SALT_BYTES, max_size=SALT_BYTES), st.integers(0, 10**6))
def test_a_leaf_opens_to_its_envelope_and_seals_to_the_same_bytes(payload: bytes, salt: bytes, n: int) -> None:
    record = sealed(payload, salt, n=n)

    envelope = open_leaf(record.leaf)

    assert (envelope.n, envelope.commitment) == (n, sha256(salt + payload).hexdigest())
    again = seal(
        payload,
        salt,
        envelope.kind,
        place=RecordPlace(envelope.log, envelope.tenant, envelope.debate, envelope.policy, envelope.context),
        writer=Writer(envelope.actor, envelope.build),
        link=Link(envelope.n, bytes.fromhex(envelope.prev)),
        times=Times(envelope.occurred, envelope.recorded),
    )
    assert again == record


@given(st.text(max_size=20), st.text(max_size=20))
def test_an_envelope_comes_back_from_its_bytes_whatever_its_words(tenant: str, actor: str) -> None:
    envelope = open_leaf(sealed(place=replace(PLACE, tenant=tenant), actor=actor).leaf)

    assert (envelope.tenant, envelope.actor.id) == (tenant, actor)
    assert isinstance(envelope, Envelope)


def test_a_leaf_of_the_first_version_is_read_as_it_was_written() -> None:
    envelope = open_leaf(FIRST_LEAF)

    assert (envelope.v, envelope.n, envelope.actor.id) == (1, 7, "w-1")
    assert envelope.occurred == envelope.recorded == "2026-01-02T03:04:05.678901Z"
    assert (envelope.build, envelope.policy, envelope.context) == ("", "", "")
    assert leaf_hash(FIRST_LEAF).hex() == "b3ddb462b7c4505c16b64a82fcf9c07103cc3369da28f870becfcb987923ab1a"


def test_the_bytes_of_a_context_are_fixed() -> None:
    context = Context("contract", "250000", "exposure", None, "supplier review", "tier1")

    assert encode_context(context) == (
        b'{"downside":"250000","downsideBasis":"exposure","intendedUse":"supplier review","materiality":"tier1",'
        b'"taskType":"contract","useCase":null}'
    )


@pytest.mark.parametrize("length", [0, 16, 31, 33, 64])
def test_a_salt_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match=f"a salt has 32 bytes, found {length}"):
        sealed(salt=b"x" * length)


def test_a_leaf_is_capped_at_what_sixteen_bits_can_say() -> None:
    room = LEAF_BYTES_MAX - len(sealed(actor="").leaf)

    assert len(sealed(actor="a" * room).leaf) == LEAF_BYTES_MAX == 2**16 - 1
    with pytest.raises(ValueError, match="a leaf has at most 65535 bytes, found 65536"):
        sealed(actor="a" * (room + 1))


def test_a_payload_of_any_size_leaves_the_leaf_as_long_as_it_is() -> None:
    assert len(sealed(b"").leaf) == len(sealed(b"x" * 1_000_000).leaf)


def test_the_salt_hides_a_payload_that_could_be_guessed() -> None:
    one, other = sealed(b"yes", SALT), sealed(b"yes", bytes(SALT_BYTES))

    assert open_leaf(one.leaf).commitment != open_leaf(other.leaf).commitment
    assert sha256(b"yes").hexdigest().encode() not in one.leaf
    assert SALT.hex().encode() not in one.leaf
    assert b"yes" not in one.leaf


def test_a_leafs_hash_is_that_of_rfc_6962() -> None:
    assert leaf_hash(b"").hex() == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    assert leaf_hash(b"L") == sha256(b"\x00L").digest()


def test_the_records_of_a_debate_form_a_chain_that_shows_a_missing_one() -> None:
    records: list[Record] = []
    for n, entry in enumerate(drive(a_start())):
        prev = records[-1].leaf_hash if records else bytes(32)
        records.append(sealed(encode(entry), n=n, kind=kind(entry), prev=prev))

    links = [(open_leaf(r.leaf).n, open_leaf(r.leaf).prev) for r in records]

    assert [n for n, _ in links] == list(range(len(records)))
    assert [prev for _, prev in links[1:]] == [r.leaf_hash.hex() for r in records[:-1]]
    without_one = records[:4] + records[5:]
    broken = [
        after.n for before, after in pairwise(without_one) if open_leaf(after.leaf).prev != before.leaf_hash.hex()
    ]
    assert broken == [5]
    assert [kind(decode(r.payload)) for r in records] == [open_leaf(r.leaf).kind for r in records]


@pytest.mark.parametrize(
    "other",
    [
        b"",
        b"not json",
        b"[]",
        b"{}",
        sealed().leaf[:-1],
        sealed().leaf + b" ",
        sealed().leaf.replace(b'"v":2,', b'"v": 2,'),
        sealed().leaf.replace(b'"n":7', b'"n":"7"'),
        sealed().leaf.replace(b'"v":2', b'"v":3'),
        sealed().leaf.replace(b'"v":2', b'"v":1'),
        FIRST_LEAF.replace(b'"v":1', b'"v":2'),
        FIRST_LEAF + b"\n",
        sealed().leaf.replace(b'"n":7', b'"n":7,"extra":1'),
        sealed().leaf.replace(b'"v":2,"log":"host/default/1"', b'"log":"host/default/1","v":2'),
    ],
)
def test_bytes_that_are_not_exactly_a_leaf_are_refused(other: bytes) -> None:
    assert other != sealed().leaf

    with pytest.raises(ValueError, match=r".+") as caught:
        open_leaf(other)

    assert isinstance(caught.value, msgspec.DecodeError) or "exactly as it is sealed" in str(caught.value)
