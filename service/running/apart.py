"""Checks of long texts, made in a process of their own: the event loop goes on meanwhile.

A check is Python code and `re`, which hold the interpreter's lock, so a thread would hold the loop as well. One process
serves one worker. It starts with the first long text and makes one check at a time, in the order in which they were
asked for. It ends with its worker, or when it has had nothing to do for a minute. It gets none of the worker's
environment, so no secret either.

A process that dies or does not answer in time is killed, another takes its place, and the check is made once more. If
that one is lost too, or if the check raises, the run ends by a fault of the service, as where an engine raises here.
"""

from __future__ import annotations

import asyncio
import pickle
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar, cast

import service
from service import log_lines
from service.running.check_child import LENGTH, Raised, Returned, framed
from service.running.sent_texts import SentTexts

Found = TypeVar("Found")

TRIES = 2
LIMIT_S, LIMIT_S_PER_MB = 60.0, 30.0
"""How long a check may take: some thirty times what one takes on a machine with nothing else to do."""
IDLE_S = SWEEP_S = 60.0
"""How long a process without work is kept; and how long what it has worked out of a document is kept at least after a
check has asked for it, and twice that at most."""
END_S = 1.0
"""How long a process may take to end by itself once its input is closed."""
SERVE = "from service.running.check_child import main; main()"
"""What the process runs. Its own `__main__` would be a second module, with other classes than the parent reads."""


class CheckFault(Exception):
    """A check that was made apart raised, or its process was lost twice: a fault of the service."""


class _ChildLost(Exception):
    """The process died, or did not answer in time."""


class CheckProcess:
    """Calls functions in a child process. ``command`` starts one that serves calls as `check_child` does."""

    def __init__(self, *command: str, limit_s: float = LIMIT_S, idle_s: float = IDLE_S) -> None:
        self._command = command or (sys.executable, "-P", "-c", SERVE)
        self._limit_s, self._idle_s = limit_s, idle_s
        self._turn = asyncio.Lock()
        self._child: Process | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._ending = set[asyncio.Task[None]]()
        self._closed = False
        self._swept = 0.0
        self._texts = SentTexts()

    @property
    def pid(self) -> int | None:
        """The id of the process, if one runs."""
        return self._child.pid if self._child and self._child.returncode is None else None

    async def call(self, tenant: str, function: Callable[..., Found], *given: object) -> Found:
        """What a function of this build returns for these arguments; both are pickled. Raises `CheckFault`.

        The process keeps long texts, and what it works out of whole documents, for later calls for the same tenant.
        """
        async with self._turn:
            for _ in range(TRIES):
                try:
                    returned = await self._answered(tenant, function, given)
                except _ChildLost as lost:
                    log_lines.CHECKS_REPLACED(why=str(lost))
                    continue
                if isinstance(returned, Raised):
                    raise CheckFault(f"a check of a long text raised {returned.kind} in {returned.where}")
                return cast("Found", returned.value)
        raise CheckFault(f"the process that checks long texts was lost {TRIES} times over one check")

    async def close(self) -> None:
        """End the process and wait until it has ended; later calls are refused."""
        self._closed = True
        self._retire()
        await asyncio.gather(*self._ending)

    # -- one call

    async def _answered(self, tenant: str, *asked: object) -> Returned | Raised:
        """What the process answers. It is killed unless it has answered in full: its next answer would be this one, and
        it may not have the texts that it was sent."""
        child, limit_s, whole = await self._started(), self._limit_s, False
        try:
            call = self._texts.call(self._sweeps(), tenant, asked)
            limit_s += LIMIT_S_PER_MB * call.size / 1e6
            async with asyncio.timeout(limit_s):
                answer = await _exchanged(child, call.pickled)
            whole = True
        except TimeoutError:
            raise _ChildLost(f"it did not answer within {limit_s:.0f} s") from None
        except (asyncio.IncompleteReadError, ConnectionError):
            raise _ChildLost(f"it ended during a check, with code {child.returncode}") from None
        finally:
            if not whole:
                self._discard()
        self._idle = asyncio.get_running_loop().call_later(self._idle_s, self._retire)
        return cast("Returned | Raised", pickle.loads(answer))  # noqa: S301 - written by our own child

    def _sweeps(self) -> bool:
        """Whether this call is one before which what is not needed any more is dropped."""
        now = asyncio.get_running_loop().time()
        if sweeps := now - self._swept >= SWEEP_S:
            self._swept = now
        return sweeps

    # -- the process

    async def _started(self) -> Process:
        """The process, which is started if there is none."""
        if self._closed:
            raise CheckFault("the worker has stopped, so no check is made any more")
        if self._idle is not None:
            self._idle.cancel()
        if self.pid is None:
            self._retire()
            environment = {"PYTHONPATH": str(Path(service.__file__).parent.parent), "PYTHONDONTWRITEBYTECODE": "1"}
            try:
                self._child = await asyncio.create_subprocess_exec(
                    *self._command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment, cwd="/"
                )
            except OSError as error:
                raise CheckFault(f"the process that checks long texts cannot be started: {error.strerror}") from error
        return cast("Process", self._child)

    def _discard(self) -> None:
        """Kill the process."""
        if self._child is not None:
            with suppress(ProcessLookupError):
                self._child.kill()
        self._retire()

    def _retire(self) -> None:
        """Let the process end, and forget its texts; the next call starts another one."""
        if self._idle is not None:
            self._idle.cancel()
        self._texts = SentTexts()  # they live no longer than the process that has them too
        if self._child is not None:
            ending = asyncio.get_running_loop().create_task(_ended(self._child), name="end of the check process")
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
            self._child = None


async def _exchanged(child: Process, asked: bytes) -> bytes:
    if child.stdin is None or child.stdout is None:
        raise TypeError("expected a process with pipes")
    child.stdin.write(framed(asked))
    await child.stdin.drain()
    length = await child.stdout.readexactly(LENGTH)
    return await child.stdout.readexactly(int.from_bytes(length))


async def _ended(child: Process) -> None:
    """Close the input of a process and wait until it has ended; kill it where that takes long."""
    if child.stdin is not None:
        child.stdin.close()
    try:
        async with asyncio.timeout(END_S):
            await child.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()
