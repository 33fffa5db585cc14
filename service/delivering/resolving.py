"""Names to addresses, on threads of its own.

The loop's own look-up runs on few threads that all look-ups of the process share (with uvloop four), those of vendors
too. A receiver's name server may let each query run into its time-out, so look-ups of receivers have their own threads,
and a tenant has only so many at once. An attempt that does not wait any longer leaves its look-up to end by itself.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

THREADS, PER_TENANT = 32, 4


class LookupFailed(Exception):
    """No address, and why."""


class Resolver:
    """Looks names up by the system, as every program of the machine does: /etc/hosts and the configured servers."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="webhook-dns")
        self._going: Counter[str] = Counter()

    async def look_up(self, host: str, port: int, tenant: str) -> Sequence[str]:
        """The addresses of a name, in the order of the system's preference; raises `LookupFailed`."""
        if self._going[tenant] >= PER_TENANT:
            raise LookupFailed(f"{PER_TENANT} look-ups of names of this tenant are not answered yet")
        loop = asyncio.get_running_loop()
        self._going[tenant] += 1
        asked = loop.run_in_executor(self._threads, _addresses, host, port)
        asked.add_done_callback(lambda done: self._ended(done, tenant))
        try:
            return await asyncio.shield(asked)
        except OSError as error:
            raise LookupFailed(f"the name {host} has no address ({error.strerror or type(error).__name__})") from None
        except UnicodeError:
            raise LookupFailed(f"the name {host} cannot be looked up") from None

    def close(self) -> None:
        """Begin no more look-ups; those under way end by themselves."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _ended(self, asked: asyncio.Future[list[str]], tenant: str) -> None:
        if not asked.cancelled():
            asked.exception()  # taken, so that one whose attempt is over puts no traceback into the log
        self._going[tenant] -= 1
        if not self._going[tenant]:
            del self._going[tenant]


def _addresses(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(address[0]) for *_, address in found]
