"""One attempt: the address that was checked is the address that is asked, and TLS is verified for the URL's name."""

from __future__ import annotations

import asyncio
import gc
import gzip
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from service.delivering import resolving, sender
from service.delivering.addresses import AddressRefused, AddressRules, read_networks
from service.delivering.resolving import LookupFailed, Resolver
from service.delivering.sender import Sender
from service.delivering.sent import Sent
from tests.fixtures.certificates import Authority
from tests.fixtures.receivers import Received, Receiver, answering, receiving
from tests.store.workers import until

HERE = AddressRules(read_networks(["127.0.0.0/8"]), allow_http=True, ports=())
STRICT = AddressRules(ports=())
HEADERS = {"webhook-id": "msg_1"}


class Names(Resolver):
    """A name server of a test: each look-up of any name takes the next answer, and the last one stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        super().__init__()
        self.answers = list(answers)
        self.asked: list[str] = []

    async def look_up(self, host: str, port: int, tenant: str, receiver: str) -> Sequence[str]:
        """The next answer."""
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


async def send(url: str, names: Resolver | None = None, rules: AddressRules = HERE, timeout_s: float = 5.0) -> Sent:
    made = Sender(names)
    try:
        return await made.send(url, HEADERS, b"{}", rules=rules, timeout_s=timeout_s, tenant="t")
    finally:
        made.close()


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver that takes everything."""
    async with receiving() as found:
        yield found


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Authority]:
    """The deployment's own issuer."""
    made = Authority(tmp_path)
    monkeypatch.setenv("GAINSAY_CA_FILE", str(made.path))
    sender._trusted.cache_clear()
    yield made
    sender._trusted.cache_clear()


async def test_the_name_is_looked_up_once_and_its_answer_is_the_address_that_is_asked(receiver: Receiver) -> None:
    names = Names(["127.0.0.1"], ["10.0.0.1"])

    sent = await send(f"http://hooks.example:{receiver.port}/x", names)

    assert (sent.taken, sent.asked, names.asked) == (True, "127.0.0.1", ["hooks.example"])
    assert receiver.got[0].headers["host"] == f"hooks.example:{receiver.port}"


async def test_a_name_that_has_changed_its_address_since_it_was_checked_is_refused(receiver: Receiver) -> None:
    names = Names(["8.8.8.8"], ["127.0.0.1"])
    made = Sender(names)
    url = f"https://hooks.example:{receiver.port}/x"

    await made.check(url, STRICT, "t", 1.0)
    sent = await made.send(url, HEADERS, b"{}", rules=STRICT, timeout_s=5.0, tenant="t")
    made.close()

    assert (sent.refused, sent.asked, receiver.got) == (True, None, [])
    assert "an address of the name is none of the public internet" in sent.reason


async def test_a_redirect_to_a_name_with_an_inner_address_is_refused(receiver: Receiver) -> None:
    receiver.behave = answering(307, location=f"http://other.example:{receiver.port}/")
    names = Names(["127.0.0.1"], ["127.0.0.1", "10.1.2.3"])

    sent = await send(f"http://hooks.example:{receiver.port}/x", names)

    assert sent.refused
    assert "an address of the name is in no network" in sent.reason
    assert "10.1.2.3" not in sent.reason
    assert len(receiver.got) == 1


@pytest.mark.parametrize("inner", ["10.1.2.3", "169.254.169.254", "fd00::1", "::ffff:10.1.2.3"])
async def test_an_inner_address_is_named_where_the_url_has_it_and_else_nowhere(
    inner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, hidden = f"https://[{inner}]/" if ":" in inner else f"https://{inner}/", "https://hooks.example/"
    made = Sender(Names([inner]))
    said = [(await made.send(hidden, HEADERS, b"{}", rules=STRICT, timeout_s=5.0, tenant="t")).reason]
    with pytest.raises(AddressRefused) as refused:
        await made.check(hidden, STRICT, "t", 1.0)
    said.append(str(refused.value))
    monkeypatch.setattr(sender, "check_resolved", lambda found, *_: found)  # the socket's own check
    said.append((await made.send(hidden, HEADERS, b"{}", rules=STRICT, timeout_s=5.0, tenant="t")).reason)
    shown = (await made.send(named, HEADERS, b"{}", rules=STRICT, timeout_s=5.0, tenant="t")).reason
    made.close()

    assert f"the address {ip_address(inner)} is" in shown
    for text in said:
        assert text
        assert inner not in text
        assert str(ip_address(inner)) not in text


async def test_the_socket_itself_is_checked_whatever_led_to_its_address(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the check of the look-up were forgotten."""
    monkeypatch.setattr(sender, "check_resolved", lambda found, *_: found)

    sent = await send(f"https://hooks.example:{receiver.port}/x", Names(["127.0.0.1"]), STRICT)

    assert receiver.got == []
    assert not sent.taken
    assert sent.asked is None


async def test_a_name_without_an_address_fails_and_may_be_registered() -> None:
    class Nowhere(Resolver):
        async def look_up(self, host: str, port: int, tenant: str, receiver: str) -> Sequence[str]:
            raise LookupFailed(f"the name {host} has no address")

    made = Sender(Nowhere())
    await made.check("https://later.example/", STRICT, "t", 1.0)
    with pytest.raises(AddressRefused):
        await made.check("https://127.0.0.1/", STRICT, "t", 1.0)
    sent = await made.send("https://later.example/", HEADERS, b"{}", rules=STRICT, timeout_s=5.0, tenant="t")
    made.close()

    assert (sent.refused, sent.reason) == (False, "the name later.example has no address")


async def test_a_receiver_behind_an_own_issuer_is_trusted_for_its_own_name_alone(authority: Authority) -> None:
    async with receiving(tls=authority.server("hooks.example")) as receiver:
        names = Names(["127.0.0.1"])

        right = await send(f"https://hooks.example:{receiver.port}/x", names)
        wrong = await send(f"https://other.example:{receiver.port}/x", names)

        assert right.taken
        assert wrong.reason.startswith("the certificate is not trusted: Hostname mismatch")
        assert len(receiver.got) == 1


async def test_an_expired_certificate_and_one_of_a_stranger_fail_with_their_reason(
    authority: Authority, tmp_path: Path
) -> None:
    stranger = Authority(tmp_path, "stranger")
    contexts = {
        "certificate has expired": authority.server("127.0.0.1", expired=True),
        "unable to get local issuer certificate": stranger.server("127.0.0.1"),
    }
    for why, context in contexts.items():
        async with receiving(tls=context) as receiver:
            sent = await send(receiver.url)

            assert sent.reason == f"the certificate is not trusted: {why}"
            assert receiver.got == []


async def test_http_where_tls_is_expected_and_the_other_way_round_fail(
    authority: Authority, receiver: Receiver
) -> None:
    async with receiving(tls=authority.server("127.0.0.1")) as secure:
        plain = await send(f"http://127.0.0.1:{secure.port}/")
        clear = await send(f"https://127.0.0.1:{receiver.port}/", timeout_s=1.0)

        assert not plain.taken
        assert not clear.taken
        assert secure.got == receiver.got == []


async def test_no_proxy_and_no_password_of_the_environment_is_used(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with receiving() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        netrc = tmp_path / "netrc"
        netrc.write_text("machine 127.0.0.1 login a password hunter2\n")
        monkeypatch.setenv("NETRC", str(netrc))

        assert (await send(receiver.url)).taken

        assert proxy.got == []
        assert set(receiver.got[0].headers) == {
            *("host", "content-type", "user-agent", "accept-encoding", "content-length", "webhook-id", "connection"),
        } - ({"connection"} if "connection" not in receiver.got[0].headers else set())


async def test_a_refused_connection_has_its_reason() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    sent = await send(f"http://127.0.0.1:{port}/hunter2")

    assert sent.reason == "no connection: Connection refused"
    assert "hunter2" not in sent.reason


async def test_a_packed_bomb_is_not_unpacked(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(bytes(20_000_000))

    async def bombing(_: Received, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {len(packed)}\r\n\r\n"
        writer.write(head.encode() + packed)
        await writer.drain()

    async def looking(answer: aiohttp.ClientResponse) -> None:
        begins.append(await answer.content.readexactly(2))
        await drop(answer)

    begins, drop = list[bytes](), sender._drop
    monkeypatch.setattr(sender, "_drop", looking)
    receiver.behave = bombing

    assert (await send(receiver.url)).taken
    assert begins == [packed[:2]]


def _idle(resolver: Resolver) -> Callable[[], Awaitable[bool]]:
    async def idle() -> bool:
        await asyncio.sleep(0.01)
        return not resolver._going

    return idle


class Stuck:
    """Look-ups of names that end in .stuck end when the test lets them; ``asked`` are those that were begun."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gate, self.asked = asyncio.Event(), list[str]()
        self._loop = asyncio.get_running_loop()
        monkeypatch.setattr(resolving, "_addresses", self._addresses)

    def _addresses(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if host.endswith(".stuck"):
            asyncio.run_coroutine_threadsafe(self.gate.wait(), self._loop).result()
        return ["8.8.8.8"]


async def _given_up(resolver: Resolver, names: Sequence[str], tenant: str, receiver: str | None = None) -> None:
    """Attempts that look names up until they are over; the threads of those that were begun are still busy."""
    waiting = [asyncio.create_task(resolver.look_up(name, 443, tenant, receiver or name)) for name in names]
    await asyncio.sleep(0.05)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_look_ups_of_one_name_are_shared_and_keep_no_other_name_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck, resolver = Stuck(monkeypatch), Resolver()
    await _given_up(resolver, ["a.stuck"] * 4, "t")
    await _given_up(resolver, ["a.stuck"] * 40, "t")

    assert await resolver.look_up("hooks.example", 443, "t", "hooks.example") == ["8.8.8.8"]
    assert stuck.asked == ["a.stuck", "hooks.example"]
    stuck.gate.set()
    await until(_idle(resolver))
    resolver.close()


async def test_a_receiver_that_leads_to_many_names_waits_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck, resolver = Stuck(monkeypatch), Resolver()
    await _given_up(resolver, [f"{i}.stuck" for i in range(2 * resolving.PER_TENANT)], "t", "hostile.example")

    assert await resolver.look_up("hooks.example", 443, "t", "hooks.example") == ["8.8.8.8"]
    assert stuck.asked == ["0.stuck", "hooks.example"]
    stuck.gate.set()
    await until(_idle(resolver))
    resolver.close()


async def test_look_ups_of_one_tenant_leave_threads_to_others_and_its_own_wait_for_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stuck, resolver = Stuck(monkeypatch), Resolver()
    await _given_up(resolver, [f"{i}.stuck" for i in range(resolving.THREADS)], "hostile")

    waiting = asyncio.create_task(resolver.look_up("hooks.example", 443, "hostile", "hooks.example"))
    assert await resolver.look_up("hooks.example", 443, "other", "hooks.example") == ["8.8.8.8"]
    assert len(resolver._going) == resolving.PER_TENANT
    assert not waiting.done()

    stuck.gate.set()
    assert await waiting == ["8.8.8.8"]
    await until(_idle(resolver))
    gc.collect()
    assert not resolver._places, "places are kept of those that take none"
    resolver.close()


async def test_a_look_up_that_fails_after_its_attempt_puts_no_traceback_into_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate, loop, said = asyncio.Event(), asyncio.get_running_loop(), list[dict[str, Any]]()

    def failing(host: str, port: int) -> list[str]:
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result()
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    monkeypatch.setattr(resolving, "_addresses", failing)
    loop.set_exception_handler(lambda _loop, context: said.append(context))
    resolver = Resolver()
    waiting = asyncio.create_task(resolver.look_up("stuck.example", 443, "t", "stuck.example"))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    gate.set()
    await until(_idle(resolver))
    del waiting
    gc.collect()
    resolver.close()

    assert said == []


async def test_the_system_looks_names_up() -> None:
    resolver = Resolver()
    found = await resolver.look_up("localhost", 443, "t", "localhost")
    resolver.close()

    assert {"127.0.0.1", "::1"} & set(found)
