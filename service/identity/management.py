"""What manages the registers on behalf of callers of the service; a service without identities has none."""

from __future__ import annotations

from msgspec import Struct

from service.identity.assigning import Assigning
from service.identity.issuing import Issuing
from service.identity.settings import Identities
from service.store.current_log import CurrentLogs
from service.store.pool import Database


class Management(Struct, frozen=True):
    """Issues and revokes, assigns cases, and knows whether keys are accepted at all."""

    issuing: Issuing
    assigning: Assigning
    accepts_keys: bool

    @classmethod
    def of(cls, identities: Identities | None, database: Database, logs: CurrentLogs, build: str) -> Management | None:
        """What manages the registers of a database by the service's own login; ``None`` without identities.

        The login that serves callers may not change the registers, and sees none of them.
        """
        if identities is None:
            return None
        issuing = Issuing(database, logs, build, identities.keys)
        return cls(issuing, Assigning(database, logs, build), identities.keys is not None)
