"""``gainsay audit recall``: the impact of a prompt, model, document, price or engine that proved wrong."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import click
import msgspec
from msgspec.structs import replace

from service.app import open_app
from service.audit.record import Writer
from service.cli import exit_codes, startup
from service.cli.beginning import database_url
from service.cli.documents import read_text
from service.policy.settings import Settings
from service.report import sent
from service.reviews.evidence.impact import affected_decisions as ask
from service.store.derived import ASKED, Asked
from service.store.impact import AffectedDebate, RecallQuery, affected_by

PAGE = 500
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)


@click.command()
@click.option("--prompt", metavar="SHA256", help="A prompt, template or reply schema.")
@click.option("--manifest", metavar="SHA256", help="A manifest of prompts.")
@click.option("--configuration", metavar="SHA256", help="A whole configuration.")
@click.option("--model", metavar="NAME", help="A model, by its alias or by a vendor's name.")
@click.option("--document", metavar="FILE", help="A document: its file, or the SHA-256 of its text.")
@click.option("--price", metavar="ROW", help="A row of the price table, as alias@2026-01-31.")
@click.option("--engine", metavar="NAME", help="The version of an engine that made a finding.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON with the names of GET /v1/audit/recall.")
def recall(as_json: bool, **given: str | None) -> int:
    """List the debates that rest on a prompt, model, document, price or engine, newest first.

    The log records each search. It reads tables that are computed from the records: `serve` and `work` compare them
    with the records within a day, `gainsay audit check` at once, and `gainsay rebuild` makes them anew.

    \b
    gainsay audit recall --document contract.txt
    gainsay audit recall --model claude-sonnet --json
    """
    asked = [name for name in ASKED if given[name] is not None]
    if len(asked) != 1:
        raise click.UsageError(f"expected exactly one of {', '.join(f'--{name}' for name in ASKED)}")
    settings = startup.start(quiet=True)
    value = _value(asked[0], str(given[asked[0]]), settings)
    with database_url(settings) as url:
        found = asyncio.run(_recall(settings, url, asked[0], value))
    if as_json:
        answer = {"asked": asked[0], "value": value, "debates": sent.as_json([_member(row) for row in found])}
        click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2))
        return exit_codes.DONE
    for row in found:
        click.echo(_line(row))
    click.echo(_count(len(found), f"{asked[0]} {value}"), err=True)
    return exit_codes.DONE


def _value(asked: Asked, given: str, settings: Settings) -> str:
    """The value to search for; a document's file is read as for a case."""
    if asked != "document" or _HASH.fullmatch(given):
        return given
    text = read_text(Path(given), settings.policy.limits.document_characters)
    return sha256(text.encode()).hexdigest()


async def _recall(settings: Settings, url: str, asked: Asked, value: str) -> list[AffectedDebate]:
    async with open_app(settings, url, pool=2) as app:
        caller = startup.LOCAL
        writer = Writer(caller.actor, app.reviews.deployment.build_hash)
        query = RecallQuery(asked, value, PAGE)
        found = await ask(app.database, app.logs, query, caller, writer)
        page = found
        while len(page) == PAGE:  # the rest of what was asked for, and recorded, once
            query = replace(query, below=UUID(page[-1].debate))
            page = await affected_by(app.database, caller.tenant, query)
            found = [*found, *page]
        return found


def _count(number: int, what: str) -> str:
    if not number:
        return f"no debate rests on {what}; give names in full, as in the report of a debate"
    counted = f"1 debate rests on {what}" if number == 1 else f"{number} debates rest on {what}"
    return f"{counted}, by tables computed from the records"


def _member(row: AffectedDebate) -> Mapping[str, Any]:
    return {
        "debateId": row.debate,
        "taskType": row.task_type,
        "status": row.status,
        "createdAt": row.created,
        "log": row.log,
        "index": row.index,
    }


def _line(row: AffectedDebate) -> str:
    place = "not provable yet" if row.index is None else f"{row.log} {row.index}"
    return f"{row.debate}  {row.created}  {row.task_type}  {row.status}  {place}"
