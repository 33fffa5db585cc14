"""Where a command finds its service: ``--server``, ``GAINSAY_SERVER``, or the database of this machine.

A command that has the option does the same in all three places. Other commands work on a database or on files alone:

    serve, work, migrate, sequence, signer, witness     GAINSAY_SERVER does not concern them
    demo, prompts, citations, approve, policy, doctor   the same; neither do `audit verify`, `compare` and `key`
    probe                                               asks a running service alone, and has no database without one
    gate, quote, models, budget                         they have the option too: the service answers by its policy
    keys, tenants, subjects                             the same: with what the caller's own credential may do there
    replay, rebuild, baseline, `audit pack`, `check`,   refused with it, unless GAINSAY_DATABASE_URL names a database
    `rotate` and `remember`
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

import click

from service.cli.help_sections import WHERE, Decorated, Option
from service.cli.terminal_text import say
from service.errors import SettingsError
from service.policy.settings import SERVER, data_folder, read_server, read_token

if TYPE_CHECKING:
    from service.cli.access.over_http import OverHTTP
    from service.cli.access.port import Service
    from service.cli.beginning import Opened

T = TypeVar("T")


def server_option(command: Decorated) -> Decorated:
    """Give a command the option ``--server``."""
    return click.option(
        "--server",
        cls=Option,
        section=WHERE,
        metavar="URL",
        help=f"Ask a running service, as https://gainsay.example.  [default: {SERVER}, or this machine's database]",
    )(command)


def server_of(option: str | None, environment: Mapping[str, str] = os.environ) -> str | None:
    """The service to ask, with a warning about one that nothing protects; ``None`` for this machine's database.

    Raises `SettingsError` for an address that is none.
    """
    found = read_server(environment, option)
    if found is not None and found.startswith("http:") and not is_here(found):
        say(
            f"gainsay: warning: {found} is not encrypted: cases, documents, keys and answers can be read and changed "
            "on the way; use https:// outside a network that you trust",
            err=True,
        )
    return found


def ask(
    server: str | None, work: Callable[[Service], Awaitable[T]], *, opened: Opened = "running", quiet: bool = False
) -> T:
    """What the work returns of a service: of the one at an address, or of the one on this machine's database.

    ``opened`` says for what the database is used: to run debates and prove records; to read alone, which a log with an
    open incident allows too; or to examine, which proves records while no incident is open. ``quiet`` gives no notice
    of what is waited for in a file or a pipe.
    """
    from service.cli import beginning

    if server is not None:
        beginning.log()
        return by_service(server, work)
    settings = beginning.read()
    with beginning.database(settings, opened, quiet=quiet) as where:
        from service.cli.access.in_process import perform

        return perform(settings, where, work)


def by_service(server: str, work: Callable[[OverHTTP], Awaitable[T]]) -> T:
    """What the work returns of a running service; also for a command that needs no database without one."""
    import asyncio

    from service.cli.access.over_http import connected

    async def done() -> T:
        async with connected(server, data_folder(os.environ), read_token(os.environ)) as service:
            return await work(service)

    return asyncio.run(done())


def refuse_server(command: str, environment: Mapping[str, str] = os.environ) -> None:
    """Raise `SettingsError` where GAINSAY_SERVER is set, and a command works on a database that nothing else names."""
    if SERVER in environment and "GAINSAY_DATABASE_URL" not in environment:
        raise SettingsError(
            f"`gainsay {command}` works on a database, and cannot ask the service of {SERVER}; run it where that "
            f"service runs, with GAINSAY_DATABASE_URL; for the database of this machine: env -u {SERVER} gainsay "
            f"{command}"
        )


def is_here(address: str) -> bool:
    """Whether an address leads to this machine only."""
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
