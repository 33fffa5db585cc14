"""When the debate was recorded: what its records say, between two times that witnesses or an authority signed.

records     each was recorded no earlier than it occurred and than the one before it; the first has the time of the id
before      a head without the debate: the log was countersigned so before the debate began
first       a head with all of it: the first one that witnesses countersigned, or a later one
stamped     two such heads again, each with the time stamp of an authority (RFC 3161)

All heads are of the tree that proves the records. A head without the debate says that the log did not have it yet, so
no record may be dated before that; a head with all of it, that no record may be dated after that. The tolerance is one
second, because cosignatures have whole ones, and what the policy of the debate says the clocks may be apart. The time
of a stamp is taken to be as far off as its authority says that it may be. A pinned authority can only narrow the
interval that the witnesses give, so none vouches for a time that they do not.

The maker of the file chooses the heads, and an older or a later one only makes the interval wider. So a debate without
a head before it, or that was countersigned long after it says it ended, is NOT CHECKABLE and never OK.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from msgspec.structs import replace

from service.audit.bundle import BEFORE, FIRST, STAMPED_BEFORE, STAMPED_FIRST, token_file
from service.audit.checkpoint import Checkpoint
from service.audit.earlier_head import open_earlier_head
from service.audit.note import Note
from service.audit.proof import parse_proof
from service.audit.record import Envelope, moment
from service.audit.timestamp import TOKEN_MAX, TimeStamp, open_time_stamp
from service.verify.log import HEAD_MAX, PROOF_MAX, check_signature, countersigned, head
from service.verify.opened_bundle import OpenedBundle
from service.verify.steps import (
    AUTHORITY,
    Differs,
    Interval,
    NotCheckable,
    SignedTime,
    Trust,
    at,
    tolerance_words,
    when,
)

STAMPED = (STAMPED_BEFORE, STAMPED_FIRST)
WITHOUT = (BEFORE, STAMPED_BEFORE)
"""The heads without the debate; the others are with all of it."""
HEADS = (BEFORE, FIRST, *STAMPED)
FILES = (*HEADS, *map(token_file, STAMPED))
DATED_SINCE = 2
"""The first version of the envelope that says when a record was written."""
WHOLE_S = 1
"""Cosignatures have whole seconds."""
LATE_S = 3_600
"""From this on a first countersigned head no longer shows that the debate was not dated back."""
SECOND = 1_000_000
MILLISECOND = 1_000


def check_times(evidence: OpenedBundle, trust: Trust) -> str:
    """Check what the records say of time, by themselves and against the signed times; raises `Differs`.

    Raises `NotCheckable` where signed times are not there, or say little.
    """
    _by_themselves(evidence)
    heads, found_stamps = _heads(evidence, trust), stamps(evidence)
    first, last = evidence.envelopes[0], evidence.envelopes[-1]
    said = f"its records say {first.recorded} to {last.recorded}"
    if first.v < DATED_SINCE:
        raise NotCheckable("records of the envelope's first version do not say when they were written")
    if not (trust.witnesses or trust.authorities):
        reason = f"UNWITNESSED: no time but the writer's own bounds the debate; {said}"
        raise NotCheckable(reason, allowed=trust.allow_unwitnessed)
    tolerance = WHOLE_S + evidence.policy.audit.clock_skew_s
    evidence.interval = found = replace(_interval(heads, found_stamps, trust), tolerance_s=tolerance)
    _compared(evidence, found, tolerance)
    said = f"{said} {tolerance_words(tolerance)}"
    if gap := _gap(evidence, found) or _unstamped(found_stamps, trust):
        raise NotCheckable(f"LOOSELY DATED: {gap}; {said}", allowed=trust.allow_loose_times)
    beginning = f"between {found.after}" if found.after else "as the first of its log"
    return f"recorded {beginning} and {found.until}; {said}"


def notes(evidence: OpenedBundle) -> Iterator[tuple[str, str, Note, None]]:
    """The notes of the earlier heads, as `service.verify.lines` reads them; raises `Differs`."""
    for file, (note, checkpoint) in _read(evidence).items():
        yield file, checkpoint.origin, note, None


# The records by themselves.


def _by_themselves(evidence: OpenedBundle) -> None:
    """Check that times ascend from record to record, and that the first one has the time in the id of the debate."""
    for n, envelope in evidence.readable.items():
        with at(file=f"records/{n:04d}.leaf.json", record=n):
            expect_own_time(envelope)
    for (_, before), (n, after) in pairwise(evidence.readable.items()):
        with at(file=f"records/{n:04d}.leaf.json", record=n):
            expect_ascending(before.recorded, after.recorded)


def expect_own_time(envelope: Envelope) -> None:
    """Raise `Differs` for a record that was written before it occurred, or a first one of another time than its id."""
    if moment(envelope.recorded) < moment(envelope.occurred):
        raise Differs(
            "when a record was written", f"{envelope.occurred}, when it occurred, or later", envelope.recorded
        )
    if envelope.n == 0 and envelope.v >= DATED_SINCE:
        _expect_own_id(envelope)


def expect_ascending(before: str, after: str) -> None:
    """Raise `Differs` for a record that says it was written before the one that it follows."""
    if moment(after) < moment(before):
        raise Differs("when a record was written", f"{before}, as the one before it, or later", after)


def claimed_moment(envelope: Envelope) -> int:
    """When a record says it was written, in microseconds; 0 for a time that the step *chains* refuses."""
    try:
        return moment(envelope.recorded)
    except ValueError:
        return 0


def _expect_own_id(first: Envelope) -> None:
    """Raise `Differs` unless the id of a chain is a UUID of version 7 (RFC 9562) of its first record's moment."""
    digits = first.debate.replace("-", "")  # 48 bits of milliseconds since 1970, then four of the version
    if digits[12:13] != "7":
        raise Differs("the id of the debate", "a UUID of version 7", first.debate[:40])
    if (expected := int(digits[:12], 16)) != (found := moment(first.recorded) // MILLISECOND):
        said = f"{expected} ms since 1970, as the id of the debate says"
        raise Differs("when the first record was written", said, f"{found} ms: {first.recorded}")


# The heads.


def _read(evidence: OpenedBundle) -> dict[str, tuple[Note, Checkpoint]]:
    """The earlier heads that the file has, each proven to be of the records' tree; raises `Differs`."""
    later, found = head(evidence)[1], {}
    for file in HEADS:
        if file in evidence.files:
            with at(file=file):
                found[file] = open_earlier_head(evidence.file(file, HEAD_MAX + PROOF_MAX), later)
    return found


def _heads(evidence: OpenedBundle, trust: Trust) -> Mapping[str, tuple[Note, Checkpoint]]:
    """The earlier heads, signed by a pinned key, the one without the debate and the other with all of it."""
    found, last = _read(evidence), evidence.manifest.records - 1
    for file, (note, checkpoint) in found.items():
        with at(file=file):
            if trust.keys:
                check_signature(note, checkpoint, trust)
            begins, ends = _index(evidence, 0), _index(evidence, last)
            if file in WITHOUT and checkpoint.size > begins:
                raise Differs("the size of a head without the debate", f"at most {begins}", str(checkpoint.size))
            if file not in WITHOUT and checkpoint.size <= ends:
                raise Differs("the size of a head with all of the debate", f"at least {ends + 1}", str(checkpoint.size))
    return found


def _index(evidence: OpenedBundle, n: int) -> int:
    """The place of a record in the log; the step `tree` has proven it."""
    return parse_proof(evidence.file(f"proofs/{n:04d}.tlog-proof")).index


# The signed times.


def _interval(
    heads: Mapping[str, tuple[Note, Checkpoint]], found_stamps: Mapping[str, TimeStamp], trust: Trust
) -> Interval:
    """The narrowest interval of what the quorum of witnesses and each pinned authority signed; raises `Differs`."""
    pairs = [*([_witnessed(heads, trust)] if trust.witnesses else []), _stamped(found_stamps, trust)]
    afters = [pair.after for pair in pairs if pair.after]
    untils = [pair.until for pair in pairs if pair.until]
    return Interval(
        max(afters, key=lambda one: one.seconds, default=None), min(untils, key=lambda one: one.seconds, default=None)
    )


def stamps(evidence: OpenedBundle) -> dict[str, TimeStamp]:
    """What the time stamps say, by the files of their tokens, each verified with the text of its head.

    Raises `Differs` for a token without its head, a head without its token, and one that does not hold.
    """
    heads, found = _read(evidence), {}
    for file in STAMPED:
        token = token_file(file)
        if (file in heads) != (token in evidence.files):
            missing = token if file in heads else file
            raise Differs("a time stamp and its head", missing, "nothing", file=missing)
        if file in heads:
            with at(file=token):
                found[token] = open_time_stamp(evidence.file(token, TOKEN_MAX), heads[file][0].text)
    return found


def _stamped(found: Mapping[str, TimeStamp], trust: Trust) -> Interval:
    """What pinned authorities say, as far off as they say that their clocks may be."""
    before, first = (found.get(token_file(file)) for file in STAMPED)
    after = until = None
    if before and before.authority in trust.authorities:
        after = SignedTime(before.seconds - before.accuracy_s, f"{AUTHORITY}{before.name}")
    if first and first.authority in trust.authorities:
        until = SignedTime(first.seconds + first.accuracy_s, f"{AUTHORITY}{first.name}")
    return Interval(after, until)


def _unstamped(found: Mapping[str, TimeStamp], trust: Trust) -> str:
    """Why nothing of a pinned authority is there; empty where it is, or where none was pinned."""
    first = found.get(token_file(STAMPED_FIRST))
    if not trust.authorities or (first and first.authority in trust.authorities):
        return ""
    return "no pinned authority stamped a head with all of the debate"


def _witnessed(heads: Mapping[str, tuple[Note, Checkpoint]], trust: Trust) -> Interval:
    """The signed times of both heads, each by as many pinned witnesses as the quorum asks for; raises `Differs`."""
    if FIRST not in heads:
        raise Differs("the first countersigned head with all of the debate", FIRST, "nothing", file=FIRST)
    before = _signed(BEFORE, heads[BEFORE], trust) if BEFORE in heads else []
    first = _signed(FIRST, heads[FIRST], trust)
    # Of so many witnesses, at least as many as the quorum say this or later, and this or earlier.
    after = before[-trust.quorum] if len(before) >= trust.quorum else None
    until = first[trust.quorum - 1] if len(first) >= trust.quorum else None
    return Interval(after, until)


def _signed(file: str, found: tuple[Note, Checkpoint], trust: Trust) -> list[SignedTime]:
    """When the pinned witnesses countersigned the head of a file, the earliest first; raises `Differs`."""
    with at(file=file):
        times = countersigned(*found, trust)
    return sorted((SignedTime(at_, name) for name, at_ in times.items()), key=lambda one: (one.seconds, one.signer))


def _compared(evidence: OpenedBundle, found: Interval, tolerance: int) -> None:
    """Raise `Differs` for records that are dated outside of the interval by more than so many seconds."""
    first, last = evidence.envelopes[0], evidence.envelopes[-1]
    after, until = found.after, found.until
    if after and until and after.seconds > until.seconds + tolerance:
        raise Differs(
            "when a head without the debate was signed", f"no later than {until}", str(after), file=_file(BEFORE, after)
        )
    if after and moment(first.recorded) < (after.seconds - tolerance) * SECOND:
        what = f"when the first record was written, which was not in the log at {after}"
        earliest = f"{when(after.seconds - tolerance)} or later"
        raise Differs(what, earliest, first.recorded, file="records/0000.leaf.json", record=0)
    if until and moment(last.recorded) > (until.seconds + tolerance) * SECOND:
        what = f"when the last record was written, which was in the log at {until}"
        latest = f"{when(until.seconds + tolerance)} or earlier"
        raise Differs(what, latest, last.recorded, file=f"records/{last.n:04d}.leaf.json", record=last.n)


def _file(file: str, signed: SignedTime) -> str:
    """The file that a signed time is from: of witnesses, or the stamped one beside it."""
    stamped = {BEFORE: STAMPED_BEFORE, FIRST: STAMPED_FIRST}[file]
    return token_file(stamped) if signed.signer.startswith(AUTHORITY) else file


def _gap(evidence: OpenedBundle, found: Interval) -> str:
    """Why the signed times say too little; empty where they do not."""
    last = evidence.envelopes[-1]
    if found.until is None:
        return "too few pinned witnesses, and no pinned authority, signed the first head with all of the debate"
    if (late := found.until.seconds - moment(last.recorded) // SECOND) > LATE_S:
        return f"its first dated checkpoint is of {found.until}, {late} seconds after its last record"
    if found.after is None and _index(evidence, 0) > 0:
        return "no head without the debate that the quorum or a pinned authority signed is there, so nothing bounds it"
    return ""
