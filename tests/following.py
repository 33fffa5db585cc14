"""Somebody who follows a log over HTTP alone, with a pinned key, and trusts nothing that it is not shown."""

from __future__ import annotations

import httpx

from service.audit.checkpoint import Checkpoint, open_checkpoint
from service.audit.note import PublicKey, decode_base64
from service.audit.proof import check_proof, parse_proof
from service.audit.tiles import WIDTH, decode_entries, tile_path
from service.audit.tree import ProofError, leaf_hash, root_of, verify_consistency


class Follower:
    """Keeps the last head it saw and every leaf that it was shown, and holds each new head to both."""

    def __init__(self, http: httpx.AsyncClient, log: str, key: PublicKey) -> None:
        self.http, self.log, self.key = http, log, key
        self.head: Checkpoint | None = None
        self.leaves: list[bytes] = []

    async def follow(self) -> Checkpoint:
        """The latest head, once it is shown to continue the last and to be that of the leaves.

        Raises `ProofError`, or `BadNote` for a signature that does not hold.
        """
        note = await self._get("checkpoint")
        new, _ = open_checkpoint(note, [self.key])
        assert new.origin == self.log
        if self.head:
            await self._continues(self.head, new)
        await self._read(new.size)
        if root_of(map(leaf_hash, self.leaves)) != new.root:
            raise ProofError(f"the leaves do not make the root of {new.size}")
        self.head = new
        return new

    async def prove(self, record: str) -> int:
        """The index of a record that is shown to be in the log, and to be the leaf that was seen there."""
        proof = parse_proof(await self._get(f"proof/{record}"))
        await self.follow()
        check_proof(proof, leaf_hash(self.leaves[proof.index]), [self.key], [], 0, origin=self.log)
        return proof.index

    async def _continues(self, old: Checkpoint, new: Checkpoint) -> None:
        if new.size < old.size:
            raise ProofError(f"the log went back from {old.size} to {new.size}")
        text = await self._get(f"consistency?from={old.size}&to={new.size}")
        path = [decode_base64(line) or b"" for line in text.decode().splitlines()]
        verify_consistency(old.size, new.size, path, old.root, new.root)

    async def _read(self, size: int) -> None:
        """The leaves up to a size; those of full bundles are read once, that of a partial one again."""
        for index in range(len(self.leaves) // WIDTH, -(-size // WIDTH)):
            width = min(WIDTH, size - index * WIDTH)
            leaves = decode_entries(await self._get(tile_path("entries", index, width)))
            assert len(leaves) == width
            self.leaves[index * WIDTH :] = leaves

    async def _get(self, path: str) -> bytes:
        answer = await self.http.get(f"/v1/audit/logs/{self.log}/{path}")
        if not answer.is_success:
            raise ProofError(f"{path} is answered with {answer.status_code}: {answer.text}")
        return answer.content
