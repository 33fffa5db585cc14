"""On which service a call is made, and with whose credential.

    One            the caller at this machine: its database, or a service with the credential of GAINSAY_TOKEN
    ByCredential   a service with the credential that the call's own request shows; never with another one

The second is for streamable HTTP before a service, where one process answers callers of many tenants.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from service.cli.access.advice import Advice
from service.cli.access.over_http import Clients
from service.cli.access.port import Service
from service.errors import GainsayError
from service.observing.trace_context import Trace, continued, trace_of_headers

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

    def service(self, scope: Mapping[str, Any] | None, trace: Trace | None) -> AbstractAsyncContextManager[Service]:
        """The service for a call that came with a request of HTTP, or with none, and in a trace, or in none."""
        ...


class One:
    """One service for every call."""

    def __init__(
        self,
        service: Callable[[Trace | None], AbstractAsyncContextManager[Service]],
        trouble: asyncio.Future[GainsayError],
        address: str | None,
    ) -> None:
        self._service = service
        self.trouble = trouble
        self.address = address

    def service(self, _scope: Mapping[str, Any] | None, trace: Trace | None) -> AbstractAsyncContextManager[Service]:
        """The service: every call has the same caller."""
        return self._service(trace)


class ByCredential:
    """A service at an address, for each call with the credential of its own request."""

    def __init__(self, address: str, data: Path) -> None:
        self.address = address
        self.trouble: asyncio.Future[GainsayError] = asyncio.get_running_loop().create_future()
        self._clients = Clients(address, data, HEADER)

    @asynccontextmanager
    async def service(self, scope: Mapping[str, Any] | None, trace: Trace | None) -> AsyncIterator[Service]:
        """The service as this request's caller sees it, in the trace of the call."""
        async with self._clients.service(None if scope is None else scope.get(CREDENTIAL)) as service:
            yield service.with_headers(trace_headers(trace))

    async def identify(self, token: str | None) -> None:
        """Raise the service's own error unless it lets this credential, or none, in."""
        await self._clients.identify(token)


def trace_of_call(scope: Mapping[str, Any] | None, meta: Mapping[str, Any] | None) -> Trace | None:
    """The trace that a call takes part in: that of its request's headers, else that of ``_meta``; else ``None``.

    What is no good ``traceparent`` is as if it were not there, in both places.
    """
    if scope is not None and (trace := trace_of_headers(scope["headers"])).given is not None:
        return trace
    parents, states = (
        [value] if isinstance(value := (meta or {}).get(name), str) else [] for name in ("traceparent", "tracestate")
    )
    return continued(parents, states)


def trace_headers(trace: Trace | None) -> Mapping[str, str]:
    """The headers of a request that follows from a call in a trace; none without one."""
    if trace is None:
        return {}
    return {"traceparent": trace.header.decode()} | ({"tracestate": trace.state} if trace.state else {})
