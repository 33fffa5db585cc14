"""``gainsay audit bundle`` and ``gainsay audit export``: evidence for an examiner, in a file."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, TypeVar

import click

from service.app import App, open_app, running_sequencer
from service.audit.record import Writer
from service.cli import exit_codes, startup
from service.cli.beginning import database, database_url
from service.cli.new_file import refuse_present, written
from service.cli.option_types import Choice
from service.errors import GainsayError, NotFound, NotProvable
from service.policy.own_build import own_build
from service.policy.settings import Settings
from service.reviews import evidence
from service.reviews.evidence.log_export import FORMS, Form
from service.store.current_log import CurrentLogs
from service.store.proofs import logs_of
from service.store.schema.preflight import OpenIncident
from service.store.schema.protections import ProtectionMissing
from service.store.startup import DatabaseAddresses

HOLD_S, LOOK_S = 3.0, 0.05
"""Seconds that a bundle waits until its debate is provable, and seconds between two checks."""
T = TypeVar("T")
_OUT = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("debate", metavar="DEBATE")
@click.option("-o", "--out", type=_OUT, metavar="FILE", help="The file to write; default: DEBATE.zip in this folder.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def bundle(debate: str, out: Path | None, force: bool) -> int:
    """Write the bundle of one decision: all its evidence in one file that can be verified offline.

    The bundle is a ZIP of plain files: records, documents, prompts, policy, proofs, the checkpoint and a readable
    report. An examiner with the log's verifier key verifies it with `gainsay audit verify`. The log records that the
    bundle was issued. docs/audit.md describes each file.

    \b
    gainsay audit bundle 01980c2e-... --out case-17.zip
    """
    target = out or Path(f"{debate}.zip")
    refuse_present(target, force)
    settings = startup.start(quiet=True)
    with store(settings) as where:
        content = asyncio.run(_bundle(settings, where, debate))
    with written(target, force) as file:
        file.write(content)
    click.echo(f"wrote {target}", err=True)
    return exit_codes.DONE


@click.command()
@click.option("--log", metavar="LOG", help="The log, such as localhost/default/1; default: the current one.")
@click.option("--format", "form", type=Choice(FORMS), default="jsonl", help="JSONL has proofs, CSV has none.")
@click.option("--since", metavar="TIME", help="Records that joined the log at this time or later: a day, or RFC 3339.")
@click.option("--until", metavar="TIME", help="Records that joined the log before this time.")
@click.option("--task-type", metavar="TYPE", help="Debates of this task type.")
@click.option("--status", metavar="STATUS", help="Debates whose status is this one now.")
@click.option("--model", metavar="MODEL", help="Debates that rest on this model, by alias or by a vendor's name.")
@click.option("--prompt", metavar="SHA256", help="Debates whose requests used this prompt.")
@click.option("--document", metavar="SHA256", help="Debates with this document.")
@click.option("-o", "--out", type=_OUT, metavar="FILE", help="The file to write; default: standard output.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def export(log: str | None, form: Form, out: Path | None, force: bool, **asked: str | None) -> int:
    """Write the records of a log, all under one checkpoint.

    Without filters an export has every record, and its leaves hash to the signed root. With filters each record has its
    inclusion proof. `gainsay audit verify` verifies both. The log records that the export was issued. A tenant whose
    log was rotated has several logs: export each with --log.

    \b
    gainsay audit export --since 2026-01-01 --until 2026-02-01 --out january.jsonl
    gainsay audit export --task-type contract --format csv > contracts.csv
    """
    names = {"task_type": "taskType"}
    filters = evidence.Filters.of({names.get(name, name): text for name, text in asked.items() if text is not None})
    if out is not None:
        refuse_present(out, force)
    settings = startup.start(quiet=True)
    with store(settings) as where, written(out, force) if out else nullcontext(sys.stdout.buffer) as file:
        name, others = asyncio.run(_export(settings, where, log, filters, form, file))
        file.flush()
    if out is not None:
        click.echo(f"wrote {out}", err=True)
    if others and log is None:
        click.echo(
            f"this is {name} alone; the tenant's other logs are exported with --log: {', '.join(others)}", err=True
        )
    return exit_codes.DONE


async def _bundle(settings: Settings, where: DatabaseAddresses, debate: str) -> bytes:
    async with open_app(settings, where, pool=2) as app:
        logs = CurrentLogs(app.database, settings.log_host)
        return await proved(
            app, lambda: evidence.bundle(app.database, logs, debate, startup.LOCAL, writer()), (NotProvable,)
        )


async def _export(
    settings: Settings,
    where: DatabaseAddresses,
    log: str | None,
    filters: evidence.Filters,
    form: Form,
    file: IO[bytes],
) -> tuple[str, list[str]]:
    """Write the export; returns its log and the tenant's other logs."""
    async with open_app(settings, where, pool=2) as app:
        logs = CurrentLogs(app.database, settings.log_host)
        name = log or await logs.current(startup.LOCAL.tenant)
        chunks = await proved(
            app,
            lambda: evidence.export(app.database, logs, name, filters, startup.LOCAL, writer(), form=form),
            (NotProvable,) if log else (NotProvable, NotFound),  # the present log comes to be with its first record
        )
        async for chunk in chunks:
            file.write(chunk)
        return name, [each.log for each in await logs_of(app.database, startup.LOCAL.tenant) if each.log != name]


async def proved(app: App, ask: Callable[[], Awaitable[T]], unready: tuple[type[GainsayError], ...]) -> T:
    """The evidence; if it is not provable yet and a sequencer may run here, after that has made it provable."""
    with suppress(*unready):
        return await ask()
    until = time.monotonic() + HOLD_S
    async with running_sequencer(app):
        while True:
            try:
                return await ask()
            except unready:
                if time.monotonic() > until:
                    raise
            await asyncio.sleep(LOOK_S)


def writer() -> Writer:
    """Who reads evidence at this machine."""
    return Writer(startup.LOCAL.actor, own_build())


@contextmanager
def store(settings: Settings) -> Iterator[DatabaseAddresses]:
    """The database, even if a log contradicts its checkpoint or the evidence is not guarded.

    An examiner investigates such a case with its records. Nothing becomes provable then.
    """
    with ExitStack() as stack:
        try:
            where = stack.enter_context(database(settings))
        except (OpenIncident, ProtectionMissing) as incident:
            exit_codes.print_error(incident.code, f"{incident.detail}; what is handed out now may be what is contested")
            where = DatabaseAddresses(stack.enter_context(database_url(settings)))
        yield where
