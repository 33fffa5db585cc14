"""A caller of the HTTP API, as small as a calling system's own would be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Self

import httpx
import msgspec

from service.errors import GainsayError
from service.report import Result, sent


class CallRefused(GainsayError):
    """The service answered with a problem document."""

    code = "call_refused"
    title = "The service refused a call"


class Client:
    """Posts a case, follows its events, reads its result."""

    def __init__(self, address: str) -> None:
        # No proxy of the environment: the service is on this machine.
        self._http = httpx.AsyncClient(base_url=address, trust_env=False, timeout=30)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def submit(self, case: dict[str, Any]) -> str:
        """Post a case; the id of its debate. Raises `CallRefused`."""
        answer = await self._http.post("/v1/debates", json=case)
        _refused(answer)
        return str(answer.json()["debateId"])

    async def follow(self, debate: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Every event of a debate as it happens: name and data, until the stream ends."""
        name = ""
        async with self._http.stream("GET", f"/v1/debates/{debate}/events") as answer:
            if answer.is_error:
                await answer.aread()
            _refused(answer)
            async for line in answer.aiter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    yield name, msgspec.json.decode(value)

    async def bundle(self, debate: str) -> bytes:
        """Everything that a debate rests on, as one file. Raises `CallRefused`."""
        answer = await self._http.get(f"/v1/debates/{debate}/audit")
        _refused(answer)
        return answer.content

    async def result(self, debate: str) -> Result:
        """The result of the debate."""
        answer = await self._http.get(f"/v1/debates/{debate}?view=full")
        _refused(answer)
        return sent.read(answer.content, Result)


def _refused(answer: httpx.Response) -> None:
    if answer.is_error:
        raise CallRefused(f"{answer.request.url.path} answered {answer.status_code}: {answer.text[:300]}")
