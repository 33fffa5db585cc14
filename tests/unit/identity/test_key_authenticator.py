"""Who comes in with an API key: what is refused before the register is asked, and how old an answer may be."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import GainsayError, Overloaded, StoreUnavailable, Unauthenticated
from service.identity import answer_cache
from service.identity.answer_cache import ANSWER_S, AT_ONCE, TRUSTED_S, WAITING, AnswerCache
from service.identity.api_keys import hash_key, write_key
from service.identity.authentication import LocalAuthenticator, Presented
from service.identity.bearer import BYTES_MAX, bearer_token
from service.identity.caller import LOCAL, Caller
from service.identity.combination import CombinedAuthenticator
from service.identity.key_authenticator import USED_EVERY_S, KeyAuthenticator, caller_of
from service.store.identity_register import FoundKey

KEY = write_key(bytes(range(32)))
SUBJECT, ID = "sub_00041061050r3gg28a1c60t3gf", "key_00041061050r3gg28a1c60t3gf"
FOUND = FoundKey(ID, "bank", SUBJECT, "service", ("requester",), None)


@dataclass
class Register:
    """The registers, in memory: which keys they have, what they were asked, and whether they answer."""

    keys: dict[bytes, FoundKey] = field(default_factory=lambda: {hash_key(KEY.encode()): FOUND})
    asked: list[bytes] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    away: bool = False
    now: float = 1_000.0

    async def find_key(self, hash: bytes) -> FoundKey | None:
        self.asked.append(hash)
        await asyncio.sleep(0)
        if self.away:
            raise StoreUnavailable("the database is away")
        return self.keys.get(hash)

    async def still(self, subject: str, key: str) -> bool:
        self.asked.append(key.encode())
        if self.away:
            raise StoreUnavailable("the database is away")
        return any((found.subject, found.id) == (subject, key) for found in self.keys.values())

    async def key_used(self, key: str) -> None:
        if self.away:
            raise StoreUnavailable("the database is away")
        self.used.append(key)

    def clock(self) -> float:
        return self.now


def presented(*authorization: bytes, **headers: str) -> Presented:
    return Presented(authorization, [(name.encode(), value.encode()) for name, value in headers.items()], "10.0.0.1")


WITH_KEY = presented(f"Bearer {KEY}".encode())


def stranger(n: int) -> Presented:
    """A request with a well-formed key that the register does not have."""
    return presented(b"Bearer " + write_key(n.to_bytes(32)).encode())


async def refused(asked: Awaitable[Caller]) -> Unauthenticated:
    with pytest.raises(Unauthenticated) as refusal:
        await asked
    return refusal.value


async def test_a_key_is_its_subject_in_its_tenant() -> None:
    found = await KeyAuthenticator(Register()).identify(WITH_KEY)

    assert found == Caller("bank", SUBJECT, "requester", "service", "apiKey", ("requester",), None, ID)


@pytest.mark.parametrize(
    ("found", "roles", "scopes", "tenant"),
    [
        (FoundKey(ID, None, SUBJECT, "service", ("administrator",), None), ("administrator",), None, "gainsay"),
        # Rows that no statement of ours writes: what does not belong together grants nothing.
        (FoundKey(ID, None, SUBJECT, "service", ("auditor", "scrape"), None), ("scrape",), None, "gainsay"),
        (FoundKey(ID, "bank", SUBJECT, "service", ("administrator",), None), (), None, "bank"),
        # What a later version granted grants nothing here.
        (FoundKey(ID, "bank", SUBJECT, "person", ("approver", "auditor"), ("approve",)), ("auditor",), set(), "bank"),
    ],
)
def test_a_row_grants_no_more_than_this_version_knows(
    found: FoundKey, roles: tuple[str, ...], scopes: set[str] | None, tenant: str
) -> None:
    caller = caller_of(found)

    assert (caller.roles, caller.scopes, caller.tenant) == (roles, scopes, tenant)
    assert not caller.may("case.read")


HOSTILE = {
    "two headers": presented(f"Bearer {KEY}".encode(), f"Bearer {KEY}".encode()),
    "another scheme": presented(f"Basic {KEY}".encode()),
    "no scheme": presented(KEY.encode()),
    "no key": presented(b"Bearer "),
    "an empty header": presented(b""),
    "a megabyte": presented(b"Bearer " + KEY.encode() * 18_400),
    "not ASCII": presented("Bearer gainsay_üüü".encode()),
    "a zero byte": presented(b"Bearer " + KEY.encode()[:30] + b"\0" + KEY.encode()[31:]),
    "two keys": presented(f"Bearer {KEY} {KEY}".encode()),
    "a comma": presented(f"Bearer {KEY}, Bearer {KEY}".encode()),
    "a line break": presented(f"Bearer {KEY}\r\nX: y".encode()),
    "another checksum": presented(f"Bearer {KEY[:-1]}0".encode()),
    "a part": presented(f"Bearer {KEY[:-1]}".encode()),
    "in another header": presented(**{"x-api-key": KEY}),
    "nothing": presented(),
}


@pytest.mark.parametrize("what", HOSTILE)
async def test_what_is_no_key_is_refused_before_the_register_is_asked(what: str) -> None:
    register = Register()

    refusal = await refused(KeyAuthenticator(register).identify(HOSTILE[what]))

    assert register.asked == []
    assert refusal.presented == (what not in ("nothing", "in another header"))
    assert KEY[10:40] not in refusal.detail


@given(header=st.binary(max_size=300) | st.from_regex(rb"(?i)bearer +[ -~]{0,80} *", fullmatch=True))
def test_whatever_a_header_holds_is_a_token_or_refused(header: bytes) -> None:
    try:
        token = bearer_token(presented(header))
    except Unauthenticated:
        return
    assert token
    assert b" " not in token
    assert token in header


def test_the_longest_header_is_read_and_no_longer_one() -> None:
    assert bearer_token(presented(b"bEaReR  " + b"x" * (BYTES_MAX - 8))) == b"x" * (BYTES_MAX - 8)
    with pytest.raises(Unauthenticated, match=f"of {BYTES_MAX + 1} bytes"):
        bearer_token(presented(b"Bearer " + b"x" * (BYTES_MAX - 6)))


async def test_a_stranger_does_not_learn_why_a_key_is_refused() -> None:
    register = Register()
    authenticator = KeyAuthenticator(register, register.clock)
    unknown = await refused(authenticator.identify(stranger(1)))
    await authenticator.identify(WITH_KEY)
    register.keys.clear()  # revoked, expired, of a revoked subject: the register has no row for any of them
    register.now += TRUSTED_S

    revoked = await refused(authenticator.identify(WITH_KEY))

    assert (revoked.detail, revoked.presented) == (unknown.detail, True)


async def test_an_answer_is_used_for_two_seconds_and_asked_again_then() -> None:
    register = Register()
    authenticator = KeyAuthenticator(register, register.clock)
    for _ in range(5):
        await authenticator.identify(WITH_KEY)
        await refused(authenticator.identify(stranger(1)))
        assert await authenticator.still(caller_of(FOUND))
    assert len(register.asked) == 3
    register.keys.clear()
    register.now += TRUSTED_S - 0.01
    await authenticator.identify(WITH_KEY)
    assert await authenticator.still(caller_of(FOUND))

    register.now += 0.01
    await refused(authenticator.identify(WITH_KEY))

    assert not await authenticator.still(caller_of(FOUND))
    assert TRUSTED_S + ANSWER_S < 5


async def test_while_the_database_is_away_no_caller_is_let_in() -> None:
    register = Register()
    authenticator = KeyAuthenticator(register, register.clock)
    await authenticator.identify(WITH_KEY)
    register.away = True
    register.now += TRUSTED_S

    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await authenticator.identify(WITH_KEY)
        with pytest.raises(StoreUnavailable):
            await authenticator.still(caller_of(FOUND))
    register.away = False

    assert (await authenticator.identify(WITH_KEY)).subject == SUBJECT


async def test_a_register_that_never_answers_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_cache, "ANSWER_S", 0.05)

    async def never(_: str) -> bool:
        await asyncio.Event().wait()
        return True

    with pytest.raises(StoreUnavailable, match="did not answer"):
        await AnswerCache(never).answer("key")


async def test_many_requests_with_one_key_ask_once_and_one_that_leaves_takes_no_answer_away() -> None:
    register = Register()
    authenticator = KeyAuthenticator(register, register.clock)
    waiting = [asyncio.create_task(authenticator.identify(WITH_KEY)) for _ in range(50)]
    await asyncio.sleep(0)
    waiting[0].cancel()

    found = await asyncio.gather(*waiting, return_exceptions=True)

    assert len(register.asked) == 1
    assert isinstance(found[0], asyncio.CancelledError)
    assert {one.subject for one in found[1:] if isinstance(one, Caller)} == {SUBJECT}


async def held(answers: AnswerCache[int, str], asked: Callable[[], int]) -> list[asyncio.Task[str | None]]:
    """Strangers of whom more wait than may."""
    tasks = [asyncio.create_task(answers.answer(-1 - n)) for n in range(AT_ONCE + WAITING + 5)]
    for _ in range(10):
        await asyncio.sleep(0)
    assert asked() == AT_ONCE
    return tasks


async def test_strangers_wait_for_one_another_and_not_known_callers_for_them() -> None:
    gate, asked, now = asyncio.Event(), [0], [1_000.0]

    async def ask(question: int) -> str | None:
        if question >= 0:
            return "known"
        asked[0] += 1
        await gate.wait()
        return None

    answers = AnswerCache(ask, clock=lambda: now[0])
    assert await answers.answer(1) == "known"
    now[0] += 10
    tasks = await held(answers, lambda: asked[0])

    assert await answers.answer(1) == "known"  # asked again, while every stranger waits
    refusals = [task for task in tasks if task.done()]
    assert [type(task.exception()) for task in refusals] == [Overloaded] * 5
    gate.set()
    rest = await asyncio.gather(*(task for task in tasks if task not in refusals))
    assert rest == [None] * (AT_ONCE + WAITING)
    assert asked[0] == AT_ONCE + WAITING


async def test_a_stranger_that_gets_no_turn_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_cache, "ANSWER_S", 0.05)
    monkeypatch.setattr(answer_cache, "AT_ONCE", 1)

    async def never(_: str) -> bool:
        await asyncio.Event().wait()
        return True

    answers = AnswerCache(never)
    found = await asyncio.gather(*(answers.answer(name) for name in "abc"), return_exceptions=True)

    assert [type(one) for one in found] == [StoreUnavailable, Overloaded, Overloaded]


async def test_no_number_of_strangers_grows_what_is_kept_or_drops_a_known_caller() -> None:
    asked: list[int] = []

    async def ask(question: int) -> str | None:
        asked.append(question)
        return "known" if question < 3 else None

    answers = AnswerCache(ask, clock=lambda: 0.0, kept=10)
    for question in range(200):
        await answers.answer(question)
    asked.clear()

    for question in range(3):
        assert await answers.answer(question) == "known"
    assert asked == []
    assert len(answers._bad) == 10
    for question in (0, 1, 2):
        await answers.answer(question)
    assert len(answers._good) <= 10
    assert not answers._asked


async def test_the_last_use_is_written_once_a_minute_and_delays_no_request() -> None:
    register = Register()
    authenticator = KeyAuthenticator(register, register.clock)
    for _ in range(3):
        await authenticator.identify(WITH_KEY)
        register.now += TRUSTED_S
    await asyncio.sleep(0)
    assert register.used == [ID]
    register.now += USED_EVERY_S

    await authenticator.identify(WITH_KEY)
    await asyncio.sleep(0)

    assert register.used == [ID, ID]
    await authenticator.close()


async def test_a_use_that_cannot_be_written_is_written_the_next_time() -> None:
    register = Register()
    authenticator = KeyAuthenticator(register, register.clock)
    await authenticator.identify(WITH_KEY)
    register.away = True  # before the task has run
    await asyncio.sleep(0)
    assert register.used == []
    register.away = False

    await authenticator.identify(WITH_KEY)
    await asyncio.sleep(0)

    assert register.used == [ID]


class Way:
    """An authenticator that says which way a request went."""

    configured = True

    def __init__(self, subject: str) -> None:
        self._subject = subject

    async def identify(self, presented: Presented) -> Caller:
        return Caller(subject=self._subject)

    async def still(self, caller: Caller) -> bool:
        return caller.subject == self._subject


async def test_each_request_goes_one_way() -> None:
    every = CombinedAuthenticator(keys=Way("keys"), tokens=Way("tokens"), proxy=Way("proxy"))

    assert (await every.identify(WITH_KEY)).subject == "keys"
    assert (await every.identify(presented(b"Bearer eyJhbGciOiJSUzI1NiJ9.e30.AA"))).subject == "tokens"
    assert (await every.identify(presented())).subject == "proxy"
    assert (await every.identify(presented(b"Bearer gainsay_x"))).subject == "keys"  # an API key goes to no other
    await refused(every.identify(presented(b"Basic eDp5")))  # and no proxy is asked in its place


async def test_a_way_that_is_not_configured_is_closed() -> None:
    keys = CombinedAuthenticator(keys=Way("keys"))
    proxy = CombinedAuthenticator(proxy=Way("proxy"))

    assert (
        "expected an API key of this service, found another"
        in (await refused(keys.identify(presented(b"Bearer x")))).detail
    )
    nothing = await refused(keys.identify(presented()))
    assert (nothing.presented, "found no such header" in nothing.detail) == (False, True)
    await refused(proxy.identify(WITH_KEY))
    assert not await proxy.still(Caller(subject="keys", via="apiKey"))
    assert not await keys.still(LOCAL)
    assert await keys.still(Caller(subject="keys", via="apiKey"))


async def test_without_identities_every_caller_is_local() -> None:
    local = LocalAuthenticator()

    assert (await local.identify(WITH_KEY), await local.identify(presented()), local.configured) == (
        LOCAL,
        LOCAL,
        False,
    )
    assert await local.still(LOCAL)


def test_a_refusal_is_an_error_of_ours() -> None:
    assert issubclass(Unauthenticated, GainsayError)
