"""Sending a request until it is answered: what is sent again, after which pause, and for how long.

A request is sent again after a connection that failed and after an answer that says so (408, 425, 429, 502, 503, 504,
and 409 `fenced`), if it is `repeatable`: a read, an abort, a question that costs nothing, or a case under its key. Any
other request is sent again only where it cannot have reached the service. A pause is never shorter than Retry-After,
and no pause begins that would end after the time of the call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gainsay_client import steps
from gainsay_client.consistency import BadConsistency, verify_consistency
from gainsay_client.errors import GainsayError, UnexpectedAnswer, Unreachable
from gainsay_client.head_memory import HeadMemory, forked
from gainsay_client.heads import Head, decode_hash, parse_checkpoint
from gainsay_client.steps import Broken, Pause, Steps
from gainsay_client.wire import Answer, Request, Server, error_of, log_path

PASSING = frozenset({408, 425, 429, 502, 503, 504})
PASSING_CODES = frozenset({"fenced"})
HEAD = "gainsay-checkpoint"
VERSION = "gainsay-version"
LONGEST_PAUSE_S = 15.0
_VERSION = re.compile(r"[0-9]{1,4}\.[0-9]{1,4}", re.ASCII)
RACES = 5
"""How often in a row another process may remember a head while one is proved."""


@dataclass(frozen=True)
class Terms:
    """How a client behaves. Times are in seconds; ``draw`` gives numbers from 0 to 1, for pauses that do not meet."""

    server: Server
    headers: Mapping[str, str]
    give_up_after: float
    answer_within: float
    silence: float
    first_pause: float
    clock: Callable[[], float]
    draw: Callable[[], float]


class Trying:
    """The tries of one call: how long the next pause is, and whether there is time for it."""

    def __init__(self, terms: Terms, seconds: float) -> None:
        self._terms = terms
        self._ends_at = terms.clock() + seconds
        self._pause = terms.first_pause
        self.tries = 0

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self._ends_at - self._terms.clock()

    def pause_after(self, fault: GainsayError) -> Steps[None]:
        """Pause before the next try, or raise the fault where there is no time for one."""
        self.tries += 1
        pause = max(self._pause, fault.retry_after or 0.0) * (1 + self._terms.draw() / 2)
        self._pause = min(2 * self._pause, LONGEST_PAUSE_S)
        if pause >= self.left:
            raise fault
        yield Pause(pause)


class Exchange:
    """Sends requests for all calls of one client, and looks at the head of every answer."""

    def __init__(self, terms: Terms, memory: HeadMemory) -> None:
        self.terms = terms
        self.memory = memory
        self.api_version: str | None = None

    def send(self, request: Request, seconds: float | None = None) -> Steps[Answer]:
        """The successful answer to a request; raises the `GainsayError` of any other.

        ``seconds`` is the time for all tries, without what the service is asked to wait.
        """
        trying = Trying(self.terms, (self.terms.give_up_after if seconds is None else seconds) + request.waits)
        while True:
            try:
                within = max(0.001, min(self.terms.answer_within + request.waits, trying.left))
                answer = yield from steps.send(request, within)
            except Broken as broken:
                fault: GainsayError = self.unreachable(broken, trying)
                repeat = request.repeatable or not broken.sent
            else:
                yield from self.look(answer)
                if answer.is_success:
                    return answer
                fault = error_of(answer, self.terms.server)
                repeat = request.repeatable and is_passing(fault)
            if not repeat:
                raise fault
            yield from trying.pause_after(fault)

    def unreachable(self, broken: Broken, trying: Trying) -> Unreachable:
        """The error of a call whose connections failed."""
        tries = f" (try {trying.tries + 1})" if trying.tries else ""
        return Unreachable(f"no whole answer from {self.terms.server.origin}: {broken}{tries}")

    def look(self, answer: Answer) -> Steps[None]:
        """Note the version of an answer, compare its head with what is remembered, and have proofs that are due."""
        if _VERSION.fullmatch(said := answer.headers.get(VERSION, "")):
            self.api_version = said
        if given := answer.headers.get(HEAD):
            if not self.memory.knows(given):
                yield from steps.do(lambda: self.memory.note(given))
            yield from self.prove()

    def prove(self, *, now: bool = False) -> Steps[None]:
        """Ask for the proofs of the heads kept aside, if a batch is due; raises `LogForked`."""
        if (batch := self.memory.begin_batch(now=now)) is None:
            return
        try:
            heads, ended = batch
            trying = Trying(self.terms, self.terms.give_up_after)
            for log in ended:
                if (last := (yield from self._last_checkpoint(log, trying))) is not None:
                    heads.append(last)
            for head in heads:
                for _ in range(RACES):
                    if (yield from self._prove(head, trying)):
                        break
        finally:
            self.memory.end_batch()

    def _prove(self, head: Head, trying: Trying) -> Steps[bool]:
        """Prove a head, or tell that it cannot be; false where another process remembered a third one meanwhile."""
        kept = (yield from steps.do(self.memory.store.heads)).get(head.log, head)
        old, new = sorted((head, kept), key=lambda each: each.size)
        path: tuple[bytes, ...] | str = ()
        if old.size not in (0, new.size):
            path = yield from self._path(old, new, trying)
        if isinstance(path, str):
            self.memory.missing(head, path)
            return True
        try:
            verify_consistency(old.size, new.size, path, old.root, new.root)
        except BadConsistency as error:
            self.memory.refused(head)
            raise forked(head, kept, f"{error}.") from None
        return (yield from steps.do(lambda: self.memory.proved(head, kept)))

    def _path(self, old: Head, new: Head, trying: Trying) -> Steps[tuple[bytes, ...] | str]:
        """The consistency proof of two heads, or why it cannot be had."""
        query = (("from", str(old.size)), ("to", str(new.size)))
        answer = yield from self._ask(log_path(old.log, "consistency"), query, trying)
        if isinstance(answer, str):
            return answer
        nodes = tuple(decode_hash(line) for line in answer.body.decode("utf-8", "replace").splitlines())
        path = tuple(node for node in nodes if node is not None)
        return path if len(path) == len(nodes) else "the answer is no proof"

    def _last_checkpoint(self, log: str, trying: Trying) -> Steps[Head | None]:
        """The head of a log that has ended, if it has to be proved."""
        answer = yield from self._ask(log_path(log, "checkpoint"), (), trying)
        if isinstance(answer, str):
            return None
        try:
            head = parse_checkpoint(answer.body.decode("utf-8", "replace"))
        except UnexpectedAnswer:
            return None
        if head.log != log:
            return None
        yield from steps.do(lambda: self.memory.note_head(head))
        self.memory.followed(log)
        return head if head in self.memory.unproved else None

    def _ask(self, path: str, query: tuple[tuple[str, str], ...], trying: Trying) -> Steps[Answer | str]:
        """One try of a request about heads: its answer, or why there is none. A batch takes no longer than a call."""
        if trying.left <= 0:
            return "the time for proofs was over"
        try:
            answer = yield from steps.send(Request("GET", path, query), min(self.terms.answer_within, trying.left))
        except Broken as broken:
            return str(broken)
        if given := answer.headers.get(HEAD):
            yield from steps.do(lambda: self.memory.note(given))
        return answer if answer.status == 200 else str(error_of(answer, self.terms.server))


def is_passing(fault: GainsayError) -> bool:
    """Whether the same request may succeed later."""
    return fault.status in PASSING or fault.code in PASSING_CODES
