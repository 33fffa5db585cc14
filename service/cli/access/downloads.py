"""A file that comes over HTTP: it is kept apart until it is whole."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def download() -> Iterator[Path]:
    """A place for a file until it is whole."""
    with tempfile.TemporaryDirectory(prefix="gainsay-") as folder:
        yield Path(folder) / "part"


def copy(part: Path, file: IO[bytes]) -> None:
    """Write what has come whole."""
    with part.open("rb") as found:
        shutil.copyfileobj(found, file)
