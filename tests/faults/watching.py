"""Readers of a log who trust nobody: each keeps one head, and believes a newer one when it is shown to continue it.

A service or a database that is away is waited for. Whatever is answered has to be right.
"""

from __future__ import annotations

import asyncio
import time
from random import Random

import httpx

from service.audit.checkpoint import Checkpoint, open_checkpoint
from service.audit.note import PublicKey
from service.audit.proof import check_proof, parse_proof
from service.audit.tiles import WIDTH, decode_entries, tile_path
from service.audit.tree import ProofError, leaf_hash, verify_consistency, verify_inclusion
from service.errors import StoreUnavailable
from service.store import proofs
from service.store.pool import Database, StatementRefused
from tests.fixtures.following import Follower

PATIENCE_S = 120.0
AWAY = (404, 503)
"""What is answered while a log has no head yet, and while the database is away."""


class FullReader(Follower):
    """Reads every leaf over HTTP, and makes the root of them."""

    looks = 0

    async def look(self) -> None:
        """Follow the log to its latest head."""
        await self.follow()
        self.looks += 1

    async def _get(self, path: str) -> bytes:
        until, told = time.monotonic() + PATIENCE_S, ""
        while time.monotonic() < until:
            try:
                answer = await self.http.get(f"/v1/audit/logs/{self.log}/{path}")
            except httpx.TransportError as error:
                told = type(error).__name__
            else:
                if answer.is_success:
                    return answer.content
                told = f"{answer.status_code}: {answer.text}"
                if answer.status_code not in AWAY:
                    break
            await asyncio.sleep(0.1)
        raise ProofError(f"{path} of {self.log} is answered with {told}")


class SpotReader(FullReader):
    """Has one record of each new head proven over HTTP, whichever it draws."""

    def __init__(self, http: httpx.AsyncClient, log: str, key: PublicKey, random: Random) -> None:
        super().__init__(http, log, key)
        self._random = random

    async def look(self) -> None:
        """See that the latest head continues the one that is kept, and have a record proven under it."""
        new, _ = open_checkpoint(await self._get("checkpoint"), [self.key])
        if self.head:
            await self._continues(self.head, new)
        index = self._random.randrange(new.size)
        leaf = await self._leaf(index, new.size)
        proof = parse_proof(await self._get(f"proof/{index}?size={new.size}"))
        check_proof(proof, leaf_hash(leaf), [self.key], [], 0, origin=self.log)
        assert open_checkpoint(proof.checkpoint, [self.key])[0] == new
        assert proof.index == index
        self.head = new
        self.looks += 1

    async def _leaf(self, index: int, size: int) -> bytes:
        nth = index // WIDTH
        width = min(WIDTH, size - nth * WIDTH)
        return decode_entries(await self._get(tile_path("entries", nth, width)))[index % WIDTH]


class ProofsReader:
    """The same by the service's own readers of the database, for every log that there is."""

    def __init__(self, database: Database, key: PublicKey, random: Random) -> None:
        self.heads: dict[str, Checkpoint] = {}
        self.looks = 0
        self._database, self._key, self._random = database, key, random

    async def look(self) -> None:
        """Look at each log; a database that is away is come back to."""
        try:
            for row in await self._database.query("log_tenants"):
                for found in await proofs.logs_of(self._database, row["tenant"]):
                    await self._look(row["tenant"], found.log)
        except StatementRefused:
            raise
        except StoreUnavailable:
            return
        self.looks += 1

    async def _look(self, tenant: str, log: str) -> None:
        found = await proofs.latest_checkpoint(self._database, tenant, log)
        if found is None:
            assert log not in self.heads
            return
        new, _ = open_checkpoint(found.note, [self._key])
        assert (new.origin, new.size, new.root) == (log, found.size, found.root)
        if old := self.heads.get(log):
            if new.size < old.size:
                raise ProofError(f"the log {log} went back from {old.size} to {new.size}")
            path = await proofs.consistency(self._database, tenant, log, old.size, new.size)
            verify_consistency(old.size, new.size, path, old.root, new.root)
        index = self._random.randrange(new.size)
        nth = index // WIDTH
        leaves = await proofs.entries(self._database, tenant, log, nth, min(WIDTH, new.size - nth * WIDTH))
        included = await proofs.inclusion(self._database, tenant, log, index, new.size)
        verify_inclusion(leaf_hash(leaves[index % WIDTH]), index, new.size, included, new.root)
        self.heads[log] = new
