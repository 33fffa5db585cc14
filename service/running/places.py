"""How many of a worker's debates are advanced at the same time; the others wait for calls, or for a place.

The replies of a thousand calls can come at once. Were all of their debates advanced side by side, each step of all of
them would come before the next step of the first, and the first new call would leave after the last reply was checked:
the worker is then idle until its answer. With a bound the first debates ask again while the others still wait.
"""

from __future__ import annotations

import asyncio

PLACES = 256
"""Several full batches of a group commit: with 64, they were smaller and took a twelfth more CPU (decision 0149)."""


class Place:
    """A place of one debate, which it holds while it is advanced, and releases while it waits for calls.

    Without ``places`` there is no bound. So it is for debates over long documents, which wait for another process and
    a thread of the worker, and must not keep short ones from their places.
    """

    def __init__(self, places: asyncio.Semaphore | None) -> None:
        self._places = places
        self._held = False

    async def take(self) -> None:
        """Wait for a place, the first come first."""
        if self._places is not None and not self._held:
            await self._places.acquire()
            self._held = True

    def release(self) -> None:
        """Leave the place to the next one, if it is held."""
        if self._places is not None and self._held:
            self._held = False
            self._places.release()
