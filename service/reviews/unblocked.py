"""Work on texts of callers, kept from holding the event loop where the texts are long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

INLINE = 1 << 14
"""The most characters of text that are worked on where they are: their tokens are counted and their clauses found in a
few milliseconds. For one more thread to be woken takes a tenth of that, and as much again of waiting for the lock."""


async def unblocked(characters: int, work: Callable[[], T]) -> T:
    """What comes of work on texts of so many characters: in a thread, so that it delays no other request, or here."""
    return await asyncio.to_thread(work) if characters > INLINE else work()
