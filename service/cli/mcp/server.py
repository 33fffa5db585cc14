"""The protocol: the list of tools, and a call with its answer, its progress and its end.

Each call is made on the service as its own caller reaches it. What fails is answered as an error of the tool, with the
service's code and words; an error that no part expected is in the log alone.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from service import __version__
from service.cli.mcp import answers
from service.cli.mcp.callers import CREDENTIAL, Callers, trace_of_call
from service.cli.mcp.calls import Call, Leaving
from service.cli.mcp.tools import INSTRUCTIONS, tools
from service.errors import GainsayError
from service.verify.steps import Trust

MOST_CALLS = 32
"""So many calls of one credential may be under way at a time."""
Context = ServerRequestContext[Any, Any]


class Busy(GainsayError):
    """A caller has too many calls under way."""

    code = "rate_limited"
    status = 429
    title = "Too many calls at a time"


class Desk:
    """Answers the calls of all sessions of this process."""

    def __init__(self, callers: Callers, trust: Trust) -> None:
        self._callers, self._trust = callers, trust
        self._under_way: Counter[str | None] = Counter()
        self._idle = asyncio.Event()
        self._idle.set()
        self.closing = asyncio.Event()

    def server(self) -> Server[Any]:
        """The server of the protocol; its tools are made ready before the first call."""
        tools()
        return Server(
            "gainsay",
            version=__version__,
            title="Gainsay",
            description="Effective challenge for high-stakes answers, with a record of it.",
            instructions=INSTRUCTIONS,
            get_tool_input_schema=lambda name: tools()[name].tool.input_schema if name in tools() else None,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def answered(self, seconds: float) -> None:
        """Wait until no call is under way, or for so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._idle.wait()

    async def _list(self, _context: Context, _asked: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[each.tool for each in tools().values()])

    async def _call(self, context: Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        if (found := tools().get(asked.name)) is None:
            raise MCPError(types.INVALID_PARAMS, f"unknown tool; expected one of {', '.join(tools())}")
        scope = None if context.request is None else context.request.scope
        try:
            with self._counted(None if scope is None else scope.get(CREDENTIAL)):
                async with self._callers.service(scope, trace_of_call(scope, context.meta)) as service:
                    return answers.result(
                        await found.perform(
                            Call(
                                arguments=asked.arguments or {},
                                service=service,
                                address=self._callers.address,
                                trust=self._trust,
                                trouble=self._callers.trouble,
                                closing=self.closing,
                                report=_reporter(context),
                                left=lambda: self._left(context),
                            )
                        )
                    )
        except GainsayError as error:
            return answers.refusal(error)
        except Exception:  # noqa: BLE001 -- an edge: the words of a library's error are for the log
            return answers.unforeseen(asked.name)

    @contextmanager
    def _counted(self, credential: str | None) -> Iterator[None]:
        """Count a call; raises `Busy`."""
        if self._under_way[credential] >= MOST_CALLS:
            raise Busy(
                f"{MOST_CALLS} calls of this caller are under way; wait for one of them, or give review wait: false",
                retry_after=5,
            )
        self._under_way[credential] += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._under_way[credential] -= 1
            if not self._under_way[credential]:
                del self._under_way[credential]
            if not self._under_way:
                self._idle.set()

    def _left(self, context: Context) -> Leaving:
        """How a caller left a call that was cancelled."""
        # The SDK gives handlers no other sign of it (mcp.shared.dispatcher.DispatchContext).
        if context.session._request_outbound.cancel_requested.is_set():
            return "cancelled"
        by_http = context.request is not None
        if by_http and context.protocol_version in MODERN_PROTOCOL_VERSIONS and not self.closing.is_set():
            return "closed"
        return "lost"


def _reporter(context: Context) -> Callable[[str], Awaitable[None]]:
    """What reports progress: its number grows with each message, and how many there will be is not known."""
    steps = 0

    async def report(words: str) -> None:
        nonlocal steps
        steps += 1
        await context.session.report_progress(float(steps), None, words)

    return report
