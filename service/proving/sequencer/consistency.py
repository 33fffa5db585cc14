"""Whether the tree of a log, as it is stored, still holds everything that was signed of it.

A restored backup, a fail-over to a server that was behind, or a rewritten tree lack what the signer and the witnesses
have seen. Such a log is an incident: it is written down, nothing is signed for it any more, and a person decides.
"""

from __future__ import annotations

from service import telemetry
from service.audit.witness import Head
from service.errors import GainsayError
from service.proving.signing import Signer
from service.store.sequence import Sequencing, Tree, TreeDamaged


class LogIncident(GainsayError):
    """What is stored of a log contradicts what was signed or witnessed of it."""

    code = "log_incident"
    status = 503
    title = "The audit log is not what was signed"

    def __init__(self, log: str, what: str) -> None:
        super().__init__(
            f"the log {log} contradicts what was signed of it, so nothing more is signed for it: {what}. Keep the "
            "database as it is and find out whether a backup was restored, a server that was behind took over, or "
            "records were changed (docs/sequencer.md says how an incident is closed)"
        )
        self.log = log
        self.what = what


async def examine(store: Sequencing, signer: Signer, log: str) -> Tree:
    """The tree of a log, when it agrees with every head that the signer remembers and the database holds.

    Raises `LogIncident`, which is written down by then, and what the store and the signer raise.
    """
    keys = await signer.keys()
    last = await signer.last(log)  # before the tree is read: what is signed was committed before
    try:
        tree = await store.load(log, keys[0])
        await _agree(store, tree, last, "the signer has signed")
        await _agree(store, tree, tree.stored, "a checkpoint is stored of")
    except TreeDamaged as error:
        raise await written(store, log, error.detail) from error
    except _Contradiction as error:
        raise await written(store, log, str(error)) from error
    if tree.stored is not None and (last is None or last.size < tree.stored.size):
        telemetry.LOG.warning("the signer does not remember the latest signed head", extra={"log": log})
    tree.signed = last
    return tree


async def written(store: Sequencing, log: str, what: str) -> LogIncident:
    """The error of a contradiction, once that is written down; the same one is written down once."""
    if await store.raise_incident(log, what):
        telemetry.LOG.error("incident: a log contradicts what was signed of it", extra={"log": log, "what": what})
    return LogIncident(log, what)


class _Contradiction(Exception):
    """A head that the tree does not hold, in words that are the same whenever it is found."""


async def _agree(store: Sequencing, tree: Tree, head: Head | None, whose: str) -> None:
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
