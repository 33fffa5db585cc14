"""Where the gateway listens, and which names and pages may lead to it."""

from __future__ import annotations

from typing import NamedTuple

from service.errors import SettingsError
from service.web.open_address import refuse_open_address


class Listening(NamedTuple):
    """An address to listen on, and what Host and Origin may be beside those of this machine."""

    host: str = "127.0.0.1"
    port: int = 0
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        """Whether other machines may reach it: by its address, or through a proxy under a name of its own."""
        return bool(self.allowed_hosts) or self.is_public

    @property
    def is_public(self) -> bool:
        """Whether the address is of more than this machine; raises `SettingsError` for a name that is none."""
        try:
            refuse_open_address(self.host)
        except SettingsError as error:
            if isinstance(error.__cause__, OSError):
                raise
            return True
        return False
