"""``gainsay sequence``: the sequencer of the logs, in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack

import click
import uvloop

from service import log_lines
from service.app import sequencing_at
from service.cli import exit_codes, startup
from service.cli.logs import announce
from service.policy.settings import Settings
from service.store.hub import EventHub
from service.store.notifications import listening
from service.store.schema.wait_for_database import Deadline
from service.store.startup import sequencer_url


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; :: is all of IPv6 and IPv4.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="Answer /metrics, /livez and /readyz on this port; 0 takes any free one.",
)
def sequence(host: str, port: int | None) -> int:
    """Run the sequencer until SIGTERM or Ctrl-C: it makes durable records provable.

    The sequencer adds records to the trees of their logs, has the heads signed with the key that GAINSAY_SIGNING_KEY
    names, and asks the policy's witnesses to cosign them. One process at a time does this; others wait to lead.
    It needs GAINSAY_SEQUENCER_URL alone, and no vendor's key. Without that address it uses the embedded PostgreSQL.

    \b
    Exit codes
      0  stopped by a signal
      2  usage
      3  the database did not start in time, or must not be sequenced: it is
         behind a signed or witnessed head, may lose confirmed writes, or the
         role has too many rights
    """
    settings = startup.start(quiet=False)
    left_s = Deadline(settings.wait_s)
    with startup.ended_by_sigterm(), sequencer_url(settings, left_s) as url:
        uvloop.run(_sequence(settings, url, host, port, left_s))
    return exit_codes.DONE


async def _sequence(settings: Settings, url: str, host: str, port: int | None, left_s: Callable[[], float]) -> None:
    hub = EventHub()
    async with AsyncExitStack() as stack:
        end = stack.enter_context(startup.ending())
        await stack.enter_async_context(listening(url, hub))
        sequencer = await stack.enter_async_context(
            sequencing_at(
                url,
                settings,
                lambda _log, _size, _root: hub.checkpoint_signed(),
                left_s=end.cut_short(left_s),
            )
        )
        address = None
        if port is not None:
            from service.web.probe_server import make_probe_app
            from service.web.server import serving

            async def troubles() -> list[str]:
                return sequencer.troubles

            probed = make_probe_app(troubles, metrics_token=settings.metrics_token)
            address = await stack.enter_async_context(serving(probed, host, port))
        about = f", {address}/metrics has the metrics" if address else ""
        announce(log_lines.SEQUENCING, f"sequencing{about}; Ctrl-C stops", address=address)
        name = await end.came()
        announce(log_lines.STOPPING, f"{name}: finishing the batch under way", signal=name)
    log_lines.STOPPED()
