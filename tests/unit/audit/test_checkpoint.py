"""Heads are those of C2SP tlog-checkpoint, cosignatures those of C2SP tlog-cosignature."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.audit.checkpoint import (
    BadCheckpoint,
    Checkpoint,
    add_lines,
    cosign,
    cosignatures,
    open_checkpoint,
    parse_checkpoint,
    sign_checkpoint,
    verify_cosignature,
)
from service.audit.note import (
    COSIGNATURE,
    BadNote,
    Note,
    Signature,
    SigningKey,
    cosigned,
    parse_note,
    parse_signature_line,
    sign_note,
)
from service.audit.tree import EMPTY_ROOT
from tests.fixtures.merkle import CT_ROOTS, mangled

LOG = SigningKey.from_seed("host.example", bytes(range(32)))
OTHER_LOG = SigningKey.from_seed("other.example", bytes(range(1, 33)))
WITNESS = SigningKey.from_seed("witness.example", bytes(range(32)), COSIGNATURE)
SECOND = SigningKey.from_seed("second.example", bytes(range(2, 34)), COSIGNATURE)
HEAD = Checkpoint("host.example/default/0", 2, bytes.fromhex(CT_ROOTS[2]))
AT = 1_700_000_000
SIGNED = (
    "host.example/default/0\n2\n+sVCA+fMaWzw38tCySodnbr3CtnmIfS9jZhmLwDjwSU=\n\n— host.example "
    "gIClP+CB67/c9vsEGTdptyozDrZzsKi3zTIYMfBl3b0luCoKzlvCslMmNLXu9n3rYERntD164V3aico96WmO26D3uQs=\n"
)
COSIGNED = (
    "— witness.example foHyMQAAAABlU/EA6inp7CwysQZ6lnsThsAS1jyFh+PmZ9JM2Mpfin9VLvvre1SR2We+nrvo+dNs8/ygXIOeTxUr9se9b2r2"
    "lsgbDA==\n"
)
# The example of C2SP's tlog-checkpoint and tlog-cosignature; nobody published its keys.
SOFA = (
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeM"
    "cTOAYQ8=\n"
    "— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe"
    "+mbIUBkBIfZ+qnA==\n"
).encode()
ORIGINS = st.text(min_size=1, max_size=30).filter(lambda s: not any(c < " " for c in s))
HEADS = st.builds(Checkpoint, ORIGINS, st.integers(1, 2**63 - 1), st.binary(min_size=32, max_size=32))


def test_the_bytes_of_a_signed_head_and_of_a_cosignature_are_fixed() -> None:
    assert sign_checkpoint(HEAD, LOG) == SIGNED.encode()
    assert cosign(HEAD, AT, WITNESS) == COSIGNED
    assert add_lines(SIGNED.encode(), [COSIGNED]) == (SIGNED + COSIGNED).encode()


def test_a_head_of_somebody_elses_log_is_read() -> None:
    note = parse_note(SOFA)
    head = parse_checkpoint(note.text)

    assert (head.origin, head.size) == ("example.com/behind-the-sofa", 20852163)
    assert head.root.hex() == "0ac5186a91863e8e1d90c808014aa89bf5da8e3ee1d9f07630f0378f68f1ab62"
    assert note.encode() == SOFA
    assert int.from_bytes(note.signatures[1].value[:8]) == 1_679_315_147
    with pytest.raises(BadNote, match="found none"):
        open_checkpoint(SOFA, [LOG.public])


@given(HEADS)
def test_every_head_that_is_signed_is_read_back(head: Checkpoint) -> None:
    assert parse_checkpoint(head.body()) == head
    assert open_checkpoint(sign_checkpoint(head, LOG), [OTHER_LOG.public, LOG.public]) == (head, (LOG.public,))


def test_an_empty_log_has_one_head() -> None:
    empty = Checkpoint("host.example/default/0", 0, EMPTY_ROOT)

    assert empty.body() == "host.example/default/0\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"
    assert open_checkpoint(sign_checkpoint(empty, LOG), [LOG.public])[0] == empty
    for root in (bytes(32), HEAD.root):
        with pytest.raises(BadCheckpoint, match=r"expected the root e3b0c4.* of an empty log"):
            Checkpoint("host.example/default/0", 0, root)


@given(mangled(HEAD.body().encode()) | mangled(SOFA.partition(b"\n\n")[0] + b"\n"))
def test_any_other_text_is_refused_or_the_only_spelling_of_a_head(data: bytes) -> None:
    text = data.decode(errors="surrogateescape")
    try:
        head = parse_checkpoint(text)
    except BadCheckpoint:
        return
    assert head.body() == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "\n\n\n",
        HEAD.body()[:-1],
        HEAD.body() + "\n",
        HEAD.body() + "an extension\n",
        HEAD.body() + "an extension",
        HEAD.body().replace("host.example/default/0", ""),
        HEAD.body().replace("host.example", "host\t.example"),
        HEAD.body().replace("host.example", "host\ud800.example"),
        HEAD.body().replace("\n2\n", "\n\n"),
        HEAD.body().replace("\n2\n", "\n02\n"),
        HEAD.body().replace("\n2\n", "\n+2\n"),
        HEAD.body().replace("\n2\n", "\n-2\n"),
        HEAD.body().replace("\n2\n", "\n 2\n"),
        HEAD.body().replace("\n2\n", "\n2 \n"),
        HEAD.body().replace("\n2\n", "\n2\r\n"),
        HEAD.body().replace("\n2\n", "\n٢\n"),
        HEAD.body().replace("\n2\n", "\n9223372036854775808\n"),
        HEAD.body().replace("\n2\n", f"\n{'9' * 5_000}\n"),
        HEAD.body().replace("\n2\n", "\n0\n"),
        HEAD.body().replace("wSU=", "wSU"),
        HEAD.body().replace("wSU=", "wSV="),
        HEAD.body().replace("wSU=", "wSU=="),
        HEAD.body().replace("+sVC", "-sVC"),
        HEAD.body().replace("+sVC", ""),
        HEAD.body().replace("+sVC", "+sVC+sVC"),
        HEAD.body().replace("\n", "\r\n"),
    ],
)
def test_what_is_not_exactly_a_head_is_refused(text: str) -> None:
    assert text != HEAD.body()

    with pytest.raises(BadCheckpoint, match="expected "):
        parse_checkpoint(text)
    if text.endswith("\n") and "\r" not in text and "\t" not in text and "\ud800" not in text:
        with pytest.raises(BadCheckpoint, match="expected "):
            open_checkpoint(sign_note(text, LOG).encode(), [LOG.public])


def test_a_head_that_cannot_be_is_not_made() -> None:
    for origin in ("", "two\nlines", "\n", "a\x00b", "\ud800"):
        with pytest.raises(BadCheckpoint, match="expected an origin"):
            Checkpoint(origin, 2, HEAD.root)
    for size in (-1, 2**63):
        with pytest.raises(BadCheckpoint, match="expected a size"):
            Checkpoint("origin", size, HEAD.root)
    for root in (b"", HEAD.root[:-1], HEAD.root + b"\x00"):
        with pytest.raises(BadCheckpoint, match="expected a root of 32 bytes"):
            Checkpoint("origin", 2, root)


def test_a_head_is_believed_of_a_known_key_only_and_of_no_other_log() -> None:
    elsewhere = Checkpoint("host.example/other/0", HEAD.size, HEAD.root)
    moved = sign_checkpoint(HEAD, LOG).replace(b"default/0", b"other/0")

    assert open_checkpoint(sign_checkpoint(elsewhere, LOG), [LOG.public])[0].origin == "host.example/other/0"
    with pytest.raises(BadNote, match="does not hold"):
        open_checkpoint(moved, [LOG.public])
    with pytest.raises(BadNote, match="found none"):
        open_checkpoint(sign_checkpoint(HEAD, OTHER_LOG), [LOG.public])


@given(HEADS, st.integers(0, 2**63 - 1))
def test_every_cosignature_tells_its_time(head: Checkpoint, at: int) -> None:
    line = cosign(head, at, WITNESS)
    signed = add_lines(sign_checkpoint(head, LOG), [line])

    assert verify_cosignature(head, parse_signature_line(line), WITNESS.public) == at
    assert cosignatures(parse_note(signed), head, [WITNESS.public]) == {"witness.example": at}
    assert open_checkpoint(signed, [LOG.public]) == (head, (LOG.public,))
    assert open_checkpoint(signed, [LOG.public, WITNESS.public]) == (head, (LOG.public, WITNESS.public))


def test_a_cosignature_of_another_head_time_or_witness_does_not_hold() -> None:
    good = parse_signature_line(COSIGNED)
    plain = LOG.sign(HEAD.body().encode())
    wrong = {
        "another time": Signature(good.name, good.key_id, (AT + 1).to_bytes(8) + good.value[8:]),
        "a time beyond 63 bits": Signature(good.name, good.key_id, b"\xff" * 8 + good.value[8:]),
        "cut": Signature(good.name, good.key_id, good.value[:-1]),
        "no time": Signature(good.name, good.key_id, good.value[8:]),
        "nothing but a time": Signature(good.name, good.key_id, good.value[:8]),
        "three bytes": Signature(good.name, good.key_id, b"abc"),
        "the text signed without a time": Signature(good.name, good.key_id, bytes(8) + plain),
        "another head": parse_signature_line(cosign(Checkpoint(HEAD.origin, 3, HEAD.root), AT, WITNESS)),
        "another log": parse_signature_line(cosign(Checkpoint("origin", 2, HEAD.root), AT, WITNESS)),
    }
    for what, signature in wrong.items():
        with pytest.raises(BadNote, match=r"known witness 'witness\.example' does not hold"):
            verify_cosignature(HEAD, signature, WITNESS.public)
        note = Note(HEAD.body(), (*parse_note(SIGNED.encode()).signatures, signature))
        with pytest.raises(BadNote, match="does not hold"):
            cosignatures(note, HEAD, [SECOND.public, WITNESS.public])
        assert cosignatures(note, HEAD, [SECOND.public]) == {}, what
    for key in (SECOND.public, LOG.public):
        with pytest.raises(BadNote, match="found a signature of another key"):
            verify_cosignature(HEAD, good, key)


def test_a_time_beyond_63_bits_is_refused_however_well_it_is_signed() -> None:
    times = {2**63 - 1: True, 2**63: False, 2**64 - 1: False}
    for at, good in times.items():
        value = at.to_bytes(8) + WITNESS.sign(cosigned(HEAD.body(), at))
        signature = Signature(WITNESS.public.name, WITNESS.public.id, value)
        if good:
            assert verify_cosignature(HEAD, signature, WITNESS.public) == at
        else:
            with pytest.raises(BadNote, match="does not hold"):
                verify_cosignature(HEAD, signature, WITNESS.public)


def test_the_same_seed_signs_and_cosigns_as_two_different_keys() -> None:
    name_of_log = SigningKey.from_seed("host.example", bytes(range(32)), COSIGNATURE)
    as_log = Signature("host.example", LOG.public.id, parse_signature_line(cosign(HEAD, AT, name_of_log)).value)

    assert name_of_log.public.id != LOG.public.id
    with pytest.raises(BadNote, match="does not hold"):
        open_checkpoint(Note(HEAD.body(), (as_log,)).encode(), [LOG.public])


def test_only_witnesses_are_counted_each_once_with_its_latest_time() -> None:
    lines = [cosign(HEAD, at, key) for at, key in [(7, WITNESS), (9, SECOND), (8, WITNESS), (6, WITNESS)]]
    note = parse_note(sign_checkpoint(HEAD, LOG) + "".join(lines).encode())

    assert cosignatures(note, HEAD, [WITNESS.public, SECOND.public]) == {"witness.example": 8, "second.example": 9}
    assert cosignatures(note, HEAD, [WITNESS.public, WITNESS.public]) == {"witness.example": 8}
    assert cosignatures(note, HEAD, [LOG.public, OTHER_LOG.public]) == {}
    with pytest.raises(BadNote, match="a note with another text"):
        cosignatures(note, Checkpoint(HEAD.origin, 3, HEAD.root), [WITNESS.public])


def test_a_head_is_cosigned_by_witnesses_and_at_a_time_that_can_be_written() -> None:
    with pytest.raises(ValueError, match="expected a cosignature key"):
        cosign(HEAD, AT, LOG)
    for at in (-1, 2**63):
        with pytest.raises(ValueError, match="a time from 0"):
            cosign(HEAD, at, WITNESS)


def test_lines_are_added_once_for_each_key() -> None:
    signed = sign_checkpoint(HEAD, LOG)
    first, later, second = cosign(HEAD, 7, WITNESS), cosign(HEAD, 8, WITNESS), cosign(HEAD, 7, SECOND)

    both = add_lines(signed, [first, second])
    assert both == signed + (first + second).encode()
    assert add_lines(both, [second, first, later]) == both
    assert add_lines(signed, [first, first, later]) == signed + first.encode()
    assert add_lines(signed, []) == signed
    assert add_lines(signed, [sign_note(HEAD.body(), LOG).signatures[0].line()]) == signed


@pytest.mark.parametrize(
    "line", ["", "\n", "no line\n", COSIGNED[:-1], COSIGNED + COSIGNED, COSIGNED + "\n", "\n" + COSIGNED]
)
def test_what_is_no_line_is_not_added(line: str) -> None:
    with pytest.raises(BadNote, match="expected "):
        add_lines(SIGNED.encode(), [line])
    with pytest.raises(BadNote, match="expected "):
        add_lines(b"no note", [COSIGNED])


def test_no_more_lines_are_added_than_a_reader_takes() -> None:
    lines = [Signature(f"w{n}.example", b"1234", b"x").line() for n in range(100)]

    assert len(parse_note(add_lines(SIGNED.encode(), lines[:99])).signatures) == 100
    with pytest.raises(BadNote, match="expected 1 to 100 signatures, found 101"):
        add_lines(SIGNED.encode(), lines)
