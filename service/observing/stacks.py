"""Where a process stands, on demand: SIGUSR1 has the stacks of its tasks and threads logged, without content.

A stack is a list of places: file, line, name of the function. No value, argument or source line is read, so that
nothing of a case, a key or a reply can be in it. Names of tasks are given in code, and have the ids of debates at most.

The handler takes the stacks where the signal meets the main thread, and so also where the event loop is held by code in
Python. A thread writes the lines, because the signal may come in the midst of another line. It says nothing of a
process that is held within a call of C: for that there is py-spy (docs/runbook.md).
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from types import FrameType
from typing import Any, NamedTuple

from service import log_lines

STACKS_MAX = 100
"""The most stacks of a dump, each with all tasks that have it; the first of the many are kept."""
PLACES_MAX = 40
"""The most places of a stack; those next to where it stands are kept."""
NAMES_MAX, NAME_CHARACTERS = 8, 80
"""The most names of a line, and the most characters of one."""
_AWAITED = (("cr_frame", "cr_await"), ("gi_frame", "gi_yieldfrom"), ("ag_frame", "ag_await"))
"""Where coroutines, generators and asynchronous generators have their frame, and what each waits for."""

Places = tuple[str, ...]


class Stack(NamedTuple):
    """One stack, and the names of the tasks, or of the thread, that have it. The last place is where it stands."""

    names: tuple[str, ...]
    places: Places


def listen() -> None:
    """Dump the stacks of this process at each SIGUSR1 from now on; where a system lacks that signal, never."""
    if hasattr(signal, "SIGUSR1"):
        signal.signal(signal.SIGUSR1, _heard)


def task_stacks(tasks: Iterable[asyncio.Task[Any]]) -> list[Stack]:
    """The stacks of these tasks; those that are the same come as one, the most common first."""
    found: dict[Places, list[str]] = {}
    for task in tasks:
        found.setdefault(_bounded([*_awaited(task.get_coro())]), []).append(task.get_name())
    stacks = [Stack(tuple(names), places) for places, names in found.items()]
    return sorted(stacks, key=lambda stack: -len(stack.names))


def thread_stacks(frames: Mapping[int, FrameType]) -> list[Stack]:
    """The stacks of these threads, by their numbers."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return [Stack((names.get(number, "unknown"),), _of_frame(frame)) for number, frame in frames.items()]


def write(tasks: list[Stack], threads: list[Stack]) -> None:
    """Log a dump: a line for each stack, and one before them that counts what there is."""
    kept = tasks[:STACKS_MAX], threads[:STACKS_MAX]
    log_lines.STACKS(
        tasks=sum(len(stack.names) for stack in tasks),
        threads=len(threads),
        left_out=len(tasks) + len(threads) - sum(map(len, kept)),
    )
    for line, stacks in zip((log_lines.TASK_STACK, log_lines.THREAD_STACK), kept, strict=True):
        for names, places in stacks:
            shown = [name[:NAME_CHARACTERS] for name in names[:NAMES_MAX]]
            line(count=len(names), names=shown, at=list(places))


_writing: list[threading.Thread] = []


def _heard(_number: int, frame: FrameType | None) -> None:
    """Take the stacks, and have a thread write them, unless one still writes those before."""
    with suppress(Exception):  # it would be raised in the midst of whatever this process does
        if _writing and _writing[-1].is_alive():
            return
        tasks = task_stacks(_tasks())
        frames = dict(sys._current_frames())
        if frame is not None:
            frames[threading.get_ident()] = frame  # without this function
        thread = threading.Thread(target=write, args=(tasks, thread_stacks(frames)), name="stacks", daemon=True)
        _writing[:] = [thread]
        thread.start()


def _tasks() -> Iterable[asyncio.Task[Any]]:
    try:
        return asyncio.all_tasks()
    except RuntimeError:  # no event loop runs here
        return ()


def _awaited(waiting: object) -> Iterator[str]:
    """The places of a coroutine and of what it waits for, as far as that says where it is."""
    for _ in range(PLACES_MAX * 4):
        for frame_of, next_of in _AWAITED:
            if (frame := getattr(waiting, frame_of, None)) is not None:
                yield _place(frame)
                waiting = getattr(waiting, next_of, None)
                break
        else:
            return


def _of_frame(frame: FrameType | None) -> Places:
    found = list[str]()
    while frame is not None and len(found) < PLACES_MAX:
        found.append(_place(frame))
        frame = frame.f_back
    return tuple(reversed(found))


def _place(frame: FrameType) -> str:
    code = frame.f_code
    return f"{code.co_filename}:{frame.f_lineno} {code.co_qualname}"


def _bounded(places: list[str]) -> Places:
    return tuple(places[-PLACES_MAX:])
