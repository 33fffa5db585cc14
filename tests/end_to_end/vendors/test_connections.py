"""Calls that end on the line: slow, cut, wrongly framed, too large, sent elsewhere. Who pays is decided by one
question: can the vendor have begun to answer?"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from tests.end_to_end.vendors.adapters import WIRES, adapter, answered, failed, usage_of
from tests.end_to_end.vendors.requests import REPLY, TOLD, a_request
from tests.fixtures.behaviours import Behaviour, Body, Cut, Framed, Raw, Say, Slow, Squeezed, Stage, Status
from tests.fixtures.upstream import upstream
from tests.fixtures.vendors import VENDORS, Wire

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


@pytest.mark.parametrize("stage", ["request", 0, 1, "headers", "body"])
@pytest.mark.parametrize("wire", WIRES)
async def test_a_call_that_is_cut_may_have_been_paid_for(wire: Wire, stage: int | Stage) -> None:
    about = "x" * 3_000_000 if stage == "request" else "x"
    async with upstream(Cut(stage, Say(TOLD))) as up, adapter(wire, up.url) as made:
        ended = await failed(made, a_request(about=about))

    assert (ended.reason, ended.retry, ended.billable) == ("connectionCut", True, True), ended.detail
    assert ended.answer is None or ended.answer.raw_usage is None
    assert len(up.calls) == 1, "an attempt is one request: what the transport sends again is not recorded and not paid"


@pytest.mark.parametrize(
    "behaviour",
    [
        Framed(declared=100, inner=Say(TOLD)),
        Cut(-1, Framed("chunked", inner=Say(TOLD))),
        Framed("unended", inner=Say(TOLD)),
    ],
    ids=["length too long", "chunk cut", "chunks without end"],
)
@pytest.mark.parametrize("wire", WIRES)
async def test_a_body_that_does_not_end_is_a_cut(wire: Wire, behaviour: Behaviour) -> None:
    async with upstream(behaviour) as up, adapter(wire, up.url) as made:
        ended = await failed(made)

    assert (ended.reason, ended.retry, ended.billable) == ("connectionCut", True, True), ended.detail


async def test_a_body_longer_than_declared_is_no_good_answer() -> None:
    async with upstream(Framed(declared=-30, inner=Say(TOLD))) as up, adapter("openai", up.url) as made:
        ended = await failed(made)

    assert ended.billable
    assert ended.reason in ("providerFault", "connectionCut")


@pytest.mark.parametrize("wire", WIRES)
async def test_after_a_cut_the_next_call_goes_through(wire: Wire) -> None:
    async with upstream(Say(TOLD)) as up, adapter(wire, up.url) as made:
        up.play(Say(TOLD), Cut("body"), Say(TOLD), Cut(0))
        await answered(made)
        await failed(made)
        await answered(made)
        await failed(made)
        assert json.loads((await answered(made)).text) == REPLY


@pytest.mark.parametrize(
    "behaviour", [Slow(30), Slow(0.3, Say(TOLD), slices=40)], ids=["no answer", "a little at a time"]
)
@pytest.mark.parametrize("wire", WIRES)
async def test_a_vendor_that_takes_too_long_may_have_been_paid(wire: Wire, behaviour: Behaviour) -> None:
    async with upstream(behaviour) as up, adapter(wire, up.url, call_timeout_s=1) as made:
        ended = await failed(made)

    assert (ended.reason, ended.retry, ended.billable) == ("timeout", True, True), ended.detail


def _closed_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


@contextmanager
def _port_that_does_not_accept() -> Iterator[int]:
    """A port whose queue of connections is full, so that the next one waits."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        yield int(full.getsockname()[1])
        for one in waiting:
            one.close()


@pytest.mark.parametrize("wire", WIRES)
async def test_a_connection_that_is_refused_costs_nothing(wire: Wire) -> None:
    async with adapter(wire, f"http://127.0.0.1:{_closed_port()}") as made:
        ended = await failed(made)

    assert (ended.reason, ended.retry, ended.billable) == ("connectionCut", True, False), ended.detail


@pytest.mark.parametrize("wire", WIRES)
async def test_a_vendor_that_cannot_be_reached_costs_nothing(wire: Wire) -> None:
    with _port_that_does_not_accept() as port:
        async with adapter(wire, f"http://127.0.0.1:{port}", connect_timeout_s=1) as made:
            ended = await failed(made)

    assert (ended.retry, ended.billable) == (True, False), ended.detail
    assert ended.reason in ("timeout", "connectionCut")


@pytest.mark.parametrize("wire", WIRES)
async def test_a_vendor_without_the_right_certificate_is_told_nothing(wire: Wire) -> None:
    async with upstream() as up, adapter(wire, up.url.replace("http:", "https:")) as made:
        ended = await failed(made)

    assert (ended.reason, ended.retry, ended.billable) == ("connectionCut", True, False), ended.detail
    assert not up.calls


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("wire", WIRES)
async def test_a_redirect_takes_the_key_nowhere(wire: Wire, status: int) -> None:
    async with upstream(Say(TOLD)) as elsewhere, upstream() as up:
        up.otherwise = Status(status, b"", {"location": elsewhere.url + VENDORS[wire].path})
        async with adapter(wire, up.url) as made:
            ended = await failed(made)

    assert (ended.reason, len(up.calls), len(elsewhere.calls)) == ("providerFault", 1, 0)
    assert "points to another address, and nothing is sent there; correct base_url or path" in ended.detail


MEGABYTE = 1_000_000


@pytest.mark.parametrize("wire", WIRES)
async def test_a_reply_of_a_megabyte_is_read_and_charged_by_its_usage(wire: Wire) -> None:
    text = json.dumps({"thesis": "x" * MEGABYTE})
    async with upstream(Say(text)) as up, adapter(wire, up.url) as made:
        answer = await answered(made)

    assert answer.text == text
    usage = usage_of(wire, answer)
    assert usage is not None
    assert usage.output == up.billed.output > 200_000


@pytest.mark.parametrize(
    "behaviour",
    [
        Say("x" * 5 * MEGABYTE),
        Framed("chunked", inner=Say("x" * 5 * MEGABYTE)),
        Squeezed("gzip", Say("x" * 60 * MEGABYTE)),
        Body(b"[" * 5 * MEGABYTE),
        Raw(HEAD + b"content-length: 99999999999\r\n\r\n" + b" " * 5 * MEGABYTE),
    ],
    ids=["length", "chunked", "gzip bomb", "brackets", "declared too long"],
)
@pytest.mark.parametrize("wire", WIRES)
async def test_an_answer_beyond_the_cap_is_not_read(wire: Wire, behaviour: Behaviour) -> None:
    async with upstream(behaviour) as up, adapter(wire, up.url) as made:
        ended = await failed(made)

    assert (ended.reason, ended.retry, ended.billable) == ("providerFault", True, True), ended.detail
    assert ended.answer is None or ended.answer.raw_usage is None


@cache
def _bomb(megabytes: int) -> bytes:
    """A few bytes that unpack to many, made without ever having the many."""
    packing = zlib.compressobj(wbits=31)
    return b"".join(packing.compress(b" " * MEGABYTE) for _ in range(megabytes)) + packing.flush()


@pytest.mark.parametrize("wire", WIRES)
async def test_a_few_bytes_cannot_fill_the_memory(wire: Wire) -> None:
    bomb = _bomb(60)
    head = HEAD + b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(bomb)
    async with upstream(Raw(head + bomb)) as up, adapter(wire, up.url) as made:
        tracemalloc.start()
        try:
            ended = await failed(made)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert (ended.reason, ended.billable) == ("providerFault", True)
    assert peak < 30 * MEGABYTE


@pytest.mark.parametrize(
    "squeezed",
    [gzip.compress(TOLD.encode())[:-12], b"not gzip at all", b""],
    ids=["cut", "none", "empty"],
)
@pytest.mark.parametrize("wire", WIRES)
async def test_a_body_that_cannot_be_unpacked_is_the_vendors_fault(wire: Wire, squeezed: bytes) -> None:
    head = HEAD + b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(squeezed)
    async with upstream(Raw(head + squeezed)) as up, adapter(wire, up.url) as made:
        ended = await failed(made)

    assert ended.reason in ("providerFault", "connectionCut"), ended.detail
    assert (ended.retry, ended.billable) == (True, True)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\r\n",
        b"HTTP/1.1\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 999 What\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        HEAD + b"content-length: -1\r\n\r\n{}",
        HEAD + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}",
        HEAD + b"a: " + b"x" * 200_000 + b"\r\n\r\n",
        HEAD + b"".join(b"a%d: x\r\n" % n for n in range(5_000)) + b"\r\n",
        HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        b"\x00" * 100,
        b"\xff" * 10_000,
    ],
)
@pytest.mark.parametrize("wire", WIRES)
async def test_what_is_no_http_is_a_failure_and_nothing_worse(wire: Wire, sent: bytes) -> None:
    async with upstream(Raw(sent)) as up, adapter(wire, up.url) as made:
        ended = await failed(made)

    assert ended.reason in ("connectionCut", "providerFault", "overload")
    assert (ended.retry, ended.billable) == (True, True), ended.detail


@pytest.mark.parametrize("wire", WIRES)
async def test_a_call_that_is_called_off_leaves_nothing_behind(wire: Wire) -> None:
    async with upstream(Slow(30)) as up, adapter(wire, up.url) as made:
        call = asyncio.create_task(made.send(made.encode(a_request())))
        await up.asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        up.otherwise = Say(TOLD)
        assert (await answered(made)).text == TOLD
