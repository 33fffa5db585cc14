"""Ctrl-C and SIGTERM while a debate is run or followed: the first asks for its end, the second for this command's."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

ENDS = (signal.SIGINT, signal.SIGTERM)


class Interruptions:
    """The first two SIGINT or SIGTERM that come; a third one has its usual effect again."""

    def __init__(self) -> None:
        self.name = ""
        """The first one's name."""
        self.first, self.second = asyncio.Event(), asyncio.Event()

    def hear(self, name: str) -> None:
        """One has come."""
        if self.first.is_set():
            forget()
            self.second.set()
        else:
            self.name = name
            self.first.set()


@contextmanager
def interruptions() -> Iterator[Interruptions]:
    """Record signals while the block lasts: between the first and the second none is lost and none ends the process."""
    loop, heard = asyncio.get_running_loop(), Interruptions()
    for number in ENDS:
        loop.add_signal_handler(number, heard.hear, number.name)
    try:
        yield heard
    finally:
        forget()


def forget() -> None:
    """Give signals their usual effect."""
    for number in ENDS:
        with suppress(ValueError):
            asyncio.get_running_loop().remove_signal_handler(number)
