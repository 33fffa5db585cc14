"""API keys: known answers, what is no key, and that no text breaks the reader."""

from __future__ import annotations

import re
from hashlib import sha256
from secrets import token_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import BadRequest, Unauthenticated
from service.identity.api_keys import CHARACTERS, PATTERN, checksum, read_key, write_key
from service.identity.ids import is_id, write_id
from service.identity.tenants import check_tenant

KEYS = {
    bytes(32): "gainsay_00000000000000000000000000000000000000000002eu9Y8",
    b"\xff" * 32: "gainsay_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp114duQ4",
    bytes(range(32)): "gainsay_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf3RhTzs",
}
KEY = KEYS[bytes(range(32))]


def refused(text: bytes) -> Unauthenticated:
    with pytest.raises(Unauthenticated) as refusal:
        read_key(text)
    return refusal.value


@pytest.mark.parametrize(("random", "key"), KEYS.items())
def test_known_answers(random: bytes, key: str) -> None:
    assert write_key(random) == key
    assert len(key) == CHARACTERS == 57
    assert read_key(key.encode()) == sha256(key.encode()).digest()


def test_the_hash_of_a_key_is_that_of_its_text() -> None:
    assert read_key(KEY.encode()).hex() == "d89d08622852f5bd79caa03efebdef8dc6a149423e290d1cd7d9de8a9194ef24"


@given(random=st.binary(min_size=32, max_size=32))
def test_every_key_is_read_and_found_by_the_rule_for_scanners(random: bytes) -> None:
    key = write_key(random)

    assert read_key(key.encode()) == sha256(key.encode()).digest()
    assert re.findall(PATTERN, f'token = "{key}"; export X={key}\n') == [key, key]


@pytest.mark.parametrize("length", [0, 16, 31, 33])
def test_a_key_has_no_fewer_random_bytes_than_32(length: int) -> None:
    with pytest.raises(ValueError, match="expected 32 random bytes"):
        write_key(token_bytes(length))


@given(at=st.integers(8, 56), other=st.sampled_from("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
def test_a_key_with_one_other_character_says_that_its_checksum_does_not_fit(at: int, other: str) -> None:
    changed = KEY[:at] + other + KEY[at + 1 :]

    if changed == KEY:
        read_key(changed.encode())
    else:
        assert "checksum does not" in refused(changed.encode()).detail


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"gainsay_",
        KEY[:-1].encode(),
        KEY.encode() + b"0",
        KEY.encode() + b"\n",
        b" " + KEY.encode(),
        KEY.upper().encode(),
        KEY.replace("gainsay_", "Gainsay_").encode(),
        KEY.encode()[:20] + b"\0" + KEY.encode()[21:],
        KEY.encode()[:20] + "٣".encode() + KEY.encode()[22:],  # a digit of another script
        KEY.encode()[:20] + b"\xff" + KEY.encode()[21:],
        b"gainsay_" + b"-" * 49,
        KEY.encode() * 20_000,  # a megabyte
    ],
)
def test_another_text_is_refused_by_its_form_and_never_shown(text: bytes) -> None:
    refusal = refused(text)

    assert refusal.presented
    assert f"found another text of {len(text)} bytes" in refusal.detail
    assert KEY[10:30] not in refusal.detail


@given(text=st.one_of(st.binary(max_size=200), st.text(max_size=80).map(lambda text: f"gainsay_{text}".encode())))
def test_whatever_comes_is_a_key_or_refused(text: bytes) -> None:
    try:
        found = read_key(text)
    except Unauthenticated:
        pass  # any other exception fails here
    else:
        assert found == sha256(text).digest()
        assert text.decode().endswith(checksum(text.decode()[:-6]))


def test_ids_are_of_one_form() -> None:
    assert write_id("sub_", bytes(range(16))) == "sub_00041061050r3gg28a1c60t3gf"
    assert write_id("key_", b"\xff" * 16) == "key_7zzzzzzzzzzzzzzzzzzzzzzzzz"


@given(random=st.binary(min_size=16, max_size=16))
def test_an_id_is_read_as_what_it_is(random: bytes) -> None:
    assert is_id(write_id("sub_", random), "sub_")
    assert not is_id(write_id("sub_", random), "key_")
    assert not is_id(write_id("key_", random) + "\n", "key_")


@pytest.mark.parametrize(
    "text", ["sub_", "sub_" + "8" + "0" * 25, "sub_" + "I" * 26, "sub_" + "0" * 27, "key" + "0" * 27]
)
def test_what_is_no_id_is_none(text: str) -> None:
    assert not is_id(text, "sub_")
    assert not is_id(text, "key_")


@pytest.mark.parametrize("name", ["a", "0", "bank-of-x", "a" * 63, "x-"])
def test_a_tenant_has_a_plain_name(name: str) -> None:
    assert check_tenant(name) == name


@pytest.mark.parametrize("name", ["", "-a", "A", "a" * 64, "a_b", "a.b", "a/b", "a\n", "a\0", "é", "٣", "..", "a b"])
def test_any_other_name_is_refused(name: str) -> None:
    with pytest.raises(BadRequest, match="expected a tenant's name"):
        check_tenant(name)
