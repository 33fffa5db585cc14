"""An approval is one text, signed by the approver, of one configuration."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.audit.approval import Approval, BadApproval, check, encode, parse
from service.audit.checkpoint import BadCheckpoint, Checkpoint, parse_checkpoint, sign_checkpoint
from service.audit.note import COSIGNATURE, SigningKey, is_note_text, parse_note, sign_note
from service.audit.tree import EMPTY_ROOT
from tests.fixtures.merkle import mangled

KEY = SigningKey.from_seed("model-risk.example", bytes(range(32)))
NAMESAKE = SigningKey.from_seed("model-risk.example", bytes(32))
OTHER = SigningKey.from_seed("deployer.example", bytes(range(32)))
HASH = "0a" * 32
APPROVAL = Approval(HASH, "shipped 1", "2026-11-22T09:30:00Z")
NOTE = (
    f"gainsay-approval/1\n{HASH}\nshipped 1\n2026-11-22T09:30:00Z\n\n"
    "— model-risk.example iBRZD6WI6h6dYMX++q3qppz8/ycspWTA9YkxRgU6Tpn5uqktFAW8EJwsapF2e5ZrXTsRDh"
    "tmQzqWmB4MGIvaMrdeNAk=\n"
)
VERSIONS = st.text(min_size=1, max_size=30).filter(lambda s: "\n" not in s and is_note_text(s))


def test_the_bytes_of_an_approval_are_fixed() -> None:
    assert encode(APPROVAL, KEY).decode() == NOTE


@given(st.binary(min_size=32, max_size=32), VERSIONS, st.datetimes())
def test_an_approval_is_read_as_it_was_written(digest: bytes, version: str, at: object) -> None:
    approval = Approval(digest.hex(), version, f"{at:%Y-%m-%dT%H:%M:%SZ}".zfill(20))

    note = encode(approval, KEY)

    assert parse(note) == approval
    assert check(note, KEY.public, digest.hex()) == approval


@pytest.mark.parametrize(
    ("note", "reason"),
    [
        (encode(APPROVAL, NAMESAKE), "not signed by the approver"),
        (encode(APPROVAL, OTHER), "not signed by the approver"),
        (encode(APPROVAL, KEY).replace(b"shipped 1", b"shipped 2"), "not signed by the approver"),
        (encode(Approval("0b" * 32, "shipped 1", APPROVAL.at), KEY), "of the configuration 0b"),
        (sign_note(APPROVAL.text() + "and more\n", KEY).encode(), "four lines"),
        (sign_note(APPROVAL.text().replace("/1", "/2"), KEY).encode(), "begins with gainsay-approval/1"),
        (sign_checkpoint(Checkpoint("gainsay-approval/1", 0, EMPTY_ROOT), KEY), "four lines"),
        (APPROVAL.text().encode(), "a signed note"),
        (b"", "a signed note"),
        (b"\xff", "a signed note"),
    ],
)
def test_what_is_not_the_approver_s_word_on_this_configuration_does_not_hold(note: bytes, reason: str) -> None:
    with pytest.raises(BadApproval, match=reason):
        check(note, KEY.public, HASH)


@pytest.mark.parametrize(
    ("digest", "version", "at"),
    [
        (HASH[:-1], "1", APPROVAL.at),
        (HASH.upper(), "1", APPROVAL.at),
        ("x" * 64, "1", APPROVAL.at),
        (HASH, "", APPROVAL.at),
        (HASH, "two\nlines", APPROVAL.at),
        (HASH, "a\x00b", APPROVAL.at),
        (HASH, "1", "yesterday"),
        (HASH, "1", "2026-11-22T09:30:00+00:00"),
        (HASH, "1", "2026-13-22T09:30:00Z"),
        (HASH, "1", "2026-11-22T24:30:00Z"),
    ],
)
def test_what_the_format_cannot_say_is_no_approval(digest: str, version: str, at: str) -> None:
    with pytest.raises(BadApproval):
        Approval(digest, version, at)


@pytest.mark.parametrize(("line", "put"), [(2, b"0a0a"), (3, b""), (4, b"2026-11-22"), (4, b"2026-11-22 09:30:00Z")])
def test_a_signed_note_with_a_line_of_another_form_is_no_approval(line: int, put: bytes) -> None:
    lines = APPROVAL.text().encode().split(b"\n")
    lines[line - 1] = put

    with pytest.raises(BadApproval):
        parse(sign_note(b"\n".join(lines).decode(), KEY).encode())


@given(mangled(NOTE.encode()))
def test_no_change_of_its_bytes_makes_another_approval_of_it(note: bytes) -> None:
    with suppress(BadApproval):
        assert check(note, KEY.public, HASH) == APPROVAL


def test_an_approval_is_no_checkpoint_and_a_witness_signs_none() -> None:
    with pytest.raises(BadCheckpoint):
        parse_checkpoint(parse_note(encode(APPROVAL, KEY)).text)
    with pytest.raises(ValueError, match="Ed25519"):
        encode(APPROVAL, SigningKey.from_seed("witness.example", bytes(32), COSIGNATURE))
