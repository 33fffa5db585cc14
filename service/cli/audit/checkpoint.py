"""``gainsay audit checkpoint``: a log's checkpoint, alone or against one kept earlier."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from service.audit.checkpoint import BadCheckpoint, Checkpoint, open_checkpoint, parse_checkpoint
from service.audit.note import BadKey, BadNote, PublicKey, parse_note
from service.cli import exit_codes
from service.cli.access import place
from service.cli.access.port import Contradicted, SignedHead
from service.cli.terminal_text import say, write_out

if TYPE_CHECKING:
    from service.cli.access.port import Service

BYTES_MAX = 1 << 16
HEADER = "gainsay-checkpoint:"


class KeptCheckpoint(Struct, frozen=True):
    """A kept head; without a note it comes from the header Gainsay-Checkpoint of an answer."""

    head: Checkpoint
    note: bytes | None


@click.command()
@place.server_option
@click.option("--log", metavar="LOG", help="The log, such as localhost/default/1; default: the current one.")
@click.option(
    "--against",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="A kept head: a signed checkpoint, or the header Gainsay-Checkpoint of an answer.",
)
def checkpoint(server: str | None, log: str | None, against: Path | None) -> int:
    """Print a log's checkpoint, or check the log against an earlier one.

    The earlier head must be a prefix of the stored log and of its latest checkpoint; of a service the command verifies
    the proof of that. It trusts the database, or the service, only for the log's key; `gainsay audit verify` pins that
    too. Exit code 1 when the log contradicts the head.

    \b
    gainsay audit checkpoint > head.txt
    gainsay audit checkpoint --against head.txt
    """
    kept = read_kept(against) if against else None
    if kept and log not in (None, kept.head.origin):
        raise click.UsageError(f"{against} has a head of the log {kept.head.origin}, and --log is {log}")
    try:
        address = place.server_of(server)
        note, words = place.ask(address, lambda service: _head(service, log, kept), opened="reading")
    except Contradicted as found:
        exit_codes.print_error(found.code, found.detail)
        return exit_codes.NEGATIVE
    write_out(note)
    if words:
        say(words, err=True)
    return exit_codes.DONE


def read_kept(path: Path) -> KeptCheckpoint:
    """The head that a file has; raises `click.UsageError` for a file that cannot be read as one."""
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


async def _head(service: Service, name: str | None, kept: KeptCheckpoint | None) -> tuple[bytes, str]:
    """The latest head as it is signed, and the finding on the kept one; raises `Contradicted`."""
    found = await service.head(name or (kept.head.origin if kept else None))
    _expect_signed(found.note, found, "the latest head of the log")
    if kept is None:
        return found.note, ""
    if kept.note is not None:
        _expect_signed(kept.note, found, "the head that was kept")
    if kept.head.size > found.head.size:
        raise Contradicted(
            f"a head of {kept.head.size} records was kept of the log {found.head.origin}, and its latest has "
            f"{found.head.size}: records are lost, or the database is an old one"
        )
    await service.expect_prefix(kept.head, found.head)
    return found.note, f"the {kept.head.size} records of the head that was kept are the beginning of this one"


def _expect_signed(note: bytes, log: SignedHead, what: str) -> None:
    try:
        open_checkpoint(note, [PublicKey.parse(log.key)])
    except (BadKey, BadNote, BadCheckpoint) as error:
        raise Contradicted(
            f"{what} is not signed by {log.key}, the key of {log.head.origin}: {error.detail}"
        ) from error
