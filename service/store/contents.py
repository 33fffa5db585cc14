"""Texts that many debates share, kept once under their SHA-256: prompts, policies, configurations, approvals.

A debate records hashes. What they are of has to be there as long as its record is, so every process keeps what it runs
by before it takes work.
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
from service.store.pool import Database

_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)


class _Pinned(Struct):
    file: str
    sha256: str


class _Manifest(Struct):
    entries: tuple[_Pinned, ...]


async def keep(database: Database, bodies: Iterable[bytes]) -> None:
    """Keep these texts, each once; what is there already costs no write. Raises `StoreUnavailable`."""
    given = {sha256(body).digest(): body for body in bodies}
    known = {bytes(row["sha256"]) for row in await database.query("kept_contents", {"hashes": sorted(given)})}
    if new := [given[digest] for digest in sorted(given) if digest not in known]:
        await database.query("keep_contents", {"bodies": new})


async def read(database: Database, hashes: Iterable[str]) -> dict[str, bytes]:
    """The texts of these hashes (hex), by hash, as far as they are kept; what is no hash is passed over.

    Raises `StoreUnavailable`.
    """
    wanted = sorted({bytes.fromhex(digest) for digest in hashes if _HASH.fullmatch(digest)})
    rows = await database.query("contents", {"hashes": wanted})
    return {bytes(row["sha256"]).hex(): bytes(row["body"]) for row in rows}


async def keep_deployment(database: Database, deployment: Deployment) -> None:
    """Keep everything that a debate of this deployment names by hash, and which prompts its manifest gives out.

    Raises `StoreUnavailable`.
    """
    prompts = deployment.prompts
    bodies = [prompts.manifest, *prompts.files().values(), encode_policy(deployment.policy), deployment.configuration]
    await keep(database, [*bodies, *([deployment.approval.encode()] if deployment.approval else [])])
    given = derived.prompts(prompts.manifest)
    params = {"manifest": prompts.pin, "prompts": list(given), "hashes": list(given.values())}
    await database.query("keep_manifest", params)


async def read_prompts(database: Database, pin: str) -> dict[str, bytes] | None:
    """The manifest of this hash and every file that it names, by path, as far as they are kept.

    ``None`` where the manifest itself is not. The manifest is ``manifest.json``.
    """
    manifest = (await read(database, [pin])).get(pin)
    if manifest is None:
        return None
    try:
        entries = msgspec.json.decode(manifest, type=_Manifest).entries
    except msgspec.MsgspecError:  # somebody has been at the table: what it became is evidence too
        return {"manifest.json": manifest}
    bodies = await read(database, [entry.sha256 for entry in entries])
    return {"manifest.json": manifest, **{e.file: bodies[e.sha256] for e in entries if e.sha256 in bodies}}
