"""What ends on a day that is known: partitions, passwords of PostgreSQL, certificates. It is looked up once an hour."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from cryptography import x509

from service import telemetry
from service.errors import StoreUnavailable
from service.policy.mounted_secrets import reveal_text
from service.store.conninfo import read_address
from service.store.pool import Database

LOOK_S = 3_600.0
"""The interval of looking."""
AGAIN_S = 30.0
"""When what was not answered is asked again."""


class Ends:
    """Looks until it is cancelled. ``files`` are those with certificates, or what is in them, by their settings.

    The partitions are looked up by the first of the databases, and each login by its own.
    """

    def __init__(self, databases: Sequence[Database], files: Mapping[str, Path | bytes]) -> None:
        self._databases = databases
        self._files = files

    async def run(self) -> None:
        """Look once an hour."""
        while True:
            try:
                await self.look()
            except StoreUnavailable:
                await asyncio.sleep(AGAIN_S)
            else:
                await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """Look once; raises `StoreUnavailable`."""
        for name, until in (await asyncio.to_thread(_certificates, self._files)).items():
            telemetry.CERTIFICATE_EXPIRES.labels(certificate=name).set(until)
        if self._databases:
            (row,) = await self._databases[0].query("partitions_end")
            telemetry.PARTITIONS_END.set(math.nan if row["until"] is None else row["until"])
        for database in self._databases:
            for row in await database.query("login_end"):
                telemetry.SECRET_EXPIRES.labels(secret=database.variable).set(row["until"])


def files_of_address(variable: str, url: str | None) -> dict[str, Path | bytes]:
    """The files with certificates that an address of PostgreSQL names, by the setting and the part of it."""
    parts = {} if url is None else read_address(reveal_text(url, variable), variable)
    return {f"{variable} {part}": Path(parts[part]) for part in ("sslcert", "sslrootcert") if part in parts}


def _certificates(files: Mapping[str, Path | bytes]) -> dict[str, float]:
    """By setting, when the certificate that ends first ends, in seconds since 1970; NaN where none can be read."""
    found = {}
    for name, file in files.items():
        try:
            read = x509.load_pem_x509_certificates(file if isinstance(file, bytes) else file.read_bytes())
            found[name] = min(one.not_valid_after_utc.timestamp() for one in read)
        except (OSError, ValueError):
            found[name] = math.nan
    return found
