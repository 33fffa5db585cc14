"""Database, sequencer, signer, witnesses, folders, clock, incidents: what the configuration names, as it is now.

Nothing is written, signed or started. A connection is opened to each of them for one question.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from service.audit.checkpoint import BadCheckpoint, parse_checkpoint, verify_cosignature
from service.audit.note import BadNote, PublicKey, parse_note
from service.cli.doctor.findings import Finding, failed, ok, skipped, warning
from service.cli.terminal_text import line
from service.policy import Policy, TimeStamps, Witness
from service.policy.settings import Settings
from service.proving.signing.open import open_signer, read_place
from service.proving.signing.time_stamps import TimeStampAuthority
from service.proving.signing.wire import SignerUnreachable, Wire
from service.store.embedded.presence import presence
from service.store.schema.examination import damage_counts, database_facts
from service.store.schema.migrate import pending
from service.store.schema.preflight import (
    check_database,
    check_one_database,
    check_sequencer,
    check_serving,
    refuse_incidents,
)
from service.store.startup import migrations

SCARCE, FULL = 1 << 30, 100 << 20
"""Free bytes below which a disk is reported, and below which it fails."""
SERVICE = "GAINSAY_DATABASE_URL"


def embedded_state(data_dir: Path) -> Finding:
    """What there is of the embedded server, which a look does not start."""
    folder = data_dir / "postgres"
    state = f"its files are in {folder}, and it does not run" if folder.exists() else f"{folder} does not exist yet"
    return skipped(
        "database",
        f"no {SERVICE} is set, so the first command that records starts an embedded PostgreSQL: {state}",
        "`gainsay doctor --start` starts it for the checks of it",
    )


def embedded_runs(data_dir: Path) -> bool:
    """Whether the embedded server runs, so that joining it starts nothing."""
    return presence(data_dir / "postgres") == "running"


def check_service(url: str) -> Iterator[Finding]:
    """The database takes writes, with a login of the right role, the schema of this version, and settings that last."""
    check_database(url, migrations())
    facts = database_facts(url, SERVICE)
    if facts.read_only:
        found = f"PostgreSQL {facts.version} takes no writes: a standby, or default_transaction_read_only"
        yield failed("database", found, f"have {SERVICE} lead to the primary, or switch it back")
        return
    yield ok("database", f"PostgreSQL {facts.version}, login {line(facts.role)}, schema of this version")


def check_clock(url: str, most_s: float) -> Iterator[Finding]:
    """This machine's clock and the database's, which dates records, are close to each other."""
    before = time.time()
    clock = database_facts(url, SERVICE).clock
    after = time.time()
    apart = max(0.0, before - clock, clock - after)
    found = f"the database's clock and this machine's are {apart:.1f} s apart"
    if apart > most_s:
        yield warning("clock", f"{found}, more than audit.clock_skew_s, {most_s:g}", "set both by NTP")
    else:
        yield ok("clock", found)


def check_incidents(url: str) -> Iterator[Finding]:
    """No incident of a log and no damage is open."""
    refuse_incidents(url)
    counts = damage_counts(url, SERVICE)
    for subject, (count, first) in counts.items():
        found = f"{count} open incidents of damaged evidence ({subject}), the first is number {first}"
        remedy = "docs/runbook.md, Evidence is damaged"
        yield failed("incidents", found, remedy) if subject == "log" else warning("incidents", found, remedy)
    if not counts:
        yield ok("incidents", "none is open")


def check_sequencing(url: str, service: str | None) -> Iterator[Finding]:
    """The sequencer's login has its role, and no more, in the database of the service, if that answers."""
    check_sequencer(url, migrations())
    if service is not None:
        check_one_database(service, url, "GAINSAY_SEQUENCER_URL")
    yield ok("sequencer", "its login has the sequencer's role, on the schema of this version")


def check_callers(url: str, service: str | None) -> Iterator[Finding]:
    """The login that serves callers has its role, and row security keeps it to one tenant; in the same database."""
    check_serving(url, migrations())
    if service is not None:
        check_one_database(service, url, "GAINSAY_API_URL")
    yield ok("serving", "the login that serves callers sees one tenant at a time")


def check_migrating(url: str) -> Iterator[Finding]:
    """The login that migrates is let in, and nothing waits for it."""
    if waiting := pending(url, migrations()):
        yield warning(
            "migrating", f"{len(waiting)} migrations are to be applied, up to {waiting[-1]}", "gainsay migrate"
        )
    else:
        yield ok("migrating", "its login is let in, and every migration of this version is applied")


def check_signer(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """The key or the signer process that signs heads is there, and its key has the name of our logs."""
    place = settings.signing_key
    if place is None:
        yield _own_key(settings)
        return
    if place.startswith(("http://", "https://")):
        keys = asyncio.run(_remote_keys(place, settings, environment))
        where = "the signer answers"
    else:
        keys, where = tuple(key.public for key in read_place(place, environment)), "the key can be read"
    named = [key for key in keys if key.name == settings.log_host]
    found = f"{where}: {_names(keys)}"
    if not named:
        remedy = f"GAINSAY_LOG_HOST is {settings.log_host}; make it and the key's name agree"
        yield failed("signer", found, remedy)
        return
    known = {row.key for row in settings.policy.audit.keys if row.use == "log"}
    if known and not known & {key.encode() for key in named}:
        yield warning("signer", f"{found}: not in the register of the policy", "add it to [[audit.keys]]")
    else:
        yield ok("signer", found)


def _own_key(settings: Settings) -> Finding:
    path = settings.data_dir / "keys" / "log.key"
    if settings.database_url is not None:
        return skipped("signer", "no GAINSAY_SIGNING_KEY is set: heads are signed by another process")
    if path.exists():
        return ok("signer", f"the key of this machine: {_names(key.public for key in read_place(f'file:{path}', {}))}")
    return skipped("signer", f"no GAINSAY_SIGNING_KEY is set: the first command that signs makes a key at {path}")


def _names(keys: Iterable[PublicKey]) -> str:
    return ", ".join(f"{key.name}+{key.id.hex()}" for key in keys)


async def _remote_keys(place: str, settings: Settings, environment: Mapping[str, str]) -> tuple[PublicKey, ...]:
    signer = open_signer(place, settings.data_dir, environment)
    try:
        return await signer.keys()
    finally:
        await signer.close()


def check_witness(witness: Witness, log: str) -> Iterator[Finding]:
    """A witness answers; where it holds a checkpoint of the log, that carries a cosignature of its pinned key."""
    key = PublicKey.parse(witness.key)
    try:
        status, body = asyncio.run(_checkpoint(witness.url, log))
    except SignerUnreachable as error:
        found = f"{key.name} at {witness.url} does not answer: {error}"
        yield failed("witness", found, "bundles are UNWITNESSED meanwhile")
        return
    if status != 200:
        yield ok("witness", f"{key.name} answers, and has seen no checkpoint of {log} yet ({status})")
        return
    try:
        note = parse_note(body)
        head = parse_checkpoint(note.text)
        line_of_it = next(one for one in note.signatures if (one.name, one.key_id) == (key.name, key.id))
        verify_cosignature(head, line_of_it, key)
        if head.origin != log:
            raise BadNote(f"expected a checkpoint of {log!r}, found one of {head.origin!r}")
    except (BadNote, BadCheckpoint, StopIteration) as error:
        found = getattr(error, "detail", "its checkpoint has no cosignature of the pinned key")
        yield failed("witness", f"{key.name}: {found}", "compare the key in [[audit.witnesses]] with its operator's")
        return
    yield ok("witness", f"{key.name} answers, with the key of the policy; it has seen {head.size} records of {log}")


async def _checkpoint(url: str, log: str) -> tuple[int, bytes]:
    wire = Wire()
    try:
        reply = await wire.exchange("GET", f"{url}/{sha256(log.encode()).hexdigest()}/checkpoint")
        return reply.status, reply.body
    finally:
        await wire.close()


def check_time_stamps(policy: Policy) -> Iterator[Finding]:
    """The certificate of the authority for time stamps is valid today. The authority itself is not asked."""
    stamps = policy.audit.timestamps
    if isinstance(stamps, TimeStamps):
        error = asyncio.run(_unusable(stamps))
        found = f"the certificate of {line(stamps.url)} is valid; the authority was not asked"
        yield failed("time stamps", error) if error else ok("time stamps", found)
    else:
        yield skipped("time stamps", "the policy names no authority")


async def _unusable(stamps: TimeStamps) -> str:
    authority = TimeStampAuthority(stamps)
    try:
        error = authority.unusable()
        return error.detail if error else ""
    finally:
        await authority.close()


def check_heads(settings: Settings) -> Iterator[Finding]:
    """The folder with the last checkpoints can be written, where this machine signs by itself."""
    if settings.signing_key is not None and settings.signing_key.startswith("http"):
        yield skipped("heads", "the signer process keeps the last heads itself")
        return
    if settings.signing_key is None and settings.database_url is not None:
        yield skipped("heads", "heads are signed by another process")
        return
    yield _folder("heads", settings.heads_dir or settings.data_dir / "heads")


def check_disk(data_dir: Path) -> Iterator[Finding]:
    """The data folder can be written, and its disk has room."""
    folder = _folder("disk", data_dir)
    free = shutil.disk_usage(_nearest(data_dir)).free
    found = f"{folder.found}; {free / (1 << 30):.1f} GiB are free there"
    remedy = "make room: without it nothing can be recorded, and so no debate runs"
    if folder.status == "FAILED":
        yield folder
    elif free < SCARCE:
        yield failed("disk", found, remedy) if free < FULL else warning("disk", found, remedy)
    else:
        yield ok("disk", found)


def _folder(check: str, folder: Path) -> Finding:
    nearest = _nearest(folder)
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        return failed(check, f"{nearest} cannot be written by this user", "give the user of the service that right")
    return ok(check, f"{folder} can be written" if folder == nearest else f"{folder} does not exist, and can be made")


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    return folder
