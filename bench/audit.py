"""How fast the audit log takes records, proves them, and is verified, on a PostgreSQL of the bench's own.

Two processes of writers append what real debates append, eight debates at once in each, while a third process
sequences and signs. After them plain INSERTs of the same bytes by as many writers, and what the disk gives by
PostgreSQL's own pg_test_fsync.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import uvloop

from bench.appending import Done
from bench.figures import Measured, Turn
from bench.logs import a_log_of_hashes, a_log_of_records
from bench.servers import Server, server
from service.app import sequencing_at
from service.audit.note import PublicKey
from service.audit.tree import leaf_hash, verify_inclusion
from service.identity.caller import Caller
from service.proving.self_check import SelfCheck
from service.reviews.evidence import Filters, export
from service.store.current_log import CurrentLogs
from service.store.embedded.data_dir import find_programs
from service.store.pool import Database
from service.store.proofs import inclusion, latest_checkpoint
from service.verify.export import verify_export
from service.verify.steps import Trust
from tests.fixtures.running import a_writer

ROOT = Path(__file__).resolve().parent.parent
PROCESSES, AT_ONCE, DEBATES = 2, 8, 400
RECORDS, LEAVES, PROOFS = 100_000, 1_000_000, 2_000


class Written(NamedTuple):
    """What two processes of writers did in the time in which both wrote."""

    entries_s: float
    appends_s: float
    durable: list[float]
    provable: list[float]


def appending() -> Turn:
    """One turn of two processes of writers, and of plain INSERTs by as many."""
    with server() as here:
        return uvloop.run(_appending(here))


def verifying() -> Turn:
    """One turn of an export that is written and verified, and of the self-check."""
    with server() as here:
        return uvloop.run(_verifying(here))


def proving() -> Turn:
    """One turn of proofs out of a large log."""
    with server() as here:
        return uvloop.run(_proving(here))


# -- appending


async def _appending(server: Server) -> Turn:
    with psycopg.connect(server.admin, autocommit=True) as admin:
        admin.execute(
            "CREATE TABLE bench_plain (debate uuid, n int, leaf bytea, salt bytea, body bytea, PRIMARY KEY (debate, n))"
        )
        admin.execute("GRANT INSERT ON bench_plain TO gainsay_writer")
        ours = await _ours(server)
        plain = _turn(await _written("plain", server.service))
        disk = _fdatasyncs(server.settings.data_dir)
    mix = f"{ours.entries_s / ours.appends_s:.1f} entries an append"
    each = f"p50 {_percentile(ours.durable, 0.5):.1f} ms; plain p99 {_percentile(plain.durable, 0.99):.1f} ms"
    syncs = f"fdatasync of 8 kB one after the other {disk}/s" if disk else "pg_test_fsync is not there"
    return {
        "entries": Measured(ours.entries_s, None, f"{mix}; plain INSERT of the same bytes {plain.entries_s:,.0f}/s"),
        "plain": Measured(ours.entries_s, plain.entries_s, f"plain {plain.entries_s:,.0f}/s"),
        "appends": Measured(ours.appends_s, None, syncs),
        "durable": Measured(_percentile(ours.durable, 0.99), None, each),
        "provable": Measured(_percentile(ours.provable, 0.99), None, f"p50 {_percentile(ours.provable, 0.5):.0f} ms"),
    }


async def _ours(server: Server) -> Written:
    """One turn through the log; a record is provable when the head over it is signed and stored."""
    heads: list[tuple[int, float]] = []

    def signed(_log: str, size: int, _root: bytes) -> None:
        heads.append((size, time.monotonic()))

    async with sequencing_at(server.sequencer, server.settings, signed):
        told = await _written("ours", server.service)
        place = await _places(server, {(debate, last) for one in told for debate, last, *_ in one}, heads)
    sizes = [size for size, _ in heads]
    done = [each for one in told for each in one]
    provable = [heads[bisect_right(sizes, place[debate, last])][1] - durable for debate, last, *_, durable in done]
    return _turn(told)._replace(provable=[1_000 * wait for wait in provable])


async def _places(
    server: Server, wanted: set[tuple[str, int]], heads: Sequence[tuple[int, float]]
) -> dict[tuple[str, int], int]:
    """The indexes of the leaves of these records, once signed heads cover them all."""
    with psycopg.connect(server.admin, autocommit=True) as admin:
        while True:
            rows = admin.execute("SELECT debate::text, n, idx FROM leaf").fetchall()
            found = {(debate, n): idx for debate, n, idx in rows if (debate, n) in wanted}
            if len(found) == len(wanted) and heads[-1][0] > max(found.values()):
                return found
            await asyncio.sleep(0.1)


async def _written(which: str, url: str) -> list[list[Done]]:
    """What each process of writers did; they begin together when all have made themselves ready."""
    words = [sys.executable, "-m", "bench.appending", which, url, str(DEBATES), str(AT_ONCE)]
    pipes: dict[str, Any] = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    writers = [await asyncio.create_subprocess_exec(*words, **pipes, cwd=ROOT, limit=1 << 28) for _ in range(PROCESSES)]
    for line in await asyncio.gather(*(writer.stdout.readline() for writer in writers if writer.stdout)):
        if line != b"ready\n":
            raise RuntimeError(f"expected a process of writers to make itself ready, found that it said {line!r}")
    for writer in writers:
        if writer.stdin:
            writer.stdin.write(b"go\n")
    told = await asyncio.gather(*(writer.communicate() for writer in writers))
    return [json.loads(out) for out, _ in told]


def _turn(told: list[list[Done]]) -> Written:
    """What was done while all of them wrote."""
    begun = max(min(done[3] for done in each) for each in told)
    ended = min(max(done[4] for done in each) for each in told)
    within = [done for each in told for done in each if done[3] >= begun and done[4] <= ended]
    seconds = ended - begun
    durable = [1_000 * (done[4] - done[3]) for done in within]
    return Written(sum(done[2] for done in within) / seconds, len(within) / seconds, durable, [])


def _fdatasyncs(folder: Path) -> int | None:
    """How often a second the data's disk takes 8 kB and says that it has them, by PostgreSQL's own program."""
    path = find_programs() / "pg_test_fsync"
    if not path.is_file():
        return None
    with subprocess.Popen(
        [str(path), "-s", "1", "-f", str(folder / "fsync")], stdout=subprocess.PIPE, text=True
    ) as program:
        try:
            for line in program.stdout or ():
                if line.split()[:1] == ["fdatasync"]:
                    return round(float(line.split()[1]))
        finally:
            program.kill()
    return None


# -- verifying


async def _verifying(server: Server) -> Turn:
    """A complete log of real debates' records, written down by the exporter and verified as an examiner would."""
    async with Database.open(server.service) as database:
        log, key = await a_log_of_records(database, server.admin, RECORDS)
        path, logs = server.settings.data_dir / "export.jsonl", CurrentLogs(database, "localhost")
        begun = time.perf_counter()
        reader = Caller(tenant=log.split("/")[1])
        with path.open("wb") as file:
            async for chunk in await export(database, logs, log, Filters(), reader, a_writer("bench")):
                file.write(chunk)
        exported = time.perf_counter() - begun
        begun = time.perf_counter()
        checked = await SelfCheck(database, logs, a_writer("bench"), 0).check(log)
        recomputed = time.perf_counter() - begun
    if checked is None or checked.findings:
        raise RuntimeError(f"expected a log without a finding, found {checked}")
    count, hashes, replay = checked.size, _verified(path, key, replay=False), _verified(path, key, replay=True)
    about = f"{count:,} exported records of {path.stat().st_size / count:,.0f} bytes"
    path.unlink()
    rate = count / hashes
    return {
        "verify": Measured(rate, None, about),
        "replay": Measured(count / replay, rate, "hashes alone beside"),
        "self-check": Measured(count / recomputed, None, "from the database"),
        "export": Measured(count / exported, None, "written to a file"),
    }


def _verified(path: Path, key: PublicKey, *, replay: bool) -> float:
    """CPU seconds of the verifier over a file that holds."""
    begun = time.process_time()
    with path.open("rb") as lines:
        report = verify_export(lines, Trust((key,), allow_unwitnessed=True), replay=replay)
    taken = time.process_time() - begun
    if report.failed:
        raise RuntimeError(f"expected an export that verifies, found {report.failed[0]}")
    return taken


# -- proving


async def _proving(server: Server) -> Turn:
    """Inclusion proofs out of a log of a million leaves, of leaves drawn at random."""
    begun = time.perf_counter()
    log = a_log_of_hashes(server.admin, LEAVES)
    made = time.perf_counter() - begun
    drawn = random.Random(5).choices(range(LEAVES), k=PROOFS)
    waits, paths = [], []
    async with Database.open(server.service) as database:
        head = await latest_checkpoint(database, "hashes", log)
        if head is None:
            raise RuntimeError(f"expected a checkpoint of the log {log} that was made, found none")
        for index in drawn:
            begun = time.perf_counter()
            paths.append(await inclusion(database, "hashes", log, index, LEAVES))
            waits.append(1_000 * (time.perf_counter() - begun))
    begun = time.perf_counter()
    for index, path in zip(drawn, paths, strict=True):
        verify_inclusion(leaf_hash(index.to_bytes(8, "big")), index, LEAVES, path, head.root)
    each = (time.perf_counter() - begun) / PROOFS * 1e6
    p50, p99 = (_percentile(waits, share) for share in (0.5, 0.99))
    return {
        "proof": Measured(p99, None, f"p50 {p50:.2f} ms; {LEAVES:,} leaves made in {made:.0f} s"),
        "verified": Measured(each, None, f"made and read in {1_000 * p50:.0f} us"),
    }


def _percentile(values: Sequence[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]
