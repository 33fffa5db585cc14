"""Texts that many debates share, stored once under their SHA-256: prompts, policies, configurations, approvals.

A debate records hashes. The texts must exist as long as the records, so every process stores the texts that it runs by
before it claims debates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

import msgspec
from msgspec import Struct

from service.intake import Deployment
from service.policy import encode_policy
from service.store import derived
from service.store.array_parameters import ByteaArray, TextArray
from service.store.pool import Database

_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)


class _Pinned(Struct):
    file: str
    sha256: str


class _Manifest(Struct):
    entries: tuple[_Pinned, ...]


async def store_texts(database: Database, bodies: Iterable[bytes]) -> None:
    """Store these texts, each once; a text that is stored already costs no write. Raises `StoreUnavailable`."""
    given = {sha256(body).digest(): body for body in bodies}
    known = {
        bytes(row["sha256"]) for row in await database.query("kept_contents", {"hashes": ByteaArray(sorted(given))})
    }
    if new := [given[digest] for digest in sorted(given) if digest not in known]:
        await database.query("keep_contents", {"bodies": ByteaArray(new)})


async def read(database: Database, hashes: Iterable[str]) -> dict[str, bytes]:
    """The texts of these hashes (hex), by hash, as far as they are stored; a value that is no hash is skipped.

    Raises `StoreUnavailable`.
    """
    wanted = sorted({bytes.fromhex(digest) for digest in hashes if _HASH.fullmatch(digest)})
    rows = await database.query("contents", {"hashes": ByteaArray(wanted)})
    return {bytes(row["sha256"]).hex(): bytes(row["body"]) for row in rows}


async def stored(database: Database, hashes: Iterable[str]) -> set[str]:
    """Which of these texts (hex hashes) are stored; raises `StoreUnavailable`."""
    wanted = sorted({bytes.fromhex(digest) for digest in hashes if _HASH.fullmatch(digest)})
    return {bytes(row["sha256"]).hex() for row in await database.query("kept_contents", {"hashes": ByteaArray(wanted)})}


def listed(manifest: bytes) -> dict[str, str]:
    """The files that a manifest names, each with its hash; raises `ValueError` for bytes that are no manifest."""
    return {entry.file: entry.sha256 for entry in msgspec.json.decode(manifest, type=_Manifest).entries}


async def store_deployment(database: Database, deployment: Deployment) -> None:
    """Store every text that a debate of this deployment names by hash, and which prompts its manifest lists.

    Raises `StoreUnavailable`.
    """
    prompts = deployment.prompts
    bodies = [prompts.manifest, *prompts.files().values(), encode_policy(deployment.policy), deployment.configuration]
    await store_texts(database, [*bodies, *([deployment.approval.encode()] if deployment.approval else [])])
    given = derived.prompts(prompts.manifest)
    params = {"manifest": prompts.pin, "prompts": TextArray(given), "hashes": TextArray(given.values())}
    await database.query("keep_manifest", params)


async def read_prompts(database: Database, pin: str) -> dict[str, bytes] | None:
    """The manifest of this hash and every file that it names, by path, as far as they are stored.

    ``None`` if the manifest itself is not stored. The manifest's path is ``manifest.json``.
    """
    manifest = (await read(database, [pin])).get(pin)
    if manifest is None:
        return None
    try:
        entries = msgspec.json.decode(manifest, type=_Manifest).entries
    except msgspec.MsgspecError:  # the stored text was changed: its new bytes are evidence too
        return {"manifest.json": manifest}
    bodies = await read(database, [entry.sha256 for entry in entries])
    return {"manifest.json": manifest, **{e.file: bodies[e.sha256] for e in entries if e.sha256 in bodies}}
