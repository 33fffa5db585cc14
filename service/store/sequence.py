"""Gives records their places in the tree of their log: a sequencer's work in the database, as its own role.

A batch is one transaction. It takes records from staging and adds a batch row, leaves and full tiles that continue the
last batch. The primary key of the batch row is the fence: of two sequencers that continue the same tree, one fails and
reads the tree again. The tree in memory is only a copy of its last batch. After any error it is dropped and read again,
so a lost response to COMMIT does no harm.

A record stands behind the one before it in its debate. Records that commit late are found by a later look, because a
record stays staged until it is taken.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any

import psycopg
from msgspec import Struct
from psycopg import errors
from psycopg.rows import DictRow, dict_row

from service import telemetry
from service.audit.note import BadKey, PublicKey
from service.audit.tiles import Builder, TileId, Tiles, partial_counts, tiles_for_consistency, tiles_for_root
from service.audit.tree import HASH_BYTES, Frontier, ProofError, consistency_path, root_at
from service.audit.witness import KnownCheckpoint
from service.errors import GainsayError
from service.store.pool import WIRE, Connection, Database, configure, translated
from service.store.queries import queries
from service.store.tiles import StoredTiles

MOST = 4_096
"""The most records that one look finds, and one batch takes."""
TILES_HELD = 64
"""Full tiles of a tree that are held in memory until a head over them is signed."""
SILENT_S = 15
"""After so many silent seconds PostgreSQL ends a sequencer's session, and another one may lead."""
_LEAD = int.from_bytes(sha256(b"gainsay sequence").digest()[:8], "big", signed=True)
_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,99})/([A-Za-z0-9][A-Za-z0-9._-]{0,99})/([1-9]\d{0,9})", re.ASCII)
_FENCE = frozenset({"batch_pkey", "batch_log_next_key", "batch_log_after_fkey", "leaf_pkey", "tile_pkey"})


class Overtaken(GainsayError):
    """Another sequencer has continued the tree since it was read; read it again."""

    code = "overtaken"
    status = 409
    title = "Another sequencer was faster"


class OutOfOrder(GainsayError):
    """A record would stand before its predecessor, which is staged too; take the predecessor first."""

    code = "out_of_order"
    title = "A record was seen before the one that it follows"


class AlreadyThere(GainsayError):
    """A staged record is in the tree already; leave it out."""

    code = "already_there"
    title = "A record is staged for the second time"


class TreeDamaged(GainsayError):
    """The stored parts of a tree do not fit together."""

    code = "tree_damaged"
    title = "The tree of a log does not agree with itself"


class BadLogName(GainsayError):
    """A log's name is not ``<host>/<tenant>/<epoch>``, or its tenant and epoch belong to another log."""

    code = "bad_log_name"
    title = "A log's name cannot be used"


class Unstamped(Struct, frozen=True):
    """The latest head of a log that should get a time stamp, and for how many seconds the log has waited for one."""

    log: str
    size: int
    note: bytes
    waited_s: float


class Tree:
    """A log's tree after its last batch, and its last checkpoint.

    ``signed`` is the signer's last head, ``stored`` the latest stored checkpoint's. ``committed`` is false while the
    tree has leaves that may still be rolled back. ``durable_at`` has for each leaf since the last head when its record
    became durable, by `time.monotonic`.
    """

    def __init__(
        self, log: str, key: PublicKey, frontier: Frontier, builder: Builder, stored: KnownCheckpoint | None
    ) -> None:
        self.log = log
        self.key = key
        self.frontier = frontier
        self.builder = builder
        self.root = frontier.root()
        self.stored = stored
        self.signed: KnownCheckpoint | None = None
        self.committed = True
        self.durable_at: list[float] = []
        self._full: dict[TileId, bytes] = {}

    @property
    def size(self) -> int:
        """The number of leaves."""
        return self.frontier.size

    def grow(self, hashes: Sequence[bytes]) -> list[tuple[TileId, bytes]]:
        """Add leaves; return the tiles that they filled."""
        self.committed = False
        self.frontier.extend(hashes)
        self.root = self.frontier.root()
        full = [(TileId(tile.level, tile.index, tile.width), tile.hashes) for tile in self.builder.add(hashes)]
        self._full.update(full)
        if len(self._full) > TILES_HELD:
            self._full.clear()
        return full

    @property
    def tiles(self) -> dict[TileId, bytes]:
        """The tiles in memory: partial ones, and the full ones since the last checkpoint."""
        partial = {
            # C2SP tlog-tiles: one hash of level l covers 256**l leaves, so a level's partial tile has this index.
            TileId(level, self.size >> 8 * (level + 1), len(hashes)): b"".join(hashes)
            for level, hashes in enumerate(self.builder.partial)
        }
        return partial | self._full

    def sign(self) -> None:
        """Note that the current head is signed and stored."""
        self.signed = self.stored = KnownCheckpoint(self.size, self.root)
        self._full.clear()
        now = time.monotonic()
        for at in self.durable_at:
            telemetry.PROVABLE_SECONDS.observe(now - at)
        self.durable_at.clear()


class Sequencing(Database):
    """The sequencer's connections."""

    variable = "GAINSAY_SEQUENCER_URL"

    @staticmethod
    async def configure(connection: psycopg.AsyncConnection[DictRow]) -> None:
        """As for the service. Every look uses an index, also while tables are new and not yet analysed."""
        await configure(connection)
        await connection.execute("SET enable_seqscan = off")
        await connection.execute("SET plan_cache_mode = force_generic_plan")
        # A batch locks the records that it takes; an open one would keep them from the next leader.
        await connection.execute(f"SET idle_in_transaction_session_timeout = '{SILENT_S}s'")
        await connection.execute(  # since PostgreSQL 17, and also within a pipeline
            "SELECT set_config(name, %s, false) FROM pg_settings WHERE name = 'transaction_timeout'", [f"{SILENT_S}s"]
        )

    async def logs(self) -> list[str]:
        """The names of all logs, the oldest first."""
        return [row["log"] for row in await self.query("every_log")]

    async def staged(self, above: int = 0, passing: Collection[str] = ()) -> dict[str, list[int]]:
        """The numbers of the staged records, by log, above a number and without the logs of ``passing``."""
        return _by_log(await self.query("staged", _staged_query(above, passing)))

    async def unsigned(self) -> list[str]:
        """The logs whose tree has grown beyond its latest checkpoint."""
        return [row["log"] for row in await self.query("unsigned")]

    async def load(self, log: str, new: PublicKey) -> Tree:
        """The stored tree of a log; a log that is new here gets the key for ``new`` ones.

        Raises `TreeDamaged` when its parts do not fit together, and `BadLogName`.
        """
        end = await self._end(log) or await self._open(log, new)
        try:
            key, stored = PublicKey.parse(end["key"]), _head(end)
        except BadKey as error:
            raise TreeDamaged("the key of the log is not a verifier key any more") from error
        if end["size"] is None:
            return Tree(log, key, Frontier(), Builder(), stored)
        try:
            frontier = Frontier.decode(end["size"], bytes(end["frontier"]))
            builder = Builder(end["size"], await self._partial(log, end["size"]))
        except ValueError as error:
            raise TreeDamaged(f"the tree of {end['size']} leaves is not all there: {error}") from error
        tree = Tree(log, key, frontier, builder, stored)
        # Three sources of one root (RFC 6962, 2.1): the frontier, the batch row, and the stored leaves and tiles.
        if not tree.root == bytes(end["root"]) == await self.root_at(log, tree.size):
            raise TreeDamaged(f"batch, frontier and leaves have different roots for {tree.size} leaves")
        return tree

    async def extend(self, tree: Tree, taken: Sequence[int], *, holes: bool = False, careful: bool = False) -> int:
        """Take staged records, by their numbers, into the tree; return how many there were.

        After any error but `OutOfOrder` the tree in memory must not be used. ``holes`` prevents `OutOfOrder`: a record
        may then stand without its predecessor. Raises `Overtaken` when another sequencer was faster, and
        `AlreadyThere`, which ``careful`` prevents.
        """
        params = {"log": tree.log, "tenant": _name_parts(tree.log)[1], "seqs": taken, "careful": careful}
        with translated("take"):
            async with self._pool.connection() as connection:
                try:
                    async with connection.pipeline() as pipeline, connection.transaction():
                        cursor = await connection.execute(queries()["take"], params)
                        await pipeline.sync()  # from here on PostgreSQL counts the session as idle
                        count = await _extend(connection, tree, await cursor.fetchall(), holes=holes)
                except errors.IntegrityError as error:
                    raise _batch_error(error) from error
        tree.committed = True
        return count

    async def path(self, log: str, old: int, new: int, held: Mapping[TileId, bytes] | None = None) -> list[bytes]:
        """The consistency proof (RFC 6962, 2.1.2) between two sizes; ``held`` are tiles that need not be read.

        Raises `TreeDamaged` when the stored tiles are not enough.
        """
        wanted = tiles_for_consistency(old, new)
        tiles = {**(held or {})}
        if lacking := wanted - tiles.keys():
            tiles |= (await StoredTiles().read(self, _name_parts(log)[1], log, lacking)).tiles
        try:
            return consistency_path(old, new, _tiles(tiles, new).node)
        except ProofError as error:
            raise TreeDamaged(error.detail) from error

    async def root_at(self, log: str, size: int) -> bytes:
        """The root that the stored leaves and tiles give for a size; raises `TreeDamaged`."""
        tiles = (await StoredTiles().read(self, _name_parts(log)[1], log, tiles_for_root(size))).tiles
        try:
            return root_at(size, _tiles(tiles, size).node)
        except ProofError as error:
            raise TreeDamaged(error.detail) from error

    async def head(self, log: str) -> tuple[KnownCheckpoint, bytes] | None:
        """The latest stored head and its note; ``None`` while there is none."""
        end = await self._end(log)
        head = _head(end) if end else None
        return (head, bytes(end["note"])) if end and head else None

    async def store_checkpoint(self, tree: Tree, note: bytes) -> None:
        """Store the checkpoint of the current tree."""
        await self.query("keep_head", {"log": tree.log, "size": tree.size, "root": tree.root, "note": note})

    async def store_cosignature(self, log: str, size: int, witness: str, line: str) -> None:
        """Store a witness's line for a checkpoint."""
        await self.query("keep_cosignature", {"log": log, "size": size, "witness": witness, "line": line})

    async def cosigned(self, log: str) -> dict[str, int]:
        """The size of the largest head that each witness has countersigned, by its name."""
        return {row["witness"]: row["size"] for row in await self.query("cosigned", {"log": log})}

    async def unstamped(self, every_s: float, most: int) -> list[Unstamped]:
        """The latest heads that should get a time stamp, those that have waited longest first, ``most`` at once.

        A log is among them if it has grown since its last stamp and that is ``every_s`` old by the database's clock.
        """
        rows = await self.query("unstamped", {"every": every_s, "most": most})
        return [Unstamped(row["log"], row["size"], bytes(row["note"]), row["waited"]) for row in rows]

    async def store_time_stamp(
        self, log: str, size: int, *, seconds: int, authority: bytes, token: bytes, every_s: float
    ) -> bool:
        """Store a verified time stamp of a head; return false where the log got one in ``every_s``, from another
        process.

        ``seconds`` since 1970 and ``authority``, the SHA-256 of its certificate, are what the token says.
        """
        stamp = {"log": log, "size": size, "stamped": seconds, "authority": authority, "token": token}
        return bool(await self.query("keep_time_stamp", {**stamp, "every": every_s}))

    async def raise_incident(self, log: str, what: str) -> bool:
        """Record that a log contradicts its checkpoints; return whether this is new."""
        return bool(await self.query("raise_incident", {"log": log, "what": what}))

    async def _end(self, log: str) -> DictRow | None:
        rows = await self.query("tree_end", {"log": log})
        return rows[0] if rows else None

    async def _open(self, log: str, key: PublicKey) -> DictRow:
        """The row of a log that is new here."""
        host, tenant, epoch = _name_parts(log)
        if host != key.name:
            raise BadLogName(
                f"the log {log!r} does not belong to the host of the signing key {key.name!r}, so no verifier would "
                "accept its heads; make GAINSAY_LOG_HOST and the key's name agree"
            )
        await self.query("open_log", {"log": log, "tenant": tenant, "epoch": epoch, "key": key.encode()})
        if end := await self._end(log):
            return end
        raise BadLogName(
            f"the log {log!r} is not the one of epoch {epoch} of the tenant {tenant!r}; if GAINSAY_LOG_HOST was "
            "changed, set it back"
        )

    async def _partial(self, log: str, size: int) -> list[list[bytes]]:
        """The hashes of every level's partial tile, the leaves' level first."""
        counts = partial_counts(size)
        places = [TileId(level, size >> 8 * (level + 1), count) for level, count in enumerate(counts)]
        tiles = (
            await StoredTiles().read(self, _name_parts(log)[1], log, {place for place in places if place.width})
        ).tiles
        return [_split_hashes(tiles.get(place, b"")) for place in places]


class SequencerLeadership:
    """The session that makes one sequencer of all the leader, and that looks at what is staged."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._session: psycopg.AsyncConnection[DictRow] | None = None

    async def staged(self, above: int = 0, passing: Collection[str] = ()) -> dict[str, list[int]] | None:
        """What is staged, as `Sequencing.staged` returns it; ``None`` while another process leads.

        Raises `StoreUnavailable`; the lead is lost then, and may be another's.
        """
        with translated("staged"):
            try:
                session = self._session or await self._lead()
                if session is None:
                    return None
                cursor = await session.execute(queries()["staged"], _staged_query(above, passing))
                return _by_log(await cursor.fetchall())
            except BaseException:
                await self.close()
                raise

    async def close(self) -> None:
        """Release the lead."""
        session, self._session = self._session, None
        if session is not None:
            with suppress(psycopg.Error):
                await session.close()

    async def _lead(self) -> psycopg.AsyncConnection[DictRow] | None:
        """A session that leads; ``None`` when another one leads."""
        options: dict[str, Any] = {"autocommit": True, "row_factory": dict_row, **WIRE}
        session = await Connection.connect(self._url, **options)
        try:
            await Sequencing.configure(session)
            # A paused or disconnected leader loses the lead; otherwise nothing would become provable until it is back.
            await session.execute(f"SET idle_session_timeout = '{SILENT_S}s'")
            await session.execute(f"SET tcp_user_timeout = '{SILENT_S}s'")
            cursor = await session.execute(queries()["lead"], {"key": _LEAD})
            leads = (await cursor.fetchall())[0]["leads"]
        except BaseException:
            await session.close()
            raise
        if not leads:
            await session.close()
            return None
        self._session = session
        return session


async def _extend(
    connection: psycopg.AsyncConnection[DictRow], tree: Tree, rows: Sequence[DictRow], *, holes: bool
) -> int:
    """Add a batch of these records; nothing when there are none. A record that is not stored has no hash."""
    stored = [row for row in rows if row["hash"] is not None]
    if not holes and not all(row["follows"] for row in stored):
        raise OutOfOrder(f"a record of {tree.log} is staged without the one before it")
    if not stored:
        return 0
    first, hashes = tree.size, [bytes(row["hash"]) for row in stored]
    full = tree.grow(hashes)
    now = time.monotonic()
    tree.durable_at.extend(now - row["age_s"] for row in stored)
    # The batch row comes first: its primary key (log, first) fences off a second sequencer before leaves are inserted.
    batch = {"log": tree.log, "first": first, "next": tree.size, "root": tree.root}
    await connection.execute(queries()["add_batch"], {**batch, "frontier": tree.frontier.encode()})
    leaves = {"debates": [row["debate"] for row in stored], "ns": [row["n"] for row in stored], "hashes": hashes}
    await connection.execute(queries()["add_leaves"], {"log": tree.log, "first": first, **leaves})
    if full:
        levels, indexes = [place.level for place, _ in full], [place.n for place, _ in full]
        tiles = {"levels": levels, "indexes": indexes, "tiles": [hashes for _, hashes in full]}
        await connection.execute(queries()["add_tiles"], {"log": tree.log, **tiles})
    return len(stored)


def _head(end: DictRow) -> KnownCheckpoint | None:
    return None if end["signed"] is None else KnownCheckpoint(end["signed"], bytes(end["signed_root"]))


def _batch_error(error: errors.IntegrityError) -> Exception:
    """The error that a refused row of a batch stands for."""
    if error.diag.constraint_name in _FENCE:
        return Overtaken("another sequencer has continued this log; its tree is read again")
    if error.diag.constraint_name == "leaf_debate_n_key":
        return AlreadyThere("a record is staged that stands in the tree already")
    return error


def _staged_query(above: int, passing: Collection[str]) -> dict[str, Any]:
    return {"above": above, "passing": list(passing), "most": MOST}


def _by_log(rows: Sequence[DictRow]) -> dict[str, list[int]]:
    return {row["log"]: row["seqs"] for row in rows}


def _name_parts(log: str) -> tuple[str, str, int]:
    """Host, tenant and epoch of a log's name; raises `BadLogName`.

    A name that no head, file or address can carry is refused before anything is taken: its tree could never be signed.
    """
    if found := _NAME.fullmatch(log):
        host, tenant, epoch = found.groups()
        if int(epoch) < 2**31:
            return host, tenant, int(epoch)
    raise BadLogName(
        f"expected a log named <host>/<tenant>/<epoch>, of letters, digits, '.', '_' and '-', found {log[:200]!r}; its "
        "records stay staged"
    )


def _tiles(tiles: Mapping[TileId, bytes], size: int) -> Tiles:
    return Tiles(lambda level, n, width: tiles.get(TileId(level, n, width), b""), size)


def _split_hashes(hashes: bytes) -> list[bytes]:
    return [hashes[at : at + HASH_BYTES] for at in range(0, len(hashes), HASH_BYTES)]
