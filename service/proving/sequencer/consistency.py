"""Whether the stored tree of a log still agrees with every head that was signed.

A restored backup, a fail-over to a server that was behind, or a rewritten tree lack what the signer and the witnesses
have seen. Such a log is an incident: it is recorded, nothing more is signed for the log, and a person decides. The
numbers at the comparisons are those of ``docs/sequencer.md``, *Incidents*; `countersigning` does number 4.
"""

from __future__ import annotations

from service import log_lines
from service.audit.checkpoint import BadCheckpoint, Checkpoint, open_checkpoint
from service.audit.note import BadNote, PublicKey
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


class SignerForgot(GainsayError):
    """The signer does not remember the latest head of a log, and no witness vouches for it: nothing is signed."""

    code = "signer_forgot"
    status = 503
    title = "The signer does not remember a log that has heads"

    def __init__(self, log: str, stored: KnownCheckpoint, last: KnownCheckpoint | None) -> None:
        knows = f"no head of more than {last.size} records" if last else "no head"
        super().__init__(
            f"the signer remembers {knows} of the log {log}, and the database has one of {stored.size} records with "
            f"the root {stored.root.hex()}. Nothing is signed for that log, because such a signer would sign a "
            "rewritten or an older log as well. Put back the signer's folder of heads, or let a witness answer that "
            "has countersigned the log. Without either, compare that head with a stored checkpoint, and say that it is "
            "the right one: "
            f"gainsay audit remember --log {log} --size {stored.size} --root {stored.root.hex()} --reason TEXT "
            "(docs/runbook.md, The signer's folder is lost or damaged)"
        )
        self.log = log


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
    tree.signed = last
    return tree


async def forgotten(signer: Signer, tree: Tree) -> bool:
    """Whether the signer could sign for a log and does not remember its latest stored head.

    The signer is asked again, because another sequencer may have had a head signed and stored since the tree was read.
    A log whose key the signer does not have is none of its business.
    """
    if tree.stored is None or remembered(tree.signed, tree.stored.size) or tree.key not in await signer.keys():
        return False
    return not remembered(await signer.last(tree.log), tree.stored.size)


def remembered(last: KnownCheckpoint | None, size: int) -> bool:
    """Whether a signer whose last head of a log is this one remembers the head of a size."""
    return last is not None and last.size >= size


async def remind(store: Sequencing, signer: Signer, tree: Tree) -> None:
    """Have the signer adopt the latest stored head, for which a witness vouches.

    Raises `LogIncident` for a stored head that the log's key did not sign, and the errors of the signer.
    """
    found = await store.head(tree.log)
    if found is None or tree.stored is None:
        raise AssertionError("only a log with a stored head can be forgotten")
    if not is_signed_head(found[1], tree.key, Checkpoint(tree.log, found[0].size, found[0].root)):
        raise await written(store, tree.log, f"the stored head of {found[0].size} records is not signed by its key")
    path = await store.path(tree.log, tree.signed.size if tree.signed else 0, tree.stored.size)
    await signer.sign(Checkpoint(tree.log, tree.stored.size, tree.stored.root), tree.key, path)
    tree.signed = tree.stored
    fields = {"log": tree.log, "size": tree.stored.size}
    log_lines.SIGNER_TAUGHT(**fields)


def is_signed_head(note: bytes, key: PublicKey, head: Checkpoint) -> bool:
    """Whether a note is this head, signed by this key."""
    try:
        return open_checkpoint(note, [key])[0] == head
    except (BadNote, BadCheckpoint):
        return False


async def written(store: Sequencing, log: str, what: str) -> LogIncident:
    """The error of a contradiction, after it is recorded; the same one is recorded once."""
    if await store.raise_incident(log, what):
        log_lines.LOG_INCIDENT(log=log, what=what)
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
