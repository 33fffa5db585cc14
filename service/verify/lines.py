"""The lines of signatures below a checkpoint that no pinned key checked: any holder of the file can add one.

A line counts as checked when a pinned key or witness holds it, or when a record carries the same line: the record that
opened the next log holds the last checkpoint of the one before, sealed with all its lines. Every other line is only a
name, and so is a time stamp by a certificate that is not pinned: anyone can make one. The step lists them, and is NOT
CHECKABLE unless ``--allow-unchecked-lines`` says that such lines are expected, as those of witnesses whose keys were
not pinned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from service.audit.note import Note, PublicKey, Signature, is_signed
from service.audit.timestamp import TimeStamp
from service.verify.log import vouching
from service.verify.steps import UNCHECKED, Differs, NotCheckable, Trust

LISTED_MAX = 20


def check_lines(
    notes: Iterable[tuple[str, str, Note, Note | None]], trust: Trust, stamps: Mapping[str, TimeStamp] | None = None
) -> str:
    """Check each line of these notes: (file, log, note, the same as a record carries it or ``None``).

    ``stamps`` are time stamps by their files, each as its token says it: one by a certificate that is not pinned is as
    a line that no pinned key checked.

    Raises `Differs` for a line of a pinned key that does not hold, and for a key with two lines; `NotCheckable` for
    lines that no pinned key checked.
    """
    unknown, checked = [], 0
    for file, log, note, carried in notes:
        keys = (*vouching(trust, log), *trust.witnesses)
        sealed = set(carried.signatures) if carried is not None and carried.text == note.text else set()
        seen: set[tuple[str, bytes]] = set()
        for line in note.signatures:
            if (line.name, line.key_id) in seen:
                raise Differs("the lines of a key", "one", "two", file=file)
            seen.add((line.name, line.key_id))
            if _held(note, line, keys, file) or line in sealed:
                checked += 1
            else:
                unknown.append(f"{_named(line)} in {file}")
    for file, stamp in (stamps or {}).items():
        if stamp.authority in trust.authorities:
            checked += 1
        else:
            unknown.append(f"{stamp.name!r} ({stamp.authority.hex()[:8]}) in {file}")
    detail = f"{checked} line{'s' if checked != 1 else ''} of signatures checked"
    if not unknown:
        return f"{detail}, and no other is there"
    listed = ", ".join(unknown[:LISTED_MAX]) + (f" and {len(unknown) - LISTED_MAX} more" * (len(unknown) > LISTED_MAX))
    raise NotCheckable(
        f"{UNCHECKED}{listed}: any holder of the file can add such a line; {detail}",
        allowed=trust.allow_unchecked_lines or (trust.allow_unsigned and not trust.keys),
    )


def _held(note: Note, line: Signature, keys: Iterable[PublicKey], file: str) -> bool:
    """Whether a pinned key made a line; raises `Differs` for a line under its name that it did not make."""
    known = [key for key in keys if (key.name, key.id) == (line.name, line.key_id)]
    if known and not any(is_signed(note.text, line, key) for key in known):
        raise Differs("a line of a pinned key", "its signature", "another", file=file)
    return bool(known)


def _named(line: Signature) -> str:
    return f"{line.name!r} ({line.key_id.hex()})"
