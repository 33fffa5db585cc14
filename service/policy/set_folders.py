"""A folder of a golden set, as a setting names it: ``FOLDER``, or ``TENANT=FOLDER`` for one tenant alone."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class SetFolder(NamedTuple):
    """The folder, and the tenant whose callers alone may ask its set; without one those of every tenant may."""

    path: Path
    tenant: str | None = None

    def __str__(self) -> str:
        return str(self.path) if self.tenant is None else f"{self.tenant}={self.path}"
