"""On which service a call is made, and with whose credential.

    One            the caller at this machine: its database, or a service with the credential of GAINSAY_TOKEN
    ByCredential   a service with the credential that the call's own request shows; never with another one

The second is for streamable HTTP before a service, where one process answers callers of many tenants.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from service.cli.access.advice import Advice
from service.cli.access.over_http import Clients
from service.cli.access.port import Service
from service.errors import GainsayError
from service.observing.trace_context import trace_of_headers

CREDENTIAL = "gainsay.credential"
"""Where the gateway leaves a request's credential, in the scope of ASGI."""
_REPEAT = "call the tool again with the idempotencyKey {key}, and it is billed once"
HEADER = Advice(_REPEAT, "your client has to send it as the header Authorization: Bearer KEY with each request")
SETTING = Advice(_REPEAT, "set GAINSAY_TOKEN, or GAINSAY_TOKEN=file:PATH, where this MCP server is started")


class Callers(Protocol):
    """Whom calls are made for."""

    @property
    def address(self) -> str | None:
        """The address of the service; ``None`` for the database of this machine."""
        ...

    @property
    def trouble(self) -> asyncio.Future[GainsayError]:
        """The error that ends the running of debates too early."""
        ...

    def service(self, scope: Mapping[str, Any] | None) -> AbstractAsyncContextManager[Service]:
        """The service for a call that came with a request of HTTP, or with none."""
        ...


class One:
    """One service for every call."""

    def __init__(self, service: Service, trouble: asyncio.Future[GainsayError], address: str | None) -> None:
        self._service = service
        self.trouble = trouble
        self.address = address

    @asynccontextmanager
    async def service(self, _scope: Mapping[str, Any] | None) -> AsyncIterator[Service]:
        """The service: every call has the same caller."""
        yield self._service


class ByCredential:
    """A service at an address, for each call with the credential of its own request."""

    def __init__(self, address: str, data: Path) -> None:
        self.address = address
        self.trouble: asyncio.Future[GainsayError] = asyncio.get_running_loop().create_future()
        self._clients = Clients(address, data, HEADER)

    def service(self, scope: Mapping[str, Any] | None) -> AbstractAsyncContextManager[Service]:
        """The service as this request's caller sees it, in the trace of the request."""
        if scope is None:
            return self._clients.service(None)
        return self._clients.service(scope.get(CREDENTIAL), headers=_trace_headers(scope))

    async def identify(self, token: str | None) -> None:
        """Raise the service's own error unless it lets this credential, or none, in."""
        await self._clients.identify(token)


def _trace_headers(scope: Mapping[str, Any]) -> Mapping[str, str]:
    """The headers of a request that follows from this one in the trace that its caller sent; none without such."""
    trace = trace_of_headers(scope["headers"])
    if trace.given is None:
        return {}
    return {"traceparent": trace.header.decode()} | ({"tracestate": trace.state} if trace.state else {})
