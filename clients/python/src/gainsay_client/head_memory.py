"""The heads that answers name, compared with the head that is remembered of each log.

    a head of a size that is known, with its root        fine
    ... with another root                                `LogForked`, before the answer is handed out
    a larger head                                        kept aside; its proof is asked for in the next batch
    a smaller one, of a replica that is behind           the same: the proof leads from it to the remembered one
    a proof that does not hold                           `LogForked`
    no proof (no answer, an error, an unreadable one)    told, counted in `unproved`, asked for again later
    a head of the next log of the tenant (a rotation)    remembered beside the old one; the old log's last checkpoint
                                                         is asked for, and must continue what is remembered
    a head of another log                                told, and remembered beside the others

A batch runs within a call, after its answer: at once for the first head that needs a proof, then at most once in
`every_s`, and after proofs that could not be had in up to a minute. Each head of a batch has its own proof. A batch
takes no longer than a call may (`give_up_after`): what is not asked for then is asked for in a later one. Between two
batches at most `ASIDE_MAX` heads are kept aside; further ones are told and not compared.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from gainsay_client.errors import LogForked
from gainsay_client.heads import Head, HeadStore, encode_base64, parse_head

LOG = logging.getLogger("gainsay_client")
ASIDE_MAX = 16
PROVED_MAX = 4096
LOGS_MAX = 100
"""The most logs that are remembered: a server that names another log in each answer fills no disk."""
LATEST_RETRY_S = 60.0
_FORKED = (
    "{log} has shown {size} records under two roots, {a} and {b}, by the header Gainsay-Checkpoint; {what} Keep both, "
    "do not rely on answers of this service, and show them to an auditor (gainsay audit compare)"
)


@dataclass(frozen=True, slots=True)
class HeadNotice:
    """What a caller should know, and what is no reason to refuse an answer.

    ``unproved``: a proof could not be had, ``reason`` says why. ``rotated``: the tenant has a new log. ``otherLog``:
    the answers name a log that is no successor of those remembered. ``dropped``: a head was not compared.
    """

    kind: Literal["unproved", "rotated", "otherLog", "dropped"]
    head: Head
    reason: str


def log_notice(notice: HeadNotice) -> None:
    """Write a notice to the log ``gainsay_client``."""
    LOG.warning("head %s: %s: %s", notice.kind, notice.head, notice.reason)


class HeadMemory:
    """What one client knows of the logs; safe with threads."""

    def __init__(
        self, store: HeadStore, every_s: float, clock: Callable[[], float], tell: Callable[[HeadNotice], None]
    ) -> None:
        self.store = store
        self.tell = tell
        self._every_s, self._clock = every_s, clock
        self._lock = threading.Lock()
        self._roots: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._aside: dict[Head, str] = {}
        self._ended: list[str] = []
        self._next_at, self._pause_s, self._busy = 0.0, every_s, False

    @property
    def unproved(self) -> Mapping[Head, str]:
        """The heads that are not proved yet, with the reason; an empty one where no batch has asked so far."""
        with self._lock:
            return dict(self._aside)

    def knows(self, text: str) -> bool:
        """Whether a head is one that was compared before: no file is read for it."""
        head = parse_head(text)
        with self._lock:
            return self._roots.get((head.log, head.size)) == head.root

    def note(self, text: str) -> None:
        """Compare the head of an answer with what is known, and keep aside what needs a proof; raises `LogForked`."""
        self.note_head(parse_head(text))

    def note_head(self, head: Head) -> None:
        """The same for a head that is read already."""
        with self._lock:
            known = self.store.heads()
            self._compare(head, known.get(head.log))
            if (head.log, head.size) in self._roots or head in self._aside:
                return
            notice = None
            if head.log not in known:
                notice = self._begin(head, known)
            elif len(self._aside) >= ASIDE_MAX:
                notice = HeadNotice("dropped", head, f"{ASIDE_MAX} heads wait for their proofs")
            else:
                self._aside[head] = ""
        if notice:
            self.tell(notice)

    def _compare(self, head: Head, kept: Head | None) -> None:
        """Raise `LogForked` for another root of a size that is known."""
        if kept is not None:
            before = self._roots.setdefault((kept.log, kept.size), kept.root)
            if before != kept.root:  # another process was shown another log
                raise forked(kept, Head(kept.log, kept.size, before), "no log has both.")
        known = self._roots.get((head.log, head.size))
        others = [other for other in self._aside if (other.log, other.size) == (head.log, head.size)]
        if known is None and others:
            known = others[0].root
        if known is not None and known != head.root:
            raise forked(head, Head(head.log, head.size, known), "no log has both.")

    def _begin(self, head: Head, known: Mapping[str, Head]) -> HeadNotice | None:
        """The first head of a log, which is trusted; says whether it follows one that is remembered."""
        if len(known) >= LOGS_MAX:
            return HeadNotice("dropped", head, f"{len(known)} logs are remembered")
        kept = self.store.keep(head, None)
        if kept != head:  # another process was first
            self._aside[head] = ""
            return None
        self._prove(head)
        before = sorted((old for old in known.values() if old.series == head.series), key=lambda old: old.epoch)
        if before and before[-1].epoch < head.epoch:
            self._ended.append(before[-1].log)
            return HeadNotice("rotated", head, f"the tenant's log was {before[-1].log}")
        if known and not before:
            return HeadNotice("otherLog", head, f"remembered are {', '.join(sorted(known))}")
        return None

    def begin_batch(self, *, now: bool = False) -> tuple[list[Head], list[str]] | None:
        """The heads to prove and the logs that have ended, if a batch is due; `end_batch` has to follow."""
        with self._lock:
            if self._busy or not (self._aside or self._ended) or (not now and self._clock() < self._next_at):
                return None
            self._busy = True
            return sorted(self._aside, key=lambda head: (head.log, head.size)), list(self._ended)

    def end_batch(self) -> None:
        """Let the next batch begin, later the more often proofs could not be had."""
        with self._lock:
            failed = any(self._aside.values()) or bool(self._ended)
            self._pause_s = min(2 * self._pause_s, LATEST_RETRY_S) if failed else self._every_s
            self._next_at = self._clock() + self._pause_s
            self._busy = False

    def proved(self, head: Head, kept: Head) -> bool:
        """A proof holds between a head and the kept one.

        False where another process has remembered a third head: this one stays aside, to be proved against that.
        """
        now = self.store.keep(head, kept) if head.size > kept.size else kept
        if now not in (head, kept):
            return False
        with self._lock:
            self._prove(head)
            self._aside.pop(head, None)
        return True

    def refused(self, head: Head) -> None:
        """A head is wrong: it is forgotten, so that the same head is refused again."""
        with self._lock:
            self._aside.pop(head, None)

    def missing(self, head: Head, reason: str) -> None:
        """A proof could not be had; it is asked for again later."""
        with self._lock:
            first = not self._aside.get(head)
            if head in self._aside:
                self._aside[head] = reason
        if first:
            self.tell(HeadNotice("unproved", head, reason))

    def followed(self, log: str) -> None:
        """The last checkpoint of a log that has ended is noted; until then it is asked for with every batch."""
        with self._lock:
            self._ended.remove(log)

    def _prove(self, head: Head) -> None:
        self._roots[(head.log, head.size)] = head.root
        while len(self._roots) > PROVED_MAX:
            self._roots.popitem(last=False)


def forked(found: Head, kept: Head, what: str) -> LogForked:
    """The error for two heads of one log."""
    if found.size == kept.size:
        words = _FORKED.format(
            log=kept.log, size=kept.size, a=encode_base64(kept.root), b=encode_base64(found.root), what=what
        )
    else:
        words = f"the heads {kept} and {found} are not of one log: {what} Keep both, and show them to an auditor"
    return LogForked(words, kept, found)
