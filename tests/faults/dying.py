"""Processes that bring a case to its end, or die by SIGKILL at their n-th append: forked in a moment.

    with lives(folder) as crew:
        crew.live(Life(url, admin_url, "panel", "post-1", notes, at=3, when="after"))     # how it ended

What was answered and confirmed to a process, and what it asked the vendor, it has noted in a file before it goes on, or
dies.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec
import psycopg
from msgspec import Struct

from service.debate.entries import Entry
from service.money import Usage
from service.prompts import Prompts
from service.reviews import submission
from service.store.log import DebateLog
from tests.faults.bringing import SCENARIOS, Post, Process, a_desk, a_policy
from tests.faults.confirming import Confirmed, noting
from tests.faults.counting import Call, Counting
from tests.faults.foreman import Foreman, foreman
from tests.faults.intents import intents

When = Literal["before", "after"]
LONGEST_S = 60
"""A process that has not ended by then is ended, as one that does not end."""


class Life(Struct, frozen=True):
    """What a process does, and where it dies: before or after its n-th append; that of the case is the first."""

    url: str
    admin_url: str
    scenario: str
    key: str
    notes: str
    at: int = 0
    when: When = "after"


class Note(Struct, omit_defaults=True):
    """A line of what a process notes: the debate that it was told, a confirmed record, a call, or how it went."""

    pid: int
    confirmed: Confirmed | None = None
    n: int = 0
    body: bytes = b""
    usage: tuple[int, int] | None = None
    debate: str | None = None
    appends: int = 0


class Noted(Struct, frozen=True):
    """What processes noted together; ``appends`` is how many the one made that has come to the end."""

    debates: frozenset[str]
    confirmed: tuple[Confirmed, ...]
    calls: tuple[Call, ...]
    appends: int


class Crew:
    """The processes of one foreman, one after the other."""

    def __init__(self, lead: Foreman, log: Path) -> None:
        self._foreman = lead
        self._log = log

    def live(self, life: Life) -> int:
        """How a process ended: 0 when the debate is over, and -9 when it was killed where it had to be."""
        return self._foreman.start(__name__, msgspec.structs.asdict(life), self._log).wait()

    @property
    def log(self) -> str:
        """The end of what they have written to their standard error."""
        return self._log.read_text("utf-8")[-4_000:]


@contextmanager
def lives(folder: Path) -> Iterator[Crew]:
    """A foreman that has everything loaded; whatever is left of his processes at the end is killed."""
    with foreman(__name__) as lead:
        yield Crew(lead, folder / "dying.log")


def noted(file: Path) -> Noted:
    """What is noted in a file."""
    notes = [msgspec.json.decode(line, type=Note) for line in file.read_bytes().splitlines()]
    calls = {
        (note.pid, note.n): Call(note.body, Usage(*note.usage) if note.usage else None) for note in notes if note.n
    }
    return Noted(
        debates=frozenset(note.debate for note in notes if note.debate),
        confirmed=tuple(note.confirmed for note in notes if note.confirmed),
        calls=tuple(calls.values()),
        appends=notes[-1].appends,
    )


# -- inside


def load() -> None:
    """What takes time; all else is imported by now."""
    Prompts.load()
    a_policy()


def live(told: Mapping[str, Any]) -> None:
    """Bring a case to its end, or die on the way."""
    signal.alarm(LONGEST_S)
    asyncio.run(_live(msgspec.convert(told, Life)))


async def _live(life: Life) -> None:
    file, pid = os.open(life.notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), os.getpid()

    def note(note: Note) -> None:
        os.write(file, msgspec.json.encode(note) + b"\n")

    def called(n: int, call: Call) -> None:
        usage = (call.usage.input, call.usage.output) if call.usage else None
        note(Note(pid, n=n, body=call.body, usage=usage))
        if not usage:
            _expect_recorded(admin, call.body, Path(life.notes))

    post = Post(SCENARIOS[life.scenario], life.key, told=lambda debate: note(Note(pid, debate=debate)))
    with (
        psycopg.connect(life.admin_url, autocommit=True) as admin,
        noting(lambda confirmed: note(Note(pid, confirmed=confirmed))),
    ):
        appends = _dying(life.at, life.when)  # around the noting: what is confirmed is noted before the process dies
        async with a_desk(life.url, Counting(called)) as desk:
            await Process(desk, admin).bring(post)
    note(Note(pid, appends=appends()))


def _expect_recorded(admin: psycopg.Connection[Any], body: bytes, notes: Path) -> None:
    """No record, no call: end at once where as many calls of the same are noted as intents are recorded, and more."""
    if sum(call.body == body for call in noted(notes).calls) > intents(admin, body):
        sys.stderr.write("a call before its record\n")
        sys.stderr.flush()
        os._exit(1)  # an exception would be an adapter's failure


def _dying(at: int, when: When) -> Callable[[], int]:
    """Let this process die the hard way at its n-th append; how many there were."""
    count = 0
    append, opened = DebateLog.append, getattr(submission, "open_debate")  # noqa: B009 - a name that it imports

    def reached(now: When) -> None:
        nonlocal count
        count += now == "before"
        if (count, now) == (at, when):
            os.kill(os.getpid(), signal.SIGKILL)

    async def appended(self: DebateLog, entries: Sequence[Entry], occurred: Sequence[float] = ()) -> None:
        reached("before")
        await append(self, entries, occurred)
        reached("after")

    async def recorded(*arguments: Any) -> bool:
        reached("before")
        done: bool = await opened(*arguments)
        reached("after")
        return done

    DebateLog.append = appended  # type: ignore[method-assign]
    setattr(submission, "open_debate", recorded)  # noqa: B010 - a name that it imports
    return lambda: count
