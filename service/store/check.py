"""What a database must be before the service records anything in it."""

from __future__ import annotations

from pathlib import Path

import psycopg

from service.errors import StoreUnavailable
from service.store import migrate, roles
from service.store.address import check_address


def check_database(url: str, migrations: Path) -> None:
    """Refuse a database that is down, unmigrated or newer, or that is entered by a role that could change evidence."""
    check_address(url, "GAINSAY_DATABASE_URL")
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=10) as connection:
            roles.check_not_owner(connection)
            migrate.check_migrated(connection, migrations)
            roles.check_writer(connection)
    except psycopg.OperationalError as error:
        raise StoreUnavailable(
            "expected PostgreSQL at GAINSAY_DATABASE_URL, found nothing that lets us in "
            f"({str(error).splitlines()[0]}); check that it runs and that role and password are right"
        ) from error
