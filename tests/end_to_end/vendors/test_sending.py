"""Connections: what goes out, what can have cost something, and what is learned from failures."""

import asyncio
import gc
import gzip
import json
import socket
from pathlib import Path

import pytest

from service.observing.trace_context import OUTGOING
from service.providers.transport import BODY_MAX, _Body
from service.providers.vendor import Vendor
from service.running.provider_port import CallFailed
from tests.end_to_end.vendors.answering import (
    ANTHROPIC,
    FAULT,
    JSON,
    KEY,
    OPENAI,
    OTHER_KEY,
    REPLY,
    a_request,
    completion,
    connected,
    ended,
    failure,
    http,
    message,
    said,
    serving,
    text,
)
from tests.fixtures.secret_files import write_secret
from tests.fixtures.waiting import within


async def test_keys_and_versions_go_into_headers_and_the_body_goes_out_as_it_was_encoded() -> None:
    async with serving(lambda _: http(200, message(text()))) as server, connected(ANTHROPIC, server.port) as made:
        body = made.encode(a_request())
        await made.send(body)

    (asked,) = server.asked
    assert asked["body"] == json.loads(body)
    assert asked["target"] == "/v1/messages?api-version=planted-in-the-query"
    expected = {"x-api-key": KEY, "x-gateway": OTHER_KEY, "anthropic-version": "2023-06-01"}
    assert expected.items() <= asked["headers"].items()
    assert {asked["headers"][name] for name in ("content-type", "accept")} == {"application/json"}


async def test_a_call_is_a_part_of_the_trace_that_it_is_made_in_and_of_none_otherwise() -> None:
    async with serving(lambda _: http(200, message(text()))) as server, connected(ANTHROPIC, server.port) as made:
        body = made.encode(a_request())
        await made.send(body)
        token = OUTGOING.set(traced := f"00-{'a' * 32}-{'b' * 16}-01")
        await made.send(body)
        OUTGOING.reset(token)

    outside, inside = server.asked
    assert "traceparent" not in outside["headers"]
    assert inside["headers"]["traceparent"] == traced
    assert inside["body"] == outside["body"]


async def test_a_header_of_the_setting_goes_before_our_own() -> None:
    headers = {"Anthropic-Version": "2026-10-21", "X-Team": "risk"}
    async with (
        serving(lambda _: http(200, message(text()))) as server,
        connected(ANTHROPIC, server.port, headers=headers, auth="bearer", path="/messages") as made,
    ):
        await made.send(made.encode(a_request()))

    (asked,) = server.asked
    assert asked["target"].startswith("/messages?")
    assert (asked["headers"]["anthropic-version"], asked["headers"]["x-team"]) == ("2026-10-21", "risk")
    assert asked["headers"]["authorization"] == f"Bearer {KEY}"


async def test_connections_are_kept_cookies_are_not_and_redirects_are_not_followed() -> None:
    async with (
        serving(lambda _: http(302, {}, location="/elsewhere", set_cookie="a=b; Path=/")) as server,
        connected(OPENAI, server.port) as made,
    ):
        for _ in range(3):
            assert said(await failure(made)) == ("providerFault", False, False, None)

    assert server.connections == 1
    assert len(server.asked) == 3
    assert not [asked for asked in server.asked if "cookie" in asked["headers"]]


@pytest.mark.parametrize("size", [300_000, 6_000_000])
async def test_a_long_body_goes_out_in_pieces_with_its_length(size: int) -> None:
    async with serving(lambda _: http(200, completion())) as server, connected(OPENAI, server.port) as made:
        body = made.encode(a_request("x" * size))
        await made.send(body)

    (asked,) = server.asked
    assert asked["headers"]["content-length"] == str(len(body))
    assert "transfer-encoding" not in asked["headers"]
    assert asked["body"] == json.loads(body)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (http(200, completion("x" * 4_000_000)), "longer than"),
        (http(200, gzip.compress(b" " * 50_000_000), content_encoding="gzip"), "longer than"),
        (http(200, gzip.compress(json.dumps(completion()).encode())[:-9], content_encoding="gzip"), "to its end"),
        (http(200, b"not packed at all", content_encoding="gzip"), "cannot be unpacked"),
        (http(200, completion(), content_encoding="br"), "not asked for"),
    ],
)
async def test_a_body_that_cannot_be_taken_is_a_fault_of_the_provider(answer: bytes, why: str) -> None:
    failed = await ended(OPENAI, answer)

    assert isinstance(failed, CallFailed)
    assert (failed.reason, failed.retry, failed.billable) == FAULT
    assert why in failed.detail


def test_a_body_is_unpacked_no_further_than_it_may_be_long() -> None:
    body = _Body("gzip")

    wanted = body.take(gzip.compress(bytes(100_000_000)))

    assert not wanted
    assert sum(len(chunk) for chunk in body._chunks) <= BODY_MAX + 1
    assert body.whole() == b""


async def test_a_packed_body_is_unpacked() -> None:
    packed = gzip.compress(json.dumps(completion()).encode())

    assert said(await ended(OPENAI, http(200, packed, content_encoding="gzip"))) == ("answer", REPLY)


@pytest.mark.parametrize("answer", [None, b"HTTP/1.1 200 OK\r\ncontent-le", http(200, completion())[:-30]])
async def test_a_connection_that_ends_after_the_request_may_have_cost_something(answer: bytes | None) -> None:
    async with (
        serving(lambda _: answer, last=True) as server,
        connected(OPENAI, server.port) as made,
    ):
        assert said(await failure(made)) == ("connectionCut", True, True, None)
    assert len(server.asked) == 1, "no second try that nobody has recorded"


async def test_nothing_is_billed_where_nothing_was_sent() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    async with connected(OPENAI, port) as made:
        assert said(await failure(made)) == ("connectionCut", True, False, None)
    async with connected(OPENAI, 1, base_url="http://no-such-host.invalid") as made:
        failed = await failure(made)
        assert said(failed) == ("connectionCut", True, False, None)
        assert "name" in failed.detail


async def test_a_server_that_speaks_no_tls_was_sent_nothing() -> None:
    async def speak_plainly(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(http(400, b"what was that?"))
        writer.close()

    server = await asyncio.start_server(speak_plainly, "127.0.0.1", 0)
    async with server, connected(OPENAI, server.sockets[0].getsockname()[1], "https") as made:
        failed = await failure(made)

    assert said(failed) == ("connectionCut", True, False, None)
    assert "TLS" in failed.detail


async def test_a_connection_that_is_not_made_in_time_was_sent_nothing() -> None:
    with socket.socket() as listening:  # it takes the connection, and never the first step of TLS
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        async with connected(OPENAI, listening.getsockname()[1], "https") as made:
            assert said(await failure(made)) == ("timeout", True, False, None)


async def test_a_call_that_takes_too_long_may_have_cost_something() -> None:
    async with (
        serving(lambda _: asyncio.sleep(60, b"")) as server,
        connected(OPENAI, server.port, call_timeout_s=1) as made,
    ):
        assert said(await failure(made)) == ("timeout", True, True, None)
        await within(10, server.gone.wait())


async def test_a_call_that_is_called_off_ends_its_connection() -> None:
    async with serving(lambda _: asyncio.sleep(60, b"")) as server, connected(OPENAI, server.port) as made:
        call = asyncio.create_task(made.send(made.encode(a_request())))
        await within(10, server.came.wait())

        call.cancel()

        with pytest.raises(asyncio.CancelledError):
            await call
        await within(10, server.gone.wait())


async def test_nothing_is_sent_after_the_end_and_nothing_is_left_open() -> None:
    async with serving(lambda _: http(200, completion())) as server, connected(OPENAI, server.port) as made:
        await made.send(made.encode(a_request()))
        await made.close()
        failed = await failure(made)

    assert (failed.retry, failed.billable, len(server.asked)) == (False, False, 1)
    del made
    gc.collect()  # a session that was left open would warn, and a warning is an error


# -- what is learned


@pytest.mark.parametrize("kind", [OPENAI, ANTHROPIC])
async def test_a_limited_rate_holds_the_model_that_it_is_of_and_no_other(kind: str) -> None:
    async with (
        serving(lambda _: http(429, {}, retry_after="40")) as server,
        connected(kind, server.port) as made,
    ):
        failed = await failure(made)
        assert failed.retry_after_s == 40.0
        assert 39.0 < made.backoff_s("m-1") <= 40.0
        assert made.backoff_s("m-2") == 0.0
        assert not made.circuit_open


async def test_an_overloaded_vendor_that_asks_for_a_wait_is_left_alone_as_a_whole() -> None:
    async with (
        serving(lambda _: http(529, {"error": {"type": "overloaded_error"}}, retry_after="40")) as server,
        connected(ANTHROPIC, server.port) as made,
    ):
        assert (await failure(made)).retry_after_s == 40.0
        assert all(39.0 < made.backoff_s(model) <= 40.0 for model in ("m-1", "m-2"))


@pytest.mark.parametrize(
    ("kind", "seen"),
    [
        (OPENAI, ["json_schema", "json_object", "text", "text"]),
        (ANTHROPIC, ["json_schema", "tool", "text", "text"]),
    ],
)
async def test_a_server_that_lacks_a_mode_is_asked_in_the_next_until_none_is_left(kind: str, seen: list[str]) -> None:
    refusal = {"error": {"type": "invalid_request_error", "message": "response_format / tools are not supported"}}
    async with serving(lambda _: http(400, refusal)) as server, connected(kind, server.port) as made:
        failures = [await failure(made) for _ in seen]

    assert [_mode(asked["body"]) for asked in server.asked] == seen
    assert [(f.reason, f.retry, f.billable) for f in failures] == [
        *[("unsupported", True, False)] * 2,
        *[("unsupported", False, False)] * 2,
    ]


def _mode(body: JSON) -> str:
    if "tools" in body:
        return "tool"
    given = body.get("response_format") or body.get("output_config", {}).get("format") or {"type": "text"}
    return str(given["type"])


async def test_a_mode_that_is_fixed_stays() -> None:
    refusal = {"error": {"param": "response_format", "message": "no"}}
    async with (
        serving(lambda _: http(400, refusal)) as server,
        connected(OPENAI, server.port, structured="json_schema") as made,
    ):
        failures = [await failure(made) for _ in range(2)]

    assert [f.retry for f in failures] == [False, False]
    assert [_mode(asked["body"]) for asked in server.asked] == ["json_schema"] * 2


async def test_a_key_that_is_replaced_on_disk_while_a_call_is_refused_is_used_on_the_next_attempt(
    tmp_path: Path,
) -> None:
    file = write_secret(tmp_path / "key", "first-planted-key-000\n")
    keys = iter(("first-planted-key-000\n", "second-planted-key-0\n"))

    def answer(asked: JSON) -> bytes:
        fits = asked["headers"]["authorization"] == "Bearer second-planted-key-0"
        if not fits:
            file.write_text(next(keys))  # after the request went out with the key before
        return http(200, completion()) if fits else http(401, {"error": {"code": "invalid_api_key"}})

    async with serving(answer) as server, connected(OPENAI, server.port, key=f"file:{file}") as made:
        before = await failure(made)
        after = await failure(made)
        answered = await made.send(made.encode(a_request()))

    assert [(f.reason, f.retry, f.billable) for f in (before, after)] == [
        ("refusedKey", False, False),
        ("refusedKey", True, False),
    ]
    assert answered.text == REPLY


async def test_failures_in_a_row_pause_the_provider_and_refusals_do_not() -> None:
    told = [500]
    async with (
        serving(lambda _: http(told[-1], {})) as server,
        connected(OPENAI, server.port, breaker_failures=3, breaker_pause_s=30) as made,
    ):
        for status in (500, 503, 400, 500, 529, 429, 500, 401, 500, 500):
            told.append(status)
            await failure(made)
            assert made.backoff_s("m-1") == 0.0
        told.append(504)
        await failure(made)

        assert made.circuit_open
        assert 29.0 < made.backoff_s("m-1") <= 30.0


async def test_a_probe_that_is_called_off_makes_room_for_another() -> None:
    answers = [http(500, {})]
    async with (
        serving(lambda _: answers.pop() if answers else asyncio.sleep(60, b"")) as server,
        connected(OPENAI, server.port, breaker_failures=1, breaker_pause_s=0) as made,
    ):
        await failure(made)
        server.came.clear()
        probe = asyncio.create_task(made.send(made.encode(a_request())))
        await within(10, server.came.wait())
        during = made.backoff_s("m-1")

        probe.cancel()
        with pytest.raises(asyncio.CancelledError):
            await probe

        assert during > 0.0
        assert made.backoff_s("m-1") == 0.0


async def test_after_a_pause_one_task_at_a_time_is_let_through() -> None:
    async def ask(made: Vendor) -> list[float]:
        return [made.backoff_s("m-1") for _ in range(2)]

    async with (
        serving(lambda _: http(500, {})) as server,
        connected(OPENAI, server.port, breaker_failures=1, breaker_pause_s=0) as made,
    ):
        await failure(made)
        first, second = await asyncio.gather(ask(made), ask(made))

    assert first == [0.0, 0.0]
    assert min(second) > 0.0


# -- through a proxy


async def test_calls_go_through_the_proxy_that_the_setting_names_and_no_variable_chooses_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    async with serving(lambda _: http(200, completion())) as proxy:
        through = f"http://127.0.0.1:{proxy.port}"
        async with connected(OPENAI, 9, proxy=through) as made:
            await made.send(made.encode(a_request()))

    (asked,) = proxy.asked
    assert asked["target"].startswith("http://127.0.0.1:9/chat/completions?")


async def test_a_proxy_that_is_not_there_or_does_not_connect_has_let_nothing_through() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    for proxy in (f"http://127.0.0.1:{port}", "http://127.0.0.1:9"):
        async with connected(OPENAI, 9, "https", proxy=proxy) as made:
            assert said(await failure(made)) == ("connectionCut", True, False, None)
    listening.close()
