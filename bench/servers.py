"""An embedded PostgreSQL of the bench's own, as it ships: fsync, full_page_writes and synchronous_commit are on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from psycopg.conninfo import make_conninfo

from service.policy.settings import Settings, read_settings
from service.store.embedded.server import shared_server
from service.store.startup import addresses
from tests.fixtures.postgres import SERVINGS


class Server(NamedTuple):
    """A server: its settings, and the ways in of the service, the sequencer and the superuser."""

    settings: Settings
    service: str
    sequencer: str
    admin: str


@contextmanager
def server() -> Iterator[Server]:
    """A migrated server, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="gainsay-bench-") as folder:
        Path(folder).chmod(0o755)
        settings = read_settings({"GAINSAY_DATA_DIR": folder, "GAINSAY_WARM_S": "0", "HOME": folder})
        with addresses(settings, serving=True) as where, shared_server(settings.data_dir / "postgres") as running:
            SERVINGS[where.service] = str(where.serving)
            admin = make_conninfo(running.url("postgres"), dbname="gainsay", options="-c search_path=gainsay")
            yield Server(settings, where.service, str(where.sequencer), admin)
