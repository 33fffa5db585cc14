"""A service whose debates become provable when they are told to, and the evidence that it hands out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from service.audit.bundle import Bundle, unpack
from service.cli.audit.verify import tools
from service.proving.sequencer import Sequencer
from service.reviews import evidence
from service.reviews.evidence import Filters, Form
from service.store.current_log import CurrentLogs
from service.verify.bundle import verify_bundle
from service.verify.export import verify_export
from service.verify.steps import Trust, VerificationReport
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, Bench, a_writer, bench
from tests.fixtures.sequencing import KEY, LOG, a_sequencer

TRUST = Trust(keys=(KEY.public,), allow_unwitnessed=True)
EXAMINER = a_writer("examiner")


@dataclass
class House:
    """A bench with its sequencer, and the ways in which evidence leaves it."""

    desk: Bench
    sequencer: Sequencer
    database: Database

    @property
    def logs(self) -> CurrentLogs:
        """The tenants' logs, looked up anew."""
        return CurrentLogs(self.desk.database, "localhost")

    async def debated(self, **changes: Any) -> str:
        """A debate that is over and provable."""
        debate = await self.desk.run(**changes)
        await self.sequencer.catch_up()
        return debate

    async def declined(self) -> str:
        """A case that was declined, which is provable."""
        debate = await self.desk.submit(taskType="other")
        await self.sequencer.catch_up()
        return debate

    async def bundle(self, debate: str, caller: Any = CALLER) -> bytes:
        """The bundle of a debate."""
        return await evidence.bundle(self.desk.database, self.logs, debate, caller, EXAMINER)

    async def opened(self, debate: str) -> Bundle:
        """The same, unpacked."""
        return unpack(await self.bundle(debate))

    async def stream(
        self, asked: Mapping[str, str] = {}, form: Form = "jsonl", log: str = LOG, caller: Any = CALLER
    ) -> AsyncIterator[bytes]:
        """The chunks of an export."""
        filters = Filters.of(asked)
        return await evidence.export(self.desk.database, self.logs, log, filters, caller, EXAMINER, form=form)

    async def export(self, asked: Mapping[str, str] = {}, form: Form = "jsonl") -> list[bytes]:
        """The lines of an export."""
        return b"".join([chunk async for chunk in await self.stream(asked, form)]).splitlines(keepends=True)

    def rows(self, query: str, *params: object) -> list[Any]:
        """What the database has, as superuser."""
        with psycopg.connect(self.database.admin_url, options="-c search_path=gainsay") as connection:
            return connection.execute(query.encode(), params).fetchall()

    def tamper(self, *statements: str) -> None:
        """Change what is stored, as nobody may: triggers are switched off meanwhile."""
        with psycopg.connect(self.database.admin_url, options="-c search_path=gainsay") as connection:
            for table in ("entry", "payload", "document", "leaf", "content", "context", "checkpoint", "log_epoch"):
                connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER".encode())
            for statement in statements:
                connection.execute(statement.encode())


@pytest.fixture
async def house(database: Database) -> AsyncIterator[House]:
    """The house on a fresh database."""
    async with bench(database.service_url) as desk, a_sequencer(database) as sequencer:
        yield House(desk, sequencer, database)


def verified(data: bytes) -> VerificationReport:
    """The verifier's report of a bundle."""
    return verify_bundle(data, TRUST, tools())


def examined(lines: list[bytes]) -> VerificationReport:
    """The verifier's report of an export."""
    return verify_export(lines, TRUST)


def wrong(report: VerificationReport) -> dict[str, str]:
    """What failed, and what could not be checked for another reason than that nothing was pinned or given for it."""
    beside = {"witnesses", "times", "sources"}
    return {step.name: step.detail for step in report.steps if step.state != "OK" and step.name not in beside}
