"""``gainsay audit checkpoint``: a log's checkpoint, alone or against one kept earlier."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
from msgspec import Struct

from service.audit.checkpoint import BadCheckpoint, Checkpoint, open_checkpoint, parse_checkpoint
from service.audit.note import BadNote, PublicKey, parse_note
from service.cli import exit_codes, startup
from service.cli.beginning import database_url
from service.errors import GainsayError, NotProvable
from service.policy.settings import Settings
from service.store.current_log import CurrentLogs
from service.store.pool import Database
from service.store.proofs import SignedCheckpoint, TenantLog, log_of, root_at_size

BYTES_MAX = 1 << 16
HEADER = "gainsay-checkpoint:"


class Contradicted(GainsayError):
    """A kept head, or the log's own, contradicts this log."""

    code = "contradicted"
    title = "The log contradicts a kept head"


class KeptCheckpoint(Struct, frozen=True):
    """A kept head; without a note it comes from the header Gainsay-Checkpoint of an answer."""

    head: Checkpoint
    note: bytes | None


@click.command()
@click.option("--log", metavar="LOG", help="The log, such as localhost/default/1; default: the current one.")
@click.option(
    "--against",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="A kept head: a signed checkpoint, or the header Gainsay-Checkpoint of an answer.",
)
def checkpoint(log: str | None, against: Path | None) -> int:
    """Print a log's checkpoint, or check the log against an earlier one.

    The earlier head must be a prefix of the stored log and of its latest checkpoint. The command trusts the database
    only for the log's key; `gainsay audit verify` pins that too. Exit code 1 when the log contradicts the head.

    \b
    gainsay audit checkpoint > head.txt
    gainsay audit checkpoint --against head.txt
    """
    kept = _kept(against) if against else None
    if kept and log not in (None, kept.head.origin):
        raise click.UsageError(f"{against} has a head of the log {kept.head.origin}, and --log is {log}")
    settings = startup.start(quiet=True)
    with database_url(settings) as url:
        try:
            head, words = asyncio.run(_head(settings, url, log, kept))
        except Contradicted as found:
            exit_codes.print_error(found.code, found.detail)
            return exit_codes.NEGATIVE
    click.echo(head.note.decode(), nl=False)
    if words:
        click.echo(words, err=True)
    return exit_codes.DONE


def _kept(path: Path) -> KeptCheckpoint:
    try:
        data = path.read_bytes()[:BYTES_MAX]
    except OSError as error:
        raise click.UsageError(f"expected to read {path}, found: {error.strerror}") from error
    text = data.decode("utf-8", "replace")
    try:
        if "\n\n" in text:
            return KeptCheckpoint(parse_checkpoint(parse_note(data).text), data)
        words = text.split()
        if words and words[0].lower() == HEADER:
            del words[0]
        return KeptCheckpoint(parse_checkpoint("".join(f"{word}\n" for word in words)), None)
    except (BadNote, BadCheckpoint) as error:
        raise click.UsageError(
            f"expected a signed checkpoint in {path}, or `origin size root` as answers name it: {error.detail}"
        ) from error


async def _head(
    settings: Settings, url: str, name: str | None, kept: KeptCheckpoint | None
) -> tuple[SignedCheckpoint, str]:
    """The latest head, and the finding on the kept one; raises `Contradicted`."""
    async with Database.open(url, size=1) as database:
        tenant = startup.LOCAL.tenant
        wanted = name or (kept.head.origin if kept else await CurrentLogs(database, settings.log_host).current(tenant))
        log = await log_of(database, tenant, wanted)
        if log.head is None:
            raise NotProvable(f"the log {log.log} has no checkpoint yet; check that a sequencer runs")
        _expect_signed(log.head.note, log, "the latest head of the log")
        if kept is None:
            return log.head, ""
        if kept.note is not None:
            _expect_signed(kept.note, log, "the head that was kept")
        await _compare(database, log.head, kept.head)
        return log.head, f"the {kept.head.size} records of the head that was kept are the beginning of this one"


def _expect_signed(note: bytes, log: TenantLog, what: str) -> None:
    try:
        open_checkpoint(note, [PublicKey.parse(log.key)])
    except (BadNote, BadCheckpoint) as error:
        raise Contradicted(f"{what} is not signed by {log.key}, the key of {log.log}: {error.detail}") from error


async def _compare(database: Database, head: SignedCheckpoint, kept: Checkpoint) -> None:
    if kept.size > head.size:
        raise Contradicted(
            f"a head of {kept.size} records was kept of the log {head.log}, and its latest has {head.size}: records "
            "are lost, or the database is an old one"
        )
    root = await root_at_size(database, head.log, kept.size, head)
    if root != kept.root:
        raise Contradicted(
            f"the first {kept.size} records of the log {head.log} are not those of the head that was kept: expected "
            f"the root {kept.root.hex()}, found {root.hex()}"
        )
