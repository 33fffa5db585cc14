"""A proof file is that of C2SP tlog-proof and needs nothing but pinned keys."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.audit.checkpoint import BadCheckpoint, Checkpoint, add_lines, cosign, sign_checkpoint
from service.audit.note import COSIGNATURE, BadNote, SigningKey, sign_note
from service.audit.proof import BadProof, TlogProof, check_proof, parse_path, parse_proof
from service.audit.tree import ProofError
from tests.fixtures.merkle import leaves, mangled, mth, path, reads_one_way

LOG = SigningKey.from_seed("host.example", bytes(range(32)))
ANNA = SigningKey.from_seed("anna.example", bytes(range(1, 33)), COSIGNATURE)
BERT = SigningKey.from_seed("bert.example", bytes(range(2, 34)), COSIGNATURE)
LEAVES = leaves(7)
HEAD = Checkpoint("host.example/default/0", 7, mth(LEAVES))
SIGNED = add_lines(sign_checkpoint(HEAD, LOG), [cosign(HEAD, 1_700_000_000, key) for key in (ANNA, BERT)])
PROOF = TlogProof(4, tuple(path(4, LEAVES)), SIGNED)
# The example of the specification, its shortened parts made whole.
EXAMPLE = b"""c2sp.org/tlog-proof@v1
extra YWdlLXYxLjIuMS1kYXJ3aW4tYXJtNjQudGFyLmd6
index 73894
gSKyXoYZUgZ6jduWYrkDOARinOMGJveXjgMkBTcdPlQ=
B95lDa8R83lS8n0eG+o0buTxRKQTYFi//1U8anccXmA=
EKNzoDWG8LGC0Yp9o+sv3qllpMP9uHQ9B20KNL+Q1zs=
RoopEkOdqkYqMB4MJXrbt/hMjOxsVn0IrWjpz1ZMMes=
AHCioX9nLjsrse6YhjRRmk1WUEirVOLLRoOQ6vfO5vk=

example.com/fancylog
109482
sFodV/vSp5O8n9a8QpW6PRY97tfOSW5bsc2Xl/EQi08=

\xe2\x80\x94 example.com/fancylog hI2DJ1roloI=
"""
HASHES = st.binary(min_size=32, max_size=32)
PROOFS = st.builds(
    TlogProof,
    st.integers(0, 2**63 - 1),
    st.lists(HASHES, max_size=63).map(tuple),
    st.binary(max_size=60) | st.just(SIGNED),
    st.none() | st.binary(min_size=1, max_size=50),
)


def checked(proof: TlogProof = PROOF, leaf: bytes = LEAVES[4], quorum: int = 2, **others: Any) -> Checkpoint:
    return check_proof(proof, leaf, [LOG.public], [ANNA.public, BERT.public], quorum, **others)


def test_the_bytes_of_a_proof_are_fixed() -> None:
    proof = TlogProof(1, (b"\x00" * 32, b"\xff" * 32), b"the checkpoint\n", b"extra")

    assert proof.encode() == (
        b"c2sp.org/tlog-proof@v1\nextra ZXh0cmE=\nindex 1\n"
        b"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
        b"//////////////////////////////////////////8=\n\nthe checkpoint\n"
    )
    assert TlogProof(0, (), b"c").encode() == b"c2sp.org/tlog-proof@v1\nindex 0\n\nc"


def test_the_specifications_example_is_read() -> None:
    proof = parse_proof(EXAMPLE)

    assert (proof.index, len(proof.path), proof.extra is not None) == (73_894, 5, True)
    assert proof.checkpoint.startswith(b"example.com/fancylog\n109482\n")
    assert proof.encode() == EXAMPLE


@given(PROOFS)
def test_every_proof_is_read_back(proof: TlogProof) -> None:
    assert parse_proof(proof.encode()) == proof


@given(mangled(PROOF.encode()) | mangled(EXAMPLE[:180]) | st.binary(max_size=60))
def test_any_other_bytes_are_refused_or_the_only_spelling_of_a_proof(data: bytes) -> None:
    reads_one_way(parse_proof, BadProof, data)


@given(mangled(PROOF.encode()))
def test_no_edit_leaves_a_proof_that_says_something_else(data: bytes) -> None:
    try:
        proof = parse_proof(data)
        head = checked(proof)
    except (BadProof, BadNote, BadCheckpoint, ProofError):
        return
    assert (proof.index, proof.path, head) == (4, PROOF.path, HEAD)


HEAD_LINES = PROOF.encode().partition(b"\n\n")[0]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        HEAD_LINES,
        HEAD_LINES + b"\n",
        SIGNED,
        PROOF.encode().replace(b"@v1", b"@v2"),
        PROOF.encode().replace(b"c2sp.org", b"\nc2sp.org", 1),
        b" " + PROOF.encode(),
        PROOF.encode().replace(b"\n", b"\r\n"),
        PROOF.encode().replace(b"index 4\n", b""),
        PROOF.encode().replace(b"index 4\n", b"index 4\nindex 4\n"),
        PROOF.encode().replace(b"index 4", b"index 04"),
        PROOF.encode().replace(b"index 4", b"index  4"),
        PROOF.encode().replace(b"index 4", b"index 4 "),
        PROOF.encode().replace(b"index 4", b"index -4"),
        PROOF.encode().replace(b"index 4", b"index 9223372036854775808"),
        PROOF.encode().replace(b"index 4", b"Index 4"),
        PROOF.encode().replace(b"index 4", b"4"),
        PROOF.encode().replace(b"index 4", "index ٤".encode()),
        PROOF.encode().replace(b"index 4", b"index 4\nextra QQ=="),
        PROOF.encode().replace(b"index 4", b"extra \nindex 4"),
        PROOF.encode().replace(b"index 4", b"extra\nindex 4"),
        PROOF.encode().replace(b"index 4", b"extra QQ\nindex 4"),
        PROOF.encode().replace(b"index 4", b"extra QR==\nindex 4"),
        PROOF.encode().replace(b"index 4", b"extra QQ==\nextra QQ==\nindex 4"),
        PROOF.encode().replace(b"index 4", b"index 4\nQQ=="),
        PROOF.encode().replace(b"index 4", b"index 4\n" + b"\n".join([b"A" * 43 + b"="] * 64)),
        b"c2sp.org/tlog-proof@v1\n\ncheckpoint",
        EXAMPLE.replace(b"PlQ=", b"PlQ"),
        EXAMPLE.replace(b"PlQ=", b"PlR="),
        EXAMPLE.replace(b"PlQ=", b"PlQ= "),
    ],
)
def test_what_is_not_exactly_a_proof_is_refused(data: bytes) -> None:
    assert data not in (PROOF.encode(), EXAMPLE)

    with pytest.raises(BadProof, match="expected "):
        parse_proof(data)


@pytest.mark.parametrize(
    "change",
    [{"index": -1}, {"index": 2**63}, {"extra": b""}, {"path": (b"short",)}, {"path": (bytes(32),) * 64}],
)
def test_a_proof_that_the_format_cannot_say_is_not_made(change: dict[str, Any]) -> None:
    with pytest.raises(BadProof, match="expected "):
        TlogProof(**{"index": 0, "path": (), "checkpoint": b"", **change})


def test_a_path_is_hashes_one_a_line() -> None:
    line = "A" * 43 + "="

    assert parse_path([]) == ()
    assert parse_path([line] * 63) == (bytes(32),) * 63
    for lines in [[line] * 64, [""], [line, ""], ["QQ=="], [line + "\n"], [line[:-1]], ["A" * 42 + "B="]]:
        with pytest.raises(BadProof, match="expected "):
            parse_path(lines)


def test_a_good_proof_gives_the_head_it_stands_under() -> None:
    assert checked() == HEAD
    assert checked(origin="host.example/default/0") == HEAD
    assert checked(replace(PROOF, extra=b"not authenticated")) == HEAD
    for index, leaf in enumerate(LEAVES):
        assert checked(TlogProof(index, tuple(path(index, LEAVES)), SIGNED), leaf) == HEAD


@pytest.mark.parametrize(
    ("proof", "leaf"),
    [
        (PROOF, LEAVES[5]),
        (replace(PROOF, index=5), LEAVES[4]),
        (replace(PROOF, index=7), LEAVES[4]),
        (replace(PROOF, index=2**63 - 1), LEAVES[4]),
        (replace(PROOF, path=PROOF.path[:-1]), LEAVES[4]),
        (replace(PROOF, path=PROOF.path[::-1]), LEAVES[4]),
        (replace(PROOF, path=(*PROOF.path, bytes(32))), LEAVES[4]),
        (replace(PROOF, path=()), LEAVES[4]),
        (replace(PROOF, path=()), mth(LEAVES)),
    ],
)
def test_a_path_that_does_not_lead_to_the_signed_root_is_no_proof(proof: TlogProof, leaf: bytes) -> None:
    with pytest.raises(ProofError, match=r"path|index of a leaf"):
        checked(proof, leaf)


def test_a_proof_under_another_logs_head_is_refused_where_the_log_is_named() -> None:
    elsewhere = add_lines(
        sign_checkpoint(Checkpoint("host.example/other/0", 7, HEAD.root), LOG), [cosign(HEAD, 7, ANNA)]
    )

    assert check_proof(replace(PROOF, checkpoint=elsewhere), LEAVES[4], [LOG.public], [], 0).origin.endswith("other/0")
    with pytest.raises(ProofError, match=r"expected a checkpoint of the log 'host\.example/default/0'"):
        check_proof(replace(PROOF, checkpoint=elsewhere), LEAVES[4], [LOG.public], [], 0, origin=HEAD.origin)
    with pytest.raises(BadNote, match=r"witness 'anna\.example' does not hold"):
        checked(replace(PROOF, checkpoint=elsewhere))


def test_the_quorum_counts_each_known_witness_once() -> None:
    bare = sign_checkpoint(HEAD, LOG)
    by_anna = bare + (cosign(HEAD, 7, ANNA) + cosign(HEAD, 8, ANNA)).encode()

    for checkpoint, enough in [(bare, 0), (by_anna, 1), (SIGNED, 2)]:
        proof = replace(PROOF, checkpoint=checkpoint)
        assert checked(proof, quorum=enough) == HEAD
        with pytest.raises(ProofError, match=f"cosignatures of {enough + 1} known witnesses, found {enough}"):
            checked(proof, quorum=enough + 1)
    with pytest.raises(ProofError, match="cosignatures of 1 known witnesses, found 0"):
        check_proof(PROOF, LEAVES[4], [LOG.public], [LOG.public], 1)


def test_a_checkpoint_that_no_pinned_key_signed_or_that_is_none_is_refused() -> None:
    with pytest.raises(BadNote, match="found none"):
        check_proof(PROOF, LEAVES[4], [], [ANNA.public, BERT.public], 2)
    with pytest.raises(BadNote, match="found none"):
        check_proof(PROOF, LEAVES[4], [SigningKey.from_seed("host.example", bytes(32)).public], [], 0)
    with pytest.raises(BadNote, match="expected a text, an empty line"):
        checked(replace(PROOF, checkpoint=b""))
    with pytest.raises(BadCheckpoint, match="expected the three lines"):
        checked(replace(PROOF, checkpoint=sign_note("something else\n", LOG).encode()))
