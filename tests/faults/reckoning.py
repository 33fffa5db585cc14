"""What has to be so when the hammer has stopped.

It is found in the database, in the notes of the processes, in what callers were told, in the vendor's books, and by the
commands.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from contextlib import redirect_stdout
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import Any

import httpx

from service.audit.checkpoint import Checkpoint, open_checkpoint
from service.audit.record import commit, leaf_hash, open_leaf
from service.audit.tree import Frontier
from service.cli import main
from service.debate.entries import DebateStopped, TurnAsked, TurnSpoke, decode
from service.identity.caller import Caller
from service.reviews import evidence
from service.store import spend
from service.store.current_log import CurrentLogs
from service.store.pool import Database
from tests.faults.books import Books, assert_closed, assert_covered
from tests.faults.callers import Told
from tests.faults.deployment import WITNESS_KEY, Deployment
from tests.faults.streams import Listener
from tests.faults.vendor import Billed
from tests.fixtures.replaying import replay_all
from tests.fixtures.running import a_writer, repository
from tests.fixtures.serving import SIGNING_KEY

DEBATED = ("completed", "truncated", "failed", "aborted")
OVER = (*DEBATED, "declined")
RECORDS = (
    "SELECT e.debate::text, e.n, e.leaf, p.salt, p.body FROM entry e LEFT JOIN payload p USING (debate, n) "
    "ORDER BY e.debate, e.n"
)
STOPS = (
    "SELECT debate::text, body FROM payload WHERE position('debate.stopped'::bytea in body) > 0 "
    "AND debate IN (SELECT debate FROM debate_head)"
)
PINNED = ("--key", SIGNING_KEY.public.encode(), "--witness", WITNESS_KEY.public.encode())


def noted(folder: Path, what: str) -> list[list[str]]:
    """The words of every line that the processes noted; the last line of one that was killed may be cut."""
    lines = [line for file in sorted(folder.glob(f"{what}-*.txt")) for line in file.read_text().splitlines(True)]
    return [line.split() for line in lines if line.endswith("\n")]


def is_settled_but_for_witnesses(house: Deployment) -> bool:
    """Whether every debate is over, and every record under a signed head."""
    ((under_way,),) = house.rows("SELECT count(*) FROM debate_head WHERE state <> ALL (%s)", list(OVER))
    ((staged,),) = house.rows("SELECT count(*) FROM pending")
    sizes = house.rows(
        "SELECT (SELECT count(*) FROM leaf l WHERE l.log = g.log), "
        "(SELECT max(size) FROM checkpoint c WHERE c.log = g.log) FROM log_epoch g"
    )
    return not under_way and not staged and all(leaves == signed for leaves, signed in sizes)


def is_settled(house: Deployment) -> bool:
    """Whether every debate is over, and every record provable and countersigned."""
    ((under_way,),) = house.rows("SELECT count(*) FROM debate_head WHERE state <> ALL (%s)", list(OVER))
    ((staged,),) = house.rows("SELECT count(*) FROM pending")
    sizes = house.rows(
        "SELECT (SELECT count(*) FROM leaf l WHERE l.log = g.log), "
        "(SELECT max(size) FROM checkpoint c WHERE c.log = g.log), "
        "(SELECT max(size) FROM cosignature s WHERE s.log = g.log) FROM log_epoch g"
    )
    return not under_way and not staged and all(leaves == signed == seen for leaves, signed, seen in sizes)


def expect_every_record_once_and_unchanged(house: Deployment) -> dict[tuple[str, int], str]:
    """Chains have no gap, payloads are as committed, and whatever was confirmed is there.

    Gives the hash of each leaf by chain and number.
    """
    found: dict[tuple[str, int], str] = {}
    for debate, rows in groupby(house.rows(RECORDS), key=lambda row: row[0]):
        prev = b""
        for nth, (_, n, leaf, salt, body) in enumerate(rows):
            envelope = open_leaf(leaf)
            assert (n, envelope.n, envelope.debate, envelope.prev) == (nth, nth, debate, prev.hex())
            assert commit(salt, body) == envelope.commitment
            prev = leaf_hash(leaf)
            found[debate, n] = prev.hex()
    acknowledged = noted(house.folder, "acked")
    assert acknowledged
    lost = [words for words in acknowledged if found.get((words[0], int(words[1]))) != words[2]]
    assert lost == []
    heads = house.rows("SELECT debate::text, next_n, last_hash FROM debate_head")
    assert all(found[debate, n - 1] == bytes(last).hex() and (debate, n) not in found for debate, n, last in heads)
    return found


def expect_one_tree_of_each_log(house: Deployment, records: dict[tuple[str, int], str]) -> dict[str, list[bytes]]:
    """Every record has one leaf, indexes have no gap, and every head that was ever signed is that of these leaves.

    Gives the root of each size of each log.
    """
    roots: dict[str, list[bytes]] = {}
    placed: dict[tuple[str, int], str] = {}
    for log, rows in groupby(
        house.rows("SELECT log, idx, debate::text, n, hash FROM leaf ORDER BY 1, 2"), lambda r: r[0]
    ):
        tree, roots[log], last = Frontier(), [Frontier().root()], defaultdict[str, int](lambda: -1)
        for at, (_, idx, debate, n, hash_) in enumerate(rows):
            assert (idx, n) == (at, last[debate] + 1), (log, debate)
            assert (debate, n) not in placed
            placed[debate, n], last[debate] = bytes(hash_).hex(), n
            tree.add(bytes(hash_))
            roots[log].append(tree.root())
    assert placed == records
    for log, size, root, note in house.rows("SELECT log, size, root, note FROM checkpoint"):
        assert open_checkpoint(bytes(note), [SIGNING_KEY.public])[0] == Checkpoint(log, size, bytes(root))
        assert roots[log][size] == bytes(root)
    signed = noted(house.folder, "signed")
    assert {log for log, _, _ in signed} == set(roots)
    assert [words for words in signed if roots[words[0]][int(words[1])].hex() != words[2]] == []
    return roots


def expect_what_was_told(records: dict[tuple[str, int], str], roots: dict[str, list[bytes]], told: Told) -> None:
    """Heads that callers were told of are those of the logs, and the debates are there and ended as was said."""
    assert [(log, size) for log, size, root in told.heads if roots[log][size] != root] == []
    last = {debate: hash_ for (debate, _), hash_ in records.items()}
    assert {*told.debates.values()} <= last.keys()
    assert {debate: last[debate] for debate in told.last_records} == told.last_records


async def expect_streams_are_the_record(house: Deployment, apis: Sequence[httpx.AsyncClient], told: Told) -> None:
    """What was heard across all cuts is, word for word, what one unbroken stream tells, entry by entry to the last."""
    entries = dict(house.rows("SELECT debate::text, next_n FROM debate_head"))
    for nth, listener in enumerate(told.listeners):
        whole = Listener(listener.debate)
        await whole.listen(apis[nth % len(apis)])
        assert whole.over
        assert [n for n, _ in whole.heard] == list(range(1, entries[listener.debate]))
        assert listener.heard == whole.heard[: len(listener.heard)]
        assert listener.over == (len(listener.heard) == len(whole.heard))


async def expect_balance(database: Database) -> None:
    """The accounts of every tenant agree to the micro-dollar: limits, debates and charges."""
    balance = await spend.balance(database)
    assert balance.exact, balance


def expect_nothing_paid_twice(books: Books, bills: Sequence[Billed], calls: Counter[int], told: Told) -> None:
    """Every debate has ended within its ceiling; no call without its record, no recorded turn asked again, and every
    bill covered by the charge of its own call.

    One case is one debate, whoever posted it how often, and what was aborted is.
    """
    assert_closed(books)
    assert_covered(books, bills)
    cases = {debate.case: str(debate.debate) for debate in books.debates}
    assert len(cases) == len(books.debates)
    assert cases == told.debates
    for debate in books.debates:
        assert calls[debate.case] <= len(debate.asked), f"debate {debate.debate}: a call that no record tells of"
        spoken: set[str] = set()
        for entry in debate.entries:
            assert not (isinstance(entry, TurnAsked) and entry.turn in spoken), "a recorded turn was asked again"
            if isinstance(entry, TurnSpoke):
                spoken.add(entry.turn)
        assert debate.excess == 0, f"debate {debate.debate}: the vendor never bills above what was held"
        if status := told.aborted.get(str(debate.debate)):
            assert debate.state == status


def expect_debates_went_well(house: Deployment, books: Books, told: Told, formats: Collection[str]) -> None:
    """Nothing was ended by a fault, only what callers aborted or left by an abort, and what was left came to an end.

    Of each of these formats a debate of callers has completed, or one at all where none is given.
    """
    stops = [(debate, decode(body)) for debate, body in house.rows(STOPS)]
    by = [(debate, stop.by, stop.why) for debate, stop in stops if isinstance(stop, DebateStopped)]
    assert [found for found in by if found[1] not in ("abort", "deadline")] == [], "ended by a fault"
    assert {debate for debate, who, _ in by if who == "abort"} <= told.aborted.keys() | told.left, "nobody aborted it"
    states = {str(debate.debate): debate.state for debate in books.debates}
    assert {debate: states[debate] for debate in told.left if states[debate] not in DEBATED} == {}
    completed = Counter(debate.format for debate in books.debates if debate.state == "completed")
    assert completed, "no debate has completed"
    assert completed.keys() >= set(formats), f"no debate of some format has completed: {completed}"


def expect_debates_replay(house: Deployment) -> int:
    """Every debate replays, with its money; how many there are."""
    return replay_all(house.server.url("postgres"))


def expect_no_findings(house: Deployment) -> None:
    """`gainsay audit check` recomputes every log, and compares every row that is computed from records."""
    told = gainsay(house, "audit", "check")
    lines = [line for line in told.splitlines() if line]
    assert lines
    assert all(line.endswith((": no findings", ": no differences")) for line in lines), told


async def expect_bundles_verify(house: Deployment, database: Database, most: int, only: Collection[str] = ()) -> None:
    """`gainsay audit verify` takes the bundles of debates, whoever ran them, with the keys that are pinned."""
    logs = CurrentLogs(database, "localhost")
    debates = house.rows("SELECT debate::text, tenant FROM debate_head ORDER BY sha256(debate::text::bytea)")
    for debate, tenant in [row for row in debates if not only or row[0] in only][:most]:
        file = house.folder / f"{debate}.zip"
        file.write_bytes(await evidence.bundle(database, logs, debate, Caller(tenant=tenant), a_writer("examiner")))
        told = StringIO()
        with redirect_stdout(told):
            # a debate may have begun before its log was countersigned for the first time
            code = await asyncio.to_thread(main, ["audit", "verify", str(file), *PINNED, "--allow-loose-times"])
        assert code == 0, told.getvalue()


def gainsay(house: Deployment, *words: str) -> str:
    """What a command of an operator says, once it has ended well."""
    kept: dict[str, Any] = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GAINSAY_") or name == "GAINSAY_LOG_FORMAT"
    }
    done = run(*words, env={**kept, **house.settings()})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    command = [sys.executable, "-m", "service", *words]
    return subprocess.run(command, env=env, cwd=repository(), capture_output=True, text=True, check=False)
