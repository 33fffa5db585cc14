"""A process of the service under the hammer. Before it goes on it notes, on disk, what was confirmed to it.

append NAME     writes records of its own: debates, and events that are one record each
WORD...         any command of gainsay

acked-<pid>.txt    each record that the database has confirmed: chain, number, hash of its leaf. The hash commits to
                   the leaf, that to its payload, and both to every record before
signed-<pid>.txt   each head that is about to be signed: origin, size, root
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.log_events import AuditRead
from service.audit.note import SigningKey
from service.audit.record import leaf_hash
from service.cli import main
from service.errors import GainsayError
from service.identity.caller import Caller
from service.money import tokenizers
from service.proving.sequencer import countersigning
from service.proving.signing import local
from service.store import sealing
from service.store.pool import Database, Row
from service.store.queue import ClaimRequest, claim
from service.store.sealing import write_event
from tests.faults.books import TOKENIZER
from tests.faults.confirming import Confirmed, noting
from tests.fixtures.running import Bench, a_request, a_writer, bench, take_log

LEASE_S = 5.0
AT_ONCE = 8
"""Events that are written at once, between debates."""


class Notes:
    """A file of this process that only ever grows; what was noted is on disk."""

    def __init__(self, folder: Path, what: str) -> None:
        self._file = os.open(folder / f"{what}-{os.getpid()}.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, *words: object) -> None:
        """Add a line."""
        os.write(self._file, (" ".join(map(str, words)) + "\n").encode())
        os.fsync(self._file)


@contextmanager
def noting_what_is_confirmed(folder: Path) -> Iterator[None]:
    """Note every record when the database has confirmed it, before whoever waits for it hears of it."""
    notes, write = Notes(folder, "acked"), sealing.write

    def confirmed(last: Confirmed) -> None:
        notes.note(last.debate, last.n, last.leaf_hash.hex())

    async def written(database: Database, name: str, params: Mapping[str, Any]) -> list[Row]:
        """An event: a chain of one record."""
        rows = await write(database, name, params)
        notes.note(params["debate"], 0, leaf_hash(params["leaf"]).hex())
        return rows

    sealing.write = written
    with noting(confirmed):
        yield


def note_what_is_signed(folder: Path) -> None:
    """Note every head before it is signed, whether the signature is given out then or not."""
    notes = Notes(folder, "signed")

    def signed(checkpoint: Checkpoint, key: SigningKey) -> bytes:
        notes.note(checkpoint.origin, checkpoint.size, checkpoint.root.hex())
        return sign_checkpoint(checkpoint, key)

    setattr(local, "sign_checkpoint", signed)  # noqa: B010 - a name that it imports


async def append(name: str) -> None:
    """Write records of a tenant of one's own for ever, also when the database comes and goes."""
    async with bench(os.environ["GAINSAY_DATABASE_URL"]) as desk:
        while True:
            try:
                await asyncio.gather(*(event(desk, name) for _ in range(AT_ONCE)))
                await debate(desk, name)
            except GainsayError:
                await asyncio.sleep(0.1)


async def event(desk: Bench, tenant: str) -> None:
    """A chain of one record."""
    log = f"localhost/{tenant}/1"
    await write_event(desk.database, AuditRead("recall", "what"), log, tenant, a_writer(tenant))


async def debate(desk: Bench, tenant: str) -> None:
    """A debate from its case to its end, unless it is lost to a worker that takes it over."""
    new = (await desk.reviews.submit(a_request(), Caller(tenant=tenant))).debate
    for taken in await claim(desk.database, ClaimRequest(worker=tenant, lease_s=LEASE_S, only=new)):
        log = await take_log(desk.database, new, taken.epoch, tenant, LEASE_S, desk.policy.budgets, tenant)
        await (await desk.runner(new, log)).run()


def load() -> None:
    """Whatever a command imports and reads when it starts."""
    from service.cli import sequence, serve, signer
    from service.providers import transport
    from service.web import server

    assert all((sequence, serve, signer, server, transport))
    tokenizers.load([TOKENIZER])


def live(told: Mapping[str, Any]) -> int:
    """Do what the words say until the end; the exit code."""
    folder, words = Path(told["folder"]), told["words"]
    countersigning.AGAIN_S = 1.0
    note_what_is_signed(folder)
    with noting_what_is_confirmed(folder):
        if words[0] == "append":
            asyncio.run(append(words[1]))
        return main(list(words))
