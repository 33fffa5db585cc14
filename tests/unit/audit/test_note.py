"""Notes are those of C2SP signed-note; every note, line and key has one spelling."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from service.audit.note import (
    COSIGNATURE,
    ED25519,
    BadKey,
    BadNote,
    Note,
    PublicKey,
    Signature,
    SigningKey,
    decode_base64,
    encode_base64,
    parse_decimal,
    parse_note,
    parse_signature_line,
    sign_note,
    verify_note,
)
from tests.fixtures.merkle import mangled, reads_one_way

# The example of the specification.
VKEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
TEXT = "This is an example message.\n"
LINE = (
    "— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
)
NOTE = f"{TEXT}\n{LINE}".encode()

ANNA = SigningKey.from_seed("anna.example/log", bytes(range(32)))
BERT = SigningKey.from_seed("bert.example/log", bytes(range(1, 33)))
TWIN = SigningKey.from_seed("anna.example/log", bytes(range(2, 34)))  # the same name, another key
TWO = sign_note("a line\n\nanother — line\n", ANNA, BERT)
NAMES = st.text(min_size=1, max_size=20).filter(lambda s: not any(c.isspace() or c < " " or c == "+" for c in s))
TEXTS = st.text(max_size=60).map(lambda s: "".join(c for c in s if c >= " " or c == "\n") + "\n")
SEEDS = st.binary(min_size=32, max_size=32)


def test_the_specifications_example_is_read_and_verified() -> None:
    key = PublicKey.parse(VKEY)
    note = parse_note(NOTE)

    assert (key.name, key.algorithm, key.id.hex()) == ("example.com/foo", ED25519, "530d903a")
    assert key.encode() == VKEY
    assert (note.text, [s.line() for s in note.signatures]) == (TEXT, [LINE])
    assert verify_note(note, [key]) == (key,)
    assert note.encode() == NOTE


def test_the_bytes_of_a_signed_note_are_fixed() -> None:
    key = SigningKey.from_seed("host.example", bytes(range(32)))

    assert key.public.encode() == "host.example+8080a53f+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"
    assert sign_note("a text\n", key).encode().decode() == (
        "a text\n\n— host.example gIClPwxYofG6edyin1p8Z4I5wmDrwGF3x8b0YSaLmbiee9"
        "ZN74j8B7Ic8Ofu7Eyf30sFpNvtT4Ob4ZPFRKsVdt57bw8=\n"
    )


def test_a_note_round_trips_and_names_who_signed_it() -> None:
    again = parse_note(TWO.encode())

    assert again == TWO
    assert verify_note(again, [BERT.public, ANNA.public]) == (BERT.public, ANNA.public)
    assert verify_note(again, [BERT.public]) == (BERT.public,)
    assert verify_note(again, [TWIN.public, ANNA.public]) == (ANNA.public,)


@given(TEXTS, NAMES, SEEDS)
def test_every_note_that_is_signed_is_read_back(text: str, name: str, seed: bytes) -> None:
    key = SigningKey.from_seed(name, seed)
    note = sign_note(text, key)

    assert parse_note(note.encode()) == note
    assert verify_note(parse_note(note.encode()), [key.public]) == (key.public,)


@given(mangled(NOTE) | mangled(TWO.encode()) | st.binary(max_size=80))
def test_any_other_bytes_are_refused_or_the_only_spelling_of_a_note(data: bytes) -> None:
    reads_one_way(parse_note, BadNote, data)


@given(mangled(TWO.encode()))
def test_no_edit_leaves_the_text_changed_and_the_signature_good(data: bytes) -> None:
    try:
        note = parse_note(data)
        verify_note(note, [ANNA.public, BERT.public])
    except BadNote:
        return
    assert note.text == TWO.text


def test_the_text_ends_at_the_last_empty_line() -> None:
    inner = sign_note("inner\n", ANNA).encode().decode()
    note = sign_note(inner + "\n\n", BERT)

    assert parse_note(note.encode()).text == inner + "\n\n"
    assert verify_note(parse_note(note.encode()), [ANNA.public, BERT.public]) == (BERT.public,)
    with pytest.raises(BadNote, match="found none; is the right key pinned"):
        verify_note(parse_note(note.encode()), [ANNA.public])
    assert parse_note(b"\n\n" + LINE.encode()).text == "\n"


def test_unknown_keys_are_passed_over_and_sixteen_lines_and_more_are_taken() -> None:
    strangers = [SigningKey.from_seed(f"witness-{n}.example", bytes([n]) * 32) for n in range(99)]
    for count in (1, 15, 16, 98, 99):
        note = parse_note(sign_note(TEXT, *strangers[:count], ANNA).encode())
        assert verify_note(note, [ANNA.public]) == (ANNA.public,)

    odd = Signature("ml-dsa.example", b"\x01\x02\x03\x04", bytes(2_420))
    short = Signature("short.example", b"\x00\x00\x00\x00", b"x")
    note = parse_note(Note(TEXT, (odd, short, *sign_note(TEXT, ANNA).signatures)).encode())
    assert verify_note(note, [ANNA.public]) == (ANNA.public,)
    with pytest.raises(BadNote, match="expected 1 to 100 signatures, found 101"):
        parse_note(NOTE + LINE.encode() * 100)


def test_a_key_is_known_by_its_name_and_its_id_together() -> None:
    (signature,) = sign_note(TEXT, ANNA).signatures

    for name, key_id in [("other.example", ANNA.public.id), (ANNA.public.name, TWIN.public.id)]:
        note = Note(TEXT, (Signature(name, key_id, signature.value),))
        with pytest.raises(BadNote, match="expected the signature of a known key, found none"):
            verify_note(note, [ANNA.public])


def test_a_known_keys_wrong_signature_refuses_the_note_whatever_else_is_good() -> None:
    good = sign_note(TEXT, ANNA, BERT)
    anna, bert = good.signatures
    (over_another_text,) = sign_note("another\n", BERT).signatures

    for wrong in [
        over_another_text,
        Signature(bert.name, bert.key_id, anna.value),
        Signature(bert.name, bert.key_id, bert.value[:-1]),
        Signature(bert.name, bert.key_id, bert.value + b"\x00"),
        Signature(bert.name, bert.key_id, bytes(64)),
        Signature(bert.name, bert.key_id, b"\x00" * 8 + bert.value),
    ]:
        for signatures in [(anna, wrong), (wrong, anna), (anna, bert, wrong), (anna, wrong, bert)]:
            note = parse_note(Note(TEXT, signatures).encode())
            with pytest.raises(BadNote, match=r"known key 'bert\.example/log' does not hold"):
                verify_note(note, [ANNA.public, BERT.public])
            assert verify_note(note, [ANNA.public]) == (ANNA.public,)


@given(st.integers(0, 8 * 64 - 1))
def test_no_bit_of_a_signature_may_differ(bit: int) -> None:
    (good,) = sign_note(TEXT, ANNA).signatures
    value = (int.from_bytes(good.value) ^ 1 << bit).to_bytes(64)

    with pytest.raises(BadNote, match="does not hold"):
        verify_note(Note(TEXT, (Signature(good.name, good.key_id, value),)), [ANNA.public])


def test_a_signature_with_a_scalar_beyond_the_groups_order_is_refused() -> None:
    (good,) = sign_note(TEXT, ANNA).signatures
    order = 2**252 + 27742317777372353535851937790883648493
    scalar = int.from_bytes(good.value[32:], "little") + order
    twin = Signature(good.name, good.key_id, good.value[:32] + scalar.to_bytes(32, "little"))

    with pytest.raises(BadNote, match="does not hold"):
        verify_note(Note(TEXT, (twin,)), [ANNA.public])


def test_two_known_keys_of_one_name_and_id_are_both_tried() -> None:
    other = PublicKey("anna.example/log", ED25519, BERT.public.public)
    signature = Signature(ANNA.public.name, other.id, BERT.sign(TEXT.encode()))

    assert verify_note(Note(TEXT, (signature,)), [ANNA.public, other]) == (other,)
    assert verify_note(Note(TEXT, (signature, signature)), [other, other]) == (other, other)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\n\n",
        TEXT.encode(),
        TEXT.encode() + b"\n",
        LINE.encode(),
        b"\n" + LINE.encode(),
        TEXT.encode() + LINE.encode(),
        NOTE[:-1],
        NOTE + b"\n",
        NOTE + b"trailing\n",
        NOTE.replace(b"\n", b"\r\n"),
        NOTE.replace(b".\n", b".\r\n"),
        NOTE.replace(b"\n\n", b"\n\r\n"),
        NOTE[:-1] + b"\r\n",
        NOTE.replace(b"This", b"Th\x00is"),
        NOTE.replace(b"This", b"Th\x1fis"),
        NOTE.replace(b"This", b"\tThis"),
        NOTE.replace(b"This", b"Th\xffis"),
        NOTE.replace(b"This", b"Th\xed\xa0\x80is"),
        NOTE.replace(b"This", b"Th\xc0\x80is"),
        NOTE.replace(b"\xe2\x80\x94 ", b"\xe2\x80\x93 "),
        NOTE.replace(b"\xe2\x80\x94 ", b"- "),
        NOTE.replace(b"\xe2\x80\x94 ", b"\xe2\x80\x94\xc2\xa0"),
        NOTE.replace(b"\xe2\x80\x94 ", b"\xe2\x80\x94"),
        NOTE.replace(b"\xe2\x80\x94 ", b"\xe2\x80\x94  "),
        NOTE.replace(b"\xe2\x80\x94", b" \xe2\x80\x94"),
        NOTE.replace(b"foo Uw2", b"foo  Uw2"),
        NOTE.replace(b"foo Uw2", b"foo\tUw2"),
        NOTE.replace(b"foo Uw2", b"fooUw2"),
        NOTE.replace(b"example.com/foo", b""),
        NOTE.replace(b"example.com/foo", b"example.com+foo"),
        NOTE.replace(b"example.com/foo", b"example.com foo"),
        NOTE.replace(b"example.com/foo", "example.com\u00a0foo".encode()),
        NOTE.replace(b"example.com/foo", "example.com\u3000foo".encode()),
        NOTE.replace(b"example.com/foo", "example.com\u2028foo".encode()),
        NOTE.replace(b"example.com/foo", "example.com\u0085foo".encode()),
        NOTE.replace(b"aQM=\n", b"aQM\n"),
        NOTE.replace(b"aQM=\n", b"aQM==\n"),
        NOTE.replace(b"aQM=\n", b"aQM=\n="),
        NOTE.replace(b"aQM=\n", b"aQN=\n"),
        NOTE.replace(b"aQM=\n", b"aQM= \n"),
        NOTE.replace(b"aQM=\n", b"aQM=QUJD\n"),
        NOTE.replace(b"aQM=\n", b"aQ-=\n"),
        NOTE.replace(b"Uw2QOkn8", b"Uw2Q Okn8"),
        b"text\n\n" + "— name.example AAAAAA==\n".encode(),
        b"text\n\n" + "— name.example \n".encode(),
        b"text\n\n" + "— name.example\n".encode(),
        NOTE + b"\n" + LINE.encode() + b"no signature\n",
    ],
)
def test_what_is_not_exactly_a_note_is_refused(data: bytes) -> None:
    assert data != NOTE

    with pytest.raises(BadNote, match="expected "):
        parse_note(data)


@pytest.mark.parametrize("text", ["", "no newline", "a\r\n", "a\x00\n", "a\tb\n", "\ud800\n"])
def test_a_text_that_no_note_can_have_is_not_signed(text: str) -> None:
    with pytest.raises(BadNote, match="expected a text in whole lines"):
        sign_note(text, ANNA)
    with pytest.raises(BadNote, match="expected a text in whole lines"):
        Note(text, sign_note(TEXT, ANNA).signatures)


def test_a_note_is_signed_by_someone_and_not_by_a_cosignature_key() -> None:
    witness = SigningKey.from_seed("witness.example", bytes(32), COSIGNATURE)

    for keys in [(), (witness,), (ANNA, witness)]:
        with pytest.raises(ValueError, match="expected one Ed25519 signing key or more"):
            sign_note(TEXT, *keys)
    with pytest.raises(BadNote, match="expected 1 to 100 signatures, found 0"):
        Note(TEXT, ())


@given(NAMES, st.binary(min_size=4, max_size=4), st.binary(min_size=1, max_size=100))
def test_every_signature_line_is_read_back(name: str, key_id: bytes, value: bytes) -> None:
    signature = Signature(name, key_id, value)

    assert parse_signature_line(signature.line()) == signature


@given(mangled(LINE.encode()))
def test_any_other_line_is_refused_or_the_only_spelling_of_a_signature(data: bytes) -> None:
    line = data.decode(errors="surrogateescape")
    try:
        signature = parse_signature_line(line)
    except BadNote:
        return
    assert signature.line() == line


@pytest.mark.parametrize(
    ("name", "key_id", "value"),
    [("", b"1234", b"x"), ("a b", b"1234", b"x"), ("a+b", b"1234", b"x"), ("a", b"123", b"x"), ("a", b"1234", b"")],
)
def test_a_signature_that_no_line_can_carry_is_refused(name: str, key_id: bytes, value: bytes) -> None:
    with pytest.raises(BadNote, match="in a signature line"):
        Signature(name, key_id, value)


@given(NAMES, SEEDS, st.sampled_from([ED25519, COSIGNATURE]))
def test_every_key_is_read_back_from_its_pinned_and_its_secret_form(name: str, seed: bytes, algorithm: int) -> None:
    key = SigningKey.from_seed(name, seed, algorithm)
    again = SigningKey.parse(key.encode())

    assert PublicKey.parse(key.public.encode()) == key.public == again.public
    assert again.encode() == key.encode()
    assert again.sign(b"m") == key.sign(b"m") == Ed25519PrivateKey.from_private_bytes(seed).sign(b"m")


@given(mangled(VKEY.encode()) | mangled(ANNA.encode().encode()) | st.binary(max_size=60))
def test_any_other_text_is_refused_or_the_only_spelling_of_a_key(data: bytes) -> None:
    text = data.decode(errors="surrogateescape")
    for read in (PublicKey.parse, SigningKey.parse):
        try:
            key = read(text)
        except BadKey:
            continue
        assert key.encode() == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.com/foo",
        "example.com/foo+530d903a",
        "example.com/foo+530d903a+",
        "+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        VKEY.replace("530d903a", "530D903A"),
        VKEY.replace("530d903a", "530d903b"),
        VKEY.replace("530d903a", "0530d903a"),
        VKEY.replace("foo", "bar"),
        VKEY.replace("foo", "f o"),
        VKEY.replace("AekyeRrm", "BOkyeRrm"),
        VKEY[:-1],
        VKEY + "=",
        VKEY + "\n",
        " " + VKEY,
        VKEY.replace("com/foo", "com/\ud800foo"),
        ANNA.encode(),
    ],
)
def test_what_is_not_exactly_a_public_key_is_refused(text: str) -> None:
    with pytest.raises(BadKey, match="expected "):
        PublicKey.parse(text)


def test_keys_of_other_types_and_lengths_are_refused() -> None:
    for algorithm in (0, 2, 5, 6, 255):
        with pytest.raises(BadKey, match=f"found type {algorithm}"):
            PublicKey("name", algorithm, bytes(32))
    for length in (0, 31, 33, 1_312):
        with pytest.raises(BadKey, match=f"32 bytes, found {length}"):
            PublicKey("name", ED25519, bytes(length))
        with pytest.raises(BadKey, match=f"32 bytes, found {length}"):
            SigningKey.from_seed("name", bytes(length))
    for name in ("", "a b", "a+b", "a\nb", "a\x01b", "\ud800"):
        with pytest.raises(BadKey, match="expected a key name"):
            SigningKey.from_seed(name, bytes(32))


def test_a_key_never_shows_its_secret() -> None:
    secret = ANNA.encode()
    seed = encode_base64(b"\x01" + bytes(range(32)))
    shown = [repr(ANNA), str(ANNA), f"{ANNA}"]
    for text in [
        secret[:-2],
        secret + "A",
        secret.replace("anna", "a nna"),
        secret.replace("anna", "bert"),
        secret.replace("PRIVATE+KEY+", "PRIVATE KEY "),
        secret.replace("+AQ", "+Ag"),
        secret.removeprefix("PRIVATE+KEY+"),
        f"{seed}+{seed}+{seed}",
        f"PRIVATE+KEY+{seed}+{seed}+{seed}",
    ]:
        for read in (SigningKey.parse, PublicKey.parse):
            with pytest.raises(BadKey) as caught:
                read(text)
            shown += [str(caught.value), repr(caught.value), repr(caught.value.__context__)]

    assert ANNA.encode().endswith(seed)
    assert not any(seed[start : start + 8] in line for line in shown for start in range(len(seed) - 8))


@given(st.binary(max_size=40))
def test_base64_has_one_spelling(data: bytes) -> None:
    assert decode_base64(encode_base64(data)) == data


@pytest.mark.parametrize(
    "text",
    [
        "A",
        "AA",
        "AAA",
        "AA=",
        "AB==",
        "AAB=",
        "AAAA=",
        "AAAA====",
        "=",
        "AA==AA==",
        "A A=",
        "AA\n=",
        "é",
        "_-==",
        "AAAA\n",
    ],
)
def test_base64_in_another_spelling_is_nothing(text: str) -> None:
    assert decode_base64(text) is None


@pytest.mark.parametrize("number", [0, 1, 9, 10, 2**63 - 1])
def test_a_decimal_has_one_spelling(number: int) -> None:
    assert parse_decimal(str(number)) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00",
        "01",
        "-0",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1\n",
        "1_0",
        "1.0",
        "1e3",
        "0x1",
        "٣",
        "²",
        str(2**63),
        "9" * 5_000,
    ],
)
def test_a_decimal_in_another_spelling_is_nothing(text: str) -> None:
    assert parse_decimal(text) is None
