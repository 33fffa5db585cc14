"""What somebody may do to a log who has the database, and perhaps the signing key: each as one function.

``a`` and ``b`` are debates that are over, signed and countersigned; ``c`` is one that no sequencer has seen yet. The
first leaves of the log fill a tile; those of the debates lie behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.note import SigningKey
from service.audit.record import RecordPlace, Times, leaf_hash, open_leaf
from service.audit.tiles import Builder
from service.audit.tree import Frontier
from service.debate.entries import DebateStopped
from service.store.sealing import seal_entry
from tests.fixtures.running import a_writer
from tests.fixtures.sequencing import KEY, LOG

Connection = psycopg.Connection[Any]
STRANGER = SigningKey.from_seed("localhost", b"\x66" * 32)
"""A key of the right name that nobody has pinned."""


@dataclass(frozen=True)
class Debates:
    """The debates of the scene."""

    a: str
    b: str
    c: str


Do = Callable[[Connection, Debates], None]


def sql(*statements: str) -> Do:
    """An attack that is written as SQL."""

    def do(connection: Connection, debates: Debates) -> None:
        names = {"a": debates.a, "b": debates.b, "c": debates.c}
        for statement in statements:
            connection.execute(statement.encode(), names if "%(" in statement else None)

    return do


def flipped(table: str, column: str, where: str, at: int = 40) -> Do:
    """One byte of a row."""
    return sql(
        f"UPDATE {table} SET {column} = set_byte({column}, {at}, get_byte({column}, {at}) # 1) WHERE {where}",
    )


def swap(connection: Connection, debates: Debates) -> None:
    """Two records of a debate, each with its payload, in each other's places."""
    for table, columns in (("entry", "leaf = o.leaf"), ("payload", "salt = o.salt, body = o.body")):
        connection.execute(
            f"UPDATE {table} t SET {columns} FROM {table} o "
            "WHERE t.debate = %s AND o.debate = t.debate AND t.n IN (4, 5) AND o.n = 9 - t.n".encode(),
            (debates.a,),
        )


def add_record(connection: Connection, debates: Debates) -> None:
    """One more record at the end of a debate, sealed and staged as the service does it."""
    rows = connection.execute("SELECT n, leaf FROM entry WHERE debate = %s ORDER BY n DESC LIMIT 1", (debates.a,))
    ((last, leaf),) = rows.fetchall()
    old, n = open_leaf(leaf), last + 1
    place = RecordPlace(LOG, old.tenant, debates.a, old.policy, old.context)
    entry = DebateStopped(by="abort", why="the caller asked for it")
    record = seal_entry(
        entry,
        place=place,
        writer=a_writer("forger"),
        n=n,
        prev=leaf_hash(leaf),
        times=Times(old.occurred, old.recorded),
    )
    connection.execute("INSERT INTO entry VALUES (%s, %s, %s)", (debates.a, n, record.leaf))
    values = (debates.a, n, record.salt, record.payload)
    connection.execute("INSERT INTO payload (debate, n, salt, body) VALUES (%s, %s, %s, %s)", values)
    connection.execute("INSERT INTO pending (log, debate, n) VALUES (%s, %s, %s)", (LOG, debates.a, n))
    connection.execute(
        "UPDATE debate_head SET next_n = %s, last_hash = %s WHERE debate = %s", (n + 1, record.leaf_hash, debates.a)
    )


def removal(debate: str, *, above: int = -1, leaves: bool = True) -> Do:
    """A debate, or what stands behind one of its records, out of every table that has it."""
    tables = ("entry", "payload", "charge", *(["leaf"] if leaves else []))
    which = f"debate = %({debate})s"
    statements = [f"DELETE FROM {table} WHERE {which} AND n > {above}" for table in tables]
    if above < 0:
        whole = ("document", "context", "rests_on", "pending", "debate_head")
        statements += [f"DELETE FROM {table} WHERE {which}" for table in whole]
    else:
        statements.append(f"UPDATE debate_head SET next_n = {above + 1} WHERE {which}")
    return sql(*statements)


def backdate(connection: Connection, debates: Debates) -> None:
    """The last record of a debate, said to be of a year before; its leaf's hash goes with it."""
    rows = connection.execute("SELECT n, leaf FROM entry WHERE debate = %s ORDER BY n DESC LIMIT 1", (debates.b,))
    ((n, leaf),) = rows.fetchall()
    for time in {open_leaf(leaf).occurred, open_leaf(leaf).recorded}:
        leaf = leaf.replace(time.encode(), f"{int(time[:4]) - 1}{time[4:]}".encode())
    for statement in ("UPDATE entry SET leaf = %s", "UPDATE leaf SET hash = %s"):
        new = leaf if "entry" in statement else leaf_hash(leaf)
        connection.execute(f"{statement} WHERE debate = %s AND n = %s".encode(), (new, debates.b, n))


def rewrite(change: Do, key: SigningKey | None) -> Do:
    """Something changed, and the tree made anew of what is there then, as consistent as ever; signed with a key."""

    def do(connection: Connection, debates: Debates) -> None:
        change(connection, debates)
        plant(connection, connection.execute("SELECT debate, n, hash FROM leaf ORDER BY idx").fetchall(), key)

    return do


def sign_with_another_key(connection: Connection, debates: Debates) -> None:
    """The same tree, signed by another key of the same name, which the database then says is the log's."""
    connection.execute("UPDATE log_epoch SET key = %s", (STRANGER.public.encode(),))
    plant(connection, connection.execute("SELECT debate, n, hash FROM leaf ORDER BY idx").fetchall(), STRANGER)


def plant(connection: Connection, leaves: Sequence[tuple[UUID, int, bytes]], key: SigningKey | None) -> None:
    """A whole tree of these leaves in place of the one that is stored."""
    for table in ("cosignature", "checkpoint", "tile", "leaf", "batch"):
        connection.execute(f"DELETE FROM {table}".encode())
    hashes, tree, size = [bytes(hash_) for *_, hash_ in leaves], Frontier(), len(leaves)
    tree.extend(hashes)
    batch = (LOG, size, tree.root(), tree.encode())
    connection.execute("INSERT INTO batch (log, first, next, root, frontier) VALUES (%s, 0, %s, %s, %s)", batch)
    with connection.cursor() as cursor:
        rows = [(LOG, idx, debate, n, hash_) for idx, (debate, n, hash_) in enumerate(leaves)]
        cursor.executemany("INSERT INTO leaf VALUES (%s, %s, %s, %s, %s)", rows)
    for tile in Builder().add(hashes):
        connection.execute("INSERT INTO tile VALUES (%s, %s, %s, %s)", (LOG, tile.level, tile.index, tile.hashes))
    if key is not None:
        note = sign_checkpoint(Checkpoint(LOG, size, tree.root()), key)
        connection.execute("INSERT INTO checkpoint VALUES (%s, %s, %s, %s)", (LOG, size, tree.root(), note))


def detach(connection: Connection, debates: Debates) -> None:
    """The partition that a debate's payloads are in, taken out of its table."""
    rows = connection.execute("SELECT tableoid::regclass::text FROM payload WHERE debate = %s LIMIT 1", (debates.a,))
    ((partition,),) = rows.fetchall()
    connection.execute("DELETE FROM case_words")  # they refer to payloads, and would keep the partition
    connection.execute(f"ALTER TABLE payload DETACH PARTITION {partition}".encode())


def drop_triggers(connection: Connection, debates: Debates) -> None:
    """Everything that refuses changes."""
    for table, trigger in guards(connection):
        connection.execute(f"DROP TRIGGER {trigger} ON {table}".encode())


def guards(connection: Connection) -> list[tuple[str, str]]:
    """The triggers that refuse changes, each with its table; those of a partition that its table has count once."""
    rows = connection.execute(
        "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE tgname LIKE 'refuse_%' AND tgparentid = 0"
    )
    return [(table, trigger) for table, trigger in rows]


@dataclass(frozen=True)
class Attack:
    """``stolen`` says that the signer's memory is gone as well, and ``unwitnessed`` that there is no witness at all.

    ``restores`` puts an old copy of the database in place before anything else.
    """

    do: Do
    stolen: bool = False
    unwitnessed: bool = False
    restores: bool = False


ATTACKS: dict[str, Attack] = {
    "a byte of a payload": Attack(flipped("payload", "body", "debate = %(a)s AND n = 4")),
    "a byte of a leaf": Attack(flipped("entry", "leaf", "debate = %(a)s AND n = 4")),
    "a leaf's hash, in a full tile": Attack(flipped("leaf", "hash", "idx = 5", 7)),
    "a leaf's hash, behind the full tiles": Attack(flipped("leaf", "hash", "debate = %(b)s AND n = 4", 7)),
    "a byte of a tile": Attack(flipped("tile", "hashes", "idx = 0 AND level = 0")),
    "the root of a stored head": Attack(
        flipped("checkpoint", "root", "size = (SELECT max(size) FROM checkpoint)", 7),
    ),
    "a byte of a document": Attack(flipped("document", "body", "debate = %(a)s", 7)),
    "the context of a case": Attack(flipped("context", "body", "debate = %(a)s", 7)),
    "the text of a prompt": Attack(
        sql("DELETE FROM content WHERE convert_from(body, 'UTF8') LIKE '%critic%'"),
    ),
    "a row of charges": Attack(sql("UPDATE charge SET amount = amount + 1 WHERE debate = %(a)s")),
    "a debate's head row: its status": Attack(
        sql("UPDATE debate_head SET state = 'failed' WHERE debate = %(a)s"),
    ),
    "a debate's head row: its tenant": Attack(
        sql("UPDATE debate_head SET tenant = 'other' WHERE debate = %(a)s"),
    ),
    "a debate's head row: its task type": Attack(
        sql("UPDATE debate_head SET task_type = 'security' WHERE debate = %(a)s"),
    ),
    "a debate's head row: its money": Attack(
        sql("UPDATE debate_head SET spent = spent + 1 WHERE debate = %(a)s"),
    ),
    "what a debate rests on": Attack(
        sql(
            "DELETE FROM rests_on WHERE debate = %(a)s AND what = 'model'",
            "INSERT INTO rests_on VALUES ('default', 'model', 'invented', %(b)s)",
        ),
    ),
    "what the list finds a debate by": Attack(
        sql(
            "UPDATE found_by SET outcome = 'rejected', human_review = NOT human_review WHERE debate = %(a)s",
            "DELETE FROM case_words WHERE debate = %(b)s",
        ),
    ),
    "the models' track records": Attack(
        sql("INSERT INTO track_record VALUES ('default', %(a)s, 'invented', 'factual', 100, 100, 100, 100)"),
    ),
    "the row of an issued report": Attack(
        sql("INSERT INTO issued_report VALUES (%(a)s, 'pdf', 'a4', 'report/1', repeat('0', 64), %(b)s)"),
    ),
    "what was drawn from a limit": Attack(
        sql("INSERT INTO spend_limit VALUES ('default', 'day', '2026-11-21', 9, 1, 0)"),
    ),
    "the key of a log": Attack(sql("UPDATE log_epoch SET key = 'nonsense'")),
    "cosignatures removed": Attack(sql("DELETE FROM cosignature")),
    "two records swapped": Attack(swap),
    "a record added behind a debate's end": Attack(add_record),
    "the tail of a debate removed": Attack(removal("b", above=12)),
    "the tail removed, its leaves left": Attack(removal("b", above=12, leaves=False)),
    "a payload erased with its salt": Attack(sql("DELETE FROM payload WHERE debate = %(a)s AND n = 4")),
    "a whole debate removed": Attack(removal("a")),
    "`TRUNCATE` of records": Attack(sql("TRUNCATE entry, payload CASCADE")),
    "`TRUNCATE` of the tree": Attack(sql("TRUNCATE leaf, batch, tile, checkpoint, cosignature, time_stamp")),
    "`TRUNCATE` of the heads": Attack(sql("TRUNCATE checkpoint, cosignature, time_stamp")),
    "a partition detached": Attack(detach),
    "triggers dropped": Attack(drop_triggers),
    "an old backup restored": Attack(sql(), restores=True),
    "an old backup restored, with the signer's memory": Attack(sql(), restores=True, stolen=True),
    "the tree rewritten without a debate": Attack(rewrite(removal("b"), None)),
    "a record backdated, the tree rewritten and signed with the key": Attack(rewrite(backdate, KEY)),
    "the same, and the signer's memory lost": Attack(rewrite(backdate, KEY), stolen=True),
    "the same, where there is no witness": Attack(rewrite(backdate, KEY), stolen=True, unwitnessed=True),
    "the same tree signed with another key": Attack(sign_with_another_key),
    "a staged row removed": Attack(sql("DELETE FROM pending WHERE debate = %(c)s AND n = 1")),
    "the last record removed before it was signed": Attack(
        sql(
            "DELETE FROM pending WHERE debate = %(c)s AND n = 2",
            "DELETE FROM payload WHERE debate = %(c)s AND n = 2",
            "DELETE FROM entry WHERE debate = %(c)s AND n = 2",
            "UPDATE debate_head SET next_n = 2, last_hash = sha256('\\x00'::bytea || "
            "(SELECT leaf FROM entry WHERE debate = %(c)s AND n = 1)) WHERE debate = %(c)s",
        ),
    ),
    "a debate removed before it was signed": Attack(removal("c")),
}
"""By the words of the table in docs/threat-model.md."""
