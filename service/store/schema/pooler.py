"""Whether an address leads to PostgreSQL itself, or to a pooler that keeps a session for us: nothing else will do.

A connection here sets its schema once, prepares its statements, listens, and leads by a lock that ends with it. A
pooler that gives each transaction or statement another session (PgBouncer's ``pool_mode = transaction`` or
``statement``) loses all of that in silence, or leaves it to a stranger; so does one that hands on sessions as they were
left. Both are found out before anything is used:

    a pooler makes up the process id that a client is told; PostgreSQL tells its own
    behind one, two connections that are open at once never have the same session, and each keeps its own
    what one connection has set, no later one finds
"""

from __future__ import annotations

import psycopg

from service.errors import GainsayError, StoreUnavailable
from service.store.schema.session import Session

ROUNDS = 4
"""How often it is looked: others who use the same pooler may take a session between two looks, or it gets one more."""
_PID = "SELECT pg_backend_pid()"
_FOUND = "SELECT current_setting('gainsay.entered', true)"
_MARK = "SELECT set_config('gainsay.entered', 'yes', false)"
_NO_TRANSACTIONS = "statement pooling"
"""Of what PgBouncer says to BEGIN where it pools statements; all else that it says has the same SQLSTATE, 08P01."""
_ADVICE = "Let the address lead to PostgreSQL itself, or to a pooler of sessions (PgBouncer: pool_mode = session{more})"


class SharedSessions(GainsayError):
    """The address leads to a pooler whose sessions are not ours alone while we have them."""

    code = "shared_sessions"
    title = "The database is behind a pooler that shares its sessions"


def check_sessions(connection: Session, url: str, variable: str) -> None:
    """Raise `SharedSessions` unless the session of a connection is its own until it is closed.

    ``url`` is what it was opened with; behind a pooler a second connection is opened beside it.
    """
    if _pid(connection) == connection.info.backend_pid:
        return
    try:
        with Session.of(url) as other:
            shared = _is_shared(connection, other)
    except psycopg.OperationalError as error:
        said = str(error).splitlines()[0]
        if _NO_TRANSACTIONS in said:
            raise _shared("each statement", variable) from error
        raise StoreUnavailable(
            f"expected a second session beside the first from the pooler at {variable}, found none ({said}); where "
            "it has no more to give, let it have more: each process has up to nine (PgBouncer: default_pool_size, "
            "max_db_connections)"
        ) from error
    if shared:
        raise _shared("each transaction", variable)
    _refuse_unclean(connection, variable)


def _pid(connection: Session) -> int:
    row = connection.execute(_PID).fetchone()
    return int(row[0]) if row else 0


def _is_shared(one: Session, other: Session) -> bool:
    """Whether two connections are given one session by turns, or one of them another one each time.

    Asked twice in a row, since a pooler with two sessions that gives them out in turn would else always agree.
    """
    for _ in range(ROUNDS):
        mine = _pid(one)
        if _pid(one) != mine:
            return True
        with other.transaction():  # keeps its session for so long, whichever it is
            if _pid(other) == mine or _pid(one) != mine:
                return True
    return False


def _refuse_unclean(connection: Session, variable: str) -> None:
    """Raise where the session has what an earlier connection of ours left in it; leave a mark for the next."""
    row = connection.execute(_FOUND).fetchone()
    if row and row[0]:
        raise SharedSessions(
            f"expected a new session for each connection at {variable}, found one that still has what an earlier "
            "connection has set: the pooler does not clean sessions, or gives each transaction any of them. "
            + _ADVICE.format(more=", server_reset_query = DISCARD ALL")
        )
    connection.execute(_MARK)


def _shared(what: str, variable: str) -> SharedSessions:
    return SharedSessions(
        f"expected a session for each connection at {variable}, found a pooler that gives {what} any session it has: "
        "schema, time limits, prepared statements, news and locks would be lost or another's. "
        + _ADVICE.format(more="")
    )
