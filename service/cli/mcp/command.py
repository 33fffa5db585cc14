"""``gainsay mcp``: the command. Which transport it speaks, and which service its tools ask."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from contextlib import AsyncExitStack, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from service import log_lines
from service.cli import beginning, exit_codes, help_sections, startup
from service.cli.access import place
from service.cli.help_sections import WHERE, option
from service.cli.logs import announce
from service.cli.terminal_text import say
from service.errors import GainsayError, SettingsError
from service.policy.settings import Settings, data_folder, read_metrics_token, read_token

if TYPE_CHECKING:
    from service.cli.mcp.callers import Callers
    from service.cli.mcp.listening import Listening
    from service.cli.mcp.server import Desk
    from service.cli.mcp.wire import Wire
    from service.store.startup import DatabaseAddresses
    from service.verify.steps import Trust

_HTTP = "Streamable HTTP"
ANSWERED_S = 3.0
"""How long calls under way are waited for after a signal."""
AT_A_TERMINAL = (
    "gainsay: an agent's program starts this command and speaks to it on standard input (docs/mcp.md); Ctrl-D ends it"
)
UNENCRYPTED = (
    "gainsay: warning: plain HTTP to other machines: cases, answers and credentials can be read and changed on the "
    "way; let a proxy that ends TLS stand before this address, and let nothing else reach it"
)


@click.command(cls=help_sections.Command)
@place.server_option
@option(
    WHERE,
    "--keys",
    "pins",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="A file of pinned keys (docs/keys.md), with which audit_lookup verifies bundles.",
)
@option(_HTTP, "--http", "by_http", is_flag=True, help="Listen for streamable HTTP in the place of standard input.")
@option(_HTTP, "--host", default="127.0.0.1", show_default=True, help="Where to listen; :: is all of IPv6 and IPv4.")
@option(
    _HTTP,
    "--port",
    default=8322,
    show_default=True,
    type=click.IntRange(0, 65_535),
    help="The port; 0 takes any free one. The path is /mcp.",
)
@option(
    _HTTP,
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME[:PORT]",
    help="A name that Host may have beside those of this machine; may be repeated.",
)
@option(
    _HTTP,
    "--allowed-origin",
    "allowed_origins",
    multiple=True,
    metavar="ORIGIN",
    help="An origin of web pages that may call, as https://agent.example; may be repeated.",
)
def mcp(server: str | None, pins: Path | None, *, by_http: bool, **given: Any) -> int:
    """Serve agents that speak the Model Context Protocol: review, gate, quote, citations, find, audit lookup.

    On standard input and output one client is served, as the operator of this machine's database, or with --server (or
    GAINSAY_SERVER) as the caller whose credential GAINSAY_TOKEN is. Standard output carries the protocol alone.

    With --http, and a service by --server, callers of many tenants are served: each request shows its own credential in
    Authorization, and the service decides by it alone. Without a service no caller is authenticated, so it listens on a
    loopback address only and answers this machine alone. Host and Origin are checked. Plain HTTP to other machines
    belongs behind a proxy that ends TLS.

    \b
    gainsay mcp
    gainsay mcp --server https://gainsay.example
    gainsay mcp --http --server https://gainsay.example --host 0.0.0.0 \\
        --allowed-host mcp.example

    \b
    Exit codes
      0  the client left, or a signal came
      2  usage, or a setting that cannot be used
      3  the database or the service cannot be reached
    """
    address = place.server_of(server)
    from service.cli.mcp.listening import Listening
    from service.cli.mcp.wire import Wire

    trust = _trust(pins)
    if not by_http and sys.stdin.isatty():
        say(AT_A_TERMINAL, err=True)
    transport = Listening(**given) if by_http else Wire()
    if isinstance(transport, Listening):
        _refuse_strangers(transport, address)
    if address is not None:
        startup.start_without_settings(stays=by_http)
        with startup.ended_by_sigterm():
            asyncio.run(_before(address, transport, trust))
        return exit_codes.DONE
    settings = startup.start(quiet=not by_http)
    _refuse_identities(settings, by_http=by_http)
    with startup.ended_by_sigterm(), beginning.database(settings, quiet=True) as addresses:
        asyncio.run(_on(settings, addresses, transport, trust))
    return exit_codes.DONE


def _trust(pins: Path | None) -> Trust:
    """The keys of an operator's file; none is trusted without one."""
    from service.audit.note import COSIGNATURE, ED25519
    from service.cli.audit.verify import pinned_periods
    from service.verify.steps import Trust

    periods = pinned_periods(pins)
    ours, seen = (tuple(key for key in periods if key.algorithm == kind) for kind in (ED25519, COSIGNATURE))
    return Trust(ours, seen, periods=periods)


def _refuse_strangers(listening: Listening, address: str | None) -> None:
    """Raise `SettingsError` and `click.UsageError` for a place that would answer strangers, or none at all."""
    if address is None and listening.open:
        raise SettingsError(
            "expected a gateway that this machine alone reaches, because without a service to ask no caller is "
            f"authenticated, found --host {listening.host}{' with --allowed-host' if listening.allowed_hosts else ''}; "
            "give --server with the address of a service with identities"
        )
    if listening.is_public:
        if not listening.allowed_hosts:
            raise click.UsageError(
                f"--host {listening.host} is open to other machines: name the hosts that clients ask for with "
                "--allowed-host, or every request is refused"
            )
        say(UNENCRYPTED, err=True)


def _refuse_identities(settings: Settings, *, by_http: bool) -> None:
    """Raise `SettingsError` where callers would be let in beside the identities that the operator configured."""
    if by_http and settings.identity is not None:
        raise SettingsError(
            "GAINSAY_IDENTITY is set, and a request of HTTP on this database would be answered as its operator's; run "
            "`gainsay serve`, and `gainsay mcp --http --server` with its address"
        )


async def _before(address: str, transport: Wire | Listening, trust: Trust) -> None:
    """Serve before a running service: with one credential, or with that of each caller."""
    from service.cli.access.over_http import connected
    from service.cli.mcp.callers import SETTING, ByCredential, One, trace_headers
    from service.cli.mcp.listening import Listening

    data = data_folder(os.environ)
    with startup.ending() as end:
        if isinstance(transport, Listening):
            if "GAINSAY_TOKEN" in os.environ:
                announce(log_lines.TOKEN_UNUSED, "GAINSAY_TOKEN is not used: every caller shows its own credential")
            await _serve(end, ByCredential(address, data), transport, trust)
            return
        async with connected(address, data, read_token(os.environ), SETTING) as service:
            trouble: asyncio.Future[GainsayError] = asyncio.get_running_loop().create_future()
            own = One(lambda trace: nullcontext(service.with_headers(trace_headers(trace))), trouble, address)
            await _serve(end, own, transport, trust)


async def _on(settings: Settings, addresses: DatabaseAddresses, transport: Wire | Listening, trust: Trust) -> None:
    """Serve on the database of this machine, whose debates this process runs meanwhile."""
    from service.cli.access.in_process import InProcess
    from service.cli.mcp.callers import One

    with startup.ending() as end:
        async with AsyncExitStack() as stack:
            service = InProcess(settings, addresses, stack)
            working = await stack.enter_async_context(service.working())
            own = One(lambda trace: service.in_trace(trace.id if trace else None), working.trouble, None)
            await _serve(end, own, transport, trust)
            working.release()
            with startup.hurried(working.release):
                await stack.aclose()


async def _serve(end: startup.Ending, callers: Callers, transport: Wire | Listening, trust: Trust) -> None:
    """Serve by one of the transports until its client has left, or a signal comes."""
    from service.cli.mcp.listening import Listening
    from service.cli.mcp.server import Desk

    logging.getLogger("mcp").setLevel("ERROR")  # what callers send wrongly is in their answers
    desk = Desk(callers, trust)
    serving = asyncio.create_task(
        _by_http(desk, callers, transport, end) if isinstance(transport, Listening) else transport.serve(desk.server())
    )
    signalled = asyncio.create_task(end.came())
    await asyncio.wait((serving, signalled), return_when=asyncio.FIRST_COMPLETED)
    signalled.cancel()
    desk.closing.set()  # calls under way are answered
    if not isinstance(transport, Listening):  # its client may leave its end of input open
        await desk.answered(ANSWERED_S)
        await transport.written(ANSWERED_S)
        serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving


async def _by_http(desk: Desk, callers: Callers, where: Listening, end: startup.Ending) -> None:
    """Answer requests until a signal comes."""
    from service.cli.mcp.gateway import listening

    async with listening(desk, callers, where, read_metrics_token(os.environ)) as address:
        of = callers.address or "the database of this machine"
        words = f"serving MCP on {address} for {of}; Ctrl-C stops"
        announce(log_lines.SERVING_MCP, words, address=address, of=of)
        await end.came()
