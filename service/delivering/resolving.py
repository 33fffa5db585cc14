"""Names to addresses, on threads of its own.

The loop's own look-up runs on few threads that all look-ups of the process share (with uvloop four), those of vendors
too. A receiver's name server may let each query run into its time-out, so look-ups of receivers have their own threads:

    1. Look-ups of a name that are under way for a tenant are shared.
    2. Each receiver has one thread, and a tenant has `PER_TENANT`; what is more waits, in the time of its attempt. A
       receiver whose redirects lead to ever other names that hang so takes its own thread and no other.

An attempt that does not wait any longer leaves its look-up to end by itself.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from functools import partial
from weakref import WeakValueDictionary

THREADS, PER_TENANT = 128, 16
Places = tuple[asyncio.Semaphore, ...]


class LookupFailed(Exception):
    """No address, and why."""


class Resolver:
    """Looks names up by the system, as every program of the machine does: /etc/hosts and the configured servers."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="webhook-dns")
        self._going: dict[tuple[str, str], asyncio.Future[list[str]]] = {}
        self._places: WeakValueDictionary[tuple[str, ...], asyncio.Semaphore] = WeakValueDictionary()

    async def look_up(self, host: str, port: int, tenant: str, receiver: str) -> Sequence[str]:
        """The addresses of a name, in the order of the system's preference; raises `LookupFailed`.

        ``receiver`` is the host of the endpoint's URL, which led to this name.
        """
        asked = self._going.get((tenant, host)) or await self._begin(host, port, tenant, receiver)
        try:
            return await asyncio.shield(asked)
        except OSError as error:
            raise LookupFailed(f"the name {host} has no address ({error.strerror or type(error).__name__})") from None
        except UnicodeError:
            raise LookupFailed(f"the name {host} cannot be looked up") from None

    def close(self) -> None:
        """Begin no more look-ups; those under way end by themselves."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _begin(self, host: str, port: int, tenant: str, receiver: str) -> asyncio.Future[list[str]]:
        """The look-up of a name, begun when it has its places, which it keeps until its thread is free again."""
        places = (self._place(1, tenant, receiver), self._place(PER_TENANT, tenant))
        async with AsyncExitStack() as held:
            for place in places:
                await held.enter_async_context(place)
            asked = self._going.get((tenant, host))
            if asked is None:  # no other has begun it meanwhile
                asked = asyncio.get_running_loop().run_in_executor(self._threads, _addresses, host, port)
                self._going[tenant, host] = asked
                held.pop_all()
                asked.add_done_callback(partial(self._ended, (tenant, host), places))
            return asked

    def _place(self, most: int, *whose: str) -> asyncio.Semaphore:
        """The places of a receiver or a tenant; they are forgotten when none is taken and none waited for."""
        return self._places.setdefault(whose, asyncio.Semaphore(most))

    def _ended(self, key: tuple[str, str], places: Places, asked: asyncio.Future[list[str]]) -> None:
        if not asked.cancelled():
            asked.exception()  # taken, so that one whose attempt is over puts no traceback into the log
        del self._going[key]
        for place in places:
            place.release()


def _addresses(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(address[0]) for *_, address in found]
