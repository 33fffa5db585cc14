"""Checks that an address leads to PostgreSQL itself or to a session pooler, the only pooler that the service can use.

A connection of the service sets its schema once, prepares its statements, listens, and leads by a lock that ends with
the session. A pooler that gives each transaction or statement another session (PgBouncer's ``pool_mode = transaction``
or ``statement``) silently loses all of that, or leaves it to another client. So does a pooler that passes sessions on
without cleaning them. Both are detected before anything is used:

    a pooler makes up the process id that it gives to a client; PostgreSQL gives its own
    behind a session pooler, two open connections never have the same session, and each keeps its own
    no later connection finds what an earlier one has set
"""

from __future__ import annotations

import psycopg

from service.errors import GainsayError, StoreUnavailable
from service.store.schema.session import Session

ROUNDS = 4
"""How often the check is repeated: other clients may take a session between two looks, or the pooler may open one more.
"""
_PID = "SELECT pg_backend_pid()"
_FOUND = "SELECT current_setting('gainsay.entered', true)"
_MARK = "SELECT set_config('gainsay.entered', 'yes', false)"
_NO_TRANSACTIONS = "statement pooling"
"""A part of PgBouncer's message to BEGIN when it pools statements; its other messages have the same SQLSTATE, 08P01."""
_ADVICE = "Let the address lead to PostgreSQL itself, or to a session pooler (PgBouncer: pool_mode = session{more})"


class SharedSessions(GainsayError):
    """The address leads to a pooler that shares sessions between clients."""

    code = "shared_sessions"
    title = "The database is behind a pooler that shares its sessions"


def check_sessions(connection: Session, url: str, variable: str) -> None:
    """Raise `SharedSessions` unless the session of a connection is its own until it is closed.

    ``url`` is the address of the connection; behind a pooler a second connection is opened beside it.
    """
    if _pid(connection) == connection.info.backend_pid:
        return
    try:
        with Session.of(url) as other:
            shared = _is_shared(connection, other)
    except psycopg.OperationalError as error:
        said = str(error).splitlines()[0]
        if _NO_TRANSACTIONS in said:
            raise _shared_sessions("each statement", variable) from error
        raise StoreUnavailable(
            f"expected a second session beside the first from the pooler at {variable}, found none ({said}); where "
            "the pooler has no more, raise its limit: each process has up to nine (PgBouncer: default_pool_size, "
            "max_db_connections)"
        ) from error
    if shared:
        raise _shared_sessions("each transaction", variable)
    _refuse_unclean(connection, variable)


def _pid(connection: Session) -> int:
    row = connection.execute(_PID).fetchone()
    return int(row[0]) if row else 0


def _is_shared(one: Session, other: Session) -> bool:
    """Whether two connections share a session by turns, or one of them gets another session each time.

    Each look asks twice in a row, because the turns of a pooler with two sessions would otherwise always match.
    """
    for _ in range(ROUNDS):
        mine = _pid(one)
        if _pid(one) != mine:
            return True
        with other.transaction():  # keeps one session for the length of the transaction
            if _pid(other) == mine or _pid(one) != mine:
                return True
    return False


def _refuse_unclean(connection: Session, variable: str) -> None:
    """Raise if the session has what an earlier connection of ours left in it; leave a mark for the next."""
    row = connection.execute(_FOUND).fetchone()
    if row and row[0]:
        raise SharedSessions(
            f"expected a new session for each connection at {variable}, found one with settings of an earlier "
            "connection: the pooler does not clean sessions, or gives each transaction any of them. "
            + _ADVICE.format(more=", server_reset_query = DISCARD ALL")
        )
    connection.execute(_MARK)


def _shared_sessions(what: str, variable: str) -> SharedSessions:
    return SharedSessions(
        f"expected a session for each connection at {variable}, found a pooler that gives {what} any session it has: "
        "schema, time limits, prepared statements, notifications and locks would be lost or another client's. "
        + _ADVICE.format(more="")
    )
