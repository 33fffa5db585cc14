"""What `gainsay doctor` asks a database, beyond the checks of a start: its version, its clock, open incidents."""

from __future__ import annotations

import psycopg
from msgspec import Struct

from service.errors import StoreUnavailable
from service.store.schema.address import check_address
from service.store.schema.session import Session

_FACTS = """
SELECT current_setting('server_version'), extract(epoch FROM clock_timestamp())::float8, current_user::text,
       current_setting('transaction_read_only')::boolean
"""
_DAMAGE = """
SELECT subject, count(*), min(id) FROM gainsay.damage d
WHERE closes IS NULL AND NOT EXISTS (SELECT FROM gainsay.damage WHERE closes = d.id) GROUP BY subject ORDER BY subject
"""


class DatabaseFacts(Struct, frozen=True):
    """A server's version, its clock in seconds since 1970, the login, and whether it takes no writes."""

    version: str
    clock: float
    role: str
    read_only: bool


def database_facts(url: str, variable: str) -> DatabaseFacts:
    """The facts of a server; raises `StoreUnavailable`."""
    check_address(url, variable)
    try:
        with Session.of(url) as connection:
            row = connection.execute(_FACTS).fetchone()
    except psycopg.Error as error:
        raise StoreUnavailable(f"the database does not answer ({type(error).__name__})") from None
    if row is None:
        raise StoreUnavailable("the database gives no answer to a question that always has one")
    return DatabaseFacts(*row)


def damage_counts(url: str, variable: str) -> dict[str, tuple[int, int]]:
    """The open incidents of damaged evidence by subject: how many, and the first; raises `StoreUnavailable`."""
    check_address(url, variable)
    try:
        with Session.of(url) as connection:
            return {subject: (count, first) for subject, count, first in connection.execute(_DAMAGE).fetchall()}
    except psycopg.Error as error:
        raise StoreUnavailable(f"open damage cannot be read ({type(error).__name__})") from None
