"""What a sequencer reads of its policy: the table [audit], which takes a restart everywhere, and nothing else.

So `gainsay sequence` looks at no file again (docs/policy.md, *A change without a restart*).
"""

from __future__ import annotations

from typing import Any, cast

import psycopg
from msgspec.structs import replace

from service.app import sequencing_at
from service.intake.configuration import LASTING
from service.policy import Audit, Policy
from tests.fixtures.postgres import Database
from tests.fixtures.sequencing import stage
from tests.fixtures.serving import sequenced, settings_for
from tests.fixtures.waiting import until, within

READ = "audit"


class Watched:
    """A policy that notes which of its tables are read, and has one alone."""

    def __init__(self, audit: Audit) -> None:
        self._audit = audit
        self.read = set[str]()

    def __getattr__(self, name: str) -> Any:
        self.read.add(name)
        if name != READ:
            raise AttributeError(name)
        return self._audit


async def test_a_sequencer_reads_the_table_of_the_audit_log_alone(database: Database, tmp_path: Any) -> None:
    variables = sequenced(database.service_url, tmp_path)
    settings = settings_for(database.service_url, **variables)
    watched = Watched(settings.policy.audit)
    stage(database, 1, [0, 1])

    def signed() -> bool:
        with psycopg.connect(database.admin_url) as admin:
            return admin.execute("SELECT max(size) FROM gainsay.checkpoint").fetchone() == (2,)

    async with sequencing_at(database.sequencer_url, replace(settings, policy=cast("Policy", watched))):
        await within(30, until(signed))

    assert watched.read == {READ}


def test_that_table_takes_effect_at_a_restart_alone_in_every_process() -> None:
    assert READ in LASTING
