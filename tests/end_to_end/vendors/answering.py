"""A server of a few lines on 127.0.0.1 that answers with given bytes, and adapters joined to it."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from service.policy import ProviderSetting
from service.prompts.request import Message, Request
from service.providers.anthropic import Anthropic
from service.providers.openai_compatible import OpenAICompatible
from service.providers.vendor import Vendor
from service.running.provider_port import Answer, CallFailed

JSON = dict[str, Any]
Said = bytes | Awaitable[bytes | None] | None
OPENAI, ANTHROPIC = "openai-compatible", "anthropic"
ADAPTERS: dict[str, type[Vendor]] = {OPENAI: OpenAICompatible, ANTHROPIC: Anthropic}
"""The wires of which these tests have answers, by their kind."""
REPLY = '{"thesis":"x"}'
KEY = "sk-planted-5f2c9a71e4"
OTHER_KEY = "gw-planted-77d01b3c9a"
PLANTED = (KEY, OTHER_KEY, "planted-in-the-query")
FAULT = ("providerFault", True, True)


@dataclass
class Server:
    """What it was sent, and what it answers: bytes as they are, and `None` to end the connection without a word."""

    answer: Callable[[JSON], Said]
    last: bool = False
    port: int = 0
    asked: list[JSON] = field(default_factory=list)
    connections: int = 0
    came: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                first, *lines = head.strip().split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                body = await reader.readexactly(int(headers["content-length"]))
                self.asked.append({"target": first.split()[1], "headers": headers, "body": json.loads(body)})
                self.came.set()
                said = self.answer(self.asked[-1])
                if isinstance(said, Awaitable):
                    waiting = asyncio.ensure_future(said)
                    left = asyncio.ensure_future(reader.read(1))
                    await asyncio.wait([waiting, left], return_when=asyncio.FIRST_COMPLETED)
                    if not waiting.done():
                        waiting.cancel()
                        break
                    left.cancel()
                    said = await waiting
                if said is None:
                    break
                writer.write(said)
                await writer.drain()
                if self.last:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.gone.set()
            writer.close()


@asynccontextmanager
async def serving(
    answer: Callable[[JSON], Said], last: bool = False, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    """A served `Server`, over TLS where that is given; ``last`` ends each connection after its first answer."""
    server = Server(answer, last)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=1 << 24, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        await asyncio.sleep(0)


def http(status: int, body: bytes | JSON, content_type: str = "application/json", **headers: str) -> bytes:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"content-type": content_type, "content-length": str(len(raw)), **headers}
    lines = [f"HTTP/1.1 {status} x", *(f"{name.replace('_', '-')}: {value}" for name, value in named.items())]
    return "\r\n".join([*lines, "", ""]).encode() + raw


def completion(content: Any = '{"thesis":"x"}', finish: str | None = "stop", **message: Any) -> JSON:
    return {
        "id": "chatcmpl-1",
        "model": "m-1-2026-01-01",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"content": content, **message}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def message(*content: JSON, stop: str = "end_turn") -> JSON:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m-1-2026-01-01",
        "content": list(content),
        "stop_reason": stop,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


def text(said: str = '{"thesis":"x"}') -> JSON:
    return {"type": "text", "text": said}


def connect(kind: str, port: int, scheme: str = "http", **changes: Any) -> Vendor:
    setting: JSON = {
        "kind": kind,
        "base_url": f"{scheme}://127.0.0.1:{port}",
        "key": "env:K",
        "secret_headers": {"X-Gateway": "env:G"},
        "query": {"api-version": "planted-in-the-query"},
        "connect_timeout_s": 1,
        "call_timeout_s": 5,
        **changes,
    }
    return ADAPTERS[kind].connect("bank", ProviderSetting(**setting), {"K": KEY, "G": OTHER_KEY})


@asynccontextmanager
async def connected(kind: str, port: int, scheme: str = "http", **changes: Any) -> AsyncIterator[Vendor]:
    made = connect(kind, port, scheme, **changes)
    try:
        yield made
    finally:
        await made.close()


def a_request(about: str = "case") -> Request:
    messages = (Message("house", "rules"), Message("data", about), Message("seat", "You are the critic."))
    return Request("critic", "alias", "m-1", messages, "critic", {"type": "object"}, 900)


async def failure(made: Vendor, about: str = "case") -> CallFailed:
    with pytest.raises(CallFailed) as failed:
        await made.send(made.encode(a_request(about)))
    return failed.value


async def ended(kind: str, answer: bytes | None, **changes: Any) -> Answer | CallFailed:
    """How a call ends that is answered with these bytes."""
    async with serving(lambda _: answer) as server, connected(kind, server.port, **changes) as made:
        try:
            return await made.send(made.encode(a_request()))
        except CallFailed as failed:
            return failed


def said(outcome: Answer | CallFailed) -> tuple[Any, ...]:
    """What matters of an outcome in one line."""
    if isinstance(outcome, Answer):
        return ("answer", outcome.text)
    told = outcome.answer
    return (outcome.reason, outcome.retry, outcome.billable, told.text if told else None)
