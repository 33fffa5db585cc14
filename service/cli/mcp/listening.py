"""Where the gateway listens, and which names and pages may lead to it."""

from __future__ import annotations

from typing import NamedTuple


class Listening(NamedTuple):
    """An address to listen on, and what Host and Origin may be beside those of this machine."""

    host: str = "127.0.0.1"
    port: int = 0
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
