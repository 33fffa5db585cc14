"""Bearer tokens as bytes: nothing but a token that a fitting key of the provider signed gets to its claims."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc.jwk import Key, RSAKey

from service.errors import Unauthenticated
from service.identity.key_sets import BadDocument, read_discovery, read_key_set
from service.identity.provider_settings import ALGORITHMS, USUAL
from service.identity.tokens import TOKEN_MAX, check_header, read_token, verified_claims
from tests.fixtures.identity_provider import (
    ISSUER,
    claims,
    discovery,
    key,
    key_set,
    part,
    public,
    signed,
    signed_with_secret,
)

ONE = public(key("one"))


def opened(token: bytes, *keys: Any, algorithms: tuple[str, ...] = USUAL) -> dict[str, Any]:
    """The claims of a token, by the keys that a provider publishes."""
    read = read_token(token)
    check_header(read, algorithms)
    found = read_key_set(key_set(*(keys or (ONE,)))).find(read.kid, read.algorithm)
    return dict(verified_claims(read, found, algorithms))


def refusal(token: bytes, *keys: Any, algorithms: tuple[str, ...] = USUAL) -> str:
    with pytest.raises(Unauthenticated) as refused:
        opened(token, *keys, algorithms=algorithms)
    assert refused.value.presented
    return refused.value.detail


@pytest.mark.parametrize(
    ("algorithm", "kind"),
    [("ES256", "EC"), ("ES384", "P-384"), ("RS256", "RSA"), ("PS256", "RSA"), ("EdDSA", "OKP"), ("Ed25519", "OKP")],
)
def test_a_token_of_each_usual_algorithm_is_read(algorithm: str, kind: str) -> None:
    token = signed(by=key("k", kind), algorithm=algorithm)

    assert opened(token, public(key("k", kind))) == claims()


@pytest.mark.parametrize("typ", ["at+jwt", "AT+JWT", "JWT", "application/at+jwt", ""])
def test_types_of_access_tokens_are_read(typ: str) -> None:
    assert opened(signed(header={"typ": typ})) == claims()


def test_no_token_without_a_signature_is_read() -> None:
    body = part(json.dumps(claims()).encode())
    for name in ("none", "None", "nOnE", ""):
        header = part(json.dumps({"alg": name, "kid": "one", "typ": "at+jwt"}).encode())

        for signature in (b"", signed().rsplit(b".", 1)[1]):
            assert "found another algorithm" in refusal(header + b"." + body + b"." + signature)


def test_a_public_key_is_never_a_shared_secret() -> None:
    """The classic: the attacker signs by HMAC with the public key, which the verifier has."""
    rsa = key("rsa", "RSA")
    assert isinstance(rsa, RSAKey)
    for secret in (rsa.as_pem(private=False), rsa.as_der(private=False), json.dumps(public(rsa)).encode()):
        forged = signed_with_secret(secret, {"kid": "rsa"})

        assert "found another algorithm" in refusal(forged, public(rsa))
        assert "found another algorithm" in refusal(forged, public(rsa), algorithms=ALGORITHMS)
        assert refusal(forged, public(rsa), algorithms=("RS256", "HS256"))  # a set never has a key that fits it


@pytest.mark.parametrize(
    "header",
    [
        {"crit": ["exp"]},
        {"crit": []},
        {"b64": False, "crit": ["b64"]},
        {"cty": "JWT"},
        {"typ": "logout+jwt"},
        {"typ": "dpop+jwt"},
        {"typ": 3},
        {"kid": ""},
        {"kid": None},
        {"kid": 1},
        {"kid": ["one"]},
        {"kid": "x" * 600},
    ],
    ids=str,
)
def test_a_header_with_what_is_not_understood_is_refused(header: dict[str, Any]) -> None:
    twins = public(key("one"), kid=header.get("kid") or "one") if isinstance(header.get("kid"), str) else ONE

    assert "not by the key" not in refusal(signed(header=header), twins, ONE)


@pytest.mark.parametrize(
    "kid", ["../one", "one/../one", "/etc/passwd", "one\0", " one", "ONE", "' or 1=1 --", "https://evil.example/jwks"]
)
def test_a_kid_is_a_name_and_no_path(kid: str) -> None:
    assert "not by the key" in refusal(signed(header={"kid": kid}))


def test_a_key_inside_the_token_is_never_used() -> None:
    own = key("mallory")
    header = {"kid": "one", "jwk": public(own), "jku": "https://evil.example/jwks", "x5u": "https://evil.example/x"}

    assert "not by the key" in refusal(signed(by=own, header=header))


def test_a_key_of_another_provider_of_the_same_name_does_not_verify() -> None:
    other = public(key("other"), kid="one")

    assert "not by the key" in refusal(signed(), other)


def test_one_kid_may_stand_for_two_keys_of_which_either_verifies() -> None:
    assert opened(signed(), public(key("other"), kid="one"), ONE) == claims()


def test_no_changed_bit_of_a_token_is_read() -> None:
    token = signed()

    for at in range(len(token)):
        for bit in range(8):
            changed = token[:at] + bytes([token[at] ^ 1 << bit]) + token[at + 1 :]
            assert refusal(changed), (at, bit)


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (b"", "found 1"),
        (b"a.b", "found 2"),
        (b"a.b.c.d.e", "an encrypted token has five"),
        (b"a" * (TOKEN_MAX + 1), "found more"),
        (b"..", "payload as base64url"),
        (part(b"{}") + b"." + part(b"[]") + b".", "payload as base64url"),
        (part(b"[]") + b"." + part(b"{}") + b".", "header as base64url"),
        (part(b"{}") + b"." + part(b"{}") + b"=.", "payload as base64url"),
        (part(b"{}") + b"." + part(b"[" * 5_000) + b".", "payload as base64url"),
        (part(b"{}") + b"." + part(b'{"a":NaN}') + b".", "payload as base64url"),
        (part(b"{}") + b"." + part(b'{"a":' + b"9" * 5_000 + b"}") + b".", "payload as base64url"),
        (part(b'{"alg":"ES256","alg":"none"}') + b"." + part(b"{}") + b".", "header as base64url"),
        (part(b"{}") + b"." + part(b"\xff{}") + b".", "payload as base64url"),
    ],
    ids=lambda value: value[:20] if isinstance(value, bytes) else None,
)
def test_what_is_no_token_is_refused_with_its_reason(token: bytes, said: str) -> None:
    assert said in refusal(token)


def test_a_member_that_stands_twice_is_refused_although_it_is_signed() -> None:
    body = json.dumps(claims()).encode()
    for twice in (body[:-1] + b', "sub": "admin"}', body[:-1] + b', "x": {"a": 1, "a": 2}}'):
        assert "no member stands twice" in refusal(signed(twice))


@given(st.binary(max_size=300) | st.lists(st.binary(max_size=80).map(part), max_size=6).map(b".".join))
def test_no_bytes_are_anything_but_refused(token: bytes) -> None:
    assert refusal(token)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from(["alg", "kid", "typ", "cty", "crit", "b64", "jwk", "jku", "x5c", "x5t", "zip", "enc"]), JSON
    )
)
def test_no_header_around_a_foreign_signature_is_anything_but_refused(header: dict[str, Any]) -> None:
    _, body, signature = signed().split(b".")

    for written in (header, {"alg": "ES256", "kid": "one", **header, "x": 1}):
        assert refusal(part(json.dumps(written).encode()) + b"." + body + b"." + signature)


# -- documents


def usable(*keys: Any) -> list[str]:
    return sorted(read_key_set(key_set(*keys, ONE)).keys)


def test_keys_that_cannot_verify_are_left_out_and_the_others_stand() -> None:
    weak = {"kty": "RSA", "kid": "weak", "n": "AQAB" * 40, "e": "AQAB"}
    rsa = public(key("rsa", "RSA"))

    for wrong in (
        {"kty": "oct", "kid": "k", "k": "c2VjcmV0"},
        {**ONE, "kid": "enc", "use": "enc"},
        {**ONE, "kid": "ops", "key_ops": ["sign"]},
        {**ONE, "kid": "alg", "alg": "RS256"},
        {**ONE, "kid": ""},
        {name: value for name, value in ONE.items() if name != "kid"},
        {**ONE, "kid": "point", "x": ONE["y"]},
        {**ONE, "kid": "curve", "crv": "secp256k1"},
        {**ONE, "kid": "list", "crv": ["P-256"]},
        {**key("two").as_dict(private=True)},
        {"kty": "RSA", "kid": "long", "n": "A" + "f" * 2_000, "e": "AQAB"},
        {**rsa, "kid": "slow", "e": rsa["n"]},
        weak,
        {"kty": "AKP", "kid": "later"},
        {},
        None,
        "one",
    ):
        assert usable(wrong) == ["one"], wrong


def test_a_key_verifies_no_algorithm_but_its_own() -> None:
    keys = read_key_set(key_set(public(key("rsa", "RSA"), alg="RS256"), ONE))

    assert keys.find("rsa", "RS256")
    assert not keys.find("rsa", "PS256")
    assert not keys.find("one", "RS256")
    assert not keys.find("one", "ES384")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (b"<html>", "no JSON object"),
        (b'{"keys": 3}', "no list"),
        (b"{}", "no list"),
        (key_set({"kty": "oct", "kid": "k", "k": "c2VjcmV0"}), "no public key"),
        (key_set(*[ONE] * 101), "more than 100"),
        (b'{"keys": [], "keys": []}', "stands twice"),
    ],
)
def test_a_set_without_a_key_is_refused(document: bytes, said: str) -> None:
    with pytest.raises(BadDocument, match=said):
        read_key_set(document)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (discovery("https://evil.example"), "is not"),
        (discovery(ISSUER + "/"), "to the letter"),
        (discovery(jwks_uri="http://id.bank.example/jwks"), "is not https"),
        (discovery(jwks_uri="http://127.0.0.1/jwks"), "is not https"),
        (discovery(jwks_uri="file:///etc/passwd"), "no jwks_uri"),
        (discovery(jwks_uri=3), "no jwks_uri"),
        (discovery(jwks_uri="https://user@id.bank.example/"), "no jwks_uri"),
        (b"[]", "no JSON object"),
    ],
)
def test_a_discovery_document_of_another_is_refused(document: bytes, said: str) -> None:
    with pytest.raises(BadDocument, match=said):
        read_discovery(document, ISSUER)


def test_a_provider_on_this_machine_may_name_keys_on_this_machine() -> None:
    here = "http://127.0.0.1:9"

    assert read_discovery(discovery(here, jwks_uri=f"{here}/jwks"), here) == f"{here}/jwks"


@given(JSON)
def test_no_document_is_anything_but_refused(value: Any) -> None:
    for document in (json.dumps(value), json.dumps({"keys": [value, {"kty": "EC", "kid": "x", "crv": value}]})):
        with pytest.raises(BadDocument):
            read_key_set(document.encode())
    with pytest.raises(BadDocument):
        read_discovery(json.dumps({"issuer": value, "jwks_uri": value}).encode(), ISSUER)


def test_a_private_key_is_no_key() -> None:
    own: Key = key("two")
    with pytest.raises(BadDocument):
        read_key_set(key_set(own.as_dict(private=True)))
