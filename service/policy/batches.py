"""How large a batch may be, and how much of it is under way: the table [batches]."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from service.debate.amounts import MicroUSD
from service.policy.keys import dollars, whole


class Batches(Struct, frozen=True, rename="camel"):
    """The bounds of a batch. ``ceiling`` is that of a batch which names none; without it each batch has to name one."""

    cases: Annotated[int, whole(1, 100_000)] = 10_000
    """The most cases of a batch."""
    megabytes: Annotated[int, whole(1, 1_000)] = 64
    """The most megabytes of its file, of 1,000,000 bytes each."""
    per_tenant: Annotated[int, whole(1, 1_000)] = 8
    """The most batches of a tenant that have not ended."""
    queued_per_tenant: Annotated[int, whole(1, 10_000)] = 20
    """The most debates of a tenant's batches that are queued at the same time."""
    ceiling: Annotated[MicroUSD | None, dollars("ceiling_usd", none="none")] = None
    """US dollars: the ceiling of a batch that names none. Absent where each batch has to name one."""

    @property
    def max_bytes(self) -> int:
        """The most bytes of a file."""
        return self.megabytes * 1_000_000


USUAL_BATCHES = Batches()
"""The bounds where the policy has no such table."""
