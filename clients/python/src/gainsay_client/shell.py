"""Performs the steps of a call with threads."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import httpx

from gainsay_client.calls import Calls
from gainsay_client.connection import broken_by, expect_size, head_of, limits
from gainsay_client.steps import Broken, Close, Do, Give, Open, Pause, Read, Send, Step
from gainsay_client.wire import Answer


class Shell:
    """Performs the steps of one call; it has at most one open stream."""

    def __init__(self, http: httpx.Client, calls: Calls, headers: Mapping[str, str]) -> None:
        self._http, self._server, self._headers = http, calls.exchange.terms.server, headers
        self._stream: httpx.Response | None = None
        self._chunks: Iterator[bytes] = iter(())

    def perform(self, step: Step) -> object:
        """The result of a step; raises `Broken`."""
        try:
            match step:
                case Send():
                    return self._send(step)
                case Open():
                    return self._open(step)
                case Read():
                    return next(self._chunks, None)
                case Close():
                    self.close()
                case Pause():
                    time.sleep(step.seconds)
                case Do():
                    return step.work()
                case Give():
                    raise AssertionError("an item goes to the caller")
        except (httpx.TransportError, httpx.DecodingError, httpx.StreamError) as error:
            raise broken_by(error) from error
        return None

    def _send(self, step: Send) -> Answer:
        ends_at = time.monotonic() + step.within
        response = self._http.send(self._request(step, step.within), stream=True)
        try:
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                expect_size(len(body))
                if time.monotonic() > ends_at:
                    raise Broken(f"the answer was not whole within {step.within:g} s", sent=True)
            return head_of(response, bytes(body))
        finally:
            response.close()

    def _open(self, step: Open) -> Answer:
        self.close()
        self._stream = self._http.send(self._request(step, step.silence), stream=True)
        self._chunks = self._stream.iter_bytes()
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

    def close(self) -> None:
        """Close the stream that is open."""
        if self._stream is not None:
            self._stream.close()
            self._stream, self._chunks = None, iter(())
