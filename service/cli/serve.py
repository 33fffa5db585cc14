"""``gainsay serve | work | migrate``: the processes of a deployment.

Their large parts are imported while an embedded PostgreSQL starts (`startup.large_parts`), and so not at the top here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from click.core import ParameterSource

from service import log_lines
from service.cli import exit_codes, startup
from service.cli.logs import announce
from service.cli.meanwhile import settle
from service.cli.terminal_text import say
from service.policy.settings import Settings

if TYPE_CHECKING:
    from service.store.startup import DatabaseAddresses
    from service.web.socket_file import SocketFile


class Place(NamedTuple):
    """Where to listen: the file, where there is one."""

    host: str
    port: int
    file: SocketFile | None = None


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; :: is all of IPv6 and IPv4.")
@click.option(
    "--port", default=8321, show_default=True, type=click.IntRange(0, 65_535), help="The port; 0 takes any free one."
)
@click.option(
    "--unix",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Listen on this socket file in place of --host and --port; its owner alone may open it.",
)
@click.option("--unix-group", metavar="GROUP", help="Let this group open the socket file as well.")
@click.option("--no-worker", is_flag=True, help="Run no worker; `gainsay work` runs elsewhere on the same database.")
@click.option("--no-sequencer", is_flag=True, help="Run no sequencer; `gainsay sequence` runs elsewhere.")
def serve(host: str, port: int, unix: Path | None, unix_group: str | None, no_worker: bool, no_sequencer: bool) -> int:
    """Serve the HTTP API, by default with a worker and a sequencer in the same process.

    If GAINSAY_DATABASE_URL is set, callers are served with the login of GAINSAY_API_URL, and the sequencer needs
    GAINSAY_SEQUENCER_URL and GAINSAY_SIGNING_KEY. Without the latter `gainsay sequence` must run elsewhere; otherwise
    the service holds every answer.

    GAINSAY_IDENTITY names the credentials by which callers are known. Without it no caller is authenticated: the
    service listens on a loopback address only, and answers requests of this machine alone. Plain HTTP to other machines
    belongs behind a proxy that ends TLS.

    With --no-worker the process asks no vendor, and needs none of their keys.

    At the start the service waits for PostgreSQL and its migrations (GAINSAY_WAIT_S). On SIGTERM it stops being ready
    and still takes requests, cases too, for GAINSAY_DRAIN_S. Its worker claims no more debates and finishes or releases
    those under way within GAINSAY_GRACE_S. Ctrl-C does the same without the drain. A second signal cancels calls in
    flight. A changed policy is taken without a restart (GAINSAY_RELOAD_S); away from a terminal SIGHUP looks at once.

    \b
    Exit codes
      0  stopped by a signal
      2  usage, or a setting or a file that it names cannot be used
      3  the address is taken, the database is unfit, or it did not start in
         time: a restart helps in the last case, an operator in the others
    """
    from service.web.open_address import refuse_open_address

    place = Place(host, port, _socket_file(unix, unix_group))
    settings = startup.read()
    if settings.identity is None and place.file is None:
        refuse_open_address(host)
    startup.expect_sets(settings)
    from service.store.schema.wait_for_database import Deadline
    from service.store.startup import addresses

    left_s = Deadline(settings.wait_s)
    with (
        startup.ended_by_sigterm(),
        startup.large_parts(*startup.SERVING, running=settings) as parts,
        addresses(settings, left_s, serving=True, first=parts) as where,
    ):
        import uvloop

        settle()
        work, sequence = not no_worker, not no_sequencer
        uvloop.run(_serve(settings, where, place, left_s, with_worker=work, with_sequencer=sequence))
    return exit_codes.DONE


def _socket_file(path: Path | None, group: str | None) -> SocketFile | None:
    """The socket file that the options name; raises `click.UsageError` for options that say two things."""
    from service.web.socket_file import SocketFile

    context = click.get_current_context()
    given = [name for name in ("host", "port") if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if path is not None and given:
        raise click.UsageError(f"--unix takes the place of --{given[0]}; give one of them")
    if path is None and group is not None:
        raise click.UsageError("--unix-group names who may open the file of --unix; give that too")
    return None if path is None else SocketFile(path.absolute(), group)


async def _serve(
    settings: Settings,
    where: DatabaseAddresses,
    place: Place,
    left_s: Callable[[], float],
    *,
    with_worker: bool,
    with_sequencer: bool,
) -> None:
    from service.app import (
        open_app,
        running_deliveries,
        running_lag_meter,
        running_self_check,
        running_sequencer,
        running_worker,
    )
    from service.web.server import listen
    from service.web.stream_listeners import raise_limit

    raise_limit()

    def ready(address: str) -> None:
        if settings.identity is None:
            announce(log_lines.NO_IDENTITY, log_lines.NO_IDENTITY.words)
        about = "" if place.file else f" (API at {address}/openapi.json)"
        announce(log_lines.SERVING, f"serving on {address}{about}; Ctrl-C stops", address=address, what="api")

    with startup.ending() as end:
        left_s = end.cut_short(left_s)
        async with open_app(settings, where, left_s=left_s, asks=with_worker) as app, AsyncExitStack() as stack:
            sequencer = (
                await stack.enter_async_context(running_sequencer(app, left_s=left_s)) if with_sequencer else None
            )
            await stack.enter_async_context(running_lag_meter(app, proofs=sequencer is None))
            if with_sequencer and sequencer is None:
                missing = "GAINSAY_SEQUENCER_URL, GAINSAY_SIGNING_KEY"
                announce(log_lines.NO_SEQUENCER, f"no sequencer here ({missing}): run one elsewhere", missing=missing)
            releasing = await stack.enter_async_context(running_worker(app)) if with_worker else lambda: None
            await stack.enter_async_context(running_self_check(app))
            await stack.enter_async_context(running_deliveries(app))
            await stack.enter_async_context(startup.watching(app))

            def stopping() -> None:
                log_lines.DRAINING(drain_s=settings.drain_s)
                releasing()

            if not end.name:  # the signal may have come during the start
                await listen(
                    app,
                    place.host,
                    place.port,
                    unix=place.file,
                    ready=ready,
                    stopping=stopping,
                    drain_s=settings.drain_s,
                )
            with startup.hurried(releasing):
                await stack.aclose()
    log_lines.STOPPED()


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; :: is all of IPv6 and IPv4.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="Answer /metrics, /livez and /readyz on this port; 0 takes any free one.",
)
def work(host: str, port: int | None) -> int:
    """Claim debates from the queue and run them, without an API, until SIGTERM or Ctrl-C.

    From that signal on the worker is not ready. It waits for calls in flight for GAINSAY_GRACE_S and releases its
    debates to other workers. It takes a changed policy as `gainsay serve` does.

    \b
    Exit codes
      0  stopped by a signal
      2  usage, or a setting or a file that it names cannot be used
      3  the address is taken, the database is unfit, or it did not start in
         time: a restart helps in the last case, an operator in the others
    """
    settings = startup.read()
    startup.expect_sets(settings)
    from service.store.schema.wait_for_database import Deadline
    from service.store.startup import addresses

    left_s = Deadline(settings.wait_s)
    with (
        startup.ended_by_sigterm(),
        startup.large_parts("uvloop", running=settings) as parts,
        addresses(settings, left_s, first=parts) as where,
    ):
        import uvloop

        settle()
        uvloop.run(_work(settings, where, host, port, left_s))
    return exit_codes.DONE


async def _work(
    settings: Settings, where: DatabaseAddresses, host: str, port: int | None, left_s: Callable[[], float]
) -> None:
    from service.app import open_app, running_deliveries, running_lag_meter, running_self_check, running_worker

    with startup.ending() as end:
        async with open_app(settings, where, left_s=end.cut_short(left_s)) as app, AsyncExitStack() as stack:
            address = None
            if port is not None:
                from service.web.probe_server import make_probe_app
                from service.web.server import serving

                probed = make_probe_app(app.troubles, app.authenticator, metrics_token=settings.metrics_token)
                address = await stack.enter_async_context(serving(probed, host, port))
            await stack.enter_async_context(running_lag_meter(app))
            releasing = await stack.enter_async_context(running_worker(app))
            await stack.enter_async_context(running_self_check(app))
            await stack.enter_async_context(running_deliveries(app))
            await stack.enter_async_context(startup.watching(app))
            about = f", {address}/metrics has the metrics" if address else ""
            announce(log_lines.TAKING, f"taking debates from the queue{about}; Ctrl-C stops", address=address)
            name = await end.came()
            log_lines.STOPPING(signal=name)
            releasing()
            with startup.hurried(releasing):
                await stack.aclose()
    log_lines.STOPPED()


@click.command()
def migrate() -> int:
    """Migrate the database to the schema of this version.

    The command needs GAINSAY_MIGRATE_URL with a role that may become gainsay_owner. If no database is configured, it
    migrates the embedded one. It refuses a migration file that was edited after it was applied.
    """
    settings = startup.start(quiet=True)
    from service.store.startup import run_migrations

    applied = run_migrations(settings)
    for name in applied:
        say(f"applied {name}")
    say("the database is up to date")
    return exit_codes.DONE
