"""Whether the stored tree of a log still agrees with every head that was signed.

A restored backup, a fail-over to a server that was behind, or a rewritten tree lack what the signer and the witnesses
have seen. Such a log is an incident: it is recorded, nothing more is signed for the log, and a person decides. The
numbers at the comparisons are those of ``docs/sequencer.md``, *Incidents*; `countersigning` does number 4.
"""

from __future__ import annotations

from service import telemetry
from service.audit.witness import KnownCheckpoint
from service.errors import GainsayError
from service.proving.signing import Signer
from service.store.sequence import Sequencing, Tree, TreeDamaged


class LogIncident(GainsayError):
    """The stored log contradicts a signed or witnessed head."""

    code = "log_incident"
    status = 503
    title = "The audit log is not what was signed"

    def __init__(self, log: str, what: str) -> None:
        super().__init__(
            f"the log {log} contradicts its checkpoints, so nothing more is signed for it: {what}. Keep the "
            "database as it is and find out whether a backup was restored, a server that was behind took the lead, or "
            "records were changed (docs/sequencer.md says how an incident is closed)"
        )
        self.log = log
        self.what = what


async def check_tree(store: Sequencing, signer: Signer, log: str) -> Tree:
    """The tree of a log, if it agrees with every head that the signer remembers and the database holds.

    Raises `LogIncident`, which is recorded by then, and the errors of the store and the signer.
    """
    keys = await signer.keys()
    last = await signer.last(log)  # read before the tree: a checkpoint was committed before it was signed
    try:
        tree = await store.load(log, keys[0])  # 1: leaves, tiles, frontier and batch
        await _agree(store, tree, last, "the signer has signed")  # 3
        await _agree(store, tree, tree.stored, "a checkpoint is stored of")  # 2
    except TreeDamaged as error:
        raise await written(store, log, error.detail) from error
    except _Contradiction as error:
        raise await written(store, log, str(error)) from error
    if tree.stored is not None and (last is None or last.size < tree.stored.size):
        telemetry.LOG.warning("the signer does not remember the latest checkpoint", extra={"log": log})
    tree.signed = last
    return tree


async def written(store: Sequencing, log: str, what: str) -> LogIncident:
    """The error of a contradiction, after it is recorded; the same one is recorded once."""
    if await store.raise_incident(log, what):
        telemetry.LOG.error("incident: a log contradicts its checkpoints", extra={"log": log, "what": what})
    return LogIncident(log, what)


class _Contradiction(Exception):
    """A head that the tree contradicts; its message is the same each time that it is found."""


async def _agree(store: Sequencing, tree: Tree, head: KnownCheckpoint | None, whose: str) -> None:
    if head is None or head.size == 0:
        return
    if head.size > tree.size:
        raise _Contradiction(f"{whose} a head of {head.size} records, and the database has {tree.size}")
    root = tree.root if head.size == tree.size else await store.root_at(tree.log, head.size)
    if root != head.root:
        raise _Contradiction(
            f"{whose} a head of {head.size} records with the root {head.root.hex()}, and those of the database "
            f"have {root.hex()}"
        )
