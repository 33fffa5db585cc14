"""The commands of a deployment as processes of their own, each with its standard error in a file."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import psycopg

from tests.fixtures.postgres import Database
from tests.fixtures.running import repository
from tests.fixtures.serving import sequenced

PATIENCE_S = 60.0


class Process:
    """One of them: what it has said, and how it ends."""

    def __init__(self, folder: Path, name: str, words: tuple[str, ...], environment: Mapping[str, str]) -> None:
        self.name = name
        self._told, self._said = folder / f"{name}.stderr.txt", folder / f"{name}.stdout.txt"
        with self._told.open("wb") as stderr, self._said.open("wb") as stdout:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "error", "-m", "service", *words],
                env=environment,
                cwd=repository(),
                stdout=stdout,
                stderr=stderr,
            )

    @property
    def told(self) -> str:
        """What it has said so far."""
        return self._told.read_text("utf-8")

    @property
    def said(self) -> str:
        """What it has printed so far."""
        return self._said.read_text("utf-8")

    @property
    def pid(self) -> int:
        """Its number in the system."""
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether it is still there."""
        return self._process.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    async def says(self, pattern: str) -> str:
        """Wait until it says something, and give the first group of the pattern or all of it."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            if found := re.search(pattern, self.told):
                return found[found.re.groups and 1]
            assert self.runs, f"{self.name} has ended and did not say {pattern!r}: {self.told[-2_000:]}"
            await asyncio.sleep(0.05)
        raise AssertionError(f"{self.name} did not say {pattern!r}: {self.told[-2_000:]}")

    async def address(self) -> str:
        """Where an API process listens, once it does."""
        return await self.says(r"serving on (http\S+)")

    async def ends(self, within_s: float = PATIENCE_S) -> int:
        """Its exit status."""
        return await asyncio.to_thread(self._process.wait, within_s)

    def kill(self) -> None:
        """End it whatever it does."""
        self._process.kill()
        self._process.wait()


class Deployment:
    """Processes on one database, with the key of its logs in a folder."""

    def __init__(self, database: Database, folder: Path, **variables: str) -> None:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("GAINSAY_") or name == "GAINSAY_LOG_FORMAT"
        }
        own = {"GAINSAY_DATABASE_URL": database.service_url, "GAINSAY_DATA_DIR": str(folder / "data")}
        self._environment = {**kept, **own, **sequenced(database.service_url, folder), **variables}
        self._folder = folder
        self._database = database
        self._started: list[Process] = []

    @property
    def environment(self) -> dict[str, str]:
        """The environment of its processes."""
        return dict(self._environment)

    @property
    def variables(self) -> dict[str, str]:
        """Its settings, for a process that another program starts."""
        return {name: value for name, value in self._environment.items() if name.startswith("GAINSAY_")}

    def start(self, *words: str, **variables: str) -> Process:
        """Start `gainsay` with these words."""
        name = f"{len(self._started)}-{words[0]}"
        process = Process(self._folder, name, words, {**self._environment, **variables})
        self._started.append(process)
        return process

    async def finds(self, query: str, least: int = 1) -> None:
        """Wait until a query has so many rows."""
        for _ in range(600):
            if len(self.ask(query)) >= least:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"expected {least} rows of {query}, found {self.ask(query)}")

    def end(self) -> None:
        """Kill whatever still runs."""
        for process in self._started:
            process.kill()

    def tell(self, statement: str) -> None:
        """Change the database, as its superuser."""
        with psycopg.connect(self._database.admin_url, autocommit=True) as admin:
            admin.execute(statement.encode())

    def ask(self, query: str) -> list[tuple[object, ...]]:
        """Rows of the database, as its superuser."""
        with psycopg.connect(self._database.admin_url) as admin:
            return admin.execute(query.encode()).fetchall()


@asynccontextmanager
async def deployed(database: Database, folder: Path, **variables: str) -> AsyncIterator[Deployment]:
    """A deployment without a process as yet; whatever it has started is gone at the end."""
    deployment = Deployment(database, folder, **variables)
    try:
        yield deployment
    finally:
        deployment.end()


async def until_ready(address: str, status: int = 200) -> None:
    """Wait until an API process is ready, or answers something else."""
    async with httpx.AsyncClient(base_url=address) as http:
        for _ in range(600):
            if (await http.get("/readyz")).status_code == status:
                return
            await asyncio.sleep(0.05)
    raise AssertionError(f"{address}/readyz did not answer {status}")
