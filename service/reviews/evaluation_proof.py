"""What proves that a plan was registered before its first case: its registration under a signed checkpoint.

The feeder records this proof before it opens the first case (`evaluation.proven`). The records then say by themselves
that the checkpoint was in hand: no record can hold a signature that is made after it joined its tree.
"""

from __future__ import annotations

from service.audit.proof import TlogProof
from service.store import evaluations
from service.store.pool import Database
from service.store.proofs import SignedCheckpoint, countersigned_checkpoint, inclusion, latest_checkpoint

AWAITED_S = 60.0
"""For so long after its registration an evaluation waits for the witnesses of its log. Then they are gone, or were
taken out of the policy, and the newest checkpoint is what there is."""


async def proof_of(database: Database, evaluation: str, tenant: str) -> str | None:
    """The registration's proof of inclusion, as a ``.tlog-proof``; ``None`` while no checkpoint covers it.

    Where witnesses countersign the log, it is under a countersigned checkpoint. Raises `StoreUnavailable` and
    `LogDamaged`.
    """
    place = await evaluations.place_of(database, evaluation, tenant)
    head = None if place is None else await _covering(database, tenant, place)
    if place is None or head is None:
        return None
    path = await inclusion(database, tenant, place.log, place.index, head.size)
    return TlogProof(place.index, tuple(path), head.note).encode().decode()


async def _covering(database: Database, tenant: str, place: evaluations.Place) -> SignedCheckpoint | None:
    if head := await countersigned_checkpoint(database, tenant, place.log, place.index):
        return head
    if place.age_s < AWAITED_S and await countersigned_checkpoint(database, tenant, place.log, -1):
        return None
    head = await latest_checkpoint(database, tenant, place.log)
    return head if head is not None and head.size > place.index else None
