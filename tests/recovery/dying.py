"""A `gainsay` that dies by SIGKILL at its n-th place: around a record, a call or a signature, in a forked process.

    open        a debate of an item is opened, and recorded as asked in the same transaction
    append      entries of a debate are recorded
    call        a model is called
    sign        a head of the log is signed
    scored, concluded    entries of the evaluation are recorded, as many as go together

Each is a place twice, before it and after it. What is called is noted in a file before the process goes on, or dies.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

import msgspec
from msgspec import Struct

import service.app
import service.cli.evaluate.run
import service.cli.own_worker
from service.audit.evaluation_events import EvaluationConcluded, EvaluationStopped, ItemScored
from service.money import Usage, normalise
from service.proving.signing.local import LocalSigner
from service.reviews import evaluation_feed, submission
from service.running.provider_port import Answer
from service.simulated.provider import OfflineProvider
from service.store import evaluations
from service.store.log import DebateLog
from tests.faults.counting import Call

When = Literal["before", "after"]
WHENS: tuple[When, ...] = ("before", "after")
KINDS = ("open", "append", "call", "sign", "scored", "concluded")
_ENTRIES: Mapping[type, str] = {
    ItemScored: "scored",
    EvaluationConcluded: "concluded",
    EvaluationStopped: "stopped",
}
LONGEST_S = 900
"""A process that has not ended by then is ended."""
LOADED = (service.app, service.cli.evaluate.run, service.cli.own_worker, evaluation_feed)
"""What the command imports when it needs it; here before the fork."""
P = ParamSpec("P")
T = TypeVar("T")


class Life(Struct, frozen=True):
    """The words of a command, and where its process dies: at its ``at``-th place of a kind, of any for ``""``.

    With ``at`` 0 it lives to its end.
    """

    words: tuple[str, ...]
    notes: str
    at: int = 0
    kind: str = ""
    when: When = "after"


class Note(Struct, omit_defaults=True):
    """A line of what a process notes: a call with what it came to, where it died, or how many places it had."""

    pid: int
    n: int = 0
    body: bytes = b""
    usage: tuple[int, int] | None = None
    died: str = ""
    places: dict[str, int] | None = None


class Noted(Struct, frozen=True):
    """What processes noted together: calls as a vendor has them in its books, deaths, and the places of the last."""

    calls: tuple[Call, ...]
    died: tuple[str, ...]
    places: Mapping[str, int]


def noted(file: Path) -> Noted:
    """What is noted in a file."""
    notes = [msgspec.json.decode(line, type=Note) for line in file.read_bytes().splitlines()]
    calls = dict[tuple[int, int], Call]()
    for one in (one for one in notes if one.n):
        call = calls.setdefault((one.pid, one.n), Call(one.body))
        call.usage = Usage(*one.usage) if one.usage else call.usage
    places = [one.places for one in notes if one.places is not None]
    return Noted(tuple(calls.values()), tuple(one.died for one in notes if one.died), places[-1] if places else {})


# -- inside


def load() -> None:
    """All is imported by now."""


def live(told: Mapping[str, Any]) -> int:
    """Run the command, or die on the way."""
    from service.cli import main  # the words are read here

    signal.alarm(LONGEST_S)
    life = msgspec.convert(told, Life)
    dying = _Dying(life)
    dying.stand_at_every_place()
    code = main(life.words)
    dying.note(Note(os.getpid(), places=dict(dying.met)))
    return code


class _Dying:
    """Counts the places of this process, and ends it at one of them."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._file = os.open(life.notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._calls = 0
        self.met = Counter[str]()

    def note(self, note: Note) -> None:
        os.write(self._file, msgspec.json.encode(note) + b"\n")

    def stand_at_every_place(self) -> None:
        """Wrap what is done there."""
        _wrap(submission, "open_debate", partial(self._around, lambda *_: "open"))
        _wrap(DebateLog, "append", partial(self._around, lambda *_: "append"))
        _wrap(LocalSigner, "sign", partial(self._around, lambda *_: "sign"))
        _wrap(
            evaluations,
            "add_entries",
            partial(self._around, lambda _, entries, *__: _ENTRIES.get(type(entries[0]), "")),
        )
        _wrap(OfflineProvider, "send", self._noting)
        _wrap(OfflineProvider, "send", partial(self._around, lambda *_: "call"))

    async def _around(
        self, kind_of: Callable[..., str], done: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        kind = kind_of(*args)
        self._reach(kind, "before")
        found = await done(*args, **kwargs)
        self._reach(kind, "after")
        return found

    async def _noting(
        self, send: Callable[[OfflineProvider, bytes], Awaitable[Answer]], provider: OfflineProvider, body: bytes
    ) -> Answer:
        """A call as the vendor has it in its books: there from the moment on at which it is asked."""
        self._calls += 1
        n, pid = self._calls, os.getpid()
        self.note(Note(pid, n=n, body=body))
        answer = await send(provider, body)
        if usage := normalise("offline", answer.raw_usage):
            self.note(Note(pid, n=n, usage=(usage.input, usage.output)))
        return answer

    def _reach(self, kind: str, when: When) -> None:
        life = self._life
        if life.kind in ("", kind):
            self.met[when] += 1
            here = self.met[when] if life.kind else sum(self.met.values())
            if here == life.at and (not life.kind or when == life.when):
                self.note(Note(os.getpid(), died=f"{when} {kind}"))
                os.kill(os.getpid(), signal.SIGKILL)


def _wrap(owner: Any, name: str, around: Callable[..., Awaitable[Any]]) -> None:
    done = getattr(owner, name)

    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        return await around(done, *args, **kwargs)

    setattr(owner, name, wrapped)
