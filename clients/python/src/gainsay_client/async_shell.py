"""Performs the steps of a call with asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import anyio
import anyio.to_thread
import httpx

from gainsay_client.calls import Calls
from gainsay_client.connection import broken_by, expect_size, head_of, limits
from gainsay_client.steps import Broken, Close, Do, Give, Open, Pause, Read, Send, Step
from gainsay_client.wire import Answer


class AsyncShell:
    """Performs the steps of one call; it has at most one open stream."""

    def __init__(self, http: httpx.AsyncClient, calls: Calls, headers: Mapping[str, str]) -> None:
        self._http, self._server, self._headers = http, calls.exchange.terms.server, headers
        self._stream: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None

    async def perform(self, step: Step) -> object:
        """The result of a step; raises `Broken`."""
        try:
            match step:
                case Send():
                    return await self._send(step)
                case Open():
                    return await self._open(step)
                case Read():
                    return None if self._chunks is None else await anext(self._chunks, None)
                case Close():
                    await self.close()
                case Pause():
                    await anyio.sleep(step.seconds)
                case Do():
                    return await anyio.to_thread.run_sync(step.work)
                case Give():
                    raise AssertionError("an item goes to the caller")
        except (httpx.TransportError, httpx.DecodingError, httpx.StreamError) as error:
            raise broken_by(error) from error
        return None

    async def _send(self, step: Send) -> Answer:
        try:
            with anyio.fail_after(step.within):
                response = await self._http.send(self._request(step, step.within), stream=True)
                try:
                    body = bytearray()
                    async for chunk in response.aiter_bytes():
                        body += chunk
                        expect_size(len(body))
                    return head_of(response, bytes(body))
                finally:
                    await response.aclose()
        except TimeoutError:
            raise Broken(f"the answer was not whole within {step.within:g} s", sent=True) from None

    async def _open(self, step: Open) -> Answer:
        await self.close()
        self._stream = await self._http.send(self._request(step, step.silence), stream=True)
        self._chunks = self._stream.aiter_bytes()
        return head_of(self._stream)

    def _request(self, step: Send | Open, seconds: float) -> httpx.Request:
        asked = step.request
        return self._http.build_request(
            asked.method,
            self._server.address(asked),
            headers={**self._headers, **asked.headers},
            content=asked.body,
            timeout=limits(seconds),
        )

    async def close(self) -> None:
        """Close the stream that is open."""
        if self._stream is not None:
            stream, self._stream, self._chunks = self._stream, None, None
            await stream.aclose()
