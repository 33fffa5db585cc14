"""The addresses of a process's database, and the checks before anything is recorded in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from pathlib import Path

from msgspec import Struct

from service.errors import SettingsError
from service.policy.settings import Settings
from service.store.embedded.server import Server, shared_server
from service.store.schema import migrate
from service.store.schema.preflight import (
    check_database,
    check_one_database,
    check_sequencer,
    check_serving,
    refuse_incidents,
)
from service.store.schema.wait_for_database import Deadline, log_waiting, wait_for

PACKAGE = Path(__file__).parents[1]


class DatabaseAddresses(Struct, frozen=True):
    """The addresses of a process's database, by role: the service's, the sequencer's if one may run here, and in a
    process that serves callers the one that serves them.
    """

    service: str
    sequencer: str | None = None
    serving: str | None = None

    def __repr__(self) -> str:
        """Show no address: a URL holds a password."""
        sequencer, serving = ("yes" if url else "no" for url in (self.sequencer, self.serving))
        return f"Addresses(sequencer={sequencer}, serving={serving})"


def _nothing() -> None:
    """What is done first where there is nothing."""


@contextmanager
def addresses(
    settings: Settings,
    left_s: Deadline | None = None,
    *,
    serving: bool = False,
    first: Callable[[], object] = _nothing,
) -> Iterator[DatabaseAddresses]:
    """PostgreSQL for processes that record, and that may sequence: as `database_url`, guarded, no incident open.

    A process that is ``serving`` callers has an address for that role too. PostgreSQL is waited for while seconds
    remain; without a deadline it must be available. ``first`` is called when an embedded server has started, and before
    anything is done in a database. Raises `OpenIncident` and `Unguarded`, which an operator has to
    look at first, and `SettingsError` for a missing GAINSAY_API_URL and for an address that leads to another database.
    """
    if serving and settings.database_url is not None and settings.api_url is None:
        raise SettingsError(
            "expected GAINSAY_API_URL beside GAINSAY_DATABASE_URL, PostgreSQL for the role with which callers are "
            "served, found none; make a login with: CREATE ROLE gainsay_serving LOGIN PASSWORD '...' "
            "IN ROLE gainsay_api"
        )
    with _database(settings, left_s, first) as found:
        url = found.serving if serving else None
        if url is not None:
            _check(lambda: check_serving(url, migrations()), left_s)
        if serving and settings.database_url is not None:
            for variable, other in (("GAINSAY_API_URL", url), ("GAINSAY_SEQUENCER_URL", found.sequencer)):
                if other is not None:
                    _check(partial(check_one_database, found.service, other, variable), left_s)
        _check(lambda: refuse_incidents(found.service), left_s)
        yield DatabaseAddresses(found.service, found.sequencer, url)


@contextmanager
def sequencer_url(settings: Settings, left_s: Deadline | None = None) -> Iterator[str]:
    """PostgreSQL for the sequencer alone, which needs no other address and no vendor's key.

    Raises `SettingsError` if GAINSAY_SEQUENCER_URL or GAINSAY_SIGNING_KEY is missing, and the store's errors.
    """
    if settings.sequencer_url is None and settings.database_url is None:
        with _database(settings, left_s) as found:
            yield str(found.sequencer)
        return
    if settings.sequencer_url is None or settings.signing_key is None:
        raise SettingsError(
            "expected GAINSAY_SEQUENCER_URL, PostgreSQL for the role that adds to the trees of logs, and "
            "GAINSAY_SIGNING_KEY, what signs their heads, found one of them missing; make a login with: CREATE ROLE "
            "gainsay_sequencing LOGIN PASSWORD '...' IN ROLE gainsay_sequencer, a key with: gainsay audit key new"
        )
    url = settings.sequencer_url
    _check(lambda: check_sequencer(url, migrations()), left_s)
    yield url


@contextmanager
def database_url(settings: Settings, *, first: Callable[[], object] = _nothing) -> Iterator[str]:
    """PostgreSQL for the service's role, migrated and checked.

    Without GAINSAY_DATABASE_URL the embedded server runs while this is open. Raises the store's errors for a database
    that is down or unmigrated, whose login is an owner, or that may forget what it confirmed: no record is safe in it.
    ``first`` is as in `addresses`.
    """
    with _database(settings, first=first) as found:
        yield found.service


@contextmanager
def _database(
    settings: Settings, left_s: Deadline | None = None, first: Callable[[], object] = _nothing
) -> Iterator[DatabaseAddresses]:
    if settings.database_url is None:
        _refuse_half(settings)
        with shared_server(settings.data_dir / "postgres", warm_s=_warm_s(settings, left_s)) as server:
            first()
            migrate.migrate(server.url("gainsay_migrator"), migrations())
            check_database(server.url(), migrations())
            if left_s is not None:
                left_s.renew()
            yield _of_server(server)
        return
    first()
    own, migrating = settings.database_url, settings.migrate_url

    def check() -> None:
        if migrating is not None:
            applied = migrate.migrate(migrating, migrations(), inf if left_s is None else left_s())
            if applied and left_s is not None:
                left_s.renew()
        check_database(own, migrations())

    _check(check, left_s)
    yield DatabaseAddresses(own, settings.sequencer_url, settings.api_url)


def _of_server(server: Server) -> DatabaseAddresses:
    return DatabaseAddresses(server.url(), server.url("gainsay_sequencing"), server.url("gainsay_serving"))


def _warm_s(settings: Settings, left_s: Deadline | None = None) -> float:
    """For how long the embedded server stays after this process.

    Not at all after a process that serves (it has a deadline) or that is the first one of a container: what stops those
    often kills what they leave behind.
    """
    return 0.0 if left_s is not None or os.getpid() == 1 else settings.warm_s


def _check(check: Callable[[], None], left_s: Deadline | None) -> None:
    """Check a database that must be available, or wait for it while seconds remain."""
    if left_s is None:
        check()
    else:
        wait_for(check, left_s, log_waiting)


def _refuse_half(settings: Settings) -> None:
    """Raise `SettingsError` if settings name a server, but not for the service: an embedded one would be wrong."""
    given = {
        "GAINSAY_SEQUENCER_URL": settings.sequencer_url,
        "GAINSAY_API_URL": settings.api_url,
        "GAINSAY_MIGRATE_URL": settings.migrate_url,
    }
    if named := next((name for name, url in given.items() if url), None):
        raise SettingsError(
            f"expected GAINSAY_DATABASE_URL beside {named}, found none; set it, or leave out both for an embedded one"
        )


@contextmanager
def unchecked_addresses(settings: Settings, *, start: bool) -> Iterator[DatabaseAddresses]:
    """The addresses of a process's database, for a look at it: nothing is checked or migrated.

    An embedded server that runs is joined, and stays warm after it. With ``start`` it is started and migrated, as a
    process that records does. Raises the store's errors, and `SettingsError` for settings that name half of a server.
    """
    if settings.database_url is not None:
        yield DatabaseAddresses(settings.database_url, settings.sequencer_url, settings.api_url)
        return
    _refuse_half(settings)
    with shared_server(settings.data_dir / "postgres", warm_s=0.0 if start else _warm_s(settings)) as server:
        if start:
            migrate.migrate(server.url("gainsay_migrator"), migrations())
        yield _of_server(server)


def run_migrations(settings: Settings) -> list[str]:
    """Apply the migrations that are due; return the names of their files. Raises the migrations' errors."""
    if settings.migrate_url is not None:
        return migrate.migrate(settings.migrate_url, migrations())
    if settings.database_url is not None:
        raise SettingsError(
            "expected GAINSAY_MIGRATE_URL, a role that may become gainsay_owner; "
            "the service's own role must not be able to change the schema"
        )
    with shared_server(settings.data_dir / "postgres", warm_s=_warm_s(settings)) as server:
        return migrate.migrate(server.url("gainsay_migrator"), migrations())


def migrations() -> Path:
    """The migrations' folder: inside an installed package, beside a checkout's."""
    inside = PACKAGE / "migrations"
    return inside if inside.is_dir() else PACKAGE.parent / "migrations"
