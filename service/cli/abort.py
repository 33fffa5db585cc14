"""``gainsay abort``: end a debate before its time, wherever it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from service.cli import debate_ids, exit_codes
from service.cli.access import place
from service.cli.terminal_text import line, say
from service.debate.amounts import micro

if TYPE_CHECKING:
    from service.cli.access.port import Aborted, Service

REASON = "at the keyboard (gainsay abort)"


@click.command()
@click.argument("debate", metavar="ID")
@place.server_option
@click.option("--reason", metavar="TEXT", default=REASON, help="The reason, for the record.")
def abort(debate: str, server: str | None, reason: str) -> int:
    """Abort a debate: it makes no further model calls.

    ID is a whole id, 8 or more of its first digits, or `last` for the newest debate. Calls in flight still end, and are
    charged. To abort a debate again changes nothing.

    \b
    gainsay abort 019a8c3f-5b2e --reason "the contract was withdrawn"

    \b
    Exit codes
      0  the debate is aborted, now or before
      1  too late: it has ended in another way
    """

    async def work(service: Service) -> Aborted:
        return await service.abort(await debate_ids.debate_of(service, debate), reason)

    found = place.ask(place.server_of(server), work)
    more = f"; at most {found.held} USD more for calls in flight" if micro(found.held) else ""
    late = "" if found.status == "aborted" else "too late: "
    say(f"{late}debate {found.debate} is {line(found.status)}; spent {found.spent} USD{more}")
    return exit_codes.NEGATIVE if late else exit_codes.DONE
