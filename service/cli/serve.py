"""``gainsay serve | work | migrate``: the processes of a deployment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack

import click
import uvloop

from service import telemetry
from service.app import checking, measuring, open_app, sequencing, working
from service.cli import exit_codes, startup
from service.policy.settings import Settings
from service.store.schema.wait_for_database import Deadline
from service.store.startup import Addresses, addresses, run_migrations


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8321, show_default=True, type=click.IntRange(0, 65_535), help="0 takes any free one.")
@click.option("--no-worker", is_flag=True, help="Serve alone: `gainsay work` runs elsewhere on the same database.")
@click.option("--no-sequencer", is_flag=True, help="Sign nothing here: `gainsay sequence` runs elsewhere.")
def serve(host: str, port: int, no_worker: bool, no_sequencer: bool) -> int:
    """Serve the HTTP API, with a worker and a sequencer in the same process unless told otherwise.

    The sequencer needs GAINSAY_SEQUENCER_URL and GAINSAY_SIGNING_KEY where GAINSAY_DATABASE_URL is set; without them
    `gainsay sequence` has to run elsewhere, or no answer is ever given out.

    There is no authentication yet: whoever reaches the address may do everything.

    Waits at the start for PostgreSQL and its migrations (GAINSAY_WAIT_S). On SIGTERM it is not ready any more, takes
    requests, cases too, for GAINSAY_DRAIN_S yet; its worker takes no more from the queue, and finishes or hands back
    what is under way within GAINSAY_GRACE_S. Ctrl-C does the same without the drain; a second signal breaks off what
    is under way.

    \b
    Exit codes
      0  stopped by a signal
      2  usage
      3  a setting or the database is not fit, or did not come in time: what
         was waited for may be there at the next start, all else is for a
         person to look at
    """
    settings = startup.begin(quiet=False)
    left_s = Deadline(settings.wait_s)
    with startup.ended_by_sigterm(), addresses(settings, left_s) as where:
        work, sequence = not no_worker, not no_sequencer
        uvloop.run(_serve(settings, where, host, port, left_s, with_worker=work, with_sequencer=sequence))
    return exit_codes.DONE


async def _serve(
    settings: Settings,
    where: Addresses,
    host: str,
    port: int,
    left_s: Callable[[], float],
    *,
    with_worker: bool,
    with_sequencer: bool,
) -> None:
    from service.web.server import listen
    from service.web.stream_listeners import raise_limit

    raise_limit()

    def ready(address: str) -> None:
        click.echo(f"gainsay: serving on {address} (API at {address}/openapi.json); Ctrl-C stops", err=True)

    with startup.ending() as end:
        left_s = end.cut_short(left_s)
        async with open_app(settings, where, left_s=left_s) as app, AsyncExitStack() as stack:
            sequencer = await stack.enter_async_context(sequencing(app, left_s=left_s)) if with_sequencer else None
            await stack.enter_async_context(measuring(app, proofs=sequencer is None))
            if with_sequencer and sequencer is None:
                missing = "GAINSAY_SEQUENCER_URL, GAINSAY_SIGNING_KEY"
                click.echo(f"gainsay: no sequencer here ({missing}): run one elsewhere", err=True)
            handing_back = await stack.enter_async_context(working(app)) if with_worker else lambda: None
            await stack.enter_async_context(checking(app))

            def stopping() -> None:
                telemetry.LOG.info("stopping: not ready any more", extra={"drain_s": settings.drain_s})
                handing_back()

            if not end.name:  # it may have come while all this was started
                await listen(app, host, port, ready=ready, stopping=stopping, drain_s=settings.drain_s)
            with startup.hurried(handing_back):
                await stack.aclose()
    telemetry.LOG.info("stopped")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), help="Answer /metrics, /livez and /readyz here; 0 takes any.")
def work(host: str, port: int | None) -> int:
    """Take debates from the queue and run them, without an API, until SIGTERM or Ctrl-C.

    It is ready no longer from then on. Calls in flight may land for the seconds of GAINSAY_GRACE_S; debates are handed
    back to other workers.

    \b
    Exit codes
      0  stopped by a signal
      2  usage
      3  a setting or the database is not fit, or did not come in time: what
         was waited for may be there at the next start, all else is for a
         person to look at
    """
    settings = startup.begin(quiet=False)
    left_s = Deadline(settings.wait_s)
    with startup.ended_by_sigterm(), addresses(settings, left_s) as where:
        uvloop.run(_work(settings, where, host, port, left_s))
    return exit_codes.DONE


async def _work(settings: Settings, where: Addresses, host: str, port: int | None, left_s: Callable[[], float]) -> None:
    with startup.ending() as end:
        async with open_app(settings, where, left_s=end.cut_short(left_s)) as app, AsyncExitStack() as stack:
            about = ""
            if port is not None:
                from service.web.probe_server import make_beside
                from service.web.server import serving

                address = await stack.enter_async_context(serving(make_beside(app.troubles), host, port))
                about = f", {address}/metrics tells how"
            await stack.enter_async_context(measuring(app))
            handing_back = await stack.enter_async_context(working(app))
            await stack.enter_async_context(checking(app))
            click.echo(f"gainsay: taking debates from the queue{about}; Ctrl-C stops", err=True)
            name = await end.came()
            telemetry.LOG.info(f"stopping: {name}")
            handing_back()
            with startup.hurried(handing_back):
                await stack.aclose()
    telemetry.LOG.info("stopped")


@click.command()
def migrate() -> int:
    """Bring the database to the schema of this version.

    Needs GAINSAY_MIGRATE_URL, a role that may become gainsay_owner; without any database configured, the embedded one
    is migrated. An applied file that was edited since is refused.
    """
    settings = startup.begin(quiet=True)
    applied = run_migrations(settings)
    for name in applied:
        click.echo(f"applied {name}")
    click.echo("the database is up to date")
    return exit_codes.DONE
