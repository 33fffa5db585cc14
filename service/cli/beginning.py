"""The beginning of a command at the keyboard: its settings, a word on what it waits for, and then its database.

The service's large parts take half a second to import, and PostgreSQL up to some seconds to start. So nothing here
imports them before the notice is on the screen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from service.cli.logs import log_from
from service.cli.notice import Notice, notice
from service.policy.settings import Settings, read_level, read_log_format, read_settings
from service.store.embedded.presence import Presence, presence

if TYPE_CHECKING:
    from service.store.startup import DatabaseAddresses

CONNECTING = "connecting to PostgreSQL"
WORDS: Mapping[Presence, str] = {
    "none": "starting PostgreSQL for the first time here, which takes some seconds",
    "stopped": "starting PostgreSQL",
    "running": "joining the PostgreSQL that runs here",
}
"""What a command waits for, by what there is in its data folder."""


Opened = Literal["running", "reading", "examining"]
"""For what a database is used: to run debates, to read alone, or to hand out evidence (`service.cli.access.place`)."""


def read(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings, with the log set up: warnings alone unless GAINSAY_LOG_LEVEL says more."""
    settings = read_settings(environment)
    log(environment)
    return settings


def log(environment: Mapping[str, str] = os.environ) -> None:
    """Set up the log alone."""
    level = read_level(environment) if "GAINSAY_LOG_LEVEL" in environment else "WARNING"
    log_from(level, read_log_format(environment) or "text", traces=level == "DEBUG")


@contextmanager
def database(
    settings: Settings, opened: Opened = "running", *also: str, quiet: bool = False
) -> Iterator[DatabaseAddresses]:
    """The database of these settings, as `service.store.startup.addresses` gives it, after a notice.

    Every table is checked as in `startup.start`, and the modules ``also`` are imported, while PostgreSQL starts.
    ``quiet`` says nothing in a file or a pipe.
    """
    with notice() as shown:
        _say(shown, settings, quiet=quiet)
        from service.cli import startup

        with (
            startup.large_parts(*also, running=settings if opened == "running" else None) as parts,
            _addresses(settings, opened, shown, parts) as where,
        ):
            shown.clear()
            yield where


@contextmanager
def database_url(settings: Settings, *, quiet: bool = False) -> Iterator[str]:
    """The address for the service's role, for a command that only reads or writes one thing; after the same notice."""
    with database(settings, "reading", quiet=quiet) as where:
        yield where.service


@contextmanager
def _addresses(
    settings: Settings, opened: Opened, shown: Notice, parts: Callable[[], None]
) -> Iterator[DatabaseAddresses]:
    from service.store.startup import DatabaseAddresses, addresses, database_url

    if opened == "running":
        with addresses(settings, first=parts) as where:
            yield where
    elif opened == "examining":
        parts()
        from service.cli.access.in_process import examined

        with examined(settings, shown.clear) as where:
            yield where
    else:
        with database_url(settings, first=parts) as url:
            yield DatabaseAddresses(url)


def _say(shown: Notice, settings: Settings, *, quiet: bool) -> None:
    if settings.database_url is not None:
        if shown.moves:
            shown.say(CONNECTING)
    elif not (settings.migrate_url or settings.sequencer_url) and (shown.moves or not quiet):  # else it is refused
        shown.say(WORDS[presence(settings.data_dir / "postgres")])
