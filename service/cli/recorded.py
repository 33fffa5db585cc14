"""A recorded debate, read from the database for a command: its result, its report, its replay."""

from __future__ import annotations

from service.app import open_app, running_sequencer
from service.audit.report_forms import Form, Paper
from service.cli import startup
from service.cli.replay import Replayed, replay_debate
from service.policy.settings import Settings
from service.report import Result
from service.store.startup import DatabaseAddresses


async def read_result(settings: Settings, where: DatabaseAddresses, debate: str) -> Result:
    """The result of a debate; raises `NotFound` and the store's errors, as all here."""
    async with open_app(settings, where, pool=2) as app, running_sequencer(app):
        return await app.reviews.result(debate, startup.LOCAL)


async def write_report(settings: Settings, where: DatabaseAddresses, debate: str, form: Form, paper: Paper) -> bytes:
    """The report of a debate, once the log proves what it rests on."""
    async with open_app(settings, where, pool=2) as app, running_sequencer(app):
        return await app.reviews.report(debate, startup.LOCAL, form, paper)


async def replay_recorded(settings: Settings, where: DatabaseAddresses, debate: str) -> Replayed:
    """Go through the records of a debate; raises `RecordsDisagree`."""
    async with open_app(settings, where, pool=2) as app:
        return await replay_debate(app.database, debate, startup.LOCAL.tenant)
