"""The log of the records: its tree, the signature on its checkpoint, and the witnesses' cosignatures.

tree        each record's inclusion proof leads from its leaf to the root of the one checkpoint (RFC 9162, 2.1.3.2)
signature   a pinned key of this log signed that checkpoint (C2SP tlog-checkpoint)
witnesses   a quorum of the pinned witnesses cosigned it (C2SP tlog-cosignature)

A key named ``host`` is valid for the logs ``host/...`` alone. So a key pinned for another purpose, such as approvals,
is not valid for a checkpoint. A key that is pinned for some logs or for some time is valid for nothing else: the time
of a checkpoint is that by which a quorum of the pinned witnesses had countersigned it, because a log's own signature
has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.audit.checkpoint import Checkpoint, cosignatures, parse_checkpoint
from service.audit.note import ED25519, BadNote, Note, PublicKey, parse_note, verify_note
from service.audit.proof import parse_proof
from service.audit.record import leaf_hash
from service.audit.tree import verify_inclusion
from service.verify.opened_bundle import OpenedBundle
from service.verify.steps import Differs, NotCheckable, Trust, at, expect, when

HEAD = "checkpoints/0001.txt"
HEAD_MAX = 1 << 16
"""The most bytes of a checkpoint with its lines, far more than any log has."""
PROOF_MAX = 1 << 13
"""The most bytes that a proof has beside its checkpoint: 63 hashes at most."""
UNWITNESSED = "UNWITNESSED: no witness's key was pinned; the holder of the log's key could have rewritten the log"


def head(evidence: OpenedBundle) -> tuple[Note, Checkpoint]:
    """The checkpoint of the debate's log, signatures not yet verified; raises `NotCheckable` without one."""
    data = evidence.file(HEAD, HEAD_MAX)
    with at(file=HEAD):
        return read_head(data)


def read_head(data: bytes) -> tuple[Note, Checkpoint]:
    """A signed note and its checkpoint; raises `BadNote` or `BadCheckpoint`."""
    note = parse_note(data)
    return note, parse_checkpoint(note.text)


# The tree.


def check_inclusion(evidence: OpenedBundle) -> str:
    """Check that the checkpoint covers every record, each later in the log than the one before it."""
    checkpoint, count = head(evidence)[1], evidence.manifest.records
    data, before = evidence.file(HEAD, HEAD_MAX), -1
    for n in range(count):
        path = f"proofs/{n:04d}.tlog-proof"
        with at(file=path, record=n):
            index = proven(evidence.file(path, len(data) + PROOF_MAX), evidence.leaf(n), data, checkpoint)
            if index <= before:
                raise Differs("the record's place in the log", f"one after {before}", str(index))
            before = index
    root = checkpoint.root.hex()
    return f"{count} paths lead to the root {root} of {checkpoint.origin} at size {checkpoint.size}"


def proven(proof: bytes, leaf: bytes, data: bytes, checkpoint: Checkpoint) -> int:
    """The index of a leaf that a proof shows to lie under a checkpoint, whose note is ``data``; raises `Differs`."""
    read = parse_proof(proof)
    if read.extra is not None:
        raise Differs("the proof", "nothing that no hash covers", "extra data")
    if read.checkpoint != data:
        raise Differs("the checkpoint of the proof", "that of the log, byte for byte", "another")
    verify_inclusion(leaf_hash(leaf), read.index, checkpoint.size, read.path, checkpoint.root)
    return read.index


# Signatures.


def signature(evidence: OpenedBundle, trust: Trust) -> str:
    """That a pinned key signed the head of the log that the records are of."""
    note, checkpoint = head(evidence)
    with at(file=HEAD):
        expect("the log of the records", evidence.first.log, checkpoint.origin)
        return check_signature(note, checkpoint, trust)


def check_signature(note: Note, checkpoint: Checkpoint, trust: Trust) -> str:
    """Which pinned keys signed a head; raises `Differs`, or `NotCheckable` where no key was pinned at all."""
    if not trust.keys:
        reason = "UNSIGNED: no key was pinned, so the maker of the file could have signed it; give --key"
        raise NotCheckable(reason, allowed=trust.allow_unsigned)
    keys = vouching(trust, checkpoint.origin)
    if not keys:
        pinned = ", ".join(sorted({f"{key.name} ({trust.period(key)})" for key in trust.keys}))
        raise Differs(f"the pinned keys; lines of {named_lines(note)}", f"one for the log {checkpoint.origin}", pinned)
    try:
        signers = verify_note(note, keys)
    except BadNote as error:
        raise Differs(error.detail, " or ".join(key.encode() for key in keys), named_lines(note)) from error
    signers = in_time(note, checkpoint, signers, trust)
    return f"{checkpoint.origin} at size {checkpoint.size} is signed by {', '.join(key.encode() for key in signers)}"


def vouching(trust: Trust, origin: str) -> tuple[PublicKey, ...]:
    """The pinned keys that may sign heads of a log: those of its host, or of the log itself, that are pinned for it."""
    return tuple(
        key
        for key in trust.keys
        if may_sign(key, origin) and trust.period(key).use in ("", "log") and trust.period(key).covers(origin)
    )


def may_sign(key: PublicKey, origin: str) -> bool:
    """Whether a key is by its name and algorithm one of a log: that of its host, or of the log itself."""
    return key.algorithm == ED25519 and (origin == key.name or origin.startswith(f"{key.name}/"))


def in_time(note: Note, checkpoint: Checkpoint, signers: Sequence[PublicKey], trust: Trust) -> tuple[PublicKey, ...]:
    """Those of the signers of a head that are pinned for the time by which a quorum had first countersigned it.

    Raises `Differs` where all are pinned for another time, and `NotCheckable` where too few pinned witnesses say when.
    """
    undated = tuple(key for key in signers if not trust.period(key).dated)
    if undated or not signers:
        return undated
    pinned = ", ".join(f"{key.encode()} {trust.period(key)}" for key in signers)
    if (signed_at := _first_countersigned(note, checkpoint, trust)) is None:
        few = f"fewer pinned witnesses than the quorum of {trust.quorum} say" if trust.witnesses else "no witness says"
        raise NotCheckable(
            f"UNDATED: pinned is {pinned}, and {few} when {checkpoint.origin} at size {checkpoint.size} was signed",
            allowed=trust.allow_unwitnessed and not trust.witnesses,
        )
    if held := tuple(key for key in signers if trust.period(key).holds(signed_at)):
        return held
    what = f"when {checkpoint.origin} at size {checkpoint.size} was first countersigned"
    raise Differs(what, f"within the time of its key: {pinned}", when(signed_at))


def countersigned(note: Note, checkpoint: Checkpoint, trust: Trust) -> dict[str, int]:
    """The pinned witnesses that cosigned a head while they are pinned for it, by name, each with its latest time.

    Raises `BadNote` where a line of a pinned witness does not hold.
    """
    times: dict[str, int] = {}
    for name, seconds in _countersignings(note, checkpoint, trust):
        times[name] = max(seconds, times.get(name, seconds))
    return times


def _first_countersigned(note: Note, checkpoint: Checkpoint, trust: Trust) -> int | None:
    """The time by which so many witnesses as the quorum had cosigned a head; ``None`` where fewer have.

    Each counts with its earliest line. One witness that lies about the time can thus not move it alone.
    """
    first: dict[str, int] = {}
    for name, seconds in _countersignings(note, checkpoint, trust):
        first[name] = min(seconds, first.get(name, seconds))
    times = sorted(first.values())
    return times[trust.quorum - 1] if len(times) >= trust.quorum else None


def _countersignings(note: Note, checkpoint: Checkpoint, trust: Trust) -> Iterator[tuple[str, int]]:
    """Name and time of each line of a pinned witness that it wrote while it is pinned for the head."""
    for key in trust.witnesses:
        period = trust.period(key)
        for line in note.signatures:
            for name, seconds in cosignatures(Note(note.text, (line,)), checkpoint, [key]).items():
                if period.covers(checkpoint.origin) and period.holds(seconds):
                    yield name, seconds


def check_witnesses(evidence: OpenedBundle, trust: Trust) -> str:
    """Check that a quorum of pinned witnesses cosigned the head."""
    if not trust.witnesses:
        raise NotCheckable(UNWITNESSED, allowed=trust.allow_unwitnessed)
    with at(file=HEAD):
        return cosigned(*head(evidence), trust)


def cosigned(note: Note, checkpoint: Checkpoint, trust: Trust) -> str:
    """The pinned witnesses that cosigned a head, and when; raises `Differs`, or `NotCheckable` where none is pinned."""
    if not trust.witnesses:
        raise NotCheckable(UNWITNESSED, allowed=trust.allow_unwitnessed)
    times = countersigned(note, checkpoint, trust)
    if len(times) < trust.quorum:
        others = {name: at for name, at in cosignatures(note, checkpoint, trust.witnesses).items() if name not in times}
        outside = [f"{name} at {when(seconds)}, for which its key is not pinned" for name, seconds in others.items()]
        names = ", ".join([*sorted(times), *sorted(outside)]) or "none"
        pinned = len({key.name for key in trust.witnesses})
        raise Differs("pinned witnesses that countersigned", f"{trust.quorum} of {pinned}", names)
    return "; ".join(f"{name} countersigned at {when(seconds)}" for name, seconds in sorted(times.items()))


def named_lines(note: Note) -> str:
    """The names and ids of the lines below a checkpoint, cut where they are many."""
    return ", ".join(f"{signature.name}+{signature.key_id.hex()}" for signature in note.signatures)[:200]
