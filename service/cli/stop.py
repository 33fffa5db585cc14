"""``gainsay stop``: ends the embedded PostgreSQL that the last command left running for the next one."""

from __future__ import annotations

from collections.abc import Mapping

import click

from service.cli import beginning, exit_codes
from service.cli.terminal_text import say
from service.errors import SettingsError
from service.store.embedded.server import Stopping, stop_server

WORDS: Mapping[Stopping, str] = {
    "none": "no PostgreSQL runs for {}",
    "stopped": "stopped the PostgreSQL of {}",
    "in use": "other commands use the PostgreSQL of {}: it stops when they have ended",
}


@click.command()
def stop() -> int:
    """Stop the embedded PostgreSQL that the last command left warm.

    It stops by itself GAINSAY_WARM_S seconds (60) after the last command; with GAINSAY_WARM_S=0 it stops together with
    each command. A server that another command uses is left to that command. Exit codes: 0 it does not run any more, 1
    it is in use.
    """
    settings = beginning.read()
    if settings.database_url is not None:
        raise SettingsError(
            "expected no GAINSAY_DATABASE_URL, because only the embedded PostgreSQL is stopped by Gainsay, found one; "
            "stop that server with its own tools, or unset the variable"
        )
    folder = settings.data_dir / "postgres"
    found = stop_server(folder)
    say(WORDS[found].format(folder))
    return exit_codes.NEGATIVE if found == "in use" else exit_codes.DONE
