"""``gainsay audit remember``: give a signer the head of a log that it has forgotten, by a person's recorded word."""

from __future__ import annotations

import asyncio
import getpass
import os
import re

import click

from service.audit.record import Writer
from service.cli import exit_codes, startup
from service.cli.access import place
from service.cli.beginning import database_url
from service.cli.terminal_text import say
from service.policy.own_build import own_build
from service.policy.settings import Settings
from service.proving.remembering import Said, forgotten_heads
from service.proving.remembering import remember as adopt
from service.proving.signing.open import heads_dir, open_signer, signing_place
from service.store.current_log import CurrentLogs
from service.store.pool import Database

WORDS_MAX = 500
BY_MAX = 100
_ROOT = re.compile(r"[0-9a-f]{64}")


@click.command()
@click.option("--log", metavar="LOG", help="The log, such as localhost/default/1; without it, list what is forgotten.")
@click.option("--size", type=click.IntRange(min=1), metavar="N", help="How many records the right head has.")
@click.option("--root", metavar="HEX", help="Its root, 64 hexadecimal digits.")
@click.option("--reason", metavar="TEXT", help="Why this head is the right one, and how you know: it is recorded.")
@click.option("--by", metavar="TEXT", help="Who says so; default: the user of the operating system.")
def remember(log: str | None, size: int | None, root: str | None, reason: str | None, by: str | None) -> int:
    """Say which head of a log is the right one, when its signer has forgotten it.

    A signer whose folder is lost would sign a rewritten or an older log as well, so nothing starts with it. First put
    back the folder, or let a witness answer. Without either, compare the head that the database has with a checkpoint
    that was stored elsewhere (docs/runbook.md, The signer's folder is lost or damaged). Then say so here. Who says it,
    when, why, and of which head becomes a record of the log, before the signer adopts the head.

    Without options the command lists the logs that the signer has forgotten. Exit code 1 when there are any.
    """
    place.refuse_server("audit remember")
    given = (log, size, root, reason)
    if all(each is None for each in given) and by is None:
        settings = startup.start(quiet=True)
        with database_url(settings) as url:
            return asyncio.run(_list(settings, url))
    if log is None or size is None or root is None or reason is None:
        raise click.UsageError("expected --log, --size, --root and --reason together, or none of them")
    if not _ROOT.fullmatch(root):
        raise click.UsageError("--root: expected 64 hexadecimal digits in lower case")
    said = Said(size, bytes.fromhex(root), _words("--by", by or _user(), BY_MAX), _words("--reason", reason, WORDS_MAX))
    settings = startup.start(quiet=True)
    with database_url(settings) as url:
        asyncio.run(_remember(settings, url, log, said))
    say(f"recorded, and the signer remembers the head of {size} records of {log}")
    return exit_codes.DONE


async def _list(settings: Settings, url: str) -> int:
    signer = open_signer(signing_place(settings), heads_dir(settings), os.environ)
    try:
        async with Database.open(url, size=1) as database:
            found = await forgotten_heads(database, signer)
    finally:
        await signer.close()
    for each in found:
        last = f"a head of {each.last.size} records" if each.last else "no head"
        say(f"{each.head.log}: the signer remembers {last}, the database has {each.head.size} records")
        say(f"  root {each.head.root.hex()}")
    if not found:
        say("the signer remembers the latest head of every log whose key it has")
    return exit_codes.NEGATIVE if found else exit_codes.DONE


async def _remember(settings: Settings, url: str, log: str, said: Said) -> None:
    signer = open_signer(signing_place(settings), heads_dir(settings), os.environ)
    writer = Writer(startup.LOCAL.actor, own_build())
    try:
        async with Database.open(url, size=2) as database:
            await adopt(database, signer, CurrentLogs(database, settings.log_host), log, said, writer)
    finally:
        await signer.close()


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise click.UsageError("expected --by TEXT, because this user has no name here") from None


def _words(option: str, text: str, most: int) -> str:
    """Words for a record; raises `click.UsageError` for none, too many, or ones that cannot be read."""
    words = text.strip()
    if not words or len(words) > most or not words.isprintable():
        raise click.UsageError(f"{option}: expected 1 to {most} printable characters on one line")
    return words
