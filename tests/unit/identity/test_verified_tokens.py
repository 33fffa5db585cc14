"""What is kept of a verified token: a signature less to verify, and nothing that lets a bad token in."""

from __future__ import annotations

import pytest

from service.errors import Unauthenticated
from service.identity import oidc_authenticator
from service.identity.authentication import Presented
from service.identity.oidc_authenticator import OidcAuthenticator, Provider
from service.identity.provider_keys import ProviderKeys
from service.identity.subjects import Subjects
from service.identity.tokens import verified_claims
from tests.fixtures.identity_provider import (
    CLAIMS,
    NOW,
    SETTING,
    MemoryProvider,
    MemoryRegister,
    claims,
    key,
    public,
    signed,
)

LATER_S = 2 * SETTING.refresh_s


class Stand:
    """An authenticator with a provider and a register in memory, and a clock. It counts signatures."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.verified = float(NOW), 0
        self.provider, self.register = MemoryProvider(), MemoryRegister()
        keys = ProviderKeys(SETTING, self.provider, lambda: self.now)
        subjects = Subjects(self.register, lambda: self.now)
        self.authenticator = OidcAuthenticator([Provider(SETTING, keys)], subjects, lambda: self.now)

        def counted(*given: object) -> object:
            self.verified += 1
            return verified_claims(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(oidc_authenticator, "verified_claims", counted)

    async def let_in(self, token: bytes) -> bool:
        """Whether a token is good."""
        try:
            await self.authenticator.identify(Presented((b"Bearer " + token,)))
        except Unauthenticated:
            return False
        return True


@pytest.fixture
def stand(monkeypatch: pytest.MonkeyPatch) -> Stand:
    return Stand(monkeypatch)


LONG = signed(claims(exp=NOW + 3_600))


async def test_a_token_is_verified_once_and_each_other_token_by_itself(stand: Stand) -> None:
    other = LONG[:-4] + (b"AAAA" if LONG[-4:] != b"AAAA" else b"BBBB")

    assert [await stand.let_in(LONG) for _ in range(5)] == [True] * 5
    assert stand.verified == 1
    assert [await stand.let_in(other) for _ in range(2)] == [False] * 2
    assert stand.verified == 3  # a bad one is not kept
    assert await stand.let_in(LONG)


async def test_it_ends_when_it_expires(stand: Stand) -> None:
    short = signed()
    assert await stand.let_in(short)
    stand.now += CLAIMS["exp"] - NOW + SETTING.skew_s
    assert not await stand.let_in(short)


async def test_it_ends_when_its_subject_is_revoked(stand: Stand) -> None:
    assert await stand.let_in(LONG)
    stand.register.revoked.update(stand.register.known.values())
    stand.now += 5
    assert not await stand.let_in(LONG)
    assert stand.verified == 1


@pytest.mark.parametrize(
    "published", [[public(key("two"))], [public(key("another"), kid="one")]], ids=["withdrawn", "replaced"]
)
async def test_it_ends_when_its_key_is_withdrawn_or_replaced_by_one_of_the_same_name(
    stand: Stand, published: list[dict[str, object]]
) -> None:
    assert await stand.let_in(LONG)
    stand.provider.publish(*published)
    stand.now += LATER_S
    assert not await stand.let_in(LONG)


async def test_it_is_verified_anew_with_keys_that_were_fetched_anew(stand: Stand) -> None:
    assert await stand.let_in(LONG)
    stand.now += LATER_S
    assert [await stand.let_in(LONG) for _ in range(3)] == [True] * 3
    assert stand.verified == 2


async def test_so_many_are_kept_and_no_more(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc_authenticator, "KEPT", 2)
    tokens = [signed(claims(sub=f"user-{n}")) for n in range(3)]
    for token in (*tokens, *tokens[1:]):
        assert await stand.let_in(token)
    assert stand.verified == 3
    assert await stand.let_in(tokens[0])
    assert stand.verified == 4
